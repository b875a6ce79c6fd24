"""A round of judging is laid out for judges, and counted by what they wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import rounds
from tests.engines.sessions import Session


@pytest.fixture(autouse=True)
def nobody_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owners = tmp_path / "owners.json"
    owners.write_text(json.dumps([rounds.digest_of("Known")]), encoding="utf-8")
    monkeypatch.setattr(rounds, "OWNERS", owners)


def recordings(folder: Path) -> Path:
    """Two sessions each of two owners, and one of an owner whose recordings were looked at before."""
    for owner, name in (("kim", "a"), ("kim", "b"), ("lee", "c"), ("lee", "d"), ("known", "e")):
        looks = [json.dumps({"command": f"ls {at}"}) for at in range(4)]
        functions = [{"name": "bash", "arguments": each} for each in looks]
        calls = [{"id": f"c{at}", "type": "function", "function": each} for at, each in enumerate(functions)]
        chat = [
            {"role": "user", "content": f"Look for the lamps of the shop {name}"},
            {"role": "assistant", "content": "I look.", "tool_calls": calls},
            *({"role": "tool", "tool_call_id": each["id"], "content": f"lamp {name}\n" * 400} for each in calls),
            {"role": "assistant", "content": f"There are three lamps in {name}."},
        ]
        path = folder / owner / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(chat), encoding="utf-8")
    return folder


def test_one_session_of_each_owner_is_laid_out_before_a_second_and_none_of_known_owners(tmp_path: Path) -> None:
    chosen = rounds.prepare(recordings(tmp_path / "in"), tmp_path / "round", 3, "salt")
    assert sorted(each.owner for each in chosen[:2]) == ["kim", "lee"]
    assert len(chosen) == 3
    texts = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "round").rglob("*") if path.is_file()}
    assert [name for name in sorted(texts) if name.startswith("s0")] == [
        f"s0{at}{end}" for at in range(3) for end in (".guidelines.md", ".md", ".txt")
    ]
    assert texts["list_a"] + texts["list_b"] + texts["list_c"] + texts["list_d"].strip() == "s00\ns01\ns02\n"
    for at in range(3):
        name = texts[f"s0{at}.txt"].partition("lamps of the shop ")[2][:1]
        assert "characters left out" in texts[f"s0{at}.txt"]
        assert f"There are three lamps in {name}" in texts[f"s0{at}.md"], "the page is that of the recording"


def test_a_recorded_verdict_is_shown_to_the_judge() -> None:
    assert rounds.shown(Session(reward=0.0).user("Look.").done()).startswith(
        "# session s, format claude-code recorded reward 0.0"
    )


def test_what_the_judges_wrote_is_counted(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    own = {"k": "s00", "step": 1, "lessons": [{"cause": "checked"}, {"cause": "stated"}, {"cause": "checked"}]}
    page = {
        "k": "s00",
        "step": 2,
        "agrees": False,
        "agrees_also": True,
        "goal": "half",
        "title": "right",
        "summary": "weak",
    }
    page |= {"faults": [{"kind": "cut"}, {"kind": "cut"}], "found": [{"lesson": 2, "match": "full"}]}
    (tmp_path / "out" / "list_b.jsonl").write_text(f"{json.dumps(own)}\n\n{json.dumps(page)}\n", encoding="utf-8")
    (tmp_path / "out" / "guidelines.jsonl").write_text('{"page": "x.md", "verdict": "keep"}\n', encoding="utf-8")
    assert list(rounds.tally(tmp_path).lines()) == [
        "sessions judged: 1",
        "outcomes that agree: 0, with a second one that the judge would accept: 1",
        "goals: 0 right, 1 half, 0 wrong",
        "titles: 1 right, 0 half, 0 wrong",
        "summaries: 0 keep, 1 weak, 0 false",
        "guidelines: 1 keep, 0 weak, 0 false, 0 unclear",
        "checked lessons: 1 full, 0 half, 1 none",
        "faults: 0 false, 0 misleads, 0 empty, 2 cut",
    ]


def test_the_owners_of_a_round_may_be_noted_as_looked_at(tmp_path: Path) -> None:
    words = ["prepare", str(recordings(tmp_path / "in")), str(tmp_path / "round"), "--number", "1", "--used"]
    assert rounds.main(words) == 0
    assert len(json.loads(rounds.OWNERS.read_text(encoding="utf-8"))) == 2
