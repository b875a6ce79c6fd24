"""`wiki catalog` leaves sessions unread that no other has to do with, and writes what it would write of all records."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.generated_wiki import generate, generated_record

from agent_wiki.pages import index_pages, indexes, judged
from agent_wiki.pages.guideline import EXTRACT_GUIDELINES, GuidelineEntry
from agent_wiki.pages.sessions import SUMMARIZE, Arc, NotedTurn, RecallEntry
from agent_wiki.pages.settled import SUBTASK
from agent_wiki.pages.skill import SYNTHESIZE_SKILL, SkillEntry
from agent_wiki.pages.support import Evidence
from agent_wiki.pipeline import load, settling
from agent_wiki.pipeline.judged_records import judged_records
from agent_wiki.wiki.config import CLUSTERS, OVERRIDES, REJECTED, TAGS, TASKS
from agent_wiki.wiki.config_edits import edit_config
from agent_wiki.wiki.corpus_records import CorpusRecord, corpus_path, corpus_text
from agent_wiki.wiki.records import MadeBy, RecordingIdentity, SessionRecord, StageRecord, record_path, record_text
from agent_wiki.wiki.store import WikiFolder
from tests.wikis import changed, ingest, tree

Step = Callable[[Path, random.Random], None]

NAMES = ("a", "a__x", *"bcdefghijklmnopqr")
RULES = 2 * len(NAMES)
RARELY = 0.06  # does a session have to do with another


def _id(number: int) -> str:
    return f"{number:012x}"


def _guideline(number: int, chance: random.Random) -> GuidelineEntry:
    return GuidelineEntry(
        id=_id(number),
        title=f"Set option {number} of the cart",
        rule=f"Set option {number} of the cart before the checks run.",
        trigger=f"Option {number} of the cart is not set.",
        rationale="It failed.",
        tags=tuple(chance.sample(("cart", "check", f"option-{number}"), 2)),
        evidence=(Evidence(chance.randrange(1, 9), f"option {number}", chance.choice(("user", "tool"))),),
    )


def _skill(chance: random.Random) -> SkillEntry:
    covered = _guideline(chance.randrange(RULES), chance)
    name = chance.choice(("make-the-cart", "check-the-cart"))
    return SkillEntry(name, f"{covered.rule} {covered.trigger}", evidence=(Evidence(2, "it", "tool"),))


def _arc(slug: str, chance: random.Random) -> Arc:
    read = chance.choice((_id(chance.randrange(RULES)), chance.choice(NAMES), "x"))
    return Arc(
        goal=f"Fix the {chance.choice(('cart', 'desk', 'lamp'))}",
        outcome=chance.choice(("success", "failure")),
        slug=slug,
        last_turn=9,
        recalled=(RecallEntry(read, "A page", "followed", "used it", 3),) if chance.random() < RARELY else (),
        dead_ends=(NotedTurn(4, f"The cache was {slug} no help, for each check begins with a cart that is new."),),
        tool_calls=chance.choice((None, 3)),
    )


def _record(name: str, chance: random.Random) -> SessionRecord:
    own = NAMES.index(name) * 2
    numbers = {own, own + chance.randrange(2), *(chance.sample(range(RULES), 1) if chance.random() < RARELY else ())}
    arcs = ("x", "y") if chance.random() < RARELY else ("",)
    answers: dict[str, Any] = {
        SUMMARIZE: tuple(_arc(each, chance) for each in arcs),
        EXTRACT_GUIDELINES: tuple(_guideline(number, chance) for number in sorted(numbers)),
        SYNTHESIZE_SKILL: (_skill(chance),) if chance.random() < RARELY else (),
    }
    return SessionRecord(
        session_id=name,
        recording=RecordingIdentity(f"{name}.jsonl", "claude-code", f"{chance.random()}"),
        lineage=chance.choice(NAMES) if chance.random() < RARELY else name,
        parent_session_id=chance.choice(NAMES) if chance.random() < RARELY else None,
        date=f"2026-01-{chance.randrange(1, 9):02d}",
        condition=chance.choice((None, "with")),
        total_cost_usd=chance.choice((None, 0.1, 0.7)),
        stages={stage: StageRecord(MadeBy(stage, "offline", "r"), answer) for stage, answer in answers.items()},
    )


def _put_a_record(wiki: Path, chance: random.Random) -> None:
    record = _record(chance.choice(NAMES), chance)
    WikiFolder(wiki).write_text(record_path(record.session_id), record_text(record))


def _lose_a_record(wiki: Path, chance: random.Random) -> None:
    chance.choice(sorted((wiki / "_sessions").iterdir())).unlink()


def _copy_a_record(wiki: Path, chance: random.Random) -> None:
    content = chance.choice(sorted((wiki / "_sessions").iterdir())).read_bytes()
    (wiki / "_sessions/zz-copy.json").write_bytes(content)


def _page(wiki: Path, chance: random.Random) -> Path:
    return chance.choice(sorted([*wiki.glob("guidelines/*__*.md"), *wiki.glob("summaries/?*.md")]))


def _lose_a_page(wiki: Path, chance: random.Random) -> None:
    _page(wiki, chance).unlink()


def _change_a_page(wiki: Path, chance: random.Random) -> None:
    with _page(wiki, chance).open("a", encoding="utf-8") as stream:
        stream.write(chance.choice(("\nMine.\n", "\n<<<<<<< one\nMine.\n=======\n>>>>>>> two\n")))


def _copy_a_page(wiki: Path, chance: random.Random) -> None:
    path = _page(wiki, chance)
    text = path.read_text(encoding="utf-8") + chance.choice(("", "\nMine.\n"))
    path.with_name(f"copy-of-{path.name}").write_text(text, encoding="utf-8")


def _write_a_page(wiki: Path, chance: random.Random) -> None:
    cited = f"evidence: [{{session_id: {chance.choice(NAMES)}, turn: 2}}]"
    text = f"---\ntype: guideline\nid: {_id(chance.randrange(2 * RULES))}\n{cited}\n---\n\n# Mine\n\nDo it.\n"
    mine = wiki / "guidelines/mine.md"
    if mine.exists():
        mine.unlink()
    else:
        mine.write_text(text, encoding="utf-8")


def _configure(wiki: Path, chance: random.Random) -> None:
    config, one, other = wiki / "_config.yaml", chance.randrange(RULES), chance.randrange(RULES)
    section, entries = chance.choice(
        (
            (TAGS, {_id(one): ["mine"]}),
            (TAGS, {_id(one): None}),
            (CLUSTERS, {"both": {"title": "Both", "takeaway": "Do it.", "members": [_id(one), _id(other)]}}),
            (CLUSTERS, {"both": None}),
            (TASKS, {"lamp": {"title": "The lamp", "family_match": {"goal_substring": ["lamp"]}}}),
            (OVERRIDES, {chance.choice(NAMES): {"family": "lamp", "trial": "2"}}),
            (REJECTED, {_id(one): "wrong"}),
            (REJECTED, {_id(one): None}),
        )
    )
    config.write_text(edit_config(config.read_text(encoding="utf-8"), section, entries), encoding="utf-8")


def _change_a_template(wiki: Path, chance: random.Random) -> None:
    (wiki / "templates").mkdir(exist_ok=True)
    text = f"# {{{{ title }}}}\n\n{chance.random()} {{{{ rule }}}}\n"
    (wiki / "templates/guideline.md.j2").write_text(text, encoding="utf-8")


def _answer(wiki: Path, chance: random.Random) -> None:
    subtask = {"parent_session_id": chance.choice(NAMES), "slug": "part", "title": "A part", "narrative": "It did."}
    answer = {"subtasks": [{**subtask, "key_steps": [{"turn": 1, "text": "began"}]}]}
    path = corpus_path(f"sha256:{chance.randrange(2):064x}")
    record = CorpusRecord(SUBTASK, (subtask["parent_session_id"],), MadeBy("discover-tasks", "offline", "r"), answer)
    WikiFolder(wiki).write_text(path, corpus_text(path, record))


def _damage_the_memory(wiki: Path, chance: random.Random) -> None:
    memory = wiki / ".wiki/pages.txt"
    if memory.exists():
        memory.write_bytes(memory.read_bytes()[: chance.randrange(9_000)])


STEPS: tuple[tuple[Step, int], ...] = (
    (_put_a_record, 20),
    (_lose_a_record, 6),
    (_copy_a_record, 1),
    (_lose_a_page, 2),
    (_change_a_page, 2),
    (_copy_a_page, 1),
    (_write_a_page, 1),
    (_configure, 8),
    (_change_a_template, 1),
    (_answer, 1),
    (_damage_the_memory, 1),
)


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sessions each run left unread, where no more than two are listed."""
    found: list[int] = []
    load_wiki = load.load_wiki

    def counted(*args: Any, **named: Any) -> load.LoadedWiki:
        loaded = load_wiki(*args, **named)
        found.append(len(loaded.settled))
        return loaded

    monkeypatch.setattr(settling, "MOST_LISTED", 2)
    monkeypatch.setattr(indexes, "MOST_LISTED", 2)
    monkeypatch.setattr(index_pages, "MOST_LISTED", 2)
    monkeypatch.setattr("agent_wiki.pipeline.publish.load_wiki", counted)
    return found


def _catalog(wiki: Path) -> dict[str, Any]:
    report = ingest([], wiki, "offline", stages=("catalog",))
    return {"pages": report.pages, "edited": report.edited, "failures": report.failures}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_a_wiki_is_the_same_with_and_without_reading_what_is_settled(
    tmp_path: Path, seed: int, left: list[int]
) -> None:
    chance = random.Random(seed)
    kept, forgetful = tmp_path / "kept", tmp_path / "forgetful"
    for _ in range(16):
        at = chance.random()
        for wiki in (kept, forgetful):
            _put_a_record(wiki, random.Random(at))
    steps = chance.choices([step for step, _ in STEPS], [weight for _, weight in STEPS], k=16)
    for number, step in enumerate([_put_a_record, *steps]):
        shutil.rmtree(forgetful / ".wiki", ignore_errors=True)
        assert _catalog(kept) == _catalog(forgetful)
        assert changed(tree(kept), tree(forgetful)) == [], (number, step.__name__)
        at = chance.random()
        for wiki in (kept, forgetful):
            step(wiki, random.Random(at))
    assert any(left)


def test_what_another_tools_page_takes_from_a_session_goes_with_that_page(tmp_path: Path, left: list[int]) -> None:
    kept, fresh = tmp_path / "kept", tmp_path / "fresh"
    for wiki in (kept, fresh):
        generate(wiki, 5)
    theirs = kept / "guidelines/mine.md"
    theirs.parent.mkdir()
    cited = f"evidence: [{{session_id: {generated_record(0).session_id}, turn: 2}}]"
    theirs.write_text(f"---\nid: {_id(1)}\n{cited}\n---\n\n# Mine\n\nDo it.\n", encoding="utf-8")
    _catalog(kept)
    theirs.unlink()
    _catalog(kept)
    _catalog(fresh)
    assert changed(tree(kept), tree(fresh)) == []
    assert left == [0, 0, 0]


def _states_its_rules(new: SessionRecord, one: SessionRecord) -> SessionRecord:
    return new.with_stages({**new.stages, EXTRACT_GUIDELINES: one.stages[EXTRACT_GUIDELINES]})


def _reads_its_page(new: SessionRecord, one: SessionRecord) -> SessionRecord:
    (own,) = new.answer(SUMMARIZE)
    read = replace(own, recalled=(RecallEntry(one.answer(EXTRACT_GUIDELINES)[0].id, "It", "followed", "used it", 3),))
    return new.with_stages({**new.stages, SUMMARIZE: replace(new.stages[SUMMARIZE], answer=(read,))})


@pytest.mark.parametrize("has_to_do_with", [_states_its_rules, _reads_its_page])
def test_a_session_that_another_one_now_has_to_do_with_is_read(
    tmp_path: Path, left: list[int], has_to_do_with: Callable[[SessionRecord, SessionRecord], SessionRecord]
) -> None:
    kept, fresh = tmp_path / "kept", tmp_path / "fresh"
    for wiki in (kept, fresh):
        generate(wiki, 5)
    _catalog(kept)
    new = has_to_do_with(generated_record(9), generated_record(0))
    for wiki in (kept, fresh):
        WikiFolder(wiki).write_text(record_path(new.session_id), record_text(new))
        _catalog(wiki)
    assert changed(tree(kept), tree(fresh)) == []
    assert left == [0, 4, 0]


def test_of_a_large_wiki_the_records_that_are_settled_are_not_read(tmp_path: Path, left: list[int]) -> None:
    generate(tmp_path, 20)
    _catalog(tmp_path)
    added = generated_record(20)
    WikiFolder(tmp_path).write_text(record_path(added.session_id), record_text(added))
    _catalog(tmp_path)
    assert left == [0, 20]


def test_what_is_left_unread_is_not_remembered_as_judged_and_all_is_judged_by_new_rules(
    tmp_path: Path, left: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_with(number: int) -> int:
        added = generated_record(number)
        WikiFolder(tmp_path).write_text(record_path(added.session_id), record_text(added))
        _catalog(tmp_path)
        return len(judged_records(WikiFolder(tmp_path)))

    generate(tmp_path, 5)
    assert run_with(5) == 6
    (tmp_path / ".wiki/judged.json").unlink()
    assert run_with(6) == 7 - left[-1] == 1
    monkeypatch.setattr(judged, "VERSION", judged.VERSION + 1)
    assert run_with(7) == 8
    assert left[-1] == 0
