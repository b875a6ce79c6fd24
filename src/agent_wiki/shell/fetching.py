"""Commands that fetch what strangers wrote: from the web, from a forge, from a mailbox; and where they put it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agent_wiki.shell.hosts import is_outside
from agent_wiki.trajectory.lazily import dataclass, regex

_DOWNLOADERS = frozenset({"wget", "aria2c"})
_CLIENTS = frozenset({"curl", "http", "https", "xh", "curlie", "invoke-webrequest", "invoke-restmethod", "iwr", "irm"})
WEB_CLIENTS = _CLIENTS | _DOWNLOADERS
"""The programs that fetch what an address names, in lower case."""
_BROWSERS = frozenset(
    {"lynx", "w3m", "links", "elinks", "chromium", "chromium-browser", "google-chrome", "agent-browser", "browser-use"}
)
_MAIL = frozenset({"mail", "mailx", "mutt", "neomutt", "himalaya", "notmuch", "mu", "gog", "gws"})
# What a forge's client prints of what anybody may have written there.
_FORGES = frozenset({"gh", "glab", "hub", "tea"})
_FORGE_READS = {
    "api": frozenset[str](),
    "issue": frozenset({"view", "list", "status", "show"}),
    "pr": frozenset({"view", "list", "diff", "status", "show"}),
    "mr": frozenset({"view", "list", "diff", "show"}),
    "release": frozenset({"view", "list", "download"}),
    "gist": frozenset({"view", "list", "clone"}),
    "repo": frozenset({"view", "list"}),
    "search": frozenset[str](),
}
_REGISTRY_READS = {"npm": {"view", "info", "show", "search"}, "cargo": {"search", "info"}, "gem": {"search", "info"}}
_OUTPUT_OPTIONS = {
    "curl": ("-o", "--output"),
    "wget": ("-O", "--output-document"),
    "aria2c": ("-o", "--out"),
    "http": ("-o", "--output"),
    "https": ("-o", "--output"),
    "xh": ("-o", "--output"),
    "gh": ("-O", "--output"),
    **dict.fromkeys(("iwr", "irm", "invoke-webrequest", "invoke-restmethod"), ("-OutFile",)),
}
# Letters before the O take no value: `-XPOST` names a method.
_NAMED_BY_ADDRESS = regex(r"-[aBfgGiIjJklLMnNpqRsSv#0-9]*O[A-Za-z]*|--remote-name(?:-all)?")
_ADDRESS = regex(r"(?:(?:https?|ftps?|wss?|git|ssh)://)?(?:[^@/\s:]{1,80}@)?(\[[0-9a-fA-F:]{2,40}\]|[\w.-]{1,200})")
_LOOKS_LIKE_ADDRESS = regex(
    r"(?:https?|ftps?|wss?)://|:\d|[\w-]{1,80}(?:\.[\w-]{1,80}){1,6}(?:[:/]|$)|localhost\b|\[?::1"
)
_TAKES_NOTHING = regex(r"[^-].*|-[sSLfkivIgNJOq]+|--(?:silent|location|fail|insecure|compressed|head|quiet|show-error)")
_IN_CODE = regex(
    r"\b(?:requests|httpx|session|client)\.(?:get|post|request)\(|\burlopen\(|\burlretrieve\(|\bfetch\(|\baxios\b"
    r"|\bhttps?\.get\(|\bNet::HTTP\b|\bLWP::|\bfile_get_contents\(['\"]http"
)
# Clients that call the application at hand within the same process.
_OF_TESTS = regex(r"\bTestClient\(|\btest_client\(|\bASGITransport\(|\bWSGITransport\(|\bsupertest\b")
_ADDRESS_IN_CODE = regex(r"https?://([^/\s:'\"?#)]{1,200})")
_VARIABLE = regex(r"\$\{?(\w{1,60})\}?")


@dataclass(frozen=True, slots=True)
class Fetch:
    """What a command fetches: the files it goes `into`, whether it `is_printed`; of a clone its folder and address."""

    into: tuple[str, ...] = ()
    is_printed: bool = True
    clone: str = ""
    address: str = ""


def fetch_of(words: Sequence[str], known: Mapping[str, str]) -> Fetch | None:
    """What a command fetches from strangers; None where it fetches nothing, or from this machine or its network.

    In: the words from the program on, and the values of shell variables as far as they are known.
    """
    program, rest = words[0].rpartition("/")[2] if words else "", list(words[1:])
    if program.lower() in WEB_CLIENTS:  # PowerShell's names in any case
        return _download(program.lower(), rest, known)
    if program == "git" and rest[:1] == ["clone"]:
        return _clone(rest[1:], known)
    is_forge = program in _FORGES and _is_forge_read(rest)
    is_registry = rest[:1] != [] and rest[0] in _REGISTRY_READS.get(program, ())
    if is_forge or is_registry or (program in _MAIL and rest):
        return Fetch(into := _options(rest, _OUTPUT_OPTIONS.get(program, ())), is_printed=not into)
    if program in _BROWSERS and _addresses(rest, known):
        return Fetch() if _is_of_strangers(rest, known) else None
    return None


def fetches_in_code(text: str) -> bool:
    """Whether a script in Python, JavaScript, Ruby or Perl fetches something from strangers."""
    hosts = _ADDRESS_IN_CODE.findall(text)
    if not hosts and _OF_TESTS.search(text):
        return False
    return _IN_CODE.search(text) is not None and (not hosts or any(is_outside(host) for host in hosts))


def _download(program: str, rest: list[str], known: Mapping[str, str]) -> Fetch | None:
    if not _is_of_strangers(rest, known) or {"--version", "--help", "-V"} & set(rest[:1]):
        return None
    into = _options(rest, _OUTPUT_OPTIONS.get(program, ()))
    address = next(iter(_addresses(rest, known)), "")
    is_named = program in _DOWNLOADERS or any(map(_NAMED_BY_ADDRESS.fullmatch, rest))
    if not into and is_named and address:
        into = (address.partition("?")[0].rstrip("/").rpartition("/")[2] or "index.html",)
    files = tuple(each for each in into if each not in ("-", "/dev/stdout", "/dev/null"))
    return Fetch(files, is_printed=not into or bool({"-", "/dev/stdout"} & set(into)), address=address)


def _clone(rest: list[str], known: Mapping[str, str]) -> Fetch | None:
    plain = [word for at, word in enumerate(rest) if not word.startswith("-") and not _is_value(rest, at)]
    address = _filled(plain[0], known) if plain else ""
    is_remote = "://" in address or re.match(r"[^@/\s]+@[\w.-]+:", address) is not None
    if not is_remote or address.startswith("file:"):
        return None
    folder = plain[1] if len(plain) > 1 else address.rstrip("/").removesuffix(".git").rpartition("/")[2]
    return Fetch(is_printed=False, clone=folder, address=address)


def _is_value(rest: Sequence[str], at: int) -> bool:
    return at > 0 and rest[at - 1] in ("-b", "--branch", "--depth", "-o", "--origin", "--filter", "-c", "-j")


def _is_forge_read(rest: Sequence[str]) -> bool:
    plain = [word for word in rest if not word.startswith("-")]
    verbs = _FORGE_READS.get(plain[0]) if plain else None
    return verbs is not None and (not verbs or (len(plain) > 1 and plain[1] in verbs))


def _options(rest: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """The values of options, written apart, behind `=` or, of a letter, behind other letters or at once."""
    found: list[str] = []
    for at, word in enumerate(rest):
        name, _, value = word.partition("=")
        is_bundle = re.fullmatch(r"-[A-Za-z]*[oO]", word) is not None and f"-{word[-1]}" in names
        if word in names or is_bundle:
            found += rest[at + 1 : at + 2]
        elif value and name in names:
            found.append(value)
        elif re.fullmatch(r"-[A-Za-z]*[oO]-", word):  # `wget -qO-`
            found.append("-")
    return tuple(found)


def _is_of_strangers(rest: Sequence[str], known: Mapping[str, str]) -> bool:
    """Whether an address is of another network, or none is known."""
    if "--unix-socket" in rest:
        return False
    found = _addresses(rest, known)
    if any(each.startswith(":") for each in found):
        return False  # HTTPie's short form of this machine
    hosts = [match[1] for each in found if (match := _ADDRESS.match(each))]
    return not hosts or any(is_outside(host) for host in hosts)


def _addresses(rest: Sequence[str], known: Mapping[str, str]) -> list[str]:
    """The words that are addresses, variables filled in; without a scheme only where no option takes the word."""
    filled = [_filled(word, known) for word in rest]
    whole = [word for word in filled if "://" in word and not word.startswith("-") and " " not in word]
    return whole or [
        word
        for at, word in enumerate(filled)
        if _LOOKS_LIKE_ADDRESS.match(word) and (not at or _TAKES_NOTHING.fullmatch(filled[at - 1]))
    ]


def _filled(word: str, known: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: known.get(match[1], match[0]), word)
