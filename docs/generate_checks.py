"""Writes the table of all checks into docs/checking.md: `python docs/generate_checks.py`.

A test makes the same text and compares, so that no check goes undocumented.
"""

from __future__ import annotations

from pathlib import Path

from agent_wiki.checks.order import CHECKS

CHECKS_PAGE = Path(__file__).parent / "checking.md"
BEGIN, END = "<!-- checks: made by docs/generate_checks.py -->", "<!-- end of checks -->"


def page_with_checks(page: str) -> str:
    """The page with the table between its two marks made again. Raises ValueError without marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{CHECKS_PAGE.name} has no {BEGIN} and {END}")
    rows = [
        f"| `{check.id}` | {check.summary} | {'yes' if check.is_mechanical else ''} | {check.fix} |" for check in CHECKS
    ]
    table = "\n".join(["| check | what is found | `--fix` | what to do |", "|---|---|---|---|", *rows])
    return f"{before}{begin}\n\n{table}\n\n{end}{after}"


if __name__ == "__main__":
    CHECKS_PAGE.write_text(page_with_checks(CHECKS_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
