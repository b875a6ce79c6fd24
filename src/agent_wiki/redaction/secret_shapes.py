"""Shapes of keys that vendors issue: a pattern for each kind, and the literals with which such keys begin.

The shapes are documented by the vendors or agreed on by public scanners (gitleaks, trufflehog, Kingfisher).
To add a kind, add a line.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable

from agent_wiki.redaction.shapes import ESCAPE, SHORTEST_RUN, UUID, Shape, prefixed

PREFIXED = (
    prefixed("aws-key", "AKIA ASIA ABIA ACCA", r"A(?:KI|SI|BI|CC)A[A-Z2-7]{16}"),
    prefixed("google-key", "AIza", r"AIza[\w-]{35}"),
    prefixed("google-token", "ya29. GOCSPX-", r"ya29\.[\w-]{20,500}|GOCSPX-[\w-]{20,40}"),
    prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    prefixed("github-token", "github_pat_", r"github_pat_\w{22,255}"),
    prefixed(
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glcbt- glsoat- glft- gloas- glagent- glimt- glffct- GR1348941",
        r"gl(?:pat|ptt|dt|rt|cbt|soat|ft|oas|agent|imt|ffct)-[\w.-]{20,300}|GR1348941[\w-]{20}",
    ),
    prefixed("atlassian-token", "ATBB ATATT3 ATCTT3", r"ATBB[A-Za-z0-9]{28,32}|AT[AC]TT3[\w=-]{20,300}"),
    prefixed("slack-token", "xox xapp-", r"xox[abceoprs](?:\.xox[bp])?-[\w-]{10,250}|xapp-\d-[\w-]{10,250}"),
    prefixed("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,250}"),
    prefixed("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    prefixed("pypi-token", "pypi-", r"pypi-[\w-]{50,1000}"),
    prefixed("package-token", "rubygems_ dckr_", r"rubygems_[a-f0-9]{48}|dckr_[op]at_[\w-]{20,60}"),
    prefixed("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,300}"),
    prefixed("openrouter-key", "sk-or-", r"sk-or-(?:v\d-)?[\w-]{20,100}"),
    prefixed("langfuse-key", "sk-lf- pk-lf-", r"[sp]k-lf-[a-f0-9-]{36}"),
    prefixed("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,300}|sk-[A-Za-z0-9]{20,100}"),
    prefixed("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,60}"),
    prefixed("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,60}"),
    prefixed("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,100}"),
    prefixed("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,60}"),
    prefixed("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37,40}"),
    prefixed("langsmith-key", "lsv2_", r"lsv2_[a-z]{2}_\w{32,60}"),
    prefixed("nvidia-key", "nvapi-", r"nvapi-[\w-]{60,80}"),
    prefixed("ai-vendor-key", "tvly- jina_ e2b_", r"tvly-[\w-]{20,60}|jina_[A-Za-z0-9]{50,70}|e2b_[a-f0-9]{40}"),
    prefixed("ai-vendor-key", "pcsk_ fw_ csk-", r"pcsk_\w{50,80}|fw_[A-Za-z0-9]{22,40}|csk-[a-z0-9]{40,60}"),
    prefixed("ai-vendor-key", "fc- tgp_v1_", r"(?<![.-])fc-[a-f0-9]{32}|tgp_v1_[\w-]{30,60}"),
    prefixed("jwt", "eyJ", r"eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}"),
    prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    prefixed("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,300}"),
    prefixed("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    prefixed("supabase-key", "sbp_ sb_secret_", r"sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,60}"),
    prefixed("hosting-token", "nfp_ HRKU- fo1_", r"(?:nfp_|HRKU-|fo1_)[\w-]{36,70}"),
    prefixed("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa.", r"dp\.[a-z]{2}\.[\w.]{40,60}"),
    prefixed("tailscale-key", "tskey-", r"tskey-[a-z]{3,10}-[\w-]{20,60}"),
    prefixed("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,64}"),
    prefixed("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{30,64}"),
    prefixed("mailgun-key", "key-", r"(?<![.-])key-[a-f0-9]{32}(?!\.[a-z]{2,5}\b)"),  # no file of a cache
    prefixed("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    prefixed("square-token", "sq0", r"sq0[a-z]{3}-[\w-]{22,60}"),
    prefixed("linear-key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    prefixed("notion-token", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43}"),
    prefixed("design-token", "figd_ PMAK-", r"figd_[\w-]{38,60}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    prefixed("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    prefixed("square-token", "EAAA", r"EAAA[\w-]{60}"),
    prefixed("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    prefixed(
        "package-token",
        "CLOJARS_ cio AKCp cmVmdGtu",
        r"CLOJARS_[a-z0-9]{60}|cio[A-Za-z0-9]{32}|AKCp[A-Za-z0-9]{69}|cmVmdGtu[A-Za-z0-9]{56}",
    ),
    prefixed("ci-token", "bkua_ pnu_ pnb_", r"bkua_[a-z0-9]{40}|pn[ub]_[A-Za-z0-9]{36}"),
    prefixed("elevenlabs-key", "sk_", r"sk_[a-f0-9]{48}"),
    prefixed("posthog-key", "phx_ phs_", r"ph[xs]_[A-Za-z0-9]{43}"),
    prefixed("grafana-token", "glsa_ glc_", r"glsa_\w{32,60}|glc_[A-Za-z0-9+/=]{32,300}"),
    prefixed("observability-key", "NRAK- sntrys_ sntryu_", r"NRAK-[A-Z0-9]{27}|sntry[su]_[\w+/=-]{40,300}"),
    prefixed("google-key", "AQ.Ab", r"AQ\.Ab[\w-]{40,80}"),  # of Gemini, since 2025
    prefixed("slack-token", "xwfp-", r"xwfp-[\w-]{20,250}"),
    prefixed(
        "mail-key",
        "re_ xkeysib- xsmtpsib-",
        r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}|x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
    ),
    prefixed("package-token", "gitea_ oy2", r"gitea_[a-f0-9]{40}|oy2[a-z0-9]{43}"),
    prefixed("ci-token", "dbtc_ dbtu_ bkct_", r"(?:dbt[cu]|bkct)_[\w-]{36,60}"),
    prefixed("hosting-token", "napi_ rnd_ vercel_", r"napi_[a-z0-9]{64}|rnd_[A-Za-z0-9]{32}|vercel_blob_rw_\w{40,60}"),
    prefixed("ai-vendor-key", "rpa_ dtn_ ctx7sk-", rf"rpa_[A-Z0-9]{{40,50}}|dtn_[a-f0-9]{{64}}|ctx7sk-{UUID}"),
    prefixed("ai-vendor-key", "apify_api_ pylf_ bb_live_", r"(?:apify_api|pylf_v\d_[a-z]{2}|bb_live)_[\w-]{24,60}"),
    prefixed("design-token", "CFPAT-", r"CFPAT-[\w-]{43}"),
    prefixed("observability-key", "NRIQ-", r"NRIQ-[\w-]{32}"),
    prefixed("ci-token", "snyk_uat. sgp_", r"snyk_uat\.[\w.-]{60,300}|sgp_(?:[a-f0-9]{16}_)?[A-Za-z0-9]{40,64}"),
    prefixed(
        "aws-key", "ABSK bedrock-api-key-", r"ABSK[A-Za-z0-9+/]{109,269}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{100,3000}"
    ),
    prefixed("alibaba-key", "LTAI5t", r"LTAI5t[A-Za-z0-9]{18}"),
    prefixed("password-manager-token", "ops_eyJ", r"ops_eyJ[\w-]{100,1500}={0,2}"),
    prefixed("payment-key", "sk_org_ ek_live_ rzp_live_", r"(?:sk_org_live|ek_live|rzp_live)_[A-Za-z0-9]{14,250}"),
    prefixed("payment-key", "shippo_live_ duffel_live_", r"shippo_live_[a-f0-9]{40}|duffel_live_[\w-]{43}"),
    prefixed(
        "payment-key",
        "EZAK FLWSECK- access-production-",
        rf"EZAK[A-Za-z0-9]{{54}}|FLWSECK-[a-z0-9]{{32}}-X|access-production-{UUID}",
    ),
    prefixed(
        "age-key", "AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1", r"AGE-SECRET-KEY-(?:1[A-Z0-9]{58}|PQ-1[A-Z0-9]{50,120})"
    ),
    prefixed("ci-token", "squ_ sqp_ sqa_", r"sq[upa]_[a-f0-9]{40}"),
    prefixed("ci-token", "CCIPAT_", r"CCIPAT_\w{40,90}"),
    prefixed(  # a bot's id in base64, the time, a signature; ids are decimal numbers
        "discord-token",
        " ".join(sorted({base64.b64encode(b"%d" % number)[:3].decode() for number in range(10, 100)})),
        r"(?:M[Tjz]|N[DTjz]|O[DT])[\w-]{20,28}\.[\w-]{6}\.[\w-]{27,40}",
    ),
)


def prefix_patterns(shapes: Iterable[Shape]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What a key of `shapes` begins with in text folded to lower case: at the beginning of a run or after a dash or dot
    in it, perhaps after what is left of an escape. The first fits whole texts that have none, the second finds each.

    The first goes over short runs many at a time, from one blank to the last that is near enough for all between to be
    short; it takes half the time of a search that stops at every blank.
    """
    prefixes = sorted({prefix.lower() for shape in shapes for prefix in shape.literals})
    begin, long = _alternatives(prefixes), rf"(?=[^ ]{{{SHORTEST_RUN}}})"
    has_one = rf"{long}(?:{ESCAPE}|(?:[^ .-]*+[.-])+?)(?:{begin})"
    without = re.compile(rf"(?s:(?:.{{0,{SHORTEST_RUN - 1}}} )++|(?!{has_one})[^ ]++ ?)*+")
    return without, re.compile(rf"[ .-]{long}(?={ESCAPE}(?P<begin>{begin}))")


def _alternatives(words: list[str]) -> str:
    """A pattern for sorted words that tries each first letter once; a plain alternation would try every word."""
    branches: list[str] = []
    for letter in sorted({word[:1] for word in words}):
        if letter == "":
            return ""  # a shorter word that ends here covers the longer ones
        rest = _alternatives([word[1:] for word in words if word[:1] == letter])
        branches.append(re.escape(letter) + (f"(?:{rest})" if "|" in rest else rest))
    return "|".join(branches)
