"""Links in a folder of recordings: what is not followed is named."""

from __future__ import annotations

import json
from pathlib import Path

from tests.wikis import chat, ingest


def test_links_to_folders_and_to_nothing_are_named_and_links_to_files_are_read(tmp_path: Path) -> None:
    inside, elsewhere = tmp_path / "traces", tmp_path / "elsewhere"
    for folder, name in ((inside, "a"), (elsewhere, "b"), (elsewhere, "c")):
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(chat(name)), encoding="utf-8")
    (inside / "folder").symlink_to(elsewhere)
    (inside / "gone").symlink_to(tmp_path / "nothing")
    (inside / "c.json").symlink_to(elsewhere / "c.json")
    report = ingest([inside], tmp_path / "wiki", "offline")
    assert (report.exit_code, report.sessions) == (0, {"mined": 2})
    assert sorted(report.warnings) == [
        f"{inside}/folder: a link to a folder, which is not followed: name it",
        f"{inside}/gone: a link to nothing",
    ]
