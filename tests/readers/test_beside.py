"""What programs keep beside their recordings is known, and no news."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.errors import PartOfRecording, UnreadableRecording
from agent_wiki.pipeline.inputs import input_files
from agent_wiki.pipeline.readable import readable
from agent_wiki.pipeline.report import Report
from agent_wiki.readers.detect import reader_of
from agent_wiki.readers.recording import Recording

SESSION = "ef9f0349-1471-4c9e-b65e-d5298ac27058"


def kept(tmp_path: Path, name: str) -> Path:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text('{"agentType": "general-purpose"}', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "program"),
    [
        (f"{SESSION}/subagents/agent-a9.meta.json", "Claude Code"),
        (f"{SESSION}/tool-results/b1.txt", "Claude Code"),
        (f"subagents/{SESSION}/agent-a9.meta.json", "Qwen Code"),
        ("app/.project_root", "Gemini CLI"),
        ("opencode/opencode.db-wal", "OpenCode"),
        (".crush/crush.db-wal", "Crush"),
        ("goose/sessions/sessions.db-wal", "Goose"),
        (f"-srv-app/{SESSION}.settings.json", "Droid"),
        (f"-srv-app/{SESSION}.settings.json.bak", "Droid"),
        ("a2/472b34bb36/0/metadata.json", "Entire"),
        ("a2/472b34bb36/metadata.json", "Entire"),
    ],
)
def test_a_part_of_a_session_is_passed_over_without_a_word_unless_it_was_named(
    tmp_path: Path, name: str, program: str
) -> None:
    path = kept(tmp_path, name)
    report = Report("normalize", "w")
    assert [list(readable(file, report)) for file in input_files([tmp_path])] == [[]]
    assert (report.passed_over, report.warnings, report.failures) == ([], [], [])
    assert [list(readable(file, report)) for file in input_files([path])] == [[]]
    assert program in report.failures[0].reason


@pytest.mark.parametrize(
    "name",
    [
        "notes/tool-results/b1.json",
        f"{SESSION}/subagents/notes.json",
        f"subagents/{SESSION}/b.json",
        "a2/472b34bb36/0/notes.json",
        "app/app.settings.json",
        "src/metadata.json",
    ],
)
def test_a_file_elsewhere_is_no_part_of_a_session(tmp_path: Path, name: str) -> None:
    with pytest.raises(Exception, match="not a trajectory") as raised:
        reader_of(Recording(kept(tmp_path, name), name))
    assert not isinstance(raised.value, PartOfRecording)


@pytest.mark.parametrize(
    ("name", "content", "is_foreign"),
    [
        ("report.json", '{"acme__shop-1": {"resol', True),
        ("result.json", '{"task_name": "shop", "trial_name": "shop__a", "conf', True),
        ("result.json", '{"messages": [{"role": "user", "cont', False),
        ("chat.json", '{"messages": [{"role": "user", "cont', False),
    ],
)
def test_half_of_a_verdict_is_no_damaged_recording(name: str, content: str, is_foreign: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(UnreadableRecording) as raised:
        reader_of(Recording(tmp_path / name, name))
    assert raised.value.is_foreign is is_foreign
