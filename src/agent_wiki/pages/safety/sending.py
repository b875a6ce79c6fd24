"""Data that leaves: keys, the environment, files or conversations that a text advises to send to an address outside."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.pages.safety import inline_code
from agent_wiki.pages.safety.finding import SafetyFinding, finding
from agent_wiki.pages.safety.reading import Passage
from agent_wiki.pages.safety.sent_commands import SENDING_PROGRAMS, sent_by
from agent_wiki.pages.safety.signs import NamedPrograms, SignFamily, Signs, advised, matches, sign
from agent_wiki.shell.simple_commands import simple_commands
from agent_wiki.trajectory.lazily import regex

_ANY_SENDER = NamedPrograms(SENDING_PROGRAMS | inline_code.INTERPRETERS)
_PIPED_SPANS = regex(r"\bpipe\s+(?:the output of\s+)?`([^`\n]+)`\s+(?:in)?to\s+`([^`\n]+)`", re.IGNORECASE)
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
    needs=("http", "@", "webhook", "pastebin", "gist", "stranger", ".", "external "),
)
# Where forges take what is pushed over SSH when port 22 is closed; with a path behind it, it is somebody's repository.
_FORGES_DOOR = regex(
    r"(?<![\w./-])(?:\w+@)?(?:ssh\.github\.com|altssh\.(?:gitlab\.com|bitbucket\.org))(?![\w-]|\.\w|\S{0,8}[:/]\S)",
    re.IGNORECASE,
)
_PUSHES = regex(r"push\b", re.IGNORECASE)
_PLACE = regex(r"\b(?:issue|comment|description|message)\b", re.IGNORECASE)
_MOST_TO_ADDRESS = 200  # characters
_SEND = (
    r"\b(?:send|export(?:ing)?|sending|upload|uploading|post|posting|attach|mail|e-?mail|share|forward|paste"
    r"|transmit|exfiltrate|submit|report|copy|publish|push"
    r"|include|append|log|ship|leak|sync|mirror|back ?up|deliver|hand (?:in|over)|deposit|transfer|relay)\b"
)
_SENDING = (
    "send export upload post attach mail share forward paste transmit exfiltrat submit report copy publish push "
    "includ append log ship leak"
    " sync mirror back deliver hand~in hand~over deposit transfer relay"
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
        ".ssh id_rsa id_ed25519 id_ecdsa .aws .netrc .git-credentials /etc/shadow; parameter argument field",
        r"(?:\.ssh/(?!config|known_hosts|\S*\.pub)|\bid_(?:rsa|ed25519|ecdsa)\b(?!\.pub)|\.aws/credentials|\.netrc"
        r"|\.git-credentials|/etc/shadow)[^\n]{0,60}\b(?:text|contents?|it|that|them)\b[^\n]{0,40}"
        r"\b(?:parameters?|arguments?|fields?)\b",
    ),
    sign(
        "sends/files",
        "@; bcc blind hidden undisclosed invisible",
        r"\b(?:add|put|set|include|copy|always)\b[^.\n]{0,40}@[\w-]+\.[\w.-]+[^.\n]{0,40}\b(?:bcc|blind|hidden"
        r"|undisclosed|invisible)\b|\b(?:add|put|set|include)\b[^.\n]{0,30}\bbcc\b[^.\n]{0,30}@[\w-]+\.[\w.-]+",
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
    for rule, match in matches(passage, _PROSE):
        rest = passage.seen[match.end() : match.end() + _MOST_TO_ADDRESS].partition("\n")[0]
        if _PUSHES.match(match.group()):
            rest = _FORGES_DOOR.sub(lambda door: " " * len(door.group()), rest)
        if (address := _ADDRESS.search(rest)) or ("content" in match.group() and (address := _PLACE.search(rest))):
            said = match.group() + rest[: address.end()]
            # What takes longest comes last: a text may name such things without end, and no address.
            if not _HARMLESS_CONTEXT.search(said) and passage.is_advised(match.start(), match.end()):
                yield finding(rule, said)
    for rule, match in advised(passage, _INTO_ANSWERS):
        yield finding(rule, match.group())
    if _ANY_SENDER.may_run_in(passage):
        yield from sent_by(passage.commands)
        yield from inline_code.findings(passage.commands)
        for spans in _PIPED_SPANS.finditer(passage.seen):
            if passage.is_advised(spans.start(), spans.end()):
                yield from sent_by(simple_commands(f"{spans[1]} | {spans[2]}"))


FAMILY = SignFamily(findings, _PROSE, _INTO_ANSWERS, _ANY_SENDER)
