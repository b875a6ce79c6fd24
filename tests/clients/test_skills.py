"""Mined skills, loaded by programs from where they look for skills, and counted as read when they are used."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pytest

from tests.clients.conftest import need
from tests.clients.played.turns import Call, Turn, bash, read, says, skill
from tests.clients.programs import CLAUDE_CODE, CODEX, CODEX_PLAIN, COPILOT, GEMINI, OPENCODE, QWEN
from tests.clients.taught import copy_example, used
from tests.clients.work import Work

_SLUG = "sum-csv-column"
_LINK = f"skills/{_SLUG}/SKILL.md"
_TABLE = "key,value\na,2\na,3\n"
_DESCRIPTION = "Sum one column of a CSV file by another"


def _prepared(at_work: Work, folder: str) -> None:
    copy_example(at_work)
    shutil.copytree(at_work.wiki / "skills" / _SLUG, at_work.project / folder / _SLUG)
    (at_work.project / "table.csv").write_text(_TABLE, encoding="utf-8")


def _plays(loads: Call, script: str) -> Sequence[Turn]:
    ran = bash(f"python3 {script} table.csv key value")
    return says("", loads), says("I use its script.", ran), says("The sum is 5.")


def _holds(at_work: Work, words: Sequence[str]) -> None:
    before = used(at_work, _LINK) or {}
    at_work.session("", words)
    requests = at_work.model.requests()
    assert any(_DESCRIPTION in request for request in requests[:2])
    assert "a,5" in requests[-1]
    assert used(at_work, _LINK) == {**before, "followed": before.get("followed", 0) + 1}


@pytest.mark.parametrize("at_work", [pytest.param(CLAUDE_CODE, id="claude-code")], indirect=True)
def test_a_skill_copied_into_claudes_folder_is_listed_loaded_and_counted(at_work: Work) -> None:
    _prepared(at_work, ".claude/skills")
    at_work.model.plays("skill", *_plays(skill(_SLUG), f".claude/skills/{_SLUG}/scripts/sum_csv_column.py"))
    _holds(at_work, at_work.program.words("Sum the table. [[skill]]"))


@pytest.mark.parametrize("at_work", [pytest.param(CLAUDE_CODE, id="claude-code")], indirect=True)
def test_a_wiki_given_as_a_plugin_lists_and_loads_its_skills(at_work: Work) -> None:
    _prepared(at_work, "elsewhere")
    at_work.model.plays("skill", *_plays(skill(f"wiki:{_SLUG}"), f"wiki/skills/{_SLUG}/scripts/sum_csv_column.py"))
    words = at_work.program.words("Sum the table. [[skill]]")
    _holds(at_work, [words[0], "--plugin-dir", "wiki", *words[1:]])


@pytest.mark.parametrize(
    "at_work",
    [pytest.param(CODEX, id="codex-code-mode"), pytest.param(CODEX_PLAIN, id="codex-plain")],
    indirect=True,
)
def test_a_skill_copied_into_the_agents_folder_is_listed_and_read_by_codex(at_work: Work) -> None:
    _prepared(at_work, ".agents/skills")
    loads = read(f".agents/skills/{_SLUG}/SKILL.md")
    at_work.model.plays("skill", *_plays(loads, f".agents/skills/{_SLUG}/scripts/sum_csv_column.py"))
    _holds(at_work, at_work.program.words("Sum the table. [[skill]]"))


@pytest.mark.parametrize(
    ("at_work", "folder"),
    [
        pytest.param(GEMINI, ".agents/skills", id="gemini"),
        pytest.param(QWEN, ".qwen/skills", id="qwen"),
        pytest.param(OPENCODE, ".agents/skills", id="opencode"),
        pytest.param(COPILOT, ".agents/skills", id="copilot"),
    ],
    indirect=["at_work"],
)
def test_a_skill_copied_into_the_programs_folder_is_listed_loaded_and_counted(at_work: Work, folder: str) -> None:
    if at_work.program is OPENCODE:
        need("rg")  # by which it lists a skill's files; without a network it cannot fetch it
    _prepared(at_work, folder)
    at_work.model.plays("skill", *_plays(skill(_SLUG), f"{folder}/{_SLUG}/scripts/sum_csv_column.py"))
    _holds(at_work, at_work.program.words("Sum the table. [[skill]]"))
