"""One small wiki, and the examples of the checks: each an edit that a check finds, and one that it must not find."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agent_wiki.pipeline.patch_config import patch_config
from agent_wiki.pipeline.report import Report
from tests.wikis import Script, ingest, record, rule, skill

FOLDER = Path(__file__).parent / "examples"
REQUEST = "Please fix the cart."
CHECK = "#!/bin/sh\nmake check\n"
CLUSTERS = {"run-checks": {"title": "Run checks", "takeaway": "Run it.", "members": ["7890180238f4", "f218b7d8e589"]}}
TASKS = {"fix-the-cart": {"title": "Fix the cart", "family": "fix-the-cart", "sessions": ["s-1", "s-2", "s-3"]}}


def built(folder: Path) -> Path:
    """A wiki of three sessions with a page of nearly each kind, its recordings beside it."""
    answers = Script(folder)
    first = rule("Run the check before a change.")
    second = rule("Ask for the currency first.", title="Ask for the currency", evidence=[{"turn": 1, "quote": REQUEST}])
    files = [{"file": "check.sh", "text": CHECK}]
    answers.says("s-1", rules=[first, second], skill=skill("check-the-cart", scripts=files))
    answers.says("s-2", rules=[first])
    days = {f"s-{number}": f"2026-01-0{number}" for number in (1, 2, 3)}
    traces = [record(folder / "traces", name, day, writes={"check.sh": CHECK}) for name, day in days.items()]
    wiki = folder / "wiki"
    assert ingest(traces, wiki, answers.engine).failures == []
    patch_config(wiki, {"clusters": CLUSTERS, "tasks": TASKS}, Report("config patch", str(wiki)))
    return wiki


def copied(wiki: Path, place: Path) -> Path:
    """A copy of the wiki and its recordings, which does not know where the former lay."""
    shutil.copytree(wiki.parent / "traces", place / "traces")
    return shutil.copytree(wiki, place / "wiki", ignore=shutil.ignore_patterns("recordings.json"))


@cache
def examples(family: str) -> dict[str, dict[str, Any]]:
    """The examples of a family's checks by the names of the checks: `found` and `passes`, each a list of edits."""
    return tomllib.loads((FOLDER / f"{family}.toml").read_text(encoding="utf-8"))


def make(wiki: Path, edit: Mapping[str, Any]) -> str:
    """Make one edit; the path of the file that it is about.

    `file`: its path in the wiki; then `add` (lines at its end, so many `times`), `old` and `new`, `pattern` and `new`,
    `write` (all of it), `copy` or `rename` (to another path), `link` (a symbolic link that leads there), or `remove`.
    """
    path = wiki / edit["file"]
    assert path.exists() or "write" in edit or "link" in edit, f"{path}: no such file"
    if "rename" in edit or "copy" in edit:
        other = wiki / edit.get("rename", edit.get("copy", ""))
        other.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, other)
        if "rename" in edit:
            path.unlink()
        path = other
    elif "link" in edit:
        path.symlink_to(edit["link"])
    elif edit.get("remove"):
        path.unlink()
    else:
        _write(path, edit)
    return path.relative_to(wiki).as_posix() if path.is_relative_to(wiki) else str(path)


def _write(path: Path, edit: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if "old" in edit:
        assert edit["old"] in before, f"{path}: it does not hold {edit['old']!r}"
        after = before.replace(edit["old"], edit["new"], 1)
    elif "pattern" in edit:
        after = re.sub(edit["pattern"], edit["new"], before, count=edit.get("times", 1))
        assert after != before, f"{path}: it does not hold {edit['pattern']!r}"
    else:
        after = edit.get("write", before + edit.get("add", "") * edit.get("times", 1))
    path.write_text(after, encoding="utf-8", newline="")


def families() -> Iterator[str]:
    """The families that have examples."""
    return (path.stem for path in sorted(FOLDER.glob("*.toml")))
