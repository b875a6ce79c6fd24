"""Who succeeds at what: tasks against models, with rewards and pass^k."""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.pages.pass_rates import MOST_K, has_passed, pass_rate
from agent_wiki.pages.sessions import Session
from agent_wiki.pages.task import trial_and_condition
from agent_wiki.site.contents import SiteContents
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import plain_line

_MOST_TASKS = 40
_MOST_COLUMNS = 8
_GRADES = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """The sessions of one task by one agent. `grade` is 0 to 4 by the share that passed; `detail` says the rest."""

    passed: int
    trials: int
    grade: int
    detail: str


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task and its cells, None where nothing is known."""

    title: str
    href: str
    cells: list[Cell | None]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Tasks against models, each by condition where there are several. `left_out` are tasks that are not shown."""

    columns: list[str]
    rows: list[TaskRow]
    left_out: int
    columns_left_out: int


def matrix_of(contents: SiteContents) -> Matrix | None:
    """The matrix of a wiki; None where no task has a session with a known result."""
    config = contents.view.state.config
    groups: dict[str, dict[str, list[Session]]] = {}
    sizes: dict[str, int] = {}
    for slug, ids in contents.catalog.task_sessions.items():
        for name in ids:
            session = contents.sessions[name]
            if has_passed(session) is not None:
                condition = trial_and_condition(session, config)[1]
                column = plain_line(" · ".join(filter(None, (session.record.model, condition))), 60) or "unknown model"
                groups.setdefault(slug, {}).setdefault(column, []).append(session)
                sizes[column] = sizes.get(column, 0) + 1
    if not groups:
        return None
    columns = sorted(sorted(sizes, key=lambda each: (-sizes[each], each))[:_MOST_COLUMNS])
    chosen = sorted(groups, key=lambda slug: (-sum(map(len, groups[slug].values())), slug))
    rows = [_row(slug, groups[slug], columns, contents) for slug in chosen[:_MOST_TASKS]]
    return Matrix(columns, rows, max(len(chosen) - _MOST_TASKS, 0), max(len(sizes) - _MOST_COLUMNS, 0))


def _row(slug: str, groups: dict[str, list[Session]], columns: Sequence[str], contents: SiteContents) -> TaskRow:
    lesson = contents.by_id.get(f"task:{slug}")
    title = lesson.title if lesson is not None else plain_line(slug, 80)
    cells = [_cell(groups[column]) if column in groups else None for column in columns]
    return TaskRow(title, lesson.href if lesson is not None else "", cells)


def _cell(sessions: Sequence[Session]) -> Cell:
    passes = [bool(has_passed(each)) for each in sessions]
    trials, passed = len(passes), sum(passes)
    rewards = [each.record.reward for each in sessions if each.record.reward is not None]
    said = [f"reward {sum(rewards) / len(rewards):.2f}"] if rewards else []
    k = min(trials, MOST_K)
    said += [f"pass^{k} {pass_rate(passed, trials, k):.2f}"] if k > 1 else []
    return Cell(passed, trials, round(_GRADES * passed / trials), ", ".join(said))
