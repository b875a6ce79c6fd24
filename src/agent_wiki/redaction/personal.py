"""Personal data, replaced by stand-ins: user names in home directories, mail addresses, customers in known fields.

A stand-in is the same everywhere: `/home/user`, `someone@example.com`, `[first_name]`. So it does not depend on which
recordings were read, or in which order; what two people's sessions teach becomes one rule; and a quote fits its turn
whenever both were given stand-ins. Names that are nobody's own stay, and so does everything in prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.evidence import is_verbatim
from agent_wiki.trajectory.lazily import regex

USER = "user"
MAIL = "someone@example.com"


def _words_of(text: str) -> frozenset[str]:
    """The words of a list, for tables that people read."""
    return frozenset(text.split())


_NOBODY = _words_of(
    """
    root user users username user-name your-name yourname you name me someone runner runneradmin ubuntu debian
    centos fedora vscode node codespace gitpod vagrant docker ec2-user azureuser opc pi admin administrator
    guest test dev developer app agent build builder ci circleci jenkins git linuxbrew sandbox nonroot jovyan
    postgres www-data deploy openhands shared public default all envs
    """
)
_NAME = r"(?P<name>[A-Za-z_][\w-]{0,40}(?:\.[\w-]{1,40}){0,3})(?P<next>[/\\])?"
_DOMAIN_OF_USERS = (
    r"(?:(?:users|staff|students|faculty|people)/|(?:[\w-]{1,30}\.){1,3}(?:local|lan|corp|com|net|org|edu)/)?"
)
_HOMES = (  # each begins with a literal, which texts are searched for first
    ("/home/", regex(rf"/home/{_DOMAIN_OF_USERS}{_NAME}")),
    ("/Users/", regex(rf"/Users/{_NAME}")),
    ("Users\\", regex(rf"Users\\{{1,16}}{_NAME}")),
    ("\\/home\\", regex(rf"\\{{1,4}}/home\\{{1,4}}/{_NAME}")),  # in JSON with its slashes escaped
    ("\\/Users\\", regex(rf"\\{{1,4}}/Users\\{{1,4}}/{_NAME}")),
)
# Paths that say what they are a part of: an address's parameter, a share of WSL, a folder that an editor has elsewhere.
_HOMES_OF_OTHERS = (
    (
        "%2F",
        regex(rf"(?:(?<![\w.%-])|(?<=%3A)|(?<=%2[02C])|(?<=%3A%2F%2F))%2F(?:home|Users)%2F{_NAME}(?=%2F|[^\w%-]|\Z)"),
    ),
    ("wsl", regex(rf"wsl(?:\$|\.localhost)[\\/]{{1,16}}[\w.-]{{1,40}}[\\/]{{1,16}}home[\\/]{{1,16}}{_NAME}")),
    ("vscode-remote:", regex(rf"vscode-remote://[^/\s\"']{{1,200}}/(?:home|Users)/{_NAME}")),
)
_BEFORE = regex(  # where a home directory may begin, and not a route or a folder in some project
    r"(?:(?:[^\w.$}/\-\\]|\\[nrt]|(?:\x1b|\\u001[bB])\[[\d;]{0,8}[mK])"  # a colour, as `ls` shows folders in
    r"(?:(?:/mnt)?/[A-Za-z]|/var|/export)?|file://|[A-Za-z]:[\\/]{0,16})\Z"
)
_LONGEST_BEFORE = 24
_ENCODED = regex(r"-(?:home|Users)-(?P<name>[A-Za-z][A-Za-z0-9]{0,40})(?=-)")  # a path as a folder's name
_SIGNS_OF_ENCODED = ("-home-", "-Users-")
_SIGN_OF_PEOPLE = "_name"

_DOMAIN = regex(r"@(?P<domain>(?:[A-Za-z0-9-]{1,63}\.){1,5}(?P<top>[A-Za-z]{2,24}))(?![\w-]|\.\w|:[/~\w])")
# Letters of another script right before it are words; macOS mounts a drive of Google's under its owner's address.
_LOCAL = regex(r"(?:(?<![A-Za-z0-9_.+%/@-])|(?<=CloudStorage/))[A-Za-z0-9][A-Za-z0-9_.+%-]{0,63}\Z")
_LONGEST_LOCAL = 80
_MAIL_IN_AN_ADDRESS = regex(  # of a page: a parameter, or a user before a host
    r"(?<![\w.+%/@-])(?P<local>[A-Za-z0-9][\w.+-]{0,63})%40"
    r"(?P<domain>(?:[A-Za-z0-9-]{1,63}\.){1,5}(?P<top>[A-Za-z]{2,24}))(?![\w-]|\.\w)"
)
_NO_PERSON = _words_of(
    """
    git hg noreply no-reply donotreply do-not-reply support help info security abuse admin root postmaster
    actions bot ci openhands
    """
)
_NO_DOMAIN = regex(
    r"(?:.*\.)?(?:example(?:\.(?:com|org|net|edu))?|test|invalid|localhost|local|internal)", re.IGNORECASE
)
_FILE_ENDINGS = _words_of(
    """
    png jpg jpeg gif svg webp ico css scss js mjs cjs ts tsx jsx json md py rb go rs java kt swift cpp hpp sh
    html htm xml yaml yml toml lock txt log map so dylib dll exe zip gz tgz tar whl service timer
    """
)

_PEOPLE = ("customer_name", "first_name", "last_name", "full_name")
_FIELDS = (*_PEOPLE, "phone", "phone_number", "address", "address1", "address2", "street", "street_address", "zip",
           "zip_code", "postal_code")  # fmt: skip
_FIELD = regex(
    rf"(?P<quote>\\{{0,3}}[\"'])(?P<field>{'|'.join(_FIELDS)})(?P=quote)\s{{0,3}}:\s{{0,3}}"
    r"(?P<open>\\{0,3}[\"'])(?P<value>[^\"'\\\n]{1,200})(?P=open)"
)


def replace_personal(trajectory: Trajectory) -> None:
    """Put stand-ins into a trajectory, in place: content, thinking, call arguments and the texts of `source`.

    Raises nothing. Idempotent.
    """
    source = trajectory.source
    names = {name for text in _texts_of(trajectory) for name in home_names(text)} | {*home_names(f"{source.cwd}/")}
    stand_in = stand_in_for(names)
    for message in trajectory.messages:
        message.content = message.content and stand_in(message.content)
        message.thinking = message.thinking and stand_in(message.thinking)
        for call in message.tool_calls:
            call.arguments = stand_in(call.arguments)
    for field in ("title", "cwd", "git_branch", "exit_status", "file"):
        setattr(source, field, (text := getattr(source, field)) and stand_in(text))


def _texts_of(trajectory: Trajectory) -> Iterator[str]:
    for message in trajectory.messages:
        yield from (message.content or "", message.thinking or "")
        yield from (call.arguments for call in message.tool_calls)


def home_names(text: str) -> Iterator[str]:
    """The user names in a text's home directories of which more than the name is given."""
    if not _may_show_homes(text):
        return
    found = (match for sign, pattern in _HOMES if sign in text for match in pattern.finditer(text))
    yield from (match["name"] for match in found if match["next"] and _is_a_home(match))


def _may_show_homes(text: str) -> bool:
    return "home" in text or "Users" in text


def stand_in_for(names: Iterable[str] = ()) -> Callable[[str], str]:
    """What puts stand-ins into a text; `names` are user names that are known besides those the text shows."""
    known = {*names}
    folders = sorted(
        (re.sub(r"[^A-Za-z0-9]", "-", name) for name in known if not name.isalnum()), key=len, reverse=True
    )
    encoded = re.compile(rf"(?<=-home-|Users-)(?:{'|'.join(folders)})(?![A-Za-z0-9])") if folders else None

    def home(match: re.Match[str]) -> str:
        is_one = match["next"] or match["name"] in known or not match.group().lstrip("\\").startswith("/home")
        return _with_user(match) if is_one and _is_a_home(match) else match.group()

    def without_homes(text: str) -> str:
        for sign, pattern in _HOMES:
            text = pattern.sub(home, text) if sign in text else text
        for sign, pattern in _HOMES_OF_OTHERS:
            text = pattern.sub(_with_user_for_a_person, text) if sign in text else text
        if any(sign in text for sign in _SIGNS_OF_ENCODED):
            text = encoded.sub(USER, text) if encoded else text
            text = _ENCODED.sub(_with_user_for_a_person, text)
        return text

    def stand_in(text: str) -> str:
        text = without_homes(text) if _may_show_homes(text) else text
        text = _without_mail(text) if "@" in text else text
        text = _MAIL_IN_AN_ADDRESS.sub(_with_nobody, text) if "%40" in text else text
        return _FIELD.sub(_with_field, text) if _SIGN_OF_PEOPLE in text and _is_data(text) else text

    return stand_in


def is_verbatim_in_stand_ins(trajectory: Trajectory, turn: int, quote: str) -> bool:
    """Whether a quote that a wiki holds is verbatim in its turn, also one from before there were stand-ins."""
    if is_verbatim(trajectory, turn, quote):
        return True
    replaced = _FIELD.sub(_with_field, stand_in_for(home_names(quote))(quote))
    return replaced != quote and is_verbatim(trajectory, turn, replaced)


def _is_a_person(name: str) -> bool:
    return name.lower() not in _NOBODY


def _is_after_drive(before: str, after: str) -> bool:
    """Whether a path leads to `Users`, with as many backslashes as behind it: `# Users\\n` in JSON is text."""
    leading, following = (len(text) - len(text.strip("\\")) for text in (f"x{before}", f"{after}x"))
    return before[-1:] in ("/", ":") or (leading > 0 and leading == following)


def _is_a_home(match: re.Match[str]) -> bool:
    start = match.start()
    before = match.string[max(0, start - _LONGEST_BEFORE) : start]
    if match.group().startswith("Users\\") and not _is_after_drive(before, match.group()[len("Users") :]):
        return False
    return _is_a_person(match["name"]) and _may_begin(before if start >= _LONGEST_BEFORE else f"\n{before}")


@lru_cache(maxsize=4096)
def _may_begin(before: str) -> bool:
    return _BEFORE.search(before) is not None


def _with_user(match: re.Match[str]) -> str:
    start, end = match.span("name")
    return f"{match.string[match.start() : start]}{USER}{match.string[end : match.end()]}"


def _with_user_for_a_person(match: re.Match[str]) -> str:
    return _with_user(match) if _is_a_person(match["name"]) else match.group()


def _is_data(text: str) -> bool:
    """Whether a text is data of a tool and not code that names such fields."""
    return text.lstrip()[:1] in ("{", "[")


def _with_field(match: re.Match[str]) -> str:
    start, end = (each - match.start() for each in match.span("value"))
    return f"{match.group()[:start]}[{match['field']}]{match.group()[end:]}"


def _without_mail(text: str) -> str:
    pieces: list[str] = []
    position = 0
    for match in _DOMAIN.finditer(text):
        local = _LOCAL.search(text, max(position, match.start() - _LONGEST_LOCAL), match.start())
        start = _after_escape(text, local.start()) if local else match.start()
        if (
            text[start : start + 1].isalnum()
            and start < match.start()
            and _is_of_a_person(text[start : match.start()], match)
        ):
            pieces += [text[position:start], MAIL]
            position = match.end()
    return "".join([*pieces, text[position:]]) if pieces else text


def _with_nobody(match: re.Match[str]) -> str:
    return MAIL.replace("@", "%40") if _is_of_a_person(match["local"], match) else match.group()


def _after_escape(text: str, start: int) -> int:
    """Where a name begins, in JSON behind a line break or a tab: `\\n@app.route` is a decorator and no address."""
    return start + 1 if text[start - 1 : start] == "\\" and text[start] in "nrt" else start


def _is_of_a_person(local: str, match: re.Match[str]) -> bool:
    is_file = match["top"].lower() in _FILE_ENDINGS
    is_nobody = local.lower() in _NO_PERSON or _NO_DOMAIN.fullmatch(match["domain"]) is not None
    return not is_file and not is_nobody
