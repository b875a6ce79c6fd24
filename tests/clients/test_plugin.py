"""A wiki as a plugin, installed as `wiki plugin` says: skills, hooks and MCP server in one install."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

import pytest

from tests.clients.played.turns import bash, mcp, raw, says
from tests.clients.programs import CLAUDE_CODE, CODEX, CODEX_PLAIN, GEMINI
from tests.clients.taught import copy_example
from tests.clients.work import Work, until

_SLUG = "sum-csv-column"
_TASK = "sum one column of a CSV file"
_POINTER = "This project has an agent wiki"


def _installed(at_work: Work) -> dict[str, str]:
    """The commands that install the plugin, once its files are written."""
    copy_example(at_work)
    asks = mcp("consult", task=_TASK)
    if at_work.program is CLAUDE_CODE:  # which names such a tool only, until the model asks for its schema
        asks = raw("mcp__plugin_wiki_wiki__consult", task=_TASK)
    at_work.model.plays(
        "ask",
        says("", bash("sleep 3")),  # a server that a program starts with it is there by now
        says("I ask the wiki.", asks),
        says("Nothing is to be done."),
    )
    told: dict[str, str] = json.loads(at_work.ran("plugin", "--json"))["install"]
    return told


def _run_all(at_work: Work, commands: str, *more: str) -> None:
    for command in commands.split(" && "):
        at_work.run([*shlex.split(command), *more])


def _holds(at_work: Work, words: Sequence[str], listed: str, *, has_hooks: bool = True) -> None:
    at_work.session("", words)
    first, *_, last = at_work.model.requests()
    assert listed in first
    assert f"skills/{_SLUG}/SKILL.md" in last, "what `consult` found, with its link"
    if has_hooks:
        assert _POINTER in first
        assert until(lambda: any(at_work.project.glob(".evolve/trajectories/*.json")))


@pytest.mark.parametrize("at_work", [pytest.param(CLAUDE_CODE, id="claude-code")], indirect=True)
@pytest.mark.parametrize("is_to_stay", [False, True], ids=["plugin-dir", "marketplace"])
def test_claude_code_gets_skills_hooks_and_tools_from_the_wikis_own_folder(at_work: Work, is_to_stay: bool) -> None:
    told = _installed(at_work)
    words = list(at_work.program.words("Sum a table. [[ask]]"))
    if is_to_stay:
        _run_all(at_work, told["Claude Code, to stay"])
    else:
        words[1:1] = shlex.split(told["Claude Code, for a session"])[1:]
    _holds(at_work, words, f"wiki:{_SLUG}")


@pytest.mark.parametrize(
    "at_work", [pytest.param(CODEX, id="codex-code-mode"), pytest.param(CODEX_PLAIN, id="codex-plain")], indirect=True
)
def test_codex_gets_skills_hooks_and_tools(at_work: Work) -> None:
    _run_all(at_work, _installed(at_work)["Codex, a copy of the skills"])
    _holds(at_work, at_work.program.words("Sum a table. [[ask]]"), f"wiki:{_SLUG}")


@pytest.mark.parametrize("at_work", [pytest.param(GEMINI, id="gemini")], indirect=True)
def test_gemini_gets_skills_and_tools(at_work: Work) -> None:
    _run_all(at_work, _installed(at_work)["Gemini CLI, without hooks"], "--consent")
    _holds(at_work, at_work.program.words("Sum a table. [[ask]]"), _SLUG, has_hooks=False)
