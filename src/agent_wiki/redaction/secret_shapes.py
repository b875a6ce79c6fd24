"""Shapes of keys that vendors issue: a pattern for each kind, and a literal that every such key contains.

The shapes are documented by the vendors or agreed on by public scanners (gitleaks, trufflehog, Kingfisher).
Quantifiers are bounded, so that hostile text costs no more than its length. To add a kind, add a line.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable

from agent_wiki.redaction.looks import is_key, looks_like_a_stand_in
from agent_wiki.trajectory.lazily import dataclass, regex


def _begins(word: str = "") -> str:
    """Asserts that a key begins here, or with the `word` that was just read; an escape may be in front of it."""
    before = (r"\\[bfnrtv0]", r"\\u[0-9a-fA-F]{4}", r"\\x[0-9a-fA-F]{2}", r"%[0-9a-fA-F]{2}")  # \n, \u2028, \x1f, %3D
    return "|".join([rf"(?:(?<![A-Za-z0-9_]{word})", *(rf"(?<={each}{word})" for each in before)]) + ")"


_START = _begins()
_ESCAPE = r"(?:[bfnrtv0]|u[0-9a-f]{4}|x?[0-9a-f]{2})?"  # what is left of one in folded text
_UUID = r"[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"
SHORTEST_RUN = 16  # each key of PREFIXED has at least so many characters of [A-Za-z0-9_.-]


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret: the group `secret` of `pattern` if it has one, else the whole match. `is_one` checks it."""

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    is_one: Callable[[str], bool] = bool


def _prefixed(kind: str, prefixes: str, pattern: str) -> Shape:
    literals = tuple(prefixes.split())
    first = "".join(dict.fromkeys(literal[0] for literal in literals))  # looked at first: most places have another
    return Shape(kind, literals, regex(f"(?=[{first}]){_START}(?:{pattern})(?![A-Za-z0-9_])"))


def _containing(
    kind: str,
    literals: tuple[str, ...],
    pattern: str,
    is_one: Callable[[str], bool] = bool,
    needs: tuple[str, ...] = (),
) -> Shape:
    return Shape(kind, literals, regex(pattern, needs=needs), is_one)


def _is_a_key(value: str) -> bool:
    return any(map(str.isdigit, value)) and not looks_like_a_stand_in(value)


def _holds_name_and_password(value: str) -> bool:
    """Whether base64 is that of `name:password`, as registries have it."""
    try:
        name, colon, password = base64.b64decode(value, validate=True).decode("ascii").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return bool(name and colon and password) and (name + password).isprintable()


PREFIXED = (
    _prefixed("aws-key", "AKIA ASIA ABIA ACCA", r"A(?:KI|SI|BI|CC)A[A-Z2-7]{16}"),
    _prefixed("google-key", "AIza", r"AIza[\w-]{35}"),
    _prefixed("google-token", "ya29. GOCSPX-", r"ya29\.[\w-]{20,500}|GOCSPX-[\w-]{20,40}"),
    _prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _prefixed("github-token", "github_pat_", r"github_pat_\w{22,255}"),
    _prefixed(
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glcbt- glsoat- glft- gloas- glagent- glimt- glffct- GR1348941",
        r"gl(?:pat|ptt|dt|rt|cbt|soat|ft|oas|agent|imt|ffct)-[\w.-]{20,300}|GR1348941[\w-]{20}",
    ),
    _prefixed("atlassian-token", "ATBB ATATT3 ATCTT3", r"ATBB[A-Za-z0-9]{28,32}|AT[AC]TT3[\w=-]{20,300}"),
    _prefixed("slack-token", "xox xapp-", r"xox[abceoprs](?:\.xox[bp])?-[\w-]{10,250}|xapp-\d-[\w-]{10,250}"),
    _prefixed("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,250}"),
    _prefixed("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _prefixed("pypi-token", "pypi-", r"pypi-[\w-]{50,1000}"),
    _prefixed("package-token", "rubygems_ dckr_", r"rubygems_[a-f0-9]{48}|dckr_[op]at_[\w-]{20,60}"),
    _prefixed("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,300}"),
    _prefixed("openrouter-key", "sk-or-", r"sk-or-(?:v\d-)?[\w-]{20,100}"),
    _prefixed("langfuse-key", "sk-lf- pk-lf-", r"[sp]k-lf-[a-f0-9-]{36}"),
    _prefixed("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,300}|sk-[A-Za-z0-9]{20,100}"),
    _prefixed("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,60}"),
    _prefixed("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,60}"),
    _prefixed("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,100}"),
    _prefixed("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,60}"),
    _prefixed("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37,40}"),
    _prefixed("langsmith-key", "lsv2_", r"lsv2_[a-z]{2}_\w{32,60}"),
    _prefixed("nvidia-key", "nvapi-", r"nvapi-[\w-]{60,80}"),
    _prefixed("ai-vendor-key", "tvly- jina_ e2b_", r"tvly-[\w-]{20,60}|jina_[A-Za-z0-9]{50,70}|e2b_[a-f0-9]{40}"),
    _prefixed("ai-vendor-key", "pcsk_ fw_ csk-", r"pcsk_\w{50,80}|fw_[A-Za-z0-9]{22,40}|csk-[a-z0-9]{40,60}"),
    _prefixed("ai-vendor-key", "fc- tgp_v1_", r"(?<![.-])fc-[a-f0-9]{32}|tgp_v1_[\w-]{30,60}"),
    _prefixed("jwt", "eyJ", r"eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}"),
    _prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _prefixed("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,300}"),
    _prefixed("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _prefixed("supabase-key", "sbp_ sb_secret_", r"sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,60}"),
    _prefixed("hosting-token", "nfp_ HRKU- fo1_", r"(?:nfp_|HRKU-|fo1_)[\w-]{36,70}"),
    _prefixed("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa.", r"dp\.[a-z]{2}\.[\w.]{40,60}"),
    _prefixed("tailscale-key", "tskey-", r"tskey-[a-z]{3,10}-[\w-]{20,60}"),
    _prefixed("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,64}"),
    _prefixed("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{30,64}"),
    _prefixed("mailgun-key", "key-", r"(?<![.-])key-[a-f0-9]{32}"),  # not npm-key-<digest>, as caches have it
    _prefixed("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _prefixed("square-token", "sq0", r"sq0[a-z]{3}-[\w-]{22,60}"),
    _prefixed("linear-key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _prefixed("notion-token", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43}"),
    _prefixed("design-token", "figd_ PMAK-", r"figd_[\w-]{38,60}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _prefixed("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    _prefixed("square-token", "EAAA", r"EAAA[\w-]{60}"),
    _prefixed("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _prefixed(
        "package-token",
        "CLOJARS_ cio AKCp cmVmdGtu",
        r"CLOJARS_[a-z0-9]{60}|cio[A-Za-z0-9]{32}|AKCp[A-Za-z0-9]{69}|cmVmdGtu[A-Za-z0-9]{56}",
    ),
    _prefixed("ci-token", "bkua_ pnu_ pnb_", r"bkua_[a-z0-9]{40}|pn[ub]_[A-Za-z0-9]{36}"),
    _prefixed("elevenlabs-key", "sk_", r"sk_[a-f0-9]{48}"),
    _prefixed("posthog-key", "phx_ phs_", r"ph[xs]_[A-Za-z0-9]{43}"),
    _prefixed("grafana-token", "glsa_ glc_", r"glsa_\w{32,60}|glc_[A-Za-z0-9+/=]{32,300}"),
    _prefixed("observability-key", "NRAK- sntrys_ sntryu_", r"NRAK-[A-Z0-9]{27}|sntry[su]_[\w+/=-]{40,300}"),
    _prefixed("google-key", "AQ.Ab", r"AQ\.Ab[\w-]{40,80}"),  # of Gemini, since 2025
    _prefixed("slack-token", "xwfp-", r"xwfp-[\w-]{20,250}"),
    _prefixed(
        "mail-key",
        "re_ xkeysib- xsmtpsib-",
        r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}|x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
    ),
    _prefixed("package-token", "gitea_ oy2", r"gitea_[a-f0-9]{40}|oy2[a-z0-9]{43}"),
    _prefixed("ci-token", "dbtc_ dbtu_ bkct_", r"(?:dbt[cu]|bkct)_[\w-]{36,60}"),
    _prefixed("hosting-token", "napi_ rnd_ vercel_", r"napi_[a-z0-9]{64}|rnd_[A-Za-z0-9]{32}|vercel_blob_rw_\w{40,60}"),
    _prefixed("ai-vendor-key", "rpa_ dtn_ ctx7sk-", rf"rpa_[A-Z0-9]{{40,50}}|dtn_[a-f0-9]{{64}}|ctx7sk-{_UUID}"),
    _prefixed("ai-vendor-key", "apify_api_ pylf_ bb_live_", r"(?:apify_api|pylf_v\d_[a-z]{2}|bb_live)_[\w-]{24,60}"),
    _prefixed("design-token", "CFPAT-", r"CFPAT-[\w-]{43}"),
    _prefixed("observability-key", "NRIQ-", r"NRIQ-[\w-]{32}"),
    _prefixed("ci-token", "snyk_uat. sgp_", r"snyk_uat\.[\w.-]{60,300}|sgp_(?:[a-f0-9]{16}_)?[A-Za-z0-9]{40,64}"),
    _prefixed(
        "aws-key", "ABSK bedrock-api-key-", r"ABSK[A-Za-z0-9+/]{109,269}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{100,3000}"
    ),
    _prefixed("alibaba-key", "LTAI5t", r"LTAI5t[A-Za-z0-9]{18}"),
    _prefixed("password-manager-token", "ops_eyJ", r"ops_eyJ[\w-]{100,1500}={0,2}"),
    _prefixed("payment-key", "sk_org_ ek_live_ rzp_live_", r"(?:sk_org_live|ek_live|rzp_live)_[A-Za-z0-9]{14,250}"),
    _prefixed("payment-key", "shippo_live_ duffel_live_", r"shippo_live_[a-f0-9]{40}|duffel_live_[\w-]{43}"),
    _prefixed(
        "payment-key",
        "EZAK FLWSECK- access-production-",
        rf"EZAK[A-Za-z0-9]{{54}}|FLWSECK-[a-z0-9]{{32}}-X|access-production-{_UUID}",
    ),
    _prefixed("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _prefixed("ci-token", "squ_ sqp_ sqa_", r"sq[upa]_[a-f0-9]{40}"),
    _prefixed("ci-token", "CCIPAT_", r"CCIPAT_\w{40,90}"),
    _prefixed(  # a bot's id in base64, the time, a signature; ids are decimal numbers
        "discord-token",
        " ".join(sorted({base64.b64encode(b"%d" % number)[:3].decode() for number in range(10, 100)})),
        r"(?:M[Tjz]|N[DTjz]|O[DT])[\w-]{20,28}\.[\w-]{6}\.[\w-]{27,40}",
    ),
)

_LOGS_IN = (
    r"(?:docker|podman|buildah|skopeo|crane|oras|helm|gh|glab|npm|az|doctl|flyctl|vercel)\b[^\n|;&]{0,80}\blogin\b"
)
_KEEPS_IT = r"(?:gh|wrangler|gcloud|fly|flyctl|doppler|pass)\b[^\n|;&]{0,60}\bsecrets? (?:set|put|create)\b"
_OF_PROGRAMS = {  # a part of the command, and what stands before the password that it is given
    "ldap": r"ldap(?:search|modify|add|delete|passwd|whoami)\b[^\n|;]{0,200}? -w ?",
    "redis-cli": r"redis-cli\b[^\n|;]{0,200}? -a ?",
    "mongo": r"mongo(?:sh|dump|restore|export|import)?\b[^\n|;]{0,200}? -p ?",
    "htpasswd": r"htpasswd (?:-\w+ )*-\w*b\w* (?:-\w+ )*(?:[^\s-]\S* )?[\w.@-]{1,60} ",
    "-pass": r"openssl\b[^\n|;]{0,200}? -pass(?:in|out)? pass:",
    "secretsmanager": r"secretsmanager\b[^\n|;]{0,200}? --secret-string[ =]",
    "SecureString": r"SecureString\b[^\n|;]{0,120}? --value[ =]",
    "keyvault secret": r"keyvault secret set\b[^\n|;]{0,200}? --value[ =]",
    "-storepass": r"keytool\b[^\n|;]{0,200}? -storepass ",
    "-keypass": r"keytool\b[^\n|;]{0,200}? -keypass ",
    "jarsigner": r"jarsigner\b[^\n|;]{0,200}? -(?:store|key)pass ",
    "wpa_passphrase": r"wpa_passphrase (?:\"[^\"\n]{1,40}\"|'[^'\n]{1,40}'|[^\s\"']{1,40}) ",
    "unzip -P": r"unzip -P ?",
    "zip -P": r"zip -P ?",
    "7z": r"7z[ar]? [^\n|;]{0,120}? -p",
    "ssh-keygen": r"ssh-keygen\b[^\n|;]{0,200}? -[NP] ?",
    "openssl enc": r"openssl enc\b[^\n|;]{0,200}? -k ",
    "sqlplus": r"sqlplus (?:-\w{1,8} )*[\w.]{1,40}/",
    "smbclient": r"smbclient\b[^\n|;]{0,200}? (?:-U|--user)[ =]?[\"']?[\w.-]{1,60}%",
    "net user": r"net user [\w.-]{1,40} (?!/)",
    "gh secret": r"gh secret set\b[^\n|;]{0,200}? (?:--body|-b)[ =]",
}
# Words for a password in other languages, as they begin; `пароль: …`, ``Senha `…` ``, `密码是 …`.
_PASSWORD_ELSEWHERE = (
    "парол", "Парол", "senha", "Senha", "contraseña", "Contraseña", "mot de passe", "Mot de passe", "Passwort",
    "Kennwort", "hasło", "Hasło", "şifre", "Şifre", "wachtwoord", "Wachtwoord", "mật khẩu", "Mật khẩu", "密码", "密碼",
    "口令", "パスワード", "비밀번호", "암호", "كلمة المرور", "كلمة السر", "סיסמה", "पासवर्ड", "รหัสผ่าน",
)  # fmt: skip
BEYOND = "?"
"""What stands in a literal for a character beyond Latin-1: texts are looked through in one byte a character."""
_SEED_WORD = r"(?!the\b|and\b|for\b|are\b|was\b|you\b|from\b|with\b|into\b)[a-z]{3,8}"

CONTAINING = (
    # Their characters have + and / among them, where a run of other kinds ends that is too short to be looked at.
    _containing("stripe-key", ("whsec_",), rf"whsec_{_begins('whsec_')}[A-Za-z0-9+/=]{{24,100}}", _is_a_key),
    _containing("google-token", ("1//0",), r"1//0(?<![\w/]1//0)[\w-]{60,200}(?![\w-])"),
    _containing("twilio-key", ("SK",), rf"SK{_begins('SK')}[a-f0-9]{{32}}(?![A-Za-z0-9_])"),
    _containing("airtable-token", ("pat",), rf"pat{_begins('pat')}[A-Za-z0-9]{{14}}\.[a-f0-9]{{64}}(?![A-Za-z0-9_])"),
    _containing("hubspot-token", ("pat-",), rf"pat-{_begins('pat-')}(?:na|eu|ap)\d-{_UUID}(?![A-Za-z0-9_])"),
    _containing("hosting-token", ("fm2_",), rf"fm2_{_begins('fm2_')}[A-Za-z0-9+/=_-]{{60,600}}", _is_a_key),
    _containing("okta-token", ("SSWS ",), r"SSWS (?P<secret>00[\w-]{40})(?![\w-])"),
    _containing(
        "password-hash",
        ("$6$", "$5$", "$y$", "$2a$", "$2b$", "$2y$"),
        r"(?<![\w$])\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{53}|[56]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}"
        r"|y\$[./A-Za-z0-9]{1,10}\$[./A-Za-z0-9]{10,90}\$[./A-Za-z0-9]{43})(?![./A-Za-z0-9])",
    ),
    _containing("webhook-url", ("://",), r"hooks\.slack\.com/(?P<secret>[a-z]{4,12}/[\w/]{30,90})"),
    _containing("webhook-url", ("://",), r"/api/webhooks/(?P<secret>\d{5,25}/[\w-]{50,100})"),
    _containing("telegram-token", (":AA",), r"(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    _containing("terraform-token", (".atlasv1.",), rf"{_START}[A-Za-z0-9]{{14}}\.atlasv1\.[\w-]{{60,70}}(?![\w-])"),
    _containing(
        "putty-key",
        ("PuTTY-User-Key",),
        r"Private-Lines: \d{1,3}(?:\\[nr]|[\s\d→|:>+-]){1,24}"
        r"(?P<secret>[A-Za-z0-9+/=]{16,100}(?:(?:\\[nr]|[\s\d→|:>+-]){1,24}[A-Za-z0-9+/=]{16,100}(?![A-Za-z0-9+/=-])){0,200})",
    ),
    _containing("azure-secret", ("Q~",), r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])"),
    _containing("azure-signature", ("://",), r"sig=(?<=[?&]sig=)(?P<secret>[A-Za-z0-9%+/]{30,100})"),
    _containing("sentry-dsn", ("://",), r"://(?P<secret>[a-f0-9]{32}(?::[a-f0-9]{32})?)@[\w.-]{3,100}/\d{1,20}\b"),
    _containing(
        "url-password",
        ("://",),
        r"://[^\s/:@\"'<>`\\{}$\[\]]{0,100}:(?P<secret>(?=[^\s/]{3})[^\s/@\"'<>`\\]{1,200}(?:@[^\s/@\"'<>`\\?&=,:]{1,100}){0,3})"
        r"@(?=[\w\[.-])",
    ),
    _containing(
        "password",
        ("curl ",),
        r"curl [^\n|;]{0,200}?(?:-u|--user|--proxy-user)[ =]?[\"']?[\w.@+-]{1,80}:(?P<secret>[^\s\"'$<{]{4,128})",
    ),
    _containing(  # a key as the user, without a password
        "api-key",
        ("curl ",),
        r"curl [^\n|;]{0,200}?(?:-u|--user)[ =]?\\{0,3}[\"']?(?P<secret>[\w.-]{20,200}):(?=[\s\"'\\]|\Z)",
        is_key,
    ),
    _containing("url-password", ("://",), r"://(?P<secret>[\w~-]{20,200})@(?=[\w\[.-])", is_key),
    _containing(
        "cookie",
        ("curl ",),
        r"curl [^\n|;]{0,300}?(?<= )(?:-b|--cookie)[ =]?\\{0,3}[\"']?[\w.-]{1,80}=(?P<secret>[^\s;\"'\\]{16,4000})",
        is_key,
    ),
    _containing(
        "cookie",
        ("ookies",),
        r"[cC]ookies[\"']?[ ]?[=:][ ]?\{[^{}\n]{0,400}?[\"'][ ]?:[ ]?\\{0,3}[\"'](?P<secret>[^\s\"'\\]{16,4000})",
        is_key,
    ),
    _containing(  # a line of a file of cookies, as curl, wget and browsers' exports have them
        "cookie",
        ("TRUE\t", "FALSE\t", "TRUE\\t", "FALSE\\t"),
        r"(?:TRUE|FALSE)(?:\t|\\t)(?:\d{1,20})(?:\t|\\t)[\w.-]{1,80}(?:\t|\\t)(?P<secret>[^\s\"'\\]{16,4000})",
        is_key,
    ),
    _containing(
        "one-time-secret", ("otpauth:",), r"otpauth://[^\s\"'<>]{0,300}?secret=(?P<secret>[A-Za-z2-7]{16,128})"
    ),
    _containing(
        "password",
        ("assphrase",),
        r"[pP]assphrase(?: is|:)[*_ \t]{1,4}[`\"']?(?P<secret>"
        rf"(?:{_SEED_WORD}[ -]){{3,7}}{_SEED_WORD})(?=[`\"'.\n]|\Z)",
    ),
    _containing(
        "url-password", ("%3A%2F%2F",), r"%3A%2F%2F[\w.%+-]{0,100}?%3A(?P<secret>[^\s&\"'<>/]{3,200}?)%40(?=[\w.-])"
    ),
    _containing(  # of a .pgpass
        "password",
        (":5432:", ":5433:", ":6432:", ":6543:"),
        r"[\w.*-]{1,100}:\d{4,5}:[\w*-]{1,64}:[\w*.-]{1,64}:(?P<secret>[^\s:\"']{6,128})",
    ),
    _containing(
        "password", ("*:*:",), r"(?:[\w.*-]{1,100}|\*):\*:[\w*-]{1,64}:[\w*.-]{1,64}:(?P<secret>[^\s:\"']{6,128})"
    ),
    _containing("masked", ("::add-mask::",), r"::add-mask::(?P<secret>[^\s\"'\\$<{]{6,300})"),
    _containing(
        "url-signature",
        ("-Signature=",),
        r"(?<=X-)(?:Amz|Goog)-Signature=(?P<secret>[A-Fa-f0-9]{64,1024})(?![A-Fa-f0-9])",
    ),
    _containing(
        "password",
        tuple(dict.fromkeys(each.encode("latin-1", "replace").decode("latin-1") for each in _PASSWORD_ELSEWHERE)),
        rf"(?:{'|'.join(_PASSWORD_ELSEWHERE)})\w{{0,4}}[*_ \t]{{0,4}}"
        r"(?:[:=：][*_ \t]{0,4}[`\"'«“]?|[`\"'«“]|(?<=[^\x00-\xff][ \t])"
        r"|(?:é|es|est|ist|lautet|is|это|è|是|为)[ \t]{0,3}[`\"'«“]?)"
        r"(?P<secret>(?=[^\s`\"'»”]{0,127}\d)(?=[^\s`\"'»”]{0,127}[A-Za-z])[^\s`\"'»”,;()<>{}$|]{6,128})",
        needs=_PASSWORD_ELSEWHERE,  # a question mark in any text looks like one of their letters
    ),
    _containing(  # in a report: "Login: `kim@example.com` / `…`", "DB: `shop` / `shop` / `…`"
        "password",
        (" / ",),
        r"[lcaduLCADU](?<!\w.)(?i:(?<=l)og-?in|(?<=c)red(?:entials?|s)|(?<=a)(?:ccounts?|dmin|uth)|(?<=d)(?:b|atabase)"
        r"|(?<=u)ser(?:name)?)\b[^\n:/]{0,30}:[*\s]{0,4}"  # a set first, as below
        r"(?:[`\"']?[\w.@+-]{2,80}[`\"']? / ){1,2}[`\"']?(?P<secret>(?=[^\s`\"'/]{0,127}\d)"
        r"(?=[^\s`\"'/]{0,127}[A-Za-z])(?=[^\s`\"'/]{0,127}[!@#$%^&*+?])[^\s`\"'/]{6,128})",
    ),
    _containing(
        "password",
        ("IDENTIFIED BY", "identified by", "IDENTIFIED WITH", "identified with"),
        r"(?i:(?:user|role|grant)\b[^\n;]{1,120}identified (?:with [\w\"'`]{3,40} )?by) "
        r"[\"'](?P<secret>[^\s\"'\\]{4,128})[\"']",
    ),
    _containing(
        "password",
        (" PASSWORD '", " password '"),
        r"(?i:(?:user|role)\b[^\n;]{1,120} password) '(?P<secret>[^\s'\\]{4,128})'",
    ),
    _containing(
        "password",
        ("SecureString",),
        r"ConvertTo-SecureString (?:-String )?"
        r"\\{0,3}[\"'](?P<secret>[^\s\"'\\$]{4,128})\\{0,3}[\"']",
    ),
    *(
        _containing(
            "password",
            (literal,),
            rf"(?={pattern[0]})(?:\b|(?<=\\n))" + pattern + r"\\{0,3}[\"']?(?P<secret>(?!-)[^\s\"'$<{|;)\\]{6,128})",
        )
        for literal, pattern in _OF_PROGRAMS.items()
    ),
    _containing("password", (" -p",), r"login [^\n|;]{0,200}? -p ?[\"']?(?P<secret>[^\s\"'$<{]{6,128})"),
    _containing("password", (" -p",), r"sshpass -p ?[\"']?(?P<secret>[^\s\"'$<{]{4,128})"),
    *(
        _containing(
            "password",
            (" -p",),
            rf"{client}[\w-]{{0,12}}(?:[.]exe)? (?:[^\n|;]{{0,200}}? )?"
            r"-p(?P<quote>[\"']?)(?P<secret>(?!ort\b|assword)[^\s\"'$<{|;)]{4,128})(?P=quote)",
        )
        for client in ("mysql", "mariadb")
    ),
    _containing(
        "password",
        ("login ", "sudo -S", "secret set", "secret put", "secrets set", "secrets create", "chpasswd"),
        rf"(?:echo{_begins('echo')}|printf{_begins('printf')}) (?:-[ne]{{1,2}} |[\"']?%s(?:\\{{1,2}}n)?[\"']? )?"
        r"\\{0,3}[\"']?(?P<secret>[^\s\"'$<>{|`\\]{6,300})\\{0,3}[\"']?"
        rf" ?\| ?(?:sudo )?(?:{_LOGS_IN}|sudo -S\b|{_KEEPS_IT}|chpasswd\b)",
    ),
    _containing(
        "registry-auth",
        ("auth",),
        r"auth(?<![A-Za-z]auth)\\{0,3}[\"']?[ ]?[:=][ ]?\\{0,3}[\"']?"
        r"(?P<secret>[A-Za-z0-9+/]{12,800}={0,2})(?![\w+/.-])",
        _holds_name_and_password,
    ),
    _containing(
        "seed-phrase",
        ("nemonic", "NEMONIC", " phrase"),
        r"[mMsSſrR](?i:(?<=m)nemonic|(?:(?<=s)eed|(?<=r)ecovery)[ _-]phrase)"  # a set first: it is sought at once
        r"(?:[ _-](?:phrase|words))?\\{0,3}[\"']?(?: is)?[ ]?[:=]?\s{0,3}"
        rf"\\{{0,3}}[\"'`]?(?P<secret>(?:{_SEED_WORD}[ ,\n]{{1,2}}){{11,23}}{_SEED_WORD})(?!\w)",
    ),
)

LITERALS = tuple(dict.fromkeys(literal for shape in CONTAINING for literal in shape.literals))


def prefix_patterns(shapes: Iterable[Shape]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What a key of `shapes` begins with in text folded to lower case: at the beginning of a run or after a dash or dot
    in it, perhaps after what is left of an escape. The first fits whole texts that have none, the second finds each.

    The first goes over short runs many at a time, from one blank to the last that is near enough for all between to be
    short; it takes half the time of a search that stops at every blank.
    """
    prefixes = sorted({prefix.lower() for shape in shapes for prefix in shape.literals})
    begin, long = _alternatives(prefixes), rf"(?=[^ ]{{{SHORTEST_RUN}}})"
    has_one = rf"{long}(?:{_ESCAPE}|(?:[^ .-]*+[.-])+?)(?:{begin})"
    without = re.compile(rf"(?s:(?:.{{0,{SHORTEST_RUN - 1}}} )++|(?!{has_one})[^ ]++ ?)*+")
    return without, re.compile(rf"[ .-]{long}(?={_ESCAPE}(?P<begin>{begin}))")


def _alternatives(words: list[str]) -> str:
    """A pattern for sorted words that tries each first letter once; a plain alternation would try every word."""
    branches: list[str] = []
    for letter in sorted({word[:1] for word in words}):
        if letter == "":
            return ""  # a shorter word that ends here covers the longer ones
        rest = _alternatives([word[1:] for word in words if word[:1] == letter])
        branches.append(re.escape(letter) + (f"(?:{rest})" if "|" in rest else rest))
    return "|".join(branches)
