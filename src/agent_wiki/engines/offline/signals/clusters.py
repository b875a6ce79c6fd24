"""A state of a Kubernetes cluster, the change that cleared it, and the proof of health (signals 7 and 10)."""

from __future__ import annotations

import re

from agent_wiki.engines.offline.attempts import MinedSession, output_of
from agent_wiki.engines.offline.cluster_states import ClusterState, cluster_states
from agent_wiki.engines.offline.lessons import Lesson, lesson
from agent_wiki.shell.verdict import has_failed
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.text import plain_line

_TALKS = regex(r"\b(?:kubectl|oc|helm|mongo|mongosh)\b")
_CHANGES = regex(
    r"\b(?:kubectl|oc)\b.{0,300}?\b(?:patch|edit|set|apply|replace|create|delete|scale|label|annotate|taint"
    r"|uncordon|exec)\b"
    r"|\bhelm (?:upgrade|install|rollback)\b",
    re.DOTALL,
)
_DRY = regex(r"--dry-run")
_HEALTHY = regex(
    r"successfully rolled out|condition met|\b([1-9]\d{0,2})/\1\s{1,80}(?:Running|[1-9])"
    r"|^\S{1,120}\s{1,40}\d{1,3}\.\d{1,3}\.\d",
    re.MULTILINE,
)
_SEEN_AFTER = 12


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A call to the cluster and its answer."""

    call: Call
    line: str
    output: str
    answer_turn: int


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson for each known state that a change of the session cleared."""
    exchanges = _exchanges(session)
    changes = [each for each in exchanges if _CHANGES.search(each.line[:4000]) and not _DRY.search(each.line)]
    if not changes:
        return []
    return [each for state in cluster_states() for each in _lesson(session, state, exchanges, changes)]


def _exchanges(session: MinedSession) -> list[_Exchange]:
    """Calls that talk to a cluster, whatever tool they go through, and the answers that Codex fetches later."""
    found: list[_Exchange] = []
    is_talking = False
    for call in session.calls:
        line = call.command() or next((value for value in call.arguments.values() if isinstance(value, str)), "")
        is_follow_up = is_talking and call.name == "write_stdin"
        is_talking = bool(_TALKS.search(line[:4000])) or is_follow_up
        if is_talking and call.mark is None and call.result is not None:
            found.append(_Exchange(call, line, output_of(call.result), call.result_turn or call.turn))
    return found


def _lesson(
    session: MinedSession, state: ClusterState, exchanges: list[_Exchange], changes: list[_Exchange]
) -> list[Lesson]:
    fitting = [each for each in changes if not has_failed(each.call) and state.change.search(each.line[:8000])]
    shown = _first_shown(state, exchanges) if fitting else None
    for change in fitting if shown else ():
        healthy = _healthy_after(exchanges, change) if shown and change.call.turn > shown[0].answer_turn else None
        if shown and healthy:
            line = shown[1]
            change_line = change.line.strip().partition("\n")[0]
            was, did = plain_line(line, 160), plain_line(change_line, 160)
            evidence = [
                session.quote(shown[0].answer_turn, line),
                session.quote(change.call.turn, change_line),
                session.quote(healthy[0].answer_turn, healthy[1]),
            ]
            rationale = f"The cluster showed `{was}`; after `{did}` it was healthy."
            return lesson(
                state.wording,
                rationale,
                evidence,
                {shown[0].answer_turn, change.call.turn},
                76,
                remedy=change.call.turn,
                confirmed=healthy[0].answer_turn,
            )
    return []


def _first_shown(state: ClusterState, exchanges: list[_Exchange]) -> tuple[_Exchange, str] | None:
    for each in exchanges:
        match = state.shown.search(each.output)
        if match:
            return each, _line_at(each.output, match.start())
    return None


def _healthy_after(exchanges: list[_Exchange], change: _Exchange) -> tuple[_Exchange, str] | None:
    later = [each for each in exchanges if each.call.position > change.call.position]
    for each in later[:_SEEN_AFTER]:
        match = _HEALTHY.search(each.output)
        if match:
            return each, _line_at(each.output, match.start())
    return None


def _line_at(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[start : end if end >= 0 else len(text)].strip()
