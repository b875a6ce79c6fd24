"""Wikis that sessions can read at once: one with a rule that a user stated, and the example with its skills."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.clients.loopback import REPOSITORY
from tests.clients.scenarios import RULE
from tests.clients.work import Work


def teach(at_work: Work) -> str:
    """Mine a recording in which a user states a rule; returns the link of its page."""
    recording = at_work.home / "taught.json"
    recording.write_text(json.dumps(_envelope()), encoding="utf-8")
    at_work.ran("ingest", str(recording), "--wiki", "wiki")
    (row,) = [row for row in rows(at_work.wiki) if row["kind"] == "guideline"]
    link: str = row["link"]
    return link


def copy_example(at_work: Work) -> None:
    """The example's wiki, which has skills with scripts, as the project's own."""
    shutil.copytree(REPOSITORY / "wiki-example" / "wiki", at_work.wiki)


def used(at_work: Work, link: str) -> Any:
    """How a page was used in the sessions that the program has recorded: they are mined first."""
    recorded = [str(path) for path in at_work.recordings()]
    if recorded:
        at_work.ran("ingest", *recorded, "--wiki", "wiki")
    return next(row for row in rows(at_work.wiki) if row["link"] == link).get("used")


def rows(wiki: Path) -> Sequence[dict[str, Any]]:
    """The rows of a wiki's index."""
    return [json.loads(line) for line in (wiki / "_index.jsonl").read_text(encoding="utf-8").splitlines()]


def _envelope() -> dict[str, Any]:
    messages = [
        {"role": "user", "content": "Run the tests."},
        *_ran("a", "python3 -m unittest discover -s tests", "ImportError: No module named 'textkit'"),
        {"role": "assistant", "content": "The tests do not run."},
        {"role": "user", "content": RULE},
        *_ran("b", "make test", "Ran 1 test in 0.001s\n\nOK"),
        {"role": "assistant", "content": "I ran them with `make test`; they pass."},
    ]
    return {"session_id": "taught", "model": "m-1", "timestamp": "2026-01-01T10:00:00Z", "messages": messages}


def _ran(ident: str, command: str, result: str) -> list[dict[str, Any]]:
    function = {"name": "Bash", "arguments": json.dumps({"command": command})}
    call = {"id": ident, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": ident, "content": result},
    ]
