"""Safeguards that a text advises to weaken: hooks, tests, approval, verification, sandboxes, searches for secrets."""

from __future__ import annotations

from collections.abc import Iterator

from agent_wiki.pages.safety.finding import SafetyFinding, finding
from agent_wiki.pages.safety.reading import Passage
from agent_wiki.pages.safety.signs import SignFamily, Signs, advised, sign
from agent_wiki.shell.hosts import hosts_in, is_outside

_OFF = (
    r"(?:disabl(?:e|es|ing)|skip(?:s|ping)?|turn(?:s|ing)?(?: it)? off|switch(?:es|ing)? off"
    r"|bypass(?:es|ing)?|circumvent(?:s|ing)?"
    r"|deactivat(?:e|es|ing)|suppress(?:es|ing)?|comment(?:s|ing)? out|delet(?:e|es|ing)"
    r"|remov(?:e|es|ing)|get(?:ting)? around"
    r"|work(?:s|ing)? around|evad(?:e|es|ing)|silenc(?:e|es|ing)|opt out of|mut(?:e|es|ing)|stub(?:s|bing)? out)"
)
_ANY = (
    r"(?:\s+(?:the|all|any|every|your|its|their|our|those|these|of|git|failing|broken|flaky"
    r"|red|remaining|whole|entire|pre-commit|pre-push|local|project['’]?s|security|secret"
    r"|code|commit|safety|mandatory|required|automatic|manual|human|user))*"
)
_IS_OFF = (
    r"(?:\s+(?:is|are|be|being|to be|set to|must be|should be|stays?|kept?|turned|switched))*\s+(?:disable"
    r"d|off|false|skipped|bypassed)\b"
)
_WAYS_OFF = (
    "disab skip bypass circumvent deactivat suppress delet remov evad silenc mute muting opt~out "
    "turn~off turns~off turning~off turn~it~off turns~it~off turning~it~off switch~off switches~off switching~off "
    "comment~out comments~out commenting~out stub~out stubs~out stubbing~out "
    "get~around getting~around work~around works~around working~around"
)
_REFUSES = "do~not don never no~need without skip stop"
_FOR_GOOD = "delet|remov|drop|overwrit|forc|push|publish|deploy|merg|reset|wip|purg|destroy|releas|rewrit|truncat"
_SIGNS = Signs(
    sign(
        "weakens/hooks",
        "--no-verify",
        r"\b(?:git\s+(?:commit|push|merge|rebase|am|cherry-pick)|commits?|committing|push(?:es"
        r"|ing)?|merg(?:e|ing))\b[^\n.;]{0,80}(?P<at>--no-verify)\b",
    ),
    sign("weakens/hooks", "commit;-", r"\bgit\s+commit\s+(?:-[a-zA-Z]+\s+)*-[a-mo-zA-Z]*n[a-zA-Z]*\b(?![\w-])"),
    sign(
        "weakens/hooks",
        "hookspath husky .git/hooks",
        r"\bcore\.hooksPath[=\s]+(?:/dev/null|['\"]{2}|/tmp\S*)|\bHUSKY(?:_SKIP_HOOKS)?=[01]\b"
        r"|\brm\s+(?:-\w+\s+)*\S*\.git/hooks",
    ),
    sign(
        "weakens/hooks",
        f"{_WAYS_OFF}; hook pre-commit precommit pre-push",
        rf"\b{_OFF}{_ANY}\s+[`'\"]?(?:hooks?|pre-?commit(?: checks?)?|pre-?push(?: checks?)?)\b",
    ),
    sign("weakens/hooks", "--no-verify", r"--no-verify\b[^\n.]{0,60}\b(?:commit|push|hooks?)\b"),
    sign(
        "weakens/hooks",
        f"{_WAYS_OFF}; hook pre-commit pre-push precommit",
        rf"\b(?:hooks?|pre-?commit|pre-?push)\b[^.\n]{{0,50}}?\b(?P<at>{_OFF})\s+(?:it|them|these"
        r"|those|the checks?)\b",
    ),
    sign(
        "weakens/tests",
        f"{_WAYS_OFF}; test assert check",
        rf"\b{_OFF}(?:\s+(?:the|all|any|every|those))*\s+(?:tests?|assertions?|asserts?|checks?)"
        r"(?:\s+(?:files?|cases?|modules?|functions?))?\s+(?:that|which)\s+"
        r"(?:fails?|break|are red|is red|do not pass|don['’]?t pass|block)",
    ),
    sign(
        "weakens/tests",
        f"{_WAYS_OFF}; test check assert suite; fail red break",
        r"\b(?:tests?|checks?|assertions?|suite)\b[^.\n]{0,30}\b(?:fails?|failing|is red|are red"
        r"|breaks?)\b[^.\n]{0,30}?"
        rf"\b(?P<at>{_OFF})\s+(?:it|them|the tests?|that test|the checks?)\b",
    ),
    sign(
        "weakens/tests",
        f"{_WAYS_OFF}; test check assert suite",
        rf"\b{_OFF}(?:\s+(?:the|all|any|every|those|these|your|whichever))*\s+(?:failing|broken"
        r"|red|flaky|unit|whole|entire|test)\s+(?:tests?|suites?|checks?|assertions?)\b",
    ),
    sign(
        "weakens/tests",
        f"{_WAYS_OFF}; test assert",
        rf"\b{_OFF}(?:\s+(?:the|all|any|every))+\s+(?:tests|test suite|assertions)\b(?!\s+(?:that"
        r"|which|under|in|for|of|with|marked|needing))",
    ),
    sign(
        "weakens/tests",
        "returning exiting removing deleting editing mocking skipping weakening disabling commenting excluding emptying"
        "; make get turn bring keep; test check suite build pipeline ci~; pass succeed green",
        r"\b(?:make|get|turn|bring|keep)\s+(?:(?:all|the|failing|every)\s+)*(?:tests?|checks?|suites?|build|pipeline|ci)"
        r"\s+(?:always\s+|to\s+)?(?:pass|succeed|green)\s+by\s+(?:return"
        r"ing|exiting|removing|deleting|editing|mocking|skipping|weakening|disabling|commenting|excluding|emptying)",
    ),
    sign(
        "weakens/tests",
        "leave~out leaving~out skip omit; verif validat check test review; report say claim state",
        r"\b(?:leav(?:e|ing) out|skip(?:ping)?|omit(?:ting)?)\b[^.\n]{0,20}\b(?:verification|validation|checks?|tests?"
        r"|reviews?)\b[^.\n]{0,30}\b(?:report|say|claim|state)\b[^.\n]{0,40}\b(?:pass(?:es|ed)?|succeed\w*|success\w*"
        r"|green|done)\b",
    ),
    sign(
        "weakens/tests",
        "exit~0 ||~true continue-on-error; test check suite pipeline build",
        r"(?:\bexit 0\b|\|\| ?true\b|\bcontinue-on-error\b)[^.\n]{0,80}\b(?:tests?|checks?|suite"
        r"|pipeline|build|ci)\b[^.\n]{0,60}"
        r"\b(?:green|pass(?:es)?|succeeds?)\b",
    ),
    sign(
        "weakens/tests",
        "exit~0 ||~true continue-on-error allow_failure; test check suite pipeline build",
        r"\b(?:tests?|checks?|suite|pipeline|build)\b[^.\n]{0,60}\b(?:let through|go through|green|pass(?:es)?"
        r"|succeeds?)\b[^.\n]{0,60}(?:\bexit 0\b|\|\| ?true\b|\bcontinue-on-error\b|\ballow_failure\b)",
    ),
    sign(
        "weakens/tests",
        "pretend claim report say; pass succe green",
        r"\b(?:pretend|claim|report|say)\s+(?:that\s+)?(?:the\s+|all\s+|every\s+)*(?:tests?|checks?"
        r"|suite|build)\s+(?:have\s+|has\s+|are\s+|is\s+)?"
        r"(?:passed|pass|passes|succeeded|green)\b(?=[^.\n]{0,20}\b(?:if|even|although|though|without|anyway|when)\b)"
        r"|\bpretend\b[^.\n]{0,30}\b(?:tests?|checks?|build)\b[^.\n]{0,20}\b(?:passed|pass|succeeded|green)\b",
    ),
    sign(
        "weakens/approval",
        "dangerously yolo allow-all-tools bypasspermissions danger-full-access approval trust-all-tools",
        r"--dangerously-[\w-]+|--yolo\b|--allow-all-tools\b|\bbypassPermissions\b|\bdanger-full-access\b"
        r"|--approval-mode[= ](?:yolo|never)|--ask-for-approval[= ]never|\bapproval_policy\s*=\s*['\"]?never"
        r"|--trust-all-tools\b|\bdangerouslyDisableSandbox\b",
    ),
    sign(
        "weakens/approval",
        f"approval permission confirm consent sign authori; {_REFUSES}",
        r"\b(?:do not|don['’]?t|never|no need to|without|skip|stop)\s+(?:ask(?:ing|s)?|wait(?:ing"
        r"|s)?|request(?:ing|s)?|seek(?:ing|s)?|need(?:ing)?|requir(?:e|ing)|get(?:ting)?|check(?:ing)?"
        r"|prompt(?:ing)?)\b"
        r"[^.\n]{0,40}?\b(?:for\s+|with\s+|before\s+)?(?:approvals?|permissions?|confirmations?"
        r"|consent|sign-?off|authori[sz]ation)\b"
        r"(?!\s+(?:before|when|for|to)\s+(?:format|lint|read|look|search|small|trivial|edit|typo"
        r"|renam|fix|running (?:the )?tests"
        r"|writ))",
    ),
    sign(
        "weakens/approval",
        "ask consult check; do~not don never no~need without stop nobody no~one;" + _FOR_GOOD.replace("|", " "),
        r"\b(?:do not|don['’]?t|never|no need to|without|stop)\s+(?:ask|consult|check)(?:ing)?(?: in| back)?"
        rf"\b[^.\n]{{0,30}}?\b(?:before|prior to|when)\s+(?:you\s+)?(?:{_FOR_GOOD})\w*"
        rf"|\b(?:{_FOR_GOOD})\w*\b[^.\n]{{0,60}}\b(?:nobody|no one) (?:needs?|has) to be (?:asked|consulted)\b",
    ),
    sign(
        "weakens/approval",
        "without; merg push deploy publish releas",
        r"\b(?:merg|push|deploy|publish|releas)\w*\b[^.\n]{0,60}\bwithout\s+(?:waiting for|awaiting|regard to)\s+"
        r"(?:the\s+|any\s+)?(?:ci|checks?|reviews?|reviewers?|pipelines?|tests?|approvals?)\b",
    ),
    sign("weakens/approval", "--admin", r"\bgh\s+pr\s+merge\b[^\n`;|&]*\s--admin\b"),
    sign(
        "weakens/approval",
        f"{_WAYS_OFF}; approval permission confirm review sign",
        rf"\b{_OFF}{_ANY}\s+(?:approvals?|permission (?:prompts?|checks?|requests?|system)|confirmation (?:prom"
        r"pts?|steps?)|reviews?|code reviews?|sign-?offs?|permission mode)\b",
    ),
    sign(
        "weakens/approval",
        "allow",
        r"['\"]allow['\"]\s*:\s*\[[^\]]{0,80}['\"](?:\*|Bash(?:\(\*\)|\(:\*\))?)['\"]|\ballow\w*[^.\n]{0,30}\b"
        r"Bash\(\*\)|\bBash\(:?\*\)[^\n]{0,60}\ballow",
    ),
    sign(
        "weakens/approval",
        "approve accept grant confirm allow",
        r"\b(?:auto-?(?:matically )?(?:approve|accept|confirm)|approve|accept|allow|grant)\s+(?:all"
        r"|any|every|each)(?:\s+\w+){0,2}\s+(?:commands?|tools?|tool calls?|actions?|requests?"
        r"|permissions?|edits|changes)\b",
    ),
    sign(
        "weakens/approval",
        "approval",
        r"\bapprovals?\s+(?:is|are|has been|have been|was|were)\s+(?:already\s+|not\s+)(?:granted"
        r"|given|needed|required|necessary)\b",
    ),
    sign(
        "weakens/approval",
        "answer say click press choose reply; permission approval confirm prompt dialog",
        r"\b(?:answer|say|click|press|choose|reply)\s+(?:with\s+)?[`'\"]?(?:yes|y|allow|accept"
        r"|approve|ok)\b[^.\n]{0,20}"
        r"\b(?:every|all|any|each)\b[^.\n]{0,30}\b(?:permissions?|approvals?|confirmations?|prompts?|dialogs?)\b",
    ),
    sign("weakens/permissions", "nopasswd", r"\bNOPASSWD\b"),
    sign(
        "weakens/permissions",
        "authorized_keys;@",
        r"\b(?:add|append|put|echo|copy|install)\b[^\n]{0,120}@[\w-]+\.[\w.-]+[^\n]{0,80}\bauthorized_keys\b",
    ),
    sign(
        "weakens/permissions",
        "chmod umask",
        r"\bchmod\s+(?:-\w+\s+)*(?:[0-7]?[0-7][0-7][2367]\b|(?:[ugoa]*[ao][ugoa]*|)\+[rx]*w[rx]*\b)"
        r"|\bchmod\b[^\n;|]{0,40}\b(?:a|o|ugo)\+rwx\b|\bumask\s+0{1,4}\b",
    ),
    sign(
        "weakens/permissions",
        "make; writ",
        r"\bmake\b[^.\n]{0,40}\b(?:world|everyone|everybody|all users)[- ]?(?:writ(?:e|able))",
    ),
    sign(
        "weakens/verification",
        "node_tls_reject_unauthorized git_ssl_no_verify pythonhttpsverify verify stricthostkeychecking --no-c"
        "heck --trusted-host --allow-unauthenticated gpg ssl --ignore-certificate insecure rejectunauthorized"
        " gonosum cert_none",
        r"\bNODE_TLS_REJECT_UNAUTHORIZED['\"]?\s*[=:\]]+\s*['\"]?0|\bGIT_SSL_NO_VERIFY=(?:1|true)"
        r"|\bPYTHONHTTPSVERIFY=0"
        r"|\bhttp\.sslVerify['\"]?[=\s]+(?:false|0)|\bstrict-ssl[=\s]+false|\bverify\s*=\s*False\b"
        r"|\bssl_verify\s*[=:]\s*(?:no|false|0)"
        r"|\bStrictHostKeyChecking[=\s]+(?:no|off)|--no-check-certificate\b|--trusted-host\b"
        r"|--allow-unauthenticated\b|--no-gpg-check\b|--nogpgcheck\b"
        r"|--no-check-signature\b|--ignore-certificate-errors\b|--insecure-skip-tls-verify\b"
        r"|\brejectUnauthorized\s*:\s*false|\bInsecureSkipVerify\s*:\s*true"
        r"|\bGONOSUMCHECK\b|\bGONOSUMDB=\*|\bGOFLAGS=-insecure|\b_create_unverified_context\b|\bCERT_NONE\b",
    ),
    sign(
        "weakens/verification",
        f"{_WAYS_OFF}; tls ssl certificate host signature checksum gpg integrity",
        rf"\b{_OFF}{_ANY}\s+(?:(?:tls|ssl|certificates?|host ?key|signatures?|checksums?|gpg|integrity)\s+)+(?:"
        r"verification|validation|checks?|checking|errors?|warnings?)\b",
    ),
    sign(
        "weakens/verification",
        "tls ssl certificate signature checksum; disabled off false skipped bypassed",
        r"\b(?:(?:tls|ssl|certificates?|signatures?|checksums?)\s+)+(?:verification|validation"
        rf"|checks?|checking){_IS_OFF}",
    ),
    sign(
        "weakens/sandbox",
        f"{_WAYS_OFF}; sandbox firewall antivirus selinux apparmor seccomp malware network gatekeeper defender"
        " two-factor 2fa mfa audit branch rate",
        rf"\b{_OFF}{_ANY}\s+(?:sandbox(?:es|ing)?|firewalls?|antivirus|selinux|apparmor|seccomp"
        r"|malware (?:scans?|protection)|network (?:isolation|policy)|gatekeeper|defender|two-factor"
        r"|2fa|mfa|audit log(?:s|ging)?|branch protections?|rate limits?)\b",
    ),
    sign(
        "weakens/sandbox",
        "sandbox setenforce ufw iptables spctl unconfined privileged",
        rf"\bsandbox(?:ing)?{_IS_OFF}|\bsetenforce\s+0\b|\bufw\s+disable\b|\biptables\s+-F\b|\bspctl\s+--master"
        r"-disable\b|--security-opt\s+\S*unconfined|\bdocker\s+run\b[^\n]{0,80}--privileged\b",
    ),
    sign(
        "weakens/redaction",
        f"{_WAYS_OFF}; redact mask secret gitleaks trufflehog leak scan",
        rf"\b{_OFF}{_ANY}\s+(?:redact(?:ion|ing|or)?|masking|secret[- ]?(?:scan(?:ner|ning|s)?"
        r"|detect(?:ion|or)|checks?)|gitleaks|trufflehog|detect-secrets|leak detection|scann(?:er"
        r"|ing)|scans?)\b",
    ),
    sign(
        "weakens/redaction",
        "redact scann",
        rf"\b(?:redaction|secret[- ]scann(?:er|ing)){_IS_OFF}|--no-redact(?:ion)?\b|--redact[= ](?:off"
        r"|false|none|no)\b",
    ),
)
_INSECURE = Signs(
    sign(
        "weakens/verification",
        "curl; -k insecure -",
        r"\bcurl\b[^\n`;|&]*?\s(?:(?-i:-[a-zA-Z]*k[a-zA-Z]*)|--insecure)\b[^\n`;|&]*",
    )
)


def findings(passage: Passage) -> Iterator[SafetyFinding]:
    """The safeguards that a text advises to weaken."""
    for rule, match in advised(passage, _SIGNS):
        yield finding(rule, match.group())
    for rule, match in advised(passage, _INSECURE):
        if any(map(is_outside, hosts_in(match.group()))):
            yield finding(rule, match.group())


FAMILY = SignFamily(findings, _SIGNS, _INSECURE)
