"""What a secret looks like, and what only stands in for one: a variable, a placeholder, a call, a common word."""

from __future__ import annotations

import re
from math import log2
from typing import Literal

from agent_wiki.trajectory.lazily import regex

Form = Literal["plain", "code", "prose", "own words", "none"]
"""How a value is given: literally, in code, in a sentence, in one about oneself ("my password is"), not at all."""

_STAND_IN = regex(
    r"redacted|your|example|change[_-]?(?:me|it|this)|placeholder|xxxx|\*\*\*|\.\.\.|…|dummy|sample|fake|mock|insert"
    r"|replace|[$%]\{|\$\(|(?-i:\$[A-Z_]{2})|\{\{|%\(|process\.env|environ|getenv|secrets?\.|[-_]here\b|not[_-]?(?:a|real)[_-]"
    r"|(?-i:JzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l)",  # the sample token of jwt.io, about John Doe
    re.IGNORECASE,
)
_REFERENCE = regex(
    r"[$%{<*-]|@(?:[A-Za-z_-]+\Z|[\w-]*[./(:])|!(?:vault|env|ref|sub|secret)\b|env[.:(]|[a-z]{2,10}://|file:|[~.]?/[\w./-]*\Z|[A-Z]:\\|arn:"
)
_COMMON = regex(
    r"(?:(?:test|my|some|foo|bar|baz|new|old|valid|invalid|wrong|bad|good|super|user|admin|root|access|refresh|auth|api"
    r"|client|secret|token|password|passwd|pass|pwd|key|value|string|str|none|null|true|false|undefined|abc|qwerty)"
    r"[-_ .|]?){1,12}\d{0,6}[!@]?",
    re.IGNORECASE,
)
_WORD_LIKE = regex(r"(?:[A-Z]?[a-z]{2,}+|[A-Z]{2,}+|\d{1,3}+|[-_./: |,]++)*+")
_NUMBER = regex(r"(?<=[a-z])\d{1,3}(?=[a-z])")
_MANY_NUMBERS = 6
_DIGITS = regex(r"(?!(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])\Z)\d{6,64}")  # a number so long, and no date
_NAME_WITH_NUMBER = regex(r"[A-Za-z_.-]+\d{0,4}|[\d.]+")
_NO_KEY = regex(
    r"0x[0-9a-fA-F]{40}"  # an address of a contract
    r"|\d{4}-\d\d-\d\d(?:T[\d:.]{5,15}(?:Z|[+-][\d:]{4,5})?)?"
    r"|[\w@.-]{1,80}(?:/[\w@.-]{1,80}){1,12}\.[a-z]{2,5}"  # of a store of files
    r"|(?:[a-z]{2,20}\d{0,2}|v\d{1,3})(?:[.-](?:[a-z]{2,20}\d{0,2}|v\d{1,3})){2,9}"  # names of services and regions
)
_VARIABLE = regex(r"[a-z]{2,20}(?:[A-Z][a-z]{1,20}){0,3}(?:Password|Passwd|Pwd|Secret)\d")
APP_PASSWORD = regex(r"[a-z]{4}(?: [a-z]{4}){3}")
"""How Google shows a password for one program: four groups of letters, which may be given with spaces or without."""
_DOTTED_NAME = regex(r"(?!s\.[A-Za-z0-9]{24}\Z)[A-Za-z_]\w{0,60}(?:(?:\??\.|::|->)[A-Za-z_]\w{0,60}){1,12}")


def is_password(value: str, group: str, form: Form) -> bool:
    """Whether a value given to a name for a password is one; `group` is `quoted` or `bare`."""
    if APP_PASSWORD.fullmatch(value):
        return True
    if value[0].isspace():
        return False  # the text after "--password=" in quotes
    if value.rstrip(".!?:").isdigit() and form in ("prose", "own words"):
        return is_number(value)  # and no "the password is 12 characters long"
    if form == "prose" and group == "bare":
        return is_random(value)
    if form == "plain":
        return not _DOTTED_NAME.fullmatch(value) and not value.startswith("-")
    if group == "quoted" and is_number(value):
        return True
    if any(character.isspace() for character in value) or _DOTTED_NAME.fullmatch(value):
        return False
    if group == "bare" and _VARIABLE.fullmatch(value):
        return False
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    has_sign = any(character in "!@#%^*+" for character in value)
    has_capital = group == "quoted" and any(character.isupper() for character in value[1:]) and not value.isupper()
    return (has_digit and has_letter) or (has_letter and has_sign) or (has_capital and not _WORD_LIKE.fullmatch(value))


def is_number(value: str) -> bool:
    """Whether a value is a number so long that it may be a password, and no date; a full stop may follow."""
    return _DIGITS.fullmatch(value.rstrip(".!?:")) is not None


def is_made_up(value: str) -> bool:
    """Whether a value is like a password that a person makes up: digits, or such as no name of anything has them."""
    has_digit = any(character.isdigit() for character in value)
    return is_number(value) or (has_digit and not _NAME_WITH_NUMBER.fullmatch(value))


def is_key(value: str) -> bool:
    """Whether a value given to a name for a key or token is one."""
    if len(value) < 12 or any(character.isspace() for character in value):
        return False
    return not _NO_KEY.fullmatch(value) and is_random(value)


def is_random(value: str) -> bool:
    """Whether a value looks random, not like words or a name: digits among letters, many different characters."""
    digits = sum(character.isdigit() for character in value)
    is_mixed = digits >= 2 or (len(value) >= 20 and not value.islower() and not value.isupper())
    if not is_mixed or value.isdigit() or _is_of_words(value) or _DOTTED_NAME.fullmatch(value):
        return False
    shares = [value.count(character) / len(value) for character in set(value)]
    return -sum(sorted(share * log2(share) for share in shares)) >= 2.8


def _is_of_words(value: str) -> bool:
    """Whether a value is made of words and numbers; a long one with many numbers among its letters is not."""
    return _WORD_LIKE.fullmatch(value) is not None and len(_NUMBER.findall(value)) < _MANY_NUMBERS


def stands_for_it(value: str) -> bool:
    """Whether a value is only a stand-in for a secret: a variable, a reference, a placeholder, a common word."""
    is_filler = len(set(value)) < 4
    return bool(is_filler or _STAND_IN.search(value) or _REFERENCE.match(value) or _COMMON.fullmatch(value))


def looks_like_a_stand_in(value: str) -> bool:
    """Whether a vendor's key is one of documentation: `sk-xxxx…`, `AKIA…EXAMPLE`."""
    return _STAND_IN.search(value) is not None
