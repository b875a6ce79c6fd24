"""The start page: what the wiki knows, what waits for a person, and how the sessions went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from agent_wiki.pages.recalls import tier
from agent_wiki.pages.sessions import OUTCOMES, Session
from agent_wiki.site.addresses import list_file
from agent_wiki.site.contents import SiteContents, SiteLesson
from agent_wiki.site.matrix import Matrix, matrix_of
from agent_wiki.site.plots import Plot, day_of, periods_of, plot_of, short
from agent_wiki.site.session_facts import dollars, tokens_in
from agent_wiki.site.timeline import Timeline, timeline_of
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import counted

MOST_LISTED = 8


@dataclass(frozen=True, slots=True)
class StartFigure:
    """A number of the wiki, in words of its own; `href` leads to what is counted."""

    value: str
    label: str
    note: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class StartShown:
    """All that the start page shows."""

    figures: list[StartFigure]
    newest: list[SiteLesson]
    most_used: list[SiteLesson]
    disputed: list[SiteLesson]
    waiting: list[tuple[str, int]]
    plots: list[Plot]
    timeline: Timeline | None
    unknown: list[str]
    matrix: Matrix | None


def start_shown(contents: SiteContents, waiting: Sequence[tuple[str, int]]) -> StartShown:
    """What the start page shows. `waiting`: what waits for a person, and how many of it."""
    listed = [each for each in contents.lessons.values() if not each.is_archived]
    lessons = [each for each in listed if each.kind in ("cluster", "skill", "guideline")]
    newest = sorted((each for each in lessons if each.date), key=lambda each: each.path)
    newest.sort(key=lambda each: str(each.date), reverse=True)
    used = [each for each in lessons if each.used.get("followed")]
    plots, unknown = _plots(list(contents.sessions.values()))
    return StartShown(
        figures=_figures(contents, listed),
        newest=newest[:MOST_LISTED],
        most_used=sorted(used, key=lambda each: (-each.used["followed"], each.path))[:MOST_LISTED],
        disputed=disputed_lessons(contents)[:MOST_LISTED],
        waiting=[each for each in waiting if each[1]],
        plots=plots,
        timeline=timeline_of(contents),
        unknown=unknown,
        matrix=matrix_of(contents),
    )


def disputed_lessons(contents: SiteContents) -> list[SiteLesson]:
    """The lessons that harmed or misled a session that read them, the worst first."""
    found = [
        each
        for each in contents.lessons.values()
        if not each.is_archived and tier(contents.catalog.recalls.get(each.id, ()), 0) in ("low", "disputed")
    ]
    return sorted(found, key=lambda each: (-_against(each), each.path))


def _against(lesson: SiteLesson) -> int:
    return lesson.used.get("contradicted", 0) + lesson.used.get("harmful", 0)


def _figures(contents: SiteContents, lessons: Sequence[SiteLesson]) -> list[StartFigure]:
    sessions = list(contents.sessions.values())
    kinds = [(kind, sum(each.kind == kind for each in lessons)) for kind in ("guideline", "skill", "task")]
    clusters = sum(each.kind == "cluster" for each in lessons)
    silent = sum(not contents.taught.get(each.session_id) for each in sessions)
    figures = [
        StartFigure(f"{count:,}", counted(count, kind).partition(" ")[2], href=list_file(f"{kind}s"))
        for kind, count in kinds
    ]
    if clusters:
        figures[0] = StartFigure(
            figures[0].value, figures[0].label, f"and {counted(clusters, 'cluster')}", figures[0].href
        )
    share = f"{round(100 * silent / len(sessions))} % of all" if sessions else ""
    return [
        *figures,
        StartFigure(
            f"{len(sessions):,}",
            "session" if len(sessions) == 1 else "sessions",
            _span(sessions),
            list_file("sessions"),
        ),
        StartFigure(f"{silent:,}", "sessions with nothing to learn", share),
        _coverage(sessions),
        *_cost(sessions),
    ]


def _span(sessions: Iterable[Session]) -> str:
    dates = sorted(each.record.date for each in sessions if each.record.date)
    return f"since {dates[0]}" if dates else ""


def _coverage(sessions: Iterable[Session]) -> StartFigure:
    records = [each.record for each in sessions]
    characters = sum(each.characters for each in records)
    seen = characters - sum(each.elided_characters for each in records)
    share = f"{100 * seen / characters:.1f}".removesuffix(".0") if characters else ""
    return StartFigure(
        f"{share} %" if share else "unknown", "of what was recorded was read", f"{short(characters)} characters"
    )


def _cost(sessions: Sequence[Session]) -> list[StartFigure]:
    """What the sessions cost, where any recording says it."""
    costs = [each.record.total_cost_usd for each in sessions if each.record.total_cost_usd is not None]
    if not costs:
        return []
    note = "" if len(costs) == len(sessions) else f"of {len(costs):,} sessions; unknown of the others"
    return [StartFigure(dollars(sum(costs)), "cost of the sessions", note)]


def _plots(sessions: Sequence[Session]) -> tuple[list[Plot], list[str]]:
    """Outcomes, tokens and cost over time, as far as they are known; and a sentence about what is not."""
    dated = [each for each in sessions if day_of(each.record.date or "") is not None]
    unit, periods, period_of = periods_of(str(each.record.date) for each in dated)
    by = _by_period(dated, period_of)
    found = [
        plot_of("Sessions by outcome", f"Sessions a {unit}, by outcome", periods, by["outcome"], OUTCOMES, _whole, 2),
        plot_of("Tokens", f"Tokens a {unit}", periods, by["tokens"], ("in", "out"), short),
        plot_of("Cost", f"Recorded cost a {unit}, in dollars", periods, by["cost"], ("dollars",), "${:,.2f}".format),
    ]
    missing = [name for name, plot in zip(("", "tokens", "cost"), found, strict=True) if plot is None and name]
    unknown = [f"No recording says its {' or its '.join(missing)}."] if missing and dated else []
    undated = len(sessions) - len(dated)
    unknown += (
        [f"{counted(undated, 'session')} without a date {'is' if undated == 1 else 'are'} not in the plots."]
        if undated
        else []
    )
    return [plot for plot in found if plot is not None], unknown


def _by_period(
    sessions: Iterable[Session], period_of: Callable[[str], str]
) -> Mapping[str, dict[str, dict[str, float]]]:
    found: dict[str, dict[str, dict[str, float]]] = {"outcome": {}, "tokens": {}, "cost": {}}

    def add(plot: str, period: str, series: str, value: float) -> None:
        values = found[plot].setdefault(period, {})
        values[series] = values.get(series, 0) + value

    for session in sessions:
        period, record = period_of(str(session.record.date)), session.record
        add("outcome", period, session.outcome, 1)
        read = tokens_in(session)
        if read is not None:
            add("tokens", period, "in", read)
        if record.output_tokens is not None:
            add("tokens", period, "out", record.output_tokens)
        if record.total_cost_usd is not None:
            add("cost", period, "dollars", record.total_cost_usd)
    return found


def _whole(value: float) -> str:
    return f"{value:g}"
