"""What the judge may find: each rule by its id, with the sentence that pages and reviews show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from agent_wiki.trajectory.lazily import dataclass

_BLANKS = frozenset("\u3164\u115f\u1160\uffa0\u2800")  # letters that nobody sees
MOST_EXCERPT = 120  # characters

STRANGERS_ONLY = "supported/strangers-only"

RULES: Mapping[str, str] = {
    "runs/fetched-code": "It runs what it fetched: `curl … | sh`, `eval` of an answer, a downloaded script.",
    "runs/encoded-code": "It decodes a text and runs it.",
    "runs/unknown-package": "It installs from an address that is no public index and no host of source code.",
    "weakens/hooks": "It commits or pushes past the hooks.",
    "weakens/tests": "It disables tests, or a check that fails.",
    "weakens/approval": "It skips the approval of a person, or the permission prompts of an agent.",
    "weakens/permissions": "It makes files writable for everybody.",
    "weakens/verification": "It switches off the verification of certificates, hosts or signatures.",
    "weakens/sandbox": "It switches off a sandbox, a firewall or the like.",
    "weakens/redaction": "It switches off the redaction of secrets, or the search for them.",
    "sends/secrets": "It sends keys, credentials or the environment to an address outside.",
    "sends/files": "It sends files or conversations to an address outside.",
    "instructs/ignore": "It tells an agent to ignore its instructions.",
    "instructs/as-system": "It addresses an agent as its system or operator would.",
    "instructs/conceal": "It tells an agent to keep something from its user.",
    "instructs/precedence": "It claims to be above the user's words.",
    "instructs/tool-call": "It has an agent call a tool by name.",
    "hides/characters": "It holds characters that nobody sees.",
    "hides/reordering": "It holds characters that show text in another order.",
    "hides/comment": "It holds a comment that a rendered page does not show.",
    "hides/data-uri": "It holds a document as a data URI.",
    "hides/encoded-text": "It holds a text that is encoded.",
    "hides/link": "It holds a link whose text names another address than it leads to.",
    "hides/length": "It is too long to be judged as a whole.",
    STRANGERS_ONLY: "Only words of strangers support it, and no turn of a recording shows that it holds.",
}
"""Id of a rule, `<family>/<name>` → what it says of a page. Ids never change: records name them."""


@dataclass(frozen=True, slots=True)
class SafetyFinding:
    """One rule that a text meets. `excerpt` is what met it, with what is invisible written as its code."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    rule: str
    excerpt: str = ""


def finding(rule: str, excerpt: str) -> SafetyFinding:
    """A finding with an excerpt that is safe to show."""
    shown = visible(" ".join(excerpt.split()))
    return SafetyFinding(rule, shown if len(shown) <= MOST_EXCERPT else f"{shown[: MOST_EXCERPT - 1]}…")


def visible(text: str) -> str:
    """A text in which nothing is hidden: control and formatting characters are written as their codes."""
    is_seen = text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()
    is_plain = is_seen and (text.isascii() or _BLANKS.isdisjoint(text))
    return text if is_plain else "".join(map(_visible, text))


def _visible(character: str) -> str:
    is_seen = character in "\n\t " or (character.isprintable() and character not in _BLANKS)
    return character if is_seen else f"<{ord(character):x}>"


def distinct(found: Iterable[SafetyFinding]) -> tuple[SafetyFinding, ...]:
    """The first finding of each rule, in the order of `RULES`."""
    first: dict[str, SafetyFinding] = {}
    for each in found:
        first.setdefault(each.rule, each)
    return tuple(first[rule] for rule in RULES if rule in first) if first else ()
