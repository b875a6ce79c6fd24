"""Data that leaves: keys, the environment, files or conversations that a text advises to send to an "
"address outside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent_wiki.safety.finding import SafetyFinding, finding
from agent_wiki.safety.hosts import outside_hosts
from agent_wiki.safety.reading import Passage
from agent_wiki.safety.signs import Signs, advised, programs_named, sign
from agent_wiki.shell.simple_commands import SimpleCommand, simple_commands
from agent_wiki.shell.syntax import PIPES
from agent_wiki.trajectory.lazily import regex

_SENDERS = frozenset({"curl", "wget", "nc", "ncat", "netcat", "socat", "telnet", "scp", "rsync", "sftp", "ftp", "mail"})
_SENDERS_BY_PATH = frozenset({"mailx", "sendmail", "http", "https", "xh", "ssh", "iwr", "invoke-webrequest", "rclone"})
_ANY_SENDER = programs_named(_SENDERS | _SENDERS_BY_PATH)
SECRET_FILE = regex(
    r"(?:\.ssh/|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws/|\.gnupg|\.netrc\b|\.npmrc\b|\.pypirc\b"
    r"|\.git-credentials|\.kube/config"
    r"|\.docker/config|(?<![\w.])\.env(?:\.\w+)?\b(?!\.(?:example|sample|template))|credentials?\b(?:\.\w+"
    r")?|/etc/(?:passwd|shadow)"
    r"|secrets?\.(?:ya?ml|json|toml|env)|\bkeychain\b|login data|\.config/(?:gh|gcloud|credentials)"
    r"|\.claude/|\.codex/auth|wallet|\.\w*_history\b)",
    re.IGNORECASE,
)
_SECRET_VARIABLE = regex(
    r"(?:\$\{?|%|\$env:)(\w*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY"
    r"|CREDENTIALS?|DATABASE_URL)\w*)",
    re.IGNORECASE,
)
_PACKERS = frozenset({"tar", "zip", "pg_dump", "mysqldump", "history"})
_WHOLE_ENVIRONMENT = frozenset({"env", "printenv", "set", "export", "declare"})
_BODY = regex(
    r"^(?:-d|--data\S*|-F|--form\S*|-T|--upload-file|--json|--post-data\S*|--post-file\S*"
    r"|--body-\S+|-Body)$"
)
_SECRET_STORE = regex(
    r"^(?:kubectl get secrets?|gh auth token|vault (?:kv get|read)|op read|pass show|aws configure export"
    r"|security find)\b"
)
_PIPED_SPANS = regex(r"\bpipe\s+(?:the output of\s+)?`([^`\n]+)`\s+(?:in)?to\s+`([^`\n]+)`", re.IGNORECASE)
_HEADER = frozenset({"-H", "--header", "-u", "--user", "-b", "--cookie", "--oauth2-bearer"})
_SUBSTITUTED = regex(
    r"(?:\$\(|`)\s*(env|printenv|set|export|cat\s[^)`]*|base64\s[^)`]*|git\s+config[^)`]*|history[^)`]*|tar\s[^)`]*)"
)
_KEYS = (
    r"(?:(?:api|access|private|ssh|deploy|signing|secret|encryption|auth|session|service"
    r"|cloud|aws|npm|github|root)[- ]?)*"
    r"(?:keys?|tokens?|passwords?|credentials?|secrets?|passphrases?|cookies?|seed phrase"
    r"|environment(?: variables?)?|env vars?|\.env)"
)
_THINGS = (
    r"(?:conversation|transcript|chat history|(?:whole |entire |full )?(?:history|prompt"
    r"|system prompt|repository|source code|source tree"
    r"|codebase|working tree|home (?:directory|folder)|database(?: dump)?)|customer (?:data"
    r"|records)|user data|sources|shell history|logs? with)"
)
_ADDRESS = regex(
    r"(?:\b(?:to|into|onto|at|via|with|through|in|on)\b[^.\n]{0,80}?)"
    r"(?:https?:|\b[\w.+-]{1,64}@[\w-]{1,60}\.[a-z]{2,}|\bwebhook|\bpastebin|\bgist\b|\bstranger"
    r"|(?<![\w./-])(?:[a-z0-9-]{1,60}\.){1,4}(?!(?:md|py|js|ts|txt|json|ya?ml|toml|sh|env"
    r"|lock|cfg|ini|log|csv|html)\b)"
    r"[a-z]{2,12}(?=[/\s`'\".,?]|$)"
    r"|external (?:server|address|service|endpoint))",
    re.IGNORECASE,
)
_PLACE = regex(r"\b(?:issue|comment|description|message)\b", re.IGNORECASE)
_MOST_TO_ADDRESS = 200  # characters
_SEND = (
    r"\b(?:send|export(?:ing)?|sending|upload|uploading|post|posting|attach|mail|e-?mail|share|forward|paste"
    r"|transmit|exfiltrate|submit|report|copy|publish|push"
    r"|include|append|log|ship|leak|sync|mirror|back ?up|deliver)\b"
)
_SENDING = (
    "send export upload post attach mail share forward paste transmit exfiltrat submit report copy publish push "
    "includ append log ship leak"
    " sync mirror back deliver"
)
_SECRETS = "key token password credential secret passphrase cookie seed environment env"
_PROSE = Signs(
    sign("sends/secrets", f"{_SENDING};{_SECRETS}", rf"{_SEND}[^.\n]{{0,60}}?(?<![\w-]){_KEYS}(?![\w-])"),
    sign(
        "sends/secrets",
        f"{_SENDING};content",
        rf"{_SEND}[^.\n]{{0,30}}?\bcontents? of\b[^\n]{{0,20}}?(?:\.env\b|\.ssh|credentials|\.netrc|the environment)",
    ),
    sign(
        "sends/secrets",
        f"{_SENDING};printenv env /etc/",
        rf"{_SEND}[^.\n]{{0,30}}?\b(?:output|result|contents?) of\b[^\n]{{0,10}}?(?:\bprintenv\b"
        r"|`env`|/etc/(?:passwd|shadow))",
    ),
    sign(
        "sends/files",
        f"{_SENDING};conversation transcript history prompt repositor source tree codebase home database"
        " customer user~data log",
        rf"{_SEND}[^.\n]{{0,40}}?\b{_THINGS}\b",
    ),
)
_INTO_ANSWERS = Signs(
    sign(
        "sends/secrets",
        f"![;{_SECRETS}",
        r"!\[[^\]\n]{0,80}\]\s?\([^)\n]{0,200}\?[^)\n]{0,100}(?:token|key|secret|password|cookie|env)\w*",
    ),
    sign(
        "sends/secrets",
        "/etc/ .ssh id_rsa id_ed25519 .aws .netrc credentials; read cat open print dump show",
        r"\b(?:read|cat|open|print|dump|show)\b[^.\n]{0,20}(?:/etc/(?:passwd|shadow)|\.ssh/|\bid_(?:rsa"
        r"|ed25519)|\.aws/|\.netrc"
        r"|\.config/credentials)[^\n]{0,40}?\b(?:include|repeat|copy|paste|put|add|send|quote|print)\b",
    ),
    sign(
        "sends/secrets",
        f"print repeat output show echo reveal write include put paste copy embed add hide encode;{_SECRETS}",
        r"\b(?:print|repeat|output|show|echo|reveal|write|include|put|paste|copy|embed|add|hide"
        r"|encode)\b[^.\n]{0,40}?"
        rf"(?<![\w-]){_KEYS}(?![\w-])[^.\n]{{0,40}}?\b(?:in(?:to)?|as part of|with|to|at the end of)\s+"
        r"(?:the|your|each|every|an?|its|any)\s+(?:\w+\s+)?(?:answer|reply|response|summary|commit(?: message)"
        r"?|readme"
        r"|pull request|url|query|link|image|comment|description|issue|output)\b",
    ),
)
_HARMLESS_CONTEXT = regex(
    r"\b(?:header|authorization|bearer|secret manager|vault|keyring|password manager|env\.example)\b", re.IGNORECASE
)


def findings(passage: Passage) -> Iterator[SafetyFinding]:
    """What a text advises to send to somebody."""
    for rule, match in advised(passage, _PROSE):
        rest = passage.seen[match.end() : match.end() + _MOST_TO_ADDRESS].partition("\n")[0]
        if (address := _ADDRESS.search(rest)) or ("content" in match.group() and (address := _PLACE.search(rest))):
            said = match.group() + rest[: address.end()]
            if not _HARMLESS_CONTEXT.search(said):
                yield finding(rule, said)
    for rule, match in advised(passage, _INTO_ANSWERS):
        yield finding(rule, match.group())
    if _ANY_SENDER.search(passage.lower):
        yield from sent_by(passage.commands)
        for spans in _PIPED_SPANS.finditer(passage.seen):
            if passage.is_advised(spans.start(), spans.end()):
                yield from sent_by(simple_commands(f"{spans[1]} | {spans[2]}"))


def sent_by(commands: Sequence[SimpleCommand]) -> Iterator[SafetyFinding]:
    """What commands send, alone or through a pipe."""
    piped: list[SimpleCommand] = []
    for command in commands:
        if _sends(command):
            yield from _sent(command, piped)
        piped = [*piped, command] if command.after in PIPES else []


def _sends(command: SimpleCommand) -> bool:
    return command.program.lower() in (_SENDERS | _SENDERS_BY_PATH)


def _sent(command: SimpleCommand, piped: Sequence[SimpleCommand]) -> Iterator[SafetyFinding]:
    text = " ".join(command.words)
    if not (outside_hosts(text) or _names_outside(command)):
        return
    shown = " | ".join(each.source or each.text() for each in (*piped, command))
    if any(_is_secret_source(each) for each in piped) or _carries_secret(command):
        yield finding("sends/secrets", shown)
    elif "$(tar" in text or any(each.program in _PACKERS for each in piped):
        yield finding("sends/files", shown)


def _names_outside(command: SimpleCommand) -> bool:
    """A host without a path: `nc backup.example 4444`, `scp key host:`, `mail a@b.example`."""
    words = " ".join(f"{word.partition(':')[0].rpartition('@')[2]}/x" for word in command.words[1:])
    return bool(outside_hosts(words))


def _is_secret_source(command: SimpleCommand) -> bool:
    is_environment = command.program in _WHOLE_ENVIRONMENT and len(command.words) == 1
    if _SECRET_STORE.match(" ".join(command.words)):
        return True
    return is_environment or bool(SECRET_FILE.search(" ".join(command.words[1:]))) or command.program == "printenv"


def _carries_secret(command: SimpleCommand) -> bool:
    """A secret in what is sent: in the address or the body, not in a header, which is how a service is spoken to."""
    is_header = False
    for word in command.words[1:]:
        if is_header:
            is_header = False
            continue
        is_header = word in _HEADER
        if _BODY.match(word):
            continue
        if _is_leak(word, command):
            return True
    return False


def _is_leak(word: str, command: SimpleCommand) -> bool:
    if any(_is_foreign(match[1], command) for match in _SECRET_VARIABLE.finditer(word)):
        return True
    substituted = _SUBSTITUTED.search(word)
    if substituted and (substituted[1] in ("env", "printenv", "set", "export") or SECRET_FILE.search(word)):
        return True
    is_file = "@" in word or command.program in ("scp", "rsync", "sftp", "wget") or not word.startswith("-")
    return is_file and "://" not in word and bool(SECRET_FILE.search(word)) and "@example" not in word


def _is_foreign(variable: str, command: SimpleCommand) -> bool:
    """Whether a secret goes to somebody else's service: its name does not name the host."""
    owner = variable.lower().partition("_")[0]
    return not any(len(owner) > 2 and owner in host for host in outside_hosts(" ".join(command.words)))
