"""The judge: what a text, or a script, tells an agent to do that no page of a wiki may. Pure; nothing is run.

One module for each family of findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from agent_wiki.pages.safety import (
    fetched_code,
    hidden,
    inline_code,
    instructions,
    other_languages,
    packages,
    python_scripts,
    safeguards,
    sending,
)
from agent_wiki.pages.safety.finding import SafetyFinding, distinct, finding
from agent_wiki.pages.safety.reading import Passage
from agent_wiki.pages.safety.sent_commands import sent_by
from agent_wiki.pages.safety.signs import SignFamilies
from agent_wiki.shell.simple_commands import steps_of

_MOST_CHARACTERS = 100_000  # of one text that are looked at
_SHORT = 400  # characters; many lessons say the same of their causes
_MOST_KEPT = 512  # short texts
_ADVISED = SignFamilies(fetched_code.FAMILY, packages.FAMILY, safeguards.FAMILY, sending.FAMILY, other_languages.FAMILY)
_ORDERED = SignFamilies(instructions.FAMILY, other_languages.FAMILY_OF_ORDERS)
_LENGTH = "hides/length"
_OTHER_CODE = (".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php")


def findings_in(text: str, *, is_advice: bool = True) -> tuple[SafetyFinding, ...]:
    """What a text tells an agent to do, one finding a rule. Without `is_advice` it reports: only its orders count."""
    return _found_again(text, is_advice) if len(text) <= _SHORT else _found(text, is_advice)


def _found(text: str, is_advice: bool) -> tuple[SafetyFinding, ...]:
    passage = Passage(text[:_MOST_CHARACTERS], is_advice=is_advice)
    return distinct([*_ADVISED.findings(passage), *_of_quote(passage), *_of_length(text)])


_found_again = lru_cache(maxsize=_MOST_KEPT)(_found)


def findings_in_quote(text: str) -> tuple[SafetyFinding, ...]:
    """What works on a reader even as a quotation: orders to an agent, and what is hidden. Commands are only shown."""
    return distinct([*_of_quote(Passage(text[:_MOST_CHARACTERS])), *_of_length(text)])


def findings_in_commands(text: str) -> tuple[SafetyFinding, ...]:
    """What a command line does."""
    shown = text[:_MOST_CHARACTERS]
    return distinct([*_of_commands(shown), *hidden.findings(Passage(shown)), *_of_length(text)])


def findings_in_script(name: str, text: str) -> tuple[SafetyFinding, ...]:
    """What a script does, by its language, and what its comments tell a reader."""
    shown = text[:_MOST_CHARACTERS]
    does = list(python_scripts.findings(shown) if _is_python(name, text) else _of_commands(shown))
    if name.endswith(_OTHER_CODE):
        does += inline_code.findings_in_code(shown)
    return distinct([*does, *findings_in_quote(text)])


def _of_commands(text: str) -> Iterator[SafetyFinding]:
    """What shell commands do, each and together."""
    commands = steps_of(text)
    yield from _ADVISED.findings(Passage(_without_comments(text)))
    yield from fetched_code.saved_and_run(commands)
    yield from sent_by(commands)
    yield from inline_code.findings(commands)


def _of_quote(passage: Passage) -> Iterable[SafetyFinding]:
    return chain(hidden.findings(passage), _ORDERED.findings(passage))


def _of_length(text: str) -> tuple[SafetyFinding, ...]:
    """What is not looked at might hold anything."""
    return (finding(_LENGTH, f"{len(text)} characters"),) if len(text) > _MOST_CHARACTERS else ()


def _is_python(name: str, text: str) -> bool:
    first = text.lstrip().partition("\n")[0]
    return name.endswith((".py", ".pyw")) or (first.startswith("#!") and "python" in first)


def _without_comments(text: str) -> str:
    return "\n".join("" if line.lstrip().startswith("#") else line for line in text.split("\n"))
