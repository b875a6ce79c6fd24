"""Small made-up sessions for the tests of the embedded engine's skills."""

from __future__ import annotations

import json
from typing import Any

from agent_wiki.engines.offline.synthesize_skill import answer
from agent_wiki.pages.sessions import Outcome
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.stages.summarize import ArcAnswer, SummaryAnswer
from agent_wiki.stages.synthesize_skill import SkillQuestion, SkillsAnswer
from agent_wiki.trajectory import Source, Trajectory

Step = tuple[str, dict[str, Any], str, bool]  # tool, arguments, result, has it failed


def shell(command: str, result: str = "ok", failed: bool = False) -> Step:
    return ("Bash", {"command": command}, result, failed)


def write(path: str, text: str) -> Step:
    return ("Write", {"file_path": path, "content": text}, "File created", False)


def edit(path: str, old: str, new: str) -> Step:
    return ("Edit", {"file_path": path, "old_string": old, "new_string": new}, "The file has been updated", False)


def session(*steps: Step | str, session_id: str = "session-1", source: Source | None = None) -> Trajectory:
    """A session of steps; a bare string is a turn of the user."""
    builder = TrajectoryBuilder()
    builder.user("Please do the work.")
    for number, step in enumerate(steps):
        if isinstance(step, str):
            builder.user(step)
            continue
        tool, arguments, result, failed = step
        builder.assistant(None, calls=[(f"call-{number}", tool, json.dumps(arguments))])
        builder.tool(f"call-{number}", result, is_error=failed)
    return builder.finish(session_id, source or Source("claude_code"))


def summary(trajectory: Trajectory, outcome: Outcome = "success") -> SummaryAnswer:
    last = max(1, len(trajectory.messages))
    arc = ArcAnswer(first_turn=1, last_turn=last, goal="g", outcome=outcome, narrative="n", key_turns=[])
    return SummaryAnswer(arcs=[arc])


def skill_of(trajectory: Trajectory, outcome: Outcome = "success") -> SkillsAnswer:
    return answer(SkillQuestion(trajectory, summary(trajectory, outcome)))
