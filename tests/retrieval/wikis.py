"""Small wikis for the tests of consulting, written as files so that each test sees what it reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PYTEST: dict[str, Any] = {
    "kind": "guideline",
    "id": "111111111111",
    "title": "Run the tests with bin/test",
    "tags": ["runner", "tests"],
    "trigger": "The tests have to be run and `pytest` answers `not found`.",
    "summary": "Run the tests with `bin/test <file>` where `pytest` is not installed.",
    "link": "guidelines/run-the-tests-with-bin-test__111111111111.md",
    "cluster": None,
    "support": {"sessions": 3, "success": 1, "failure": 2},
    "trust": "tool",
}
YAML: dict[str, Any] = {
    "kind": "guideline",
    "id": "222222222222",
    "title": "Quote YAML values with colons",
    "tags": ["quoting", "yaml"],
    "trigger": "A YAML file or frontmatter is refused with `mapping values are not allowed`.",
    "summary": "Put a value that holds a colon and a space in quotes.",
    "link": "guidelines/quote-yaml-values-with-colons__222222222222.md",
    "cluster": None,
}
CANCEL: dict[str, Any] = {
    "kind": "skill",
    "id": "skill:cancel-reservation",
    "title": "Cancel reservation",
    "tags": ["customer-service", "reservation"],
    "trigger": "A customer asks to cancel a reservation",
    "summary": "Which calls look up what is needed, and which make the change.",
    "link": "skills/cancel-reservation/SKILL.md",
    "priority": "high",
}
ROWS = (CANCEL, PYTEST, YAML)


def write_wiki(root: Path, rows: tuple[dict[str, Any], ...] = ROWS) -> Path:
    """A wiki with a page for each row. Returns its folder."""
    for row in rows:
        write_page(root, row)
    write_index(root, rows)
    return root


def write_index(root: Path, rows: tuple[dict[str, Any], ...]) -> None:
    root.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (root / "_index.jsonl").write_text(text, encoding="utf-8")


def write_page(root: Path, row: dict[str, Any], more: str = "") -> Path:
    path = root / str(row["link"])
    path.parent.mkdir(parents=True, exist_ok=True)
    body = (
        f"# {row['title']}\n\n{row['summary']}\n\n## Rationale\n\nIt was seen.\n{more}\n## Sources\n\n- one session\n"
    )
    path.write_text(f"---\nid: '{row['id']}'\ntrigger: unused\n---\n\n{body}", encoding="utf-8")
    return path
