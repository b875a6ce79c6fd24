"""Every `SKILL.md` passes the reference validator of Agent Skills, and has less than 500 lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.pages.recalls import Recall, used_by_section
from agent_wiki.pages.sessions import Arc, Session
from agent_wiki.pages.skill import MOST_USES, SYNTHESIZE_SKILL, Script, SkillEntry, WorkflowStep, skill_page
from agent_wiki.pages.support import Contribution, Evidence, joined
from agent_wiki.wiki.generated import origin_of
from agent_wiki.wiki.page import parse_page
from agent_wiki.wiki.records import MadeBy, RecordingIdentity, SessionRecord, StageRecord
from agent_wiki.wiki.templates import Templates
from tests.wikis import Script as Answers
from tests.wikis import ingest, record, skill

validator: Any = pytest.importorskip("skills_ref.validator", reason="skills-ref is among the requirements of tests")
parser: Any = pytest.importorskip("skills_ref.parser")

ROOT = Path(__file__).parents[2]
FOLDERS = ("skills", "wiki-example/wiki/skills", "wiki-example/answered/wiki/skills")
SHIPPED = sorted(each for folder in FOLDERS for each in (ROOT / folder).iterdir() if each.is_dir())

ODD = {
    "colons": "a: b, \"quoted\" and 'single': {x: [1, 2]} # no comment",
    "dashes": "--- begin --- and ---- end -----",
    "long": "Checks the cart, all of it, again. " * 60,
    "empty": "",
    "blank": " \n\t ",
    "a number": "1.10",
    "a constant": "no",
    "an anchor": "&a *b !c %d @e `f` > |",
    "other scripts": "Проверка — 检查 😀 עברית ‮",
    "backslashes": r"C:\new\x2d \d+",
}


def test_there_are_skills_to_look_at() -> None:
    assert len(SHIPPED) >= 12


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: "/".join(folder.parts[-3:]))
def test_the_skills_of_the_examples_and_the_shipped_ones_are_valid(folder: Path) -> None:
    assert validator.validate(folder) == []
    assert len((folder / "SKILL.md").read_text(encoding="utf-8").splitlines()) < 500


def _session(name: str, entry: SkillEntry) -> Contribution[SkillEntry]:
    stages = {SYNTHESIZE_SKILL: StageRecord(MadeBy(SYNTHESIZE_SKILL, "offline"), (entry,))}
    identity = RecordingIdentity(f"{name}---x: y.json", "codex")
    of_session = SessionRecord(name, agent="an: agent", recording=identity, date="2026-01-01", stages=stages)
    return Contribution(Session(of_session, name, (f"summaries/{name}.md",), (Arc("Goal"),)), entry)


def _written(folder: Path, entry: SkillEntry, sessions: int = 1, uses: int = 0) -> Path:
    found = joined(_session(f"s---{number}", entry) for number in range(sessions))
    recalls = [Recall("skill:x", f"r-{n}", f"summaries/r-{n}.md", "Run", "", "followed", "quote") for n in range(uses)]
    used_by = used_by_section(recalls, "../../", MOST_USES)
    text = skill_page(entry.name, found, used_by=used_by).text(Templates(Path("nowhere")))
    assert origin_of(text) == "generated"
    path = folder / entry.name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_texts_make_a_valid_skill_and_are_read_as_they_are(tmp_path: Path, text: str) -> None:
    entry = SkillEntry("check-it", text, trigger=text, tags=("a", text), evidence=(Evidence(1, text),))
    path = _written(tmp_path, entry)
    assert validator.validate(path.parent) == []
    fields = parse_page(path.read_text(encoding="utf-8"), "skills/check-it/SKILL.md").fields
    theirs, _ = parser.parse_frontmatter(path.read_text(encoding="utf-8"))
    assert theirs["description"] == str(fields["description"])
    assert {name: str(value) for name, value in fields["metadata"].items()} == theirs["metadata"]
    assert fields["metadata"]["trigger"] == text
    assert 0 < len(theirs["description"]) <= 1_024


def test_a_name_of_64_characters_is_valid(tmp_path: Path) -> None:
    path = _written(tmp_path, SkillEntry("-".join(["ab12"] * 13)[:64], "What it does."))
    assert len(path.parent.name) == 64
    assert validator.validate(path.parent) == []


def test_a_skill_of_two_thousand_sessions_has_less_than_500_lines(tmp_path: Path) -> None:
    steps = tuple(WorkflowStep(f"Step {number}", "line\n" * 200) for number in range(12))
    entry = SkillEntry(
        "check-it", "Checks it.", steps=steps, scripts=(Script("x.sh", "make\n"),), evidence=(Evidence(1, "q"),)
    )
    path = _written(tmp_path, entry, sessions=2_000, uses=2_000)
    text = path.read_text(encoding="utf-8")
    assert validator.validate(path.parent) == []
    assert len(text.splitlines()) < 500
    assert "support: 'sessions: 2000," in text
    assert "And at least 1950 more uses." in text
    assert "# … and 175 more lines" in text


def test_a_skill_that_a_model_words_oddly_is_valid_in_a_wiki(tmp_path: Path) -> None:
    answers = Answers(tmp_path)
    answers.says("s-1", skill=skill("check-it", description="--- ", trigger='a: "b" --- c', tags=["x---y"]))
    wiki = tmp_path / "wiki"
    assert ingest([record(tmp_path / "t", "s-1")], wiki, answers.engine).failures == []
    assert validator.validate(wiki / "skills" / "check-it") == []
