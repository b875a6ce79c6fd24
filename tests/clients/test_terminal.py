"""What happens only in a terminal: a turn that is ended by Esc has no `Stop`, and is saved when the session is left."""

from __future__ import annotations

import pytest

import agent_wiki as aw
from tests.clients.played.turns import bash, says
from tests.clients.programs import CLAUDE_CODE
from tests.clients.terminal import ENTER, ESCAPE, terminal
from tests.clients.work import Work, until


@pytest.mark.parametrize("at_work", [pytest.param(CLAUDE_CODE, id="claude-code")], indirect=True)
def test_a_session_of_claude_code_that_was_ended_by_escape_is_saved(at_work: Work) -> None:
    at_work.ran("connect", "claude-code")
    at_work.model.plays("long", says("This takes a while.", bash("python3 -c 'import time; time.sleep(60)'")))
    words = ["claude", "Wait for it. [[long]]", "--model", "sonnet", "--allowedTools", "Bash(python3:*)"]
    with terminal(at_work, words) as screen:
        screen.until("esc to interrupt")
        assert until(lambda: bool(at_work.model.sent("long")))
        screen.until("This takes a while")
        screen.press(ESCAPE)
        screen.until("Interrupted")
        screen.press("/exit")
        screen.press(ENTER)
        assert screen.ended()
    saved = at_work.project / ".evolve" / "trajectories"
    assert until(lambda: any(saved.glob("*.json")))
    (read,) = [each for path in saved.glob("*.json") for each in aw.normalize(path)]
    assert "interrupt" in {message.mark for message in read.messages}
