"""Whether sessions that were asked the same, by their words, were trials of one task.

In conversations of a service's customers the words say what the task was. Agents that work on files are given the same
words for other work each time: commands of a harness (`/implement`), roles, menus, loops that tick off a list. Such
sessions are trials where a verdict was recorded of them, or where one request was all that anybody said and they
changed the same files.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from agent_wiki.pages.compare.views import SessionView
from agent_wiki.pages.compare.writes import changed_file, tool_of
from agent_wiki.shell.tools import FILE_TOOLS

_MOST = 2 / 3  # of the sessions must be so
_SAME_FILES = 0.4  # least average overlap of the files that two of them changed
_DOCUMENTS = (".md", ".mdx", ".txt", ".org")


def are_trials(sessions: Sequence[SessionView]) -> bool:
    """Whether `sessions`, which share their request's words, attempted one task; at least two are expected."""
    least = _MOST * len(sessions)
    graded = sum(session.reward is not None or session.resolved is not None for session in sessions)
    served = sum(session.tool_calls != 0 for session in sessions)  # of another tool's page it is unknown
    if graded >= least or (served >= least and not any(map(_works_on_files, sessions))):
        return True
    asked_once = sum(len(session.request_terms) == session.first_terms for session in sessions)
    if asked_once < least or len({session.repository for session in sessions} - {None}) > 1:
        return False
    changed = [files for session in sessions if (files := _changed(session))]
    shares = [len(one & other) / min(len(one), len(other)) for one, other in combinations(changed, 2)]
    return len(changed) >= least and sum(shares) >= _SAME_FILES * len(shares)


def _works_on_files(session: SessionView) -> bool:
    """Whether a session was work in a folder: files were changed or read there, or commands were run."""
    looked = {look_up.partition("(")[0].lower() for look_up in session.look_ups}
    changes = any(": " in tool_of(write) for write in session.writes)
    return session.repository is not None or changes or not looked.isdisjoint(FILE_TOOLS)


def _changed(session: SessionView) -> set[str]:
    """The files that a session changed, without the documents that its request names: a loop ticks off a list there."""
    named = {term for term in session.request_terms[: session.first_terms] if term.endswith(_DOCUMENTS)}
    files = filter(None, map(changed_file, session.writes))
    return {file for file in files if file.rpartition("/")[2].lower() not in named}
