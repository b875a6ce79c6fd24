"""What a run shows of its progress where standard error is no terminal."""

from __future__ import annotations

import pytest

from agent_wiki.commands.show import progress_shown


def test_a_step_that_is_counted_is_shown_at_its_beginning_and_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_shown(quiet=False) as progress:
        for done in range(4):
            progress("read and mine", done, 3)
        progress("catalog", 0, 1)
    assert capsys.readouterr().err.splitlines() == ["read and mine: 0 of 3", "read and mine: 3 of 3", "catalog"]
