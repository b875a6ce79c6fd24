"""The questions on a trajectory in one request: it is read once and not three times.

Put one by one, they share what the service's cache keeps of it, which costs a third more; and in a batch nobody knows
when the next question follows, so that the cache would often be empty by then. The answer is taken apart, and each part
is in the journal as the answer to its own question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_wiki.asking.prompts import Prompt, PromptFile, render_together
from agent_wiki.engine import Question
from agent_wiki.engines.answer_text import form_on_trajectory
from agent_wiki.engines.prompting import SegmentQuestion
from agent_wiki.stages.order import SESSION_STAGES, SUMMARIZE, stage_named
from agent_wiki.stages.summarize import NO_SUMMARY
from agent_wiki.trajectory import Trajectory


def stages_together(models: Mapping[str, str], stages: Sequence[str]) -> tuple[str, ...]:
    """Of the stages that run, those that one request can ask for: the first question on a trajectory, and others of
    the same model. None where there would be only one.
    """
    reader = models[SUMMARIZE]
    found = tuple(each for each in SESSION_STAGES if each in stages and models[each] == reader)
    return found if len(found) > 1 and SUMMARIZE in found else ()


def prompt_together(
    prompt: Prompt, question: Question[Any], stages: Sequence[str], prompts: Mapping[str, PromptFile]
) -> Prompt:
    """The prompt that puts the questions of these stages where `prompt` puts `question`, on the same stretch."""
    trajectory: Trajectory = question.fields()["trajectory"]
    segment = question.segment if isinstance(question, SegmentQuestion) else None
    asked = [stage_named(stage).question(trajectory, NO_SUMMARY) for stage in stages]
    return render_together(asked, prompts, prompt.prefix, form_on_trajectory(), segment)
