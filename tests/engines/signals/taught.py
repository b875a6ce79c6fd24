"""What the rules for known errors teach of a scripted session."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import known_remedies
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script


def titles_of(script: Script) -> list[str]:
    return [lesson.guideline.title for lesson in known_remedies.lessons(MinedSession.of(script.done()))]


def graded(script: Script) -> dict[str, str]:
    trajectory = script.done()
    lessons = known_remedies.lessons(MinedSession.of(trajectory))
    return {each.guideline.title: grade_of(each.guideline, trajectory).cause for each in lessons}
