"""One trajectory → one row of measurements. Pure; a measure that the recording does not have is absent, never 0.

The names are those of the rows published by the agent-wiki of AgentToolkit/altk-evolve, so that old and new rows can
be compared; additional measures have new names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from agent_wiki.evaluation.tasks import EvaluationTask, TaskSet, has_cited, judged
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.recall.reads import WikiRead, wiki_reads
from agent_wiki.shell.measures import measures
from agent_wiki.trajectory import Trajectory, Usage
from agent_wiki.wiki.layout import AGENTS, kind_of

Row = dict[str, Any]

_KINDS = {
    "guideline": "guideline_reads",
    "cluster": "cluster_reads",
    "skill": "skill_reads",
    "task": "task_reads",
    "subtask": "task_reads",
    "summary": "summary_reads",
}
MEASURED = frozenset(
    {"session_id", "task", "family", "condition", "trial", "duration_s", "total_cost_usd", "input_tokens",
     "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens", "billable_tokens_proxy", "turns",
     "tool_calls", "errors", "wiki_reads_total", "agents_md_read", "index_read", "guideline_reads", "cluster_reads",
     "skill_reads", "task_reads", "summary_reads", "final_text_len", "outcome_match", "matched_all", "matched_any",
     "cited_guideline", "reward", "resolved", "agent", "model", "parent_session_id", "recording"}
)  # fmt: skip
"""Every field that a row may have besides a person's labels."""

_BILLED = ("input_tokens", "cache_creation_input_tokens", "output_tokens")


def metrics_row(
    trajectory: Trajectory,
    tasks: TaskSet | None = None,
    path: PurePath | RecordingPath | None = None,
    labels: Mapping[str, Any] | None = None,
) -> Row:
    """Measure one session.

    In: the trajectory; the task file, against which its final answer is judged; the recording's path, in case only
    its folder names the task; labels for the row (`condition`, `batch`, …), which override recorded ones. Out: a flat
    mapping for one JSON line.
    """
    source, usage = trajectory.source, trajectory.source.usage or Usage()
    task = task_of(trajectory, tasks, path)
    answer = final_answer(trajectory)
    counted = measures(trajectory)
    row: Row = {
        "session_id": trajectory.session_id,
        "task": task.id if task else source.task_id,
        "family": task.family if task else None,
        "condition": source.condition,
        "trial": _number_if_one(source.trial),
        "duration_s": source.duration_seconds,
        "total_cost_usd": source.priced_usd,
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens,
        "output_tokens": usage.output_tokens,
        "billable_tokens_proxy": _sum_if_known(getattr(usage, name) for name in _BILLED),
        "turns": len(trajectory.messages),
        "tool_calls": counted.tool_calls,
        "errors": counted.errors,
        **_reads(wiki_reads(trajectory)),
        "final_text_len": len(answer) if answer else None,
        **(_judged(task, trajectory, answer) if task else {}),
        "reward": source.reward,
        "resolved": source.resolved,
        "agent": trajectory.agent,
        "model": trajectory.model,
        "parent_session_id": source.parent_session_id,
        "recording": source.file,
        **(labels or {}),
    }
    return {name: value for name, value in row.items() if value is not None}


def task_of(
    trajectory: Trajectory, tasks: TaskSet | None, path: PurePath | RecordingPath | None = None
) -> EvaluationTask | None:
    """The task of a session: by its recorded id, else by its request, else by its folder."""
    if tasks is None:
        return None
    known = tasks.named(trajectory.source.task_id)
    if known is None:
        request = next((each.content for each in trajectory.messages if each.role == "user" and not each.mark), None)
        known = tasks.asked(request or "")
    if known is None and path is not None:
        known = tasks.of_path(reversed(path.parts))
    return known


def final_answer(trajectory: Trajectory) -> str:
    """The text of the agent's last reply with text; empty if there is none."""
    replies = (each.content for each in reversed(trajectory.messages) if each.role == "assistant")
    return next((text for text in replies if text and text.strip()), "")


def _judged(task: EvaluationTask, trajectory: Trajectory, answer: str) -> Row:
    verdict = judged(task, answer)
    spoken = "\n".join(each.content or "" for each in trajectory.messages if each.role == "assistant")
    return {
        "outcome_match": verdict.outcome,
        "matched_all": verdict.matched_all,
        "matched_any": verdict.matched_any,
        "cited_guideline": has_cited(task, spoken),
    }


def _reads(reads: list[WikiRead]) -> Row:
    """Reads of wiki pages, each page once per call; indexes are counted separately, what was only listed not at all."""
    counts = dict.fromkeys(dict.fromkeys(_KINDS.values()), 0)
    for read in reads:
        name = _KINDS.get(kind_of(read.page) or "")
        if name is not None and read.shows_page:
            counts[name] += 1
    names = [read.page.rpartition("/")[2] for read in reads]
    return {
        "wiki_reads_total": len(reads),
        "agents_md_read": AGENTS in names,
        "index_read": any(read.is_index and name != AGENTS for read, name in zip(reads, names, strict=True)),
        **counts,
    }


def _sum_if_known(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if any(value is None for value in known) else sum(value for value in known if value is not None)


def _number_if_one(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else text
