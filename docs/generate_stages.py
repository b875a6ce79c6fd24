"""Writes the tables of stages in README.md and the skill `wiki-ingest`: `python docs/generate_stages.py`.

A test makes the same rows and compares. All else in these files is written by people.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from agent_wiki.stages.order import ASKING_STAGES, STAGES, Stage

_ROOT = Path(__file__).parent.parent
README = _ROOT / "README.md"
SKILL = _ROOT / "skills" / "wiki-ingest" / "SKILL.md"
_ROW = re.compile(r"\| `(?:wiki )?([a-z-]+)[ `]")
_HEADS = {README: "| command | what it does |", SKILL: "| stage | question about | how to answer |"}


def page_with_stages(path: Path) -> str:
    """The text of one of the two files with its rows of stages made again, from the first of them to the last."""
    lines = path.read_text(encoding="utf-8").splitlines()
    begin = lines.index(_HEADS[path]) + 2
    end = next(at for at in range(begin, len(lines)) if not lines[at].startswith("|"))
    made = [_readme_row(each) for each in STAGES] if path == README else list(map(_skill_row, _asking()))
    return "\n".join([*lines[:begin], *_with_rows(lines[begin:end], made), *lines[end:], ""])


def _with_rows(table: Sequence[str], made: Sequence[str]) -> list[str]:
    names = {stage.name for stage in STAGES}
    places = [at for at, row in enumerate(table) if (found := _ROW.match(row)) and found[1] in names]
    return [*table[: places[0]], *made, *table[places[-1] + 1 :]]


def _asking() -> list[Stage]:
    return [stage for stage in STAGES if stage.name in ASKING_STAGES]


def _readme_row(stage: Stage) -> str:
    paths = " PATH…" if stage.scope == "session" else ""
    return f"| `wiki {stage.name}{paths}` | {stage.makes or stage.line[0].lower() + stage.line[1:]} |"


def _skill_row(stage: Stage) -> str:
    """A stage that needs more than its prompt says has a page beside the skill."""
    page = f"references/{stage.name}.md"
    how = f"[{page}]({page})" if (SKILL.parent / page).is_file() else "as its prompt says"
    return f"| `{stage.name}` | {stage.asks_about} | {how} |"


if __name__ == "__main__":
    for _path in _HEADS:
        _path.write_text(page_with_stages(_path), encoding="utf-8")
