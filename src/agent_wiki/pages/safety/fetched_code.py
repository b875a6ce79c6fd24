"""Code from elsewhere that is run: piped into a shell, evaluated, or saved and started; and code that was encoded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent_wiki.pages.safety.finding import SafetyFinding, finding
from agent_wiki.pages.safety.reading import Passage
from agent_wiki.pages.safety.secret_sources import assigned
from agent_wiki.pages.safety.signs import NamedPrograms, SignFamily, Signs, advised, sign
from agent_wiki.shell.fetching import WEB_CLIENTS, fetch_of
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import regex

_ANY_FETCHER = NamedPrograms(WEB_CLIENTS)
_FETCH = r"(?:\bcurl\b|\bwget\b|\baria2c\b|\biwr\b|\birm\b|\binvoke-(?:webrequest|restmethod)\b|\blynx\b|\bxh\b)"
_SHELL = r"(?:(?:ba|z|da|k|fi|c)?sh)\b(?!\s+-l?c\b)(?![./\w-])"
_OTHER = r"(?:python[\d.]*|node|perl|ruby|php|deno|bun)\b(?!\s+-{1,2}[a-zA-Z]*[cmepnr])(?![./\w])"
_RUN = (
    rf"(?:(?:sudo|env|exec|command|nohup|xargs)\s+(?:-\S+\s+)*)*(?:/\S*/)?(?:{_SHELL}|{_OTHER}"
    r"|iex\b|source\s+/dev/stdin)"
)
_ORDERED = "what script command code step instruction"  # in so many words, or in whatever is found
_FETCHERS_NAMED = "curl wget aria2c iwr irm invoke- lynx xh"
_SIGNS = Signs(
    sign(
        "runs/fetched-code",
        f"| ; {_FETCHERS_NAMED}",
        rf"{_FETCH}[^\n|;]{{1,300}}(?:\|(?!\s*{_RUN})[^\n|;]{{1,120}}){{0,3}}\|\s*{_RUN}",
    ),
    sign(
        "runs/fetched-code",
        f"$( ` <( ; {_FETCHERS_NAMED}",
        rf"(?:\beval|\bsource|\bexec|(?:^|[\s;&])\.|{_SHELL}|\b(?:python[\d.]*|node|perl|ruby"
        r"|php)|\b(?:ba|z|da)?sh\s+-l?c)\s+(?:-\S+\s+)*"
        rf"[\"']?(?:\$\(|`|<\()\s*(?:sudo\s+)?{_FETCH}",
    ),
    sign(
        "runs/fetched-code",
        "git~; |",
        rf"\bgit\s+(?:show|cat-file\s+\S+)\s+(?:FETCH_HEAD|[\w.-]+/[\w./-]+):[^\n|;]{{1,200}}\|\s*{_RUN}",
    ),
    sign(
        "runs/fetched-code",
        "iex invoke-expression",
        rf"\b(?:iex|invoke-expression)\b.{{0,60}}(?:{_FETCH}|downloadstring)",
    ),
    sign(
        "runs/fetched-code",
        "exec eval; urlopen urllib requests.get httpx.get fetch(",
        r"\bfetch\(.{0,200}?\.then\(\s*eval\b|\b(?:exec|eval)\s*\(.{0,200}?\b(?:urlopen|urllib"
        r"|requests\.get|httpx\.get|fetch\()",
    ),
    sign(
        "runs/fetched-code",
        "http:// https://",
        r"(?<![\w.-])(?:deno run|npx|bunx|uvx|pipx run|go run|bash|sh|node|python3?)\s+(?:-\S+\s+)*https?://",
    ),
    sign(
        "runs/fetched-code",
        "download fetch retrieve grab get; run execute source eval start launch",
        r"\b(?:download|fetch|retrieve|grab|get)\b[^.\n]{0,160}?(?:\band\b|\bthen\b|,)\s*(?:then\s+)?"
        r"(?:run|execute|source|evaluate|eval|start|launch)\s+(?:it|that|them|this|"
        r"(?:the|its) (?:downloaded |fetched |resulting )?(?:script|installer|file|binary|result"
        r"|output|contents?|code)s?)\b",
    ),
    sign(
        "runs/fetched-code",
        "run execute evaluate follow carry~out do obey; returned fetched served downloaded received loaded it~"
        f" page server site address; {_ORDERED}",
        r"\b(?:run|execute|evaluate|follow|carry out|do|obey)\s+(?:whatever|what|(?:all |any |every |each |the )*"
        r"(?:scripts?|commands?|codes?|steps|instructions?))\b[^.\n]{0,40}?\b(?:returned|fetched|served|downloaded"
        r"|received|loaded|(?:it|that page|this page|the page|the server|the site|that address) (?:says|gives|returns"
        r"|answers|lists|sends))\b",
    ),
    sign(
        "runs/fetched-code",
        f"run execute evaluate obey carry~out; {_ORDERED}; /",
        r"\b(?:run|execute|evaluate|obey|carry out)\s+(?:whatever|what|(?:all |any |every |each |the )*"
        r"(?:scripts?|commands?|codes?|steps|instructions?))\b[^.\n]{0,40}?\b(?:at|from|on|under|behind)\s+[`'\"]?"
        r"(?:https?://|(?:[a-z0-9-]+\.)+[a-z]{2,12}/)",
    ),
    sign(
        "runs/fetched-code",
        "apply obey execute carry~out; /",
        r"\b(?:fetch|download|load|get|read|retrieve|open)\s+[`'\"]?(?:https?://|(?:[a-z0-9-]+\.)+[a-z]{2,12}/"
        r")\S*\s+and\s+"
        r"(?:apply|obey|execute|carry out)\s+(?:every|all|each|any|whatever|everything)\b",
    ),
    sign(
        "runs/encoded-code",
        "base64 xxd openssl; |",
        rf"\b(?:base64|xxd|openssl\s+(?:enc|base64))\b[^\n|]{{0,120}}\|\s*{_RUN}",
    ),
    sign(
        "runs/encoded-code", "base64; $(", r"\b(?:eval|exec|source|sh -c|bash -c)\b.{0,40}?\$\([^)\n]{0,400}\bbase64\b"
    ),
    sign(
        "runs/encoded-code",
        "b64decode fromhex atob decompress; exec eval",
        r"\b(?:exec|eval)\s*\(.{0,120}?\b(?:b64decode|fromhex|atob|zlib\.decompress)\b",
    ),
    sign(
        "runs/encoded-code",
        "powershell pwsh",
        r"\b(?:powershell|pwsh)\b[^\n|]{0,80}\s-(?:e|en|enc|encodedcommand)\s+[A-Za-z0-9+/=]{16,}",
    ),
)
_INTERPRETERS = regex(r"^(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|node|perl|ruby|php|source|\.|deno|bun|open|start)$")
_CHECKERS = regex(r"^(?:sha(?:1|224|256|384|512)sum|shasum|md5sum|gpg2?|cosign|minisign|b2sum|slsa-verifier)$")


def findings(passage: Passage) -> Iterator[SafetyFinding]:
    """What a text advises to run that comes from elsewhere."""
    for rule, match in advised(passage, _SIGNS):
        yield finding(rule, match.group())
    if _ANY_FETCHER.may_run_in(passage):
        yield from saved_and_run(passage.commands)


FAMILY = SignFamily(findings, _SIGNS, _ANY_FETCHER)


def saved_and_run(commands: Sequence[SimpleCommand]) -> Iterator[SafetyFinding]:
    """A file that one command fetches and a later one runs, unless its digest or signature is checked between."""
    fetched: dict[str, str] = {}  # name of a file → the command that fetched it
    known: dict[str, str] = {}
    for command in commands:
        known |= assigned(command)
        if command.program.lower() in WEB_CLIENTS:
            fetched |= dict.fromkeys(_saved_as(command, known), command.source)
        elif _CHECKERS.match(command.program):
            fetched.clear()
        elif name := next((each for each in _started(command) if each in fetched), ""):
            yield finding("runs/fetched-code", f"{fetched[name]} … {command.source or command.text()}")


def _saved_as(command: SimpleCommand, known: Mapping[str, str]) -> set[str]:
    """The names under which a fetch from outside saves what it gets."""
    fetch = fetch_of(command.words, known)
    if fetch is None or not fetch.address:
        return set()
    return {_name(each) for each in (*fetch.into, *(command.writes if fetch.is_printed else ()))}


def _started(command: SimpleCommand) -> Iterator[str]:
    """The names of files that a command starts."""
    if _INTERPRETERS.match(command.program) or command.words[:1] == (".",):
        yield from (_name(each) for each in command.words[1:] if not each.startswith("-"))
    elif command.words and "/" in command.words[0]:
        yield _name(command.words[0])


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
