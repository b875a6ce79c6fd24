"""The skills that the package ships, in the list that a program gives its model at the start of a session."""

from __future__ import annotations

import json

import pytest
import yaml

from agent_wiki.harness.skills_folder import shipped_skills
from tests.clients.played.turns import says
from tests.clients.programs import CLAUDE_CODE, CODEX, GEMINI
from tests.clients.work import Work

_FOLDERS = {"claude-code": ".claude/skills", "codex": ".agents/skills", "gemini": ".agents/skills"}


@pytest.mark.parametrize(
    "at_work",
    [pytest.param(CLAUDE_CODE, id="claude-code"), pytest.param(CODEX, id="codex"), pytest.param(GEMINI, id="gemini")],
    indirect=True,
)
def test_each_shipped_skill_is_listed_with_its_whole_description(at_work: Work) -> None:
    at_work.ran("skills", "install", "--to", _FOLDERS[at_work.program.name])
    at_work.model.plays("list", says("I see them."))
    at_work.session("Which skills are there? [[list]]")
    request = at_work.model.requests()[0]
    heads = [
        content.decode().split("---\n")[1] for path, content in shipped_skills().items() if "/references/" not in path
    ]
    assert len(heads) == 3
    for head in heads:
        assert json.dumps(yaml.safe_load(head)["description"], ensure_ascii=False)[1:-1] in request
