"""`wiki connect --allow`: where nobody can be asked, `wiki consult` runs and nothing else does."""

from __future__ import annotations

import pytest

from tests.clients.played.turns import bash, says
from tests.clients.programs import CLAUDE_CODE, CODEX_PLAIN, GEMINI
from tests.clients.taught import teach
from tests.clients.work import Work

_GUARDED = {
    "claude-code": ["claude", "-p", "--model", "sonnet"],
    "codex": ["codex", "exec", "--sandbox", "read-only"],
    "gemini": ["gemini", "-m", "gemini-2.5-pro", "-p"],
}


def _last_request(at_work: Work, *options: str) -> str:
    """What the program tells the model at the end of a session in which it may ask nobody."""
    at_work.ran("connect", at_work.program.name, *options)
    at_work.model.plays(
        "asks",
        says("", bash("wiki consult 'run the tests of this project'")),
        says("", bash("touch made-without-asking")),
        says("Nothing more."),
    )
    at_work.session("", [*_GUARDED[at_work.program.name], "Run the tests of this project. [[asks]]"])
    assert not (at_work.project / "made-without-asking").exists()
    return at_work.model.requests()[-1]


@pytest.mark.parametrize(
    "at_work", [pytest.param(CLAUDE_CODE, id="claude-code"), pytest.param(GEMINI, id="gemini")], indirect=True
)
def test_an_agent_that_is_allowed_to_consults_without_asking(at_work: Work) -> None:
    link = teach(at_work)
    assert link in _last_request(at_work, "--allow")


@pytest.mark.parametrize(
    "at_work", [pytest.param(CLAUDE_CODE, id="claude-code"), pytest.param(GEMINI, id="gemini")], indirect=True
)
def test_an_agent_that_is_not_allowed_to_is_refused(at_work: Work) -> None:
    link = teach(at_work)
    assert link not in _last_request(at_work)


@pytest.mark.parametrize("at_work", [pytest.param(CODEX_PLAIN, id="codex-plain")], indirect=True)
def test_codex_consults_where_its_sandbox_lets_it_write_nothing(at_work: Work) -> None:
    link = teach(at_work)
    assert link in _last_request(at_work)
