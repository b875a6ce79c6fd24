"""Values given to names that suggest secrets: `PASSWORD=…`, `"api_key": "…"`, `--token …`, "my password is …"."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator

from agent_wiki.redaction.looks import Form, is_key, is_made_up, is_number, is_password, is_random, stands_for_it
from agent_wiki.redaction.shapes import UUID
from agent_wiki.trajectory.lazily import dataclass, regex

_LONGEST_OWNER = 14  # characters before `key` that may say whose key it is: "application", and a few more
NAME_WORDS = ("pass", "pwd", "pw", "secret", "token", "key", "_pat")
"""Words for a secret with which names end, in lower case."""

_PASSWORD_WORDS = ("pass", "pwd", "pw")
_KINDS = {"pass": "password", "pwd": "password", "pw": "password", "key": "api-key", "_pat": "token"}
_NAME_REST = regex(
    r"(?:word|wd|phrase)?(?:[_-]?(?:access[_-]?)?key)?(?:[_-]?(?:value|base64|b64|base|prod|dev|test|staging|live|\d{1,3}))?(?![\w-])",
    re.IGNORECASE,
)
_NAME_CHARACTERS = string.ascii_letters + string.digits + "_.-"
_KEY_OWNER = regex(
    r"(?:api|access|account|auth|private|encrypt\w{0,3}|signing|master|secret|storage|service|deploy|webhook|hmac|jwt"
    r"|admin|pre[_-]?shared|app|application|server|client|session|license|bot|consumer|subscription|function|project)[_.-]?\Z",
    re.IGNORECASE,
)
_KEY_IN_WORDS = regex(r"\b(?:api|access|private|encryption|signing|secret|master|auth|webhook) \Z", re.IGNORECASE)
_SESSIONS_ID = regex(rf"(?s:.*)session[_.-]?{UUID}", re.IGNORECASE)
_HERE_IS = regex(r"\b(?:here(?:'s| is)|use|with) (?:the|my|your|our|this) \Z", re.IGNORECASE)  # key: …
_TAKES_TOKEN = regex(r"\b(?:use|using|with|try|take) (?:(?:the|this|my|our) )?(?:\w{1,20} )?\Z", re.IGNORECASE)
_PART_OF_A_NAME = regex(r"\w[_-]\Z")
_OF_A_USER = regex(r"\b(?:user(?:name)?|login|account|admin|root)\b[^\n]{1,80}\W\Z", re.IGNORECASE)
_LEAST_IN_WORDS = 20  # characters: "the API key is …" is said of much that is none
_PUBLIC_NAME = regex(  # as words of a name: `nextPageToken`, and neither RSYNC_TOKEN nor HOMEPAGE_TOKEN
    r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))(?i:next|page|continu\w{0,6}|cancel\w{0,8}|sync|cursor|eos|bos|pad|unk|mask"
    r"|sep|cls|stop|public|old)[_.-]?\Z"
)
LINE = (
    r"(?:\r?\n|(?:\\{1,2}r)?\\{1,2}n)(?:[\w./-]{1,80}(?::\d{1,6}[:-]|[ ]{1,12}\|))?"
    r"[^\w\n]{0,16}(?:\d{1,6}[^\w\n]{1,4})?[^\w\n\"'`]{0,16}"
)
"""A line break, and what `grep`, a log of containers, a diff or an editor puts before the line itself."""
_GIVEN = regex(
    r"""(?P<closing>\\{0,3}["'`]\]?)?
    (?:[ \t]{0,40}(?:(?P<typed>:[ ]?[A-Za-z_][\w.\[\]|? ]{0,30}=)|:=|=>|:|(?P<equals>=)(?![=~]))(?P<gap>[ \t]{0,40})
      |(?P<is>[ \t]{1,3}(?:is|was)[ \t]{1,3})|(?P<column>[ \t]{2,40})|(?P<space>[ \t]{1,4})|(?P<tag>>))
    (?:(?:N(?='))?(?P<quote>\\{0,3}["'`])(?P<quoted>[^"'`\\\n]{4,512}+)(?P=quote)
      |(?P<bare>(?!value=)[^\s"'`,;&|<>(){}\[\]\\]{6,512}+)(?![(\[{]))
    |(?P<apart>:[ ]?[|>][+-]?[ ]?__LINE__|:?\*\*:?[ ]{1,2}`?|[ ]{1,40}\|[ ]{1,3}`?
      |\\{0,3}["'][ ]?[,:][ ]?\{?(?:[ ]?|__LINE__)\\{0,3}["'](?:[Vv]alue|[Dd]efault)\\{0,3}["'][ ]?:[ ]?
      |\\{0,3}["'`]?[ ]?\{?(?:__LINE__type[ ]?=[ ]?\w{1,20})?__LINE__(?:[Vv]alue|[Dd]efault)\\{0,3}["']?[ ]?
        [:=](?:\*\*)?[ ]?
      |(?:[ ]is)?:(?:\*\*)?[ ]{0,2}(?:__LINE__(?:text|bash|sh|env)?){1,3})
      (?:\\{0,3}["'`])?(?P<set_apart>[^\s"'`,;&|<>(){}\[\]\\]{6,512}+)(?![(\[{])
    |(?:\\{0,3}["'][ ]?(?:,|value=|[ ]value=)[ ]?|\()\\{0,3}["'](?P<argument>[^"'`\\\s]{6,512}+)\\{0,3}["']
    |\\{0,3}["']?[ ]?(?::|=>)[ ]?\[(?:\s|\\{1,2}n){0,40}\\{0,3}["'](?P<listed>[^"'`\\\s:]{8,512}+)\\{0,3}["']
    """.replace("__LINE__", LINE),
    re.VERBOSE,
)
# "Password root: `…`", "enter the password (`…`)": a value in backticks that has letters, digits and a sign.
_WORDED = regex(
    r"(?:(?:[ ][\w@.-]{1,20}){1,5}:|[ ]\()(?:\*\*)?[ ]?(?:\*\*)?`"
    r"(?P<value>(?=[^`]{0,63}\d)(?=[^`]{0,63}[A-Za-z])(?=[^`]{0,63}[!@#$%^&*?+=])[^\s`\\(){}\[\]/]{6,64})`"
)
# "… is the password to this computer", "use … as the sudo password": the value comes first, and has a digit.
_SAID_BEFORE = regex(
    r"(?:\A|[\s\"'`(*:=>+-]|\\n)(?P<value>(?![+-])(?=[^\s\d]{0,63}\d)[!#%&+.0-9:=?@A-Z^_a-z~-]{6,64})[`\"'*]{0,3}"
    r" (?:(?:is|was)(?: now| still| also)?|(?P<as>as|for))(?: (?P<whose>the|my|our|your|a))?(?: \w{1,20}){0,2} \Z"
)
_TAKES = regex(r"(?:\b|\\n)(?i:use|enter|type|try|take|with) [`\"'*]{0,3}\Z")
_SAID = regex(r"word\b(?:(?! ?[\w-])|(?= (?:for|to|of|on|and)\b))")  # no word before another: "password reset"
_MINE = regex(r"(?:\b|\\n)(?:[Mm]y|[Oo]ur)(?: \w{1,20}){0,2} \Z")
# Of a .netrc, which may be one line; `config set <name> <value>`; variables of a Dockerfile and of Windows.
_SPACE_GIVES = regex(
    r"(?:\b|\\n)(?:login|set|setx|ENV|config create) (?:[^\n\\]|\\(?!n))*\Z"
    r"|[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,30}){1,3}[ ,;]{1,3}\Z"  # "kim@example.com, password …"
)
_BELOW_A_LOGIN = regex(rf"(?:\b|\\n)login \S{{1,60}}?{LINE}\Z")
_OF_A_MACHINE = regex(r"(?:\b|\\n)machine \S{1,80}(?:\s|\\n){1,12}login \S{1,60}(?:\s|\\n){1,12}\Z")  # of a .netrc
_PASSPHRASE = regex(
    r"(?!undefined|unavailable|configured|environment|credential|encrypted|plaintext|generated|database)"
    r"(?:[a-z]{10,64}|(?:[a-z]{4,20}-){2,5}[a-z]{4,20})(?=[ ]{0,9}(?:\r?\n|\\[rn]|\Z))"
)
_AFTER_A_BLANK = regex(r" -[\w-]*\Z")
_IN_A_TABLE = regex(r"\|[ *`]{0,8}[\w. -]{0,60}\Z")
_BEGINS_A_LINE = regex(rf"(?:\A|>|{LINE})[\w.-]*\Z")


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    end: int
    is_secret: bool


def named_spans(text: str, places: Iterable[int], name: str) -> Iterator[tuple[int, int, str]]:
    """Values given to names that end with a word for a secret (`name`); `places` are those of the word in the text."""
    passed = 0
    for position in places:
        if position < passed:
            continue
        value = _given_value(text, position, name)
        if value is None:
            continue
        if value.is_secret:
            yield value.start, value.end, _KINDS.get(name, name)
        passed = value.end  # words inside a value were judged with it


def _given_value(text: str, start: int, word: str) -> _Value | None:
    """The value given to the name that ends with the word at `start`; None if there is none."""
    rest = _NAME_REST.match(text, start + len(word))
    given = _GIVEN.match(text, rest.end()) if rest else None
    before = text[max(0, start - 80) : start]
    worded = _WORDED.match(text, rest.end()) if rest and word in _PASSWORD_WORDS and rest.group() != "" else None
    if worded is not None and not stands_for_it(worded["value"]):
        return _Value(*worded.span("value"), is_secret=True)
    said = _SAID_BEFORE.search(before) if word == "pass" and _SAID.match(text, start + len(word)) else None
    if said is not None and _is_said(said, before):
        begin = start - len(before)
        return _Value(begin + said.start("value"), begin + said.end("value"), is_secret=True)
    if rest is None or given is None or not _names_a_secret(before, word, rest.group(), given):
        return None
    if word == "key" and before.endswith(" ") and len(given[given.lastgroup or 0]) < _LEAST_IN_WORDS:
        return None
    if (given.group("apart") or "").lstrip(" ").startswith("|") and not _IN_A_TABLE.search(before):
        return None
    for group, is_one in (("set_apart", is_random), ("argument", is_random), ("listed", is_made_up)):
        if value := given.group(group):
            looks_secret = is_one(value) if word in _PASSWORD_WORDS else is_key(value)
            return _Value(*given.span(group), is_secret=looks_secret and not stands_for_it(value))
    group = "bare" if given.group("quoted") is None else "quoted"
    value = given.group(group)
    name = before[len(before.rstrip(_NAME_CHARACTERS)) :] + text[start : rest.end()]
    form = _form(name, before, given)
    is_a_word = name.lower() in _PASSWORD_WORDS  # of which much else is said: "pass: 12"
    if form == "none" or (is_a_word and not is_made_up(value)):
        return None
    if word in _PASSWORD_WORDS:
        looks_secret = is_password(value, group, form)
    else:
        looks_secret = is_key(value) and not (
            word == "key" and _SESSIONS_ID.fullmatch(f"{before[-_LONGEST_OWNER:]}{value}")
        )
    return _Value(*given.span(group), is_secret=looks_secret and not stands_for_it(value))


def _is_said(said: re.Match[str], before: str) -> bool:
    """Whether a value is said to be a password, and may be one: of one's own it may look like a name."""
    is_own = said["whose"] in ("my", "our") or is_made_up(said["value"])
    is_given = said["as"] is None or _TAKES.search(before, 0, said.start("value")) is not None
    return is_own and is_given and not stands_for_it(said["value"])


def _names_a_secret(before: str, word: str, rest: str, given: re.Match[str]) -> bool:
    if word == "key":
        end = before[-_LONGEST_OWNER:]
        return any(owner.search(end) for owner in (_KEY_OWNER, _KEY_IN_WORDS)) or _HERE_IS.search(before) is not None
    if word == "pass" and rest[:1].lower() not in ("w", "p"):  # not bypass, compass, `pass: 12`
        is_setting = before.endswith(".") and given["equals"] and not given["gap"]  # db.pass=…
        return bool(before.endswith(("_", "-")) or is_setting or _OF_A_USER.search(before))
    if word == "_pat":
        return not rest
    if word == "pwd":
        is_alone = before == "" or before.lower().endswith(("old", " ", "\n"))
        return not is_alone or _OF_A_USER.search(before) is not None
    if word == "pw":
        return any(sign.search(before) for sign in (_PART_OF_A_NAME, _OF_A_USER, _MINE)) and not rest
    return word in _PASSWORD_WORDS or not _PUBLIC_NAME.search(before[-_LONGEST_OWNER:])


def _form(name: str, before: str, given: re.Match[str]) -> Form:
    """How a value is given; literally is `NAME=value` of an environment, a flag, an element."""
    is_flag = name.startswith("--") and not given.group("closing")
    if given.group("is"):
        return "own words" if _MINE.search(before) else "prose"
    if given.group("tag"):
        return "plain" if given.string.startswith("</", given.end()) else "none"
    if given.group("column") and not _SPACE_GIVES.search(before):
        return "prose" if given.group("bare") and _BEGINS_A_LINE.search(before) else "none"
    if given.group("bare") and _OF_A_MACHINE.search(before):
        return "plain"
    if given.group("space") and _BELOW_A_LOGIN.search(before):
        return "prose"
    if given.group("space") and is_number(given.group("bare") or ""):
        return "prose"  # "the password 730518"
    if given.group("space") or given.group("column"):
        is_prose = given.group("bare") is not None and given.group("bare").isalpha()
        is_taken = name.lower() == "token" and _TAKES_TOKEN.search(before) is not None
        is_given = is_flag or is_taken or _SPACE_GIVES.search(before) is not None
        if not is_given and name.startswith("-") and _AFTER_A_BLANK.search(before):
            return "code"  # `-password …`; at the beginning of a line it is one of a diff
        return "none" if not is_given else "code" if is_prose else "plain"
    return "plain" if is_flag or _is_of_an_environment(name, before, given) else "code"


def _is_of_an_environment(name: str, before: str, given: re.Match[str]) -> bool:
    """Whether a value is that of a variable: `NAME=value`, or in YAML a line with a name and a word that is long."""
    if not name.isupper():
        return False
    if given.group("equals"):
        return not given.group("gap")
    is_long = "_" in name and given.group("bare") and _PASSPHRASE.match(given.string, given.start("bare"))
    return bool(is_long and given.group("gap") and _BEGINS_A_LINE.search(before))
