"""The example's second wiki is what its recorded answers give, byte for byte; a changed prompt asks for new answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.asking.journal import records
from agent_wiki.pipeline.worklist import worklist
from tests.wikis import changed, ingest, tree

EXAMPLE = Path(__file__).resolve().parents[2] / "wiki-example"
ANSWERED = EXAMPLE / "answered"
ACCEPT = (
    "rm -r wiki-example/answered/wiki; wiki ingest wiki-example/traces --wiki wiki-example/answered/wiki "
    "--engine recorded:wiki-example/answered/journal; git diff wiki-example"
)


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wiki = tmp_path_factory.mktemp("answered") / "wiki"
    (wiki / ".wiki").mkdir(parents=True)
    (wiki / ".wiki" / "journal").symlink_to(ANSWERED / "journal")
    unanswered = [f"{each.stage}: {', '.join(each.about)}" for each in worklist(wiki, [EXAMPLE / "traces"]).questions]
    told = "\n".join(unanswered)
    assert not unanswered, (
        f"a prompt, a schema or a trace changed; see {ANSWERED.name}/README.md. To be answered:\n{told}"
    )
    made = wiki.parent / "made"
    report = ingest([EXAMPLE / "traces"], made, f"recorded:{ANSWERED / 'journal'}")
    assert report.exit_code == 0, report.lines()
    return made


def test_the_wiki_is_rebuilt_from_its_answers_to_the_same_bytes(rebuilt: Path) -> None:
    differing = changed(tree(ANSWERED / "wiki"), tree(rebuilt))
    assert not differing, (
        f"all is answered, but {len(differing)} pages differ; to accept what the code gives now:\n{ACCEPT}"
    )


def test_every_claim_of_every_answer_was_accepted(rebuilt: Path) -> None:
    report = ingest([EXAMPLE / "traces"], rebuilt, f"recorded:{ANSWERED / 'journal'}", rewrite=True)
    assert (report.dropped_claims, report.warnings, report.failures) == ([], [], [])


def test_a_changed_prompt_asks_for_its_answers_again_and_for_no_other(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    (wiki / ".wiki").mkdir(parents=True)
    (wiki / ".wiki" / "journal").symlink_to(ANSWERED / "journal")
    text = (EXAMPLE.parent / "prompts" / "synthesize-skill.md").read_text(encoding="utf-8")
    (wiki / "prompts").mkdir()
    (wiki / "prompts" / "synthesize-skill.md").write_text(text + "One word more.\n", encoding="utf-8")
    assert {each.stage for each in worklist(wiki, [EXAMPLE / "traces"]).questions} == {"synthesize-skill"}


def test_every_answer_was_an_agents_and_is_used_once() -> None:
    answers = [each for each in records(ANSWERED / "journal", []) if each["kind"] == "answer"]
    assert {each["answered_by"] for each in answers} == {"agent"}
    assert len({each["prompt"] for each in answers}) == len(answers) == 65


def test_it_shows_each_kind_of_page_and_archives_nothing_for_no_skill_states_a_guideline_word_by_word() -> None:
    names = list(tree(ANSWERED / "wiki"))
    for kind in ("__cluster.md", "__task.md", "__subtask.md", "SKILL.md"):
        assert any(kind in name for name in names), kind
    assert not any("_archived/" in name for name in names)
