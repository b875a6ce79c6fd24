"""What the audit log says is added once, and the log is read once a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_wiki.pipeline import audit
from agent_wiki.wiki.store import WikiFolder


def test_only_what_is_new_is_added_and_the_log_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, readings = audit.read, []

    def counted(folder: WikiFolder) -> Iterator[audit.Entry]:
        readings.append(folder)
        return read(folder)

    monkeypatch.setattr(audit, "read", counted)
    path = tmp_path / "_audit.log"
    path.write_text('{"action": "use", "ts": "then", "id": "a", "status": "ignored"}\nbroken\n', encoding="utf-8")
    log = audit.AuditLog(WikiFolder(tmp_path))
    for status in ("ignored", "followed", "followed", "ignored"):
        log.add([{"action": "use", "id": "a", "status": status}])
    log.add([])
    added = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[2:]]
    assert [entry["status"] for entry in added] == ["followed", "ignored"]
    assert len(readings) == 1
