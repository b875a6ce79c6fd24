"""discover-tasks without a model: what the sessions that succeeded did and the others did not.

Across trials of one task the successful *writes* separate winners from losers in most mixed tasks, tool names first,
then arguments; counts of calls and errors seldom do and are not reported. What is equal in all trials explains
nothing, unless all ended alike. What sessions look up and what was refused to them comes after what they changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from agent_wiki.engines.offline.wording import clause
from agent_wiki.pages.compare.contrasts import Side, failure_contrasts, in_common, look_up_contrasts, write_contrasts
from agent_wiki.pages.compare.similarity import WORD, strength
from agent_wiki.pages.compare.views import SessionView
from agent_wiki.stages.discover_tasks import (
    MOST_FINDINGS,
    SubtaskQuestion,
    SubtasksAnswer,
    TaskAnswer,
    TaskQuestion,
    representative_session,
)
from agent_wiki.wiki.layout import slug
from agent_wiki.wiki.text import plain_line

_FEWEST_A_SIDE = 2
_SPECIFIC_SHARE = 0.5


@overload
def answer(question: TaskQuestion) -> TaskAnswer: ...
@overload
def answer(question: SubtaskQuestion) -> SubtasksAnswer: ...
def answer(question: TaskQuestion | SubtaskQuestion) -> TaskAnswer | SubtasksAnswer:
    """The page of a family. None of one session in it: rules say nothing of it that its summary does not say."""
    return _task(question) if isinstance(question, TaskQuestion) else SubtasksAnswer()


def _task(question: TaskQuestion) -> TaskAnswer:
    family = question.family
    title = _title(representative_session(family).goal)
    title = title or plain_line(family.name or " ".join(family.shared_terms[:6]), 100) or "Task"
    words = [slug(term) for term in family.shared_terms if strength(term) == WORD and len(term) > 2]
    tags = list(dict.fromkeys(word for word in words if word != "untitled"))[:4]
    found = findings(family.sessions)
    return TaskAnswer(title=title, intro=_intro(question), findings=found, tags=sorted(tags) or ["task"])


def _title(goal: str, most: int = 100) -> str:
    """The goal up to the end of a sentence or a clause; what only lists the details stays out."""
    title = clause(goal, most)
    head = title[:-1] if goal.startswith(f"{title[:-1]}:") else title.rpartition(": ")[0]
    return head if title.endswith("…") and len(head) > most // 4 else title


def _intro(question: TaskQuestion) -> str:
    family = question.family
    number = len(family.sessions)
    if family.name:
        found = "which the wiki's owner put together"
    elif family.task_id:
        found = f"recorded as task `{plain_line(family.task_id, 60).replace('`', '')}`"
    else:
        found = "found by what their users asked"
    agents = sorted({session.agent for session in family.sessions if session.agent})
    by = f", by {', '.join(plain_line(agent, 40) for agent in agents)}" if agents else ""
    return f"{number} sessions attempted the same thing{by}, {found}."


def findings(sessions: Sequence[SessionView]) -> list[str]:
    """What set the successful ones apart, most informative first; empty when nothing measured does.

    Only a recorded outcome counts; a session whose outcome is unknown is on neither side.
    """
    won = [session for session in sessions if session.outcome == "success"]
    lost = [session for session in sessions if session.outcome in ("failure", "partial")]
    if won and lost:
        sides = Side("succeeded", won), Side("did not succeed", lost)
        found = write_contrasts(*sides) + look_up_contrasts(*sides) + failure_contrasts(*sides)
    else:
        others = len(sessions) - len(won or lost)
        found = in_common(won or lost, have_won=bool(won), others=others)
    for name, groups in _groupings(sessions):
        found += _outcomes_by_group(name, groups)
    return found[:MOST_FINDINGS]


def _groupings(sessions: Sequence[SessionView]) -> list[tuple[str, list[tuple[str, list[SessionView]]]]]:
    """The ways in which trials were set up differently, each with its groups of at least two sessions."""
    conditions = sorted({session.condition for session in sessions if session.condition})
    by_condition = [
        (f"`{plain_line(name, 60).replace('`', '')}`", [each for each in sessions if each.condition == name])
        for name in conditions
    ]
    by_wiki = [
        (label, [each for each in sessions if each.wiki_consulted is flag])
        for flag, label in ((True, "consulted"), (False, "not consulted"))
    ]
    found = []
    for name, groups in (("condition", by_condition), ("wiki", by_wiki)):
        groups = [(label, members) for label, members in groups if len(members) >= _FEWEST_A_SIDE]
        if len(groups) > 1:
            found.append((name, groups))
    return found


def _outcomes_by_group(name: str, groups: list[tuple[str, list[SessionView]]]) -> list[str]:
    """How many of each group succeeded, where the shares differ by half or more."""
    counted = []
    for label, members in groups:
        known = [each for each in members if each.outcome in ("success", "failure", "partial")]
        if len(known) >= _FEWEST_A_SIDE:
            counted.append((label, sum(each.outcome == "success" for each in known), len(known)))
    shares = [wins / known for _, wins, known in counted]
    if len(shares) < 2 or max(shares) - min(shares) < _SPECIFIC_SHARE:
        return []
    return [f"By {name}: " + "; ".join(f"{label}, {wins} of {known} succeeded" for label, wins, known in counted) + "."]
