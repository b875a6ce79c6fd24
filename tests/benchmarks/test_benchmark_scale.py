"""The benchmark of sizes: its sessions give a wiki what real ones give it, and it tells what grows too fast."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from benchmarks.many_sessions import lesson_question, recording, write_sessions

from agent_wiki.pages.guideline import EXTRACT_GUIDELINES
from agent_wiki.pipeline.mine import Assignment, mine
from agent_wiki.stages.order import SESSION_STAGES
from benchmarks import scale


def test_generated_sessions_have_lessons_and_verdicts_and_are_the_same_each_time(tmp_path: Path) -> None:
    write_sessions(tmp_path, range(20, 40))
    records = []
    for path in sorted(tmp_path.rglob("*.json")):
        records += mine(Assignment(path, path.name, SESSION_STAGES, "offline"), {}).records
    assert [record.session_id for record in records] == [f"session-{number:07d}" for number in range(20, 40)]
    assert [record.reward is not None for record in records] == [True] * 5 + [False] * 15
    assert len({record.task_id for record in records[:5]} - {None}) == 1
    lessons = [len(record.answer(EXTRACT_GUIDELINES) or ()) for record in records]
    assert lessons == [0] * 5 + [1] * 5 + [0] * 10, "four gave an option that is not known, one has a stated rule"
    assert json.loads((tmp_path / "0000" / "session-0000027.json").read_text(encoding="utf-8")) == recording(27)


def test_a_question_names_a_lesson_that_sessions_share() -> None:
    assert lesson_question(Random(1)) == lesson_question(Random(1))
    assert "stops with `error: unknown option --" in lesson_question(Random(1))


def _size(sessions: int, processor: float, memory: float) -> scale.Size:
    return scale.Size(sessions, [scale.Step("all new", 1.0, processor, memory)])


def test_what_grows_by_half_more_than_the_sessions_did_is_told() -> None:
    small = _size(1_000, 10.0, 50.0)
    assert list(scale.missed(small, _size(10_000, 149.0, 749.0))) == []
    assert list(scale.missed(small, _size(10_000, 151.0, 749.0))) == [
        "MISSED all new, processor_seconds: 15.1 times for 10 times the sessions"
    ]


def test_two_wikis_are_compared_without_their_clock_times(tmp_path: Path) -> None:
    for name, audit in (("one", "1"), ("other", "2")):
        for file, text in (("_sessions/a.json", "{}"), ("_audit.log", audit), (".wiki/lock", audit)):
            (tmp_path / name / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / file).write_text(text, encoding="utf-8")
    assert scale.difference(tmp_path / "one", tmp_path / "other") == "the same bytes"
    (tmp_path / "one" / "index.md").write_text("more", encoding="utf-8")
    (tmp_path / "one" / "_sessions" / "a.json").write_text("[]", encoding="utf-8")
    assert scale.difference(tmp_path / "one", tmp_path / "other") == "DIFFERS in 2 files"
