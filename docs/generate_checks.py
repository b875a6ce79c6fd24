"""Writes the tables of docs/trust.md, the checks and the judge's rules: `python docs/generate_checks.py`.

A test makes the same text and compares, so that no check and no rule goes undocumented.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent_wiki.checks.order import CHECKS
from agent_wiki.pages.safety.finding import RULES

TRUST_PAGE = Path(__file__).parent / "trust.md"
_MADE = "made by docs/generate_checks.py"


def page_with_tables(page: str) -> str:
    """The page with both tables made again, each between its two marks. Raises ValueError without marks."""
    checks = [
        f"| `{check.id}` | {check.summary} | {'yes' if check.is_mechanical else ''} | {check.fix} |" for check in CHECKS
    ]
    head = "| check | what is found | `--fix` | what to do |"
    page = _with_table(page, "checks", [head, "|---|---|---|---|", *checks])
    rules = [f"| `{rule}` | {says} |" for rule, says in RULES.items()]
    return _with_table(page, "the judge's rules", ["| rule | what it says of a page |", "|---|---|", *rules])


def _with_table(page: str, name: str, lines: Sequence[str]) -> str:
    begin, end = f"<!-- {name}: {_MADE} -->", f"<!-- end of {name} -->"
    before, begins, rest = page.partition(begin)
    _, ends, after = rest.partition(end)
    if not begins or not ends:
        raise ValueError(f"{TRUST_PAGE.name} has no {begin} and {end}")
    table = "\n".join(lines)
    return f"{before}{begin}\n\n{table}\n\n{end}{after}"


if __name__ == "__main__":
    TRUST_PAGE.write_text(page_with_tables(TRUST_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
