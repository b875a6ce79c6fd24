"""A run that cannot go on ends with the pages of what it has, and with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.engine import AnswerType, Question, no_progress
from agent_wiki.engines.scripted import ScriptedEngine
from agent_wiki.errors import RunError
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.stages.order import ALL_STAGES
from tests.wikis import arc, record, rule, tree

_SAYS: dict[str, Any] = {
    "summarize": {"": {"arcs": [arc()]}},
    "extract-guidelines": {"": {"guidelines": [rule("Run the check before a change.")]}},
    "discover-tasks": {"": {"title": "Fix the cart", "intro": "A cart to fix.", "findings": [], "tags": ["cart"]}},
}


_REQUEST = "Please mend the total of the cart: it adds up the wrong prices in src/cart.py."


class _LosesItsKey(ScriptedEngine):
    """Answers until it is asked a question of this stage for which it is not allowed any more."""

    def __init__(self, lost: str, session_id: str = "") -> None:
        super().__init__(_SAYS)
        self._lost, self._session_id = lost, session_id

    def answer(self, question: Question[AnswerType]) -> AnswerType:
        trajectory = question.fields().get("trajectory")
        if question.stage == self._lost and (trajectory is None or trajectory.session_id == self._session_id):
            raise RunError("the key is not accepted")
        return super().answer(question)


@pytest.mark.parametrize(
    ("lost", "summaries"),
    [(("summarize", "b"), ["a"]), (("discover-tasks", ""), ["a", "b", "c"])],
)
def test_the_pages_of_what_a_broken_off_run_has_are_there_when_it_ends(
    lost: tuple[str, str], summaries: list[str], tmp_path: Path
) -> None:
    paths = [
        record(tmp_path / "t", name, f"2026-01-0{day}", request=_REQUEST) for day, name in enumerate("abc", start=1)
    ]
    wiki = tmp_path / "wiki"
    with pytest.raises(RunError, match="the key is not accepted"):
        run(paths, Options(wiki, ALL_STAGES, _LosesItsKey(*lost)), Report("ingest", str(wiki)), no_progress)
    assert [path.stem for path in sorted((wiki / "summaries").glob("*.md")) if path.stem != "index"] == summaries
    run(paths, Options(wiki, ALL_STAGES, ScriptedEngine(_SAYS)), Report("ingest", str(wiki)), no_progress)
    run(paths, Options(tmp_path / "whole", ALL_STAGES, ScriptedEngine(_SAYS)), Report("ingest", str(wiki)), no_progress)
    assert tree(wiki) == tree(tmp_path / "whole")
