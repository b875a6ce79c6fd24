"""Redacts secrets of known shapes in a trajectory, before anything else sees the text.

Three searches: keys that vendors issue (`secret_shapes`), private key blocks, and values given to names that
suggest secrets (`PASSWORD=…`, `"api_key": "…"`, `--token …`, `Authorization: …`). Stand-ins for a secret (a
variable, a placeholder, a call, a type) are kept, and so is text that merely looks random: digests, ids, base64.

Speed: the text is folded to one byte per character, with lower-case letters, and with a space for every character that
is in no name and no key. Prefixes of keys and words of names are searched there; patterns run only where one is found.
Redacting twice changes nothing.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator
from functools import lru_cache
from math import log2
from typing import Literal

from agent_wiki.redaction.secret_shapes import CONTAINING, LITERALS, PREFIXED, Shape, prefix_pattern
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import dataclass, regex

Span = tuple[int, int, str]  # start, end, kind

_MOST_PASSES = 4
_LONGEST_VALUE = 512
_REMEMBERED, _LONGEST_REMEMBERED = 4096, 1_000  # a recording says many short texts again and again
_LONGEST_OWNER = 14  # characters before `key` that may say whose key it is: "application", and a few more
_FOLD = bytes(ord(chr(byte).lower()) if byte < 128 and re.match(r"[\w.-]", chr(byte)) else 32 for byte in range(256))
_PREFIX = prefix_pattern()
_BY_LITERAL = {literal: [each for each in CONTAINING if literal in each.literals] for literal in LITERALS}

_KEY_BEGIN = regex(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = regex(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = regex(r"(?:[A-Za-z0-9+/=\s:,→|\"'-]|\\[nr])*+")
_KEY_LINE = regex(r"[A-Za-z0-9+/]{30}")
_LONGEST_KEY = 20_000

_PASSWORD_WORDS = ("pass", "pwd")
_KINDS = {"pass": "password", "pwd": "password", "key": "api-key"}
_NAME_REST = regex(
    r"(?:word|wd|phrase)?(?:[_-]?(?:access[_-]?)?key)?(?:[_-]?(?:value|base64|b64|prod|dev|test|staging|live|\d{1,3}))?(?![\w-])",
    re.IGNORECASE,
)
_NAME_CHARACTERS = string.ascii_letters + string.digits + "_.-"
_KEY_OWNER = regex(
    r"(?:api|access|account|auth|private|encrypt\w{0,3}|signing|master|secret|storage|service|deploy|webhook|hmac|jwt"
    r"|admin|app|application)[_-]?\Z",
    re.IGNORECASE,
)
_PUBLIC_NAME = regex(
    r"(?:next|page|continu\w{0,6}|cancel\w{0,8}|sync|cursor|eos|bos|pad|unk|mask|sep|cls|stop|public|old)[_.-]?\Z",
    re.IGNORECASE,
)
_GIVEN = regex(
    r"""(?P<closing>\\{0,3}["'`]\]?)?
    (?:[ \t]{0,8}(?:(?P<typed>:[ ]?[A-Za-z_][\w.\[\]|? ]{0,30}=)|:=|=>|:|(?P<equals>=)(?![=~]))(?P<gap>[ \t]{0,8})
      |(?P<space>[ \t]{1,4})|(?P<tag>>))
    (?:(?P<quote>\\{0,3}["'`])(?P<quoted>[^"'`\\\n]{4,512}+)(?P=quote)
      |(?P<bare>[^\s"'`,;&|<>(){}\[\]\\]{6,512}+)(?![(\[{]))""",
    re.VERBOSE,
)
_HEADERS = {
    b"bearer ": regex(r"bearer[ ]{1,3}(?P<secret>[A-Za-z0-9._~+/=-]{12,4000})", re.IGNORECASE),
    b"authorization": regex(
        r"""authorization\\{0,3}["'`]?[ ]{0,3}[:=][ ]{0,3}\\{0,3}["'`]?(?:(?:bearer|basic|token|apikey)[ ]{1,3})?
            (?P<secret>[A-Za-z0-9._~+/=-]{12,4000})""",
        re.VERBOSE | re.IGNORECASE,
    ),
    b"cookie": regex(
        r"cookie\\{0,3}[\"']?: ?[\"']?(?:[\w.-]{1,60}=)?(?P<secret>[^\s;,\"'\\=]{16,4000})", re.IGNORECASE
    ),
}
_WORDS = (b"pass", b"pwd", b"secret", b"token", b"key", *_HEADERS)

_SPACE_GIVES = regex(r"\b(?:login|set) ")  # of a .netrc; `config set <name> <value>`

_STAND_IN = regex(
    r"redacted|your|example|change[_-]?(?:me|it|this)|placeholder|xxxx|\*\*\*|\.\.\.|…|dummy|sample|fake|mock|insert"
    r"|replace|[$%]\{|\$\(|(?-i:\$[A-Z_]{2})|\{\{|%\(|process\.env|environ|getenv|secrets?\.|[-_]here\b|not[_-]?(?:a|real)[_-]",
    re.IGNORECASE,
)
_REFERENCE = regex(
    r"[$@%{<*-]|!(?:vault|env|ref|sub|secret)\b|env[.:(]|[a-z]{2,10}://|file:|[~.]?/[\w./-]*\Z|[A-Z]:\\|arn:"
)
_COMMON = regex(
    r"(?:(?:test|my|some|foo|bar|baz|new|old|valid|invalid|wrong|bad|good|super|user|admin|root|access|refresh|auth|api"
    r"|client|secret|token|password|passwd|pass|pwd|key|value|string|str|none|null|true|false|undefined|abc|qwerty)"
    r"[-_ .|]?){1,12}\d{0,6}[!@]?",
    re.IGNORECASE,
)
_WORD_LIKE = regex(r"(?:[A-Z]?[a-z]{2,}+|[A-Z]{2,}+|\d{1,3}+|[-_./: |,]++)*+")
_DOTTED_NAME = regex(r"[A-Za-z_]\w{0,60}(?:(?:\.|::|->)[A-Za-z_]\w{0,60}){1,12}")
_JSON_STRING = regex(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_decoded = json.JSONDecoder(strict=False).decode


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    end: int
    is_secret: bool


def redact_trajectory(trajectory: Trajectory) -> None:
    """Redact a trajectory in place and count redactions in `source.hygiene["redactions"]`.

    Covers content, thinking, call arguments (which stay valid JSON) and the texts of `source`.
    """
    total = 0
    for message in trajectory.messages:
        for field in ("content", "thinking"):
            text = getattr(message, field)
            if text:
                text, count = redact_text(text)
                if count:
                    setattr(message, field, text)
                    total += count
        for call in message.tool_calls:
            call.arguments, count = redact_json(call.arguments)
            total += count
    for field in ("title", "cwd", "git_branch", "exit_status"):
        text = getattr(trajectory.source, field)
        if text:
            text, count = redact_text(text)
            setattr(trajectory.source, field, text)
            total += count
    if total:
        hygiene = trajectory.source.hygiene
        hygiene["redactions"] = hygiene.get("redactions", 0) + total
        trajectory.source.hygiene = dict(sorted(hygiene.items()))


def redact_text(text: str) -> tuple[str, int]:
    """The text with each secret replaced by `[REDACTED:<kind>]`, and how many there were; the same object if none.

    Raises nothing. Idempotent.
    """
    redacted, count = (_redacted_once if len(text) <= _LONGEST_REMEMBERED else _redacted)(text)
    return (redacted if count else text), count


@lru_cache(maxsize=_REMEMBERED)
def _redacted_once(text: str) -> tuple[str, int]:
    return _redacted(text)


def _redacted(text: str) -> tuple[str, int]:
    total = 0
    for _ in range(_MOST_PASSES):  # a secret may be found only after the one beside it is gone
        spans = _secret_spans(text)
        if not spans:
            break
        text, total = _without(text, spans), total + len(spans)
    return text, total


def redact_json(arguments: str) -> tuple[str, int]:
    """The same for a JSON text: its strings are redacted one by one, all other bytes are unchanged.

    A string under a name that suggests a secret is judged with its name. Other text is treated as plain.
    """
    plain = _one_byte_each(arguments)
    if not any(_hints(plain, plain.translate(_FOLD))):
        return arguments, 0
    try:
        _decoded(arguments)
    except (ValueError, RecursionError):
        return redact_text(arguments)
    pieces: list[str] = []
    position = total = 0
    name = ""
    for match in _JSON_STRING.finditer(arguments):
        between = arguments[position : match.start()]
        value = _decoded(match.group())
        redacted, count = _redact_value(name if between.strip() == ":" else "", value)
        pieces += [between, json.dumps(redacted, ensure_ascii=match.group().isascii()) if count else match.group()]
        position, total, name = match.end(), total + count, value
    return "".join([*pieces, arguments[position:]]) if total else arguments, total


def _redact_value(name: str, value: str) -> tuple[str, int]:
    return _value_of_name(name[-80:], value) if name and len(value) <= _LONGEST_VALUE else redact_text(value)


@lru_cache(maxsize=_REMEMBERED)
def _value_of_name(name: str, value: str) -> tuple[str, int]:
    probe = f'{name.replace(chr(34), "")}="{value}"'
    plain = _one_byte_each(probe)
    if not any(_hints(plain, plain.translate(_FOLD))):
        return value, 0  # nor has the value, which is part of it
    for start, _, kind in _secret_spans(probe):
        if start == probe.index('"') + 1:
            return f"[REDACTED:{kind}]", 1
    return redact_text(value)


def _without(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, kind in spans:
        pieces += [text[position:start], f"[REDACTED:{kind}]"]
        position = end
    return "".join([*pieces, text[position:]])


def _secret_spans(text: str) -> list[Span]:
    """The spans of secrets, in order and without overlap. A vendor's key takes precedence over a name's value."""
    plain = _one_byte_each(text)
    folded = plain.translate(_FOLD)
    words, shapes = _hints(plain, folded)
    if not words and not shapes:
        return []
    spans = [*_shape_spans(text, shapes)]
    if b"key" in words:
        spans += _private_key_spans(text)
    for word in words:
        spans += _header_spans(text, folded, word) if word in _HEADERS else _named_spans(text, folded, word)
    apart: list[Span] = []
    for span in sorted(spans, key=lambda span: span[0]):  # a stable sort: among equals, the order above decides
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
    return apart


def _one_byte_each(text: str) -> bytes:
    """A space, then one byte for each character of `text`, so that positions are preserved."""
    return b" " + text.encode("latin-1", "replace")


def _hints(plain: bytes, folded: bytes) -> tuple[list[bytes], list[Shape]]:
    """The words for secrets and the shapes of keys whose literals are in the text. Most texts have none."""
    words = [word for word in _WORDS if word in folded]
    shapes = [shape for literal in _BY_LITERAL if literal in plain for shape in _BY_LITERAL[literal]]
    if _PREFIX.search(folded):
        shapes += [shape for shape in PREFIXED if any(literal in plain for literal in shape.literals)]
    return words, shapes


def _places(folded: bytes, word: bytes) -> Iterator[int]:
    """The positions of a word in the original text."""
    position = folded.find(word)
    while position >= 0:
        yield position - 1
        position = folded.find(word, position + len(word))


def _shape_spans(text: str, shapes: list[Shape]) -> Iterator[Span]:
    for shape in shapes:
        group = "secret" if "secret" in shape.pattern.groupindex else 0
        for match in shape.pattern.finditer(text):
            value = match.group(group)
            is_key = group == 0 and any(character.isdigit() for character in value) and not _STAND_IN.search(value)
            if is_key or (group and not _stands_for_it(value)):
                yield match.start(group), match.end(group), shape.kind


def _private_key_spans(text: str) -> Iterator[Span]:
    """Whole blocks, including those with line breaks written \\n, with line numbers, or cut off before their end."""
    begins = [*_KEY_BEGIN.finditer(text)] if "PRIVATE KEY" in text else []
    ends = [*(each.start() for each in begins[1:]), len(text)]
    for begin, after in zip(begins, ends, strict=False):
        limit = min(after, begin.end() + _LONGEST_KEY)
        end = _KEY_END.search(text, begin.end(), limit) or _KEY_BODY.match(text, begin.end(), limit)
        if end and _KEY_LINE.search(text, begin.end(), end.end()):
            yield begin.start(), begin.end() + len(text[begin.end() : end.end()].rstrip(" \t\r\n\"'\\")), "private-key"


def _header_spans(text: str, folded: bytes, word: bytes) -> Iterator[Span]:
    for position in _places(folded, word):
        match = _HEADERS[word].match(text, position)
        if match and _is_random(match.group("secret")) and not _stands_for_it(match.group("secret")):
            kind = "cookie" if word == b"cookie" else "authorization"
            yield match.start("secret"), match.end("secret"), kind


def _named_spans(text: str, folded: bytes, word: bytes) -> Iterator[Span]:
    """Values given to names that end with a word for a secret."""
    name, passed = word.decode(), 0
    for position in _places(folded, word):
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
    if rest is None or given is None or not _names_a_secret(before, word, rest.group()):
        return None
    group = "bare" if given.group("quoted") is None else "quoted"
    value = given.group(group)
    name = before[len(before.rstrip(_NAME_CHARACTERS)) :] + text[start : rest.end()]
    form = _form(name, before, given)
    if form == "none":
        return None
    looks_secret = _is_password(value, group, form) if word in _PASSWORD_WORDS else _is_key(value)
    return _Value(*given.span(group), is_secret=looks_secret and not _stands_for_it(value))


def _names_a_secret(before: str, word: str, rest: str) -> bool:
    if word == "key":
        return _KEY_OWNER.search(before[-_LONGEST_OWNER:]) is not None
    if word == "pass" and rest[:1].lower() not in ("w", "p"):  # not bypass, compass, `pass: 12`
        return before.endswith(("_", "-"))
    if word == "pwd":
        return not before.lower().endswith(("old", " ", "\n")) and before != ""
    return not _PUBLIC_NAME.search(before[-_LONGEST_OWNER:])


def _form(name: str, before: str, given: re.Match[str]) -> Literal["plain", "code", "none"]:
    """How a value is given: literally (`NAME=value` of an environment, a flag, an element), in code, or not at all."""
    is_flag = name.startswith("--") and not given.group("closing")
    if given.group("tag"):
        return "plain" if given.string.startswith("</", given.end()) else "none"
    if given.group("space"):
        is_prose = given.group("bare") is not None and given.group("bare").isalpha()
        return "none" if not (is_flag or _SPACE_GIVES.search(before)) else "code" if is_prose else "plain"
    is_environment = given.group("equals") and not given.group("gap") and name.isupper()
    return "plain" if is_flag or is_environment else "code"


def _is_password(value: str, group: str, form: str) -> bool:
    if form == "plain":
        return not _DOTTED_NAME.fullmatch(value) and not value.startswith("-")
    if any(character.isspace() for character in value) or _DOTTED_NAME.fullmatch(value):
        return False
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    has_sign = any(character in "!@#%^*+" for character in value)
    has_capital = group == "quoted" and any(character.isupper() for character in value[1:]) and not value.isupper()
    return (has_digit and has_letter) or (has_letter and has_sign) or (has_capital and not _WORD_LIKE.fullmatch(value))


def _is_key(value: str) -> bool:
    return len(value) >= 12 and not any(character.isspace() for character in value) and _is_random(value)


def _is_random(value: str) -> bool:
    """Whether a value looks random, not like words or a name: digits among letters, many different characters."""
    digits = sum(character.isdigit() for character in value)
    is_mixed = digits >= 2 or (len(value) >= 20 and not value.islower() and not value.isupper())
    if not is_mixed or value.isdigit() or _WORD_LIKE.fullmatch(value) or _DOTTED_NAME.fullmatch(value):
        return False
    shares = [value.count(character) / len(value) for character in set(value)]
    return -sum(sorted(share * log2(share) for share in shares)) >= 2.8


def _stands_for_it(value: str) -> bool:
    """Whether a value is only a stand-in for a secret: a variable, a reference, a placeholder, a common word."""
    is_filler = len(set(value)) < 4
    return bool(is_filler or _STAND_IN.search(value) or _REFERENCE.match(value) or _COMMON.fullmatch(value))
