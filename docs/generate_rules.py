"""Writes the rules of the embedded engine into docs/mining.md: `python docs/generate_rules.py`.

A test makes the same text and compares, so that no rule goes undocumented.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_wiki.engines.offline.example_sessions import example_of
from agent_wiki.engines.offline.rules import RULES
from agent_wiki.engines.offline.signals.known_remedies import remedies

RULES_PAGE = Path(__file__).parent / "mining.md"
KNOWN_ERRORS = "remedies"
BEGIN, END = "<!-- rules: made by docs/generate_rules.py -->", "<!-- end of rules -->"


def page_with_rules(page: str) -> str:
    """The page with the rules between its two marks made again, family by family. Raises ValueError without marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{RULES_PAGE.name} has no {BEGIN} and {END}")
    families = dict.fromkeys(rule.family for rule in RULES)
    lines = "\n".join(line for family in families for line in _family(family))
    return f"{before}{begin}\n\n{lines}\n{end}{after}"


def _family(family: str) -> Iterator[str]:
    yield f"#### {family}\n"
    if family == KNOWN_ERRORS:
        yield from _known_errors()
        return
    for rule in (each for each in RULES if each.family == family):
        example = example_of(rule)
        yield f"##### {rule.id}\n\n{rule.summary}\n"
        yield f"```text\n{example.fires.strip()}\n```\n\nNothing in:\n\n```text\n{example.silent.strip()}\n```\n"


def _known_errors() -> Iterator[str]:
    """They are many, and all of one kind: a row each."""
    yield "`wiki rules remedies/<id>` shows the examples of one.\n"
    yield "| id | title | when |\n|---|---|---|"
    for remedy in remedies():
        trigger = remedy.trigger.replace("|", "\\|")
        yield f"| `{remedy.id.removeprefix(f'{KNOWN_ERRORS}/')}` | {remedy.title} | {trigger} |"
    yield ""


if __name__ == "__main__":
    RULES_PAGE.write_text(page_with_rules(RULES_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
