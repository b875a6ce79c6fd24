"""The newest sessions one by one: how each ended, how much was read and written, and what it cost."""

from __future__ import annotations

from agent_wiki.pages.sessions import Session
from agent_wiki.site.addresses import href, session_file
from agent_wiki.site.contents import SiteContents, session_title
from agent_wiki.site.plots import LEFT, RIGHT, WIDTH, Tick, day_of, height_of, round_up, short
from agent_wiki.site.session_facts import all_tokens, dollars
from agent_wiki.trajectory.lazily import dataclass

MOST_SESSIONS = 120
_WIDEST = 18.0
_LEAST_HEIGHT = 2.0  # of what is known to be nearly nothing


@dataclass(frozen=True, slots=True)
class TimelineBar:
    """A session: a bar that leads to it."""

    x: float
    y: float
    width: float
    height: float
    outcome: str
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """Sessions in the order of their dates. `measure` is what their height says; `left_out` are older ones."""

    measure: str
    bars: list[TimelineBar]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    left_out: int


def timeline_of(contents: SiteContents) -> Timeline | None:
    """The newest sessions that have a date; None where there are none. Tokens where any are known, else turns."""
    having = (each for each in contents.sessions.values() if day_of(each.record.date or "") is not None)
    dated = sorted(having, key=lambda each: each.record.rank)
    shown = dated[-MOST_SESSIONS:]
    measure = "tokens" if any(all_tokens(each) is not None for each in shown) else "turns"
    values = [all_tokens(each) if measure == "tokens" else each.record.turns for each in shown]
    top = round_up(max((value for value in values if value), default=0))
    if not top:
        return None
    slot = (WIDTH - LEFT - RIGHT) / len(shown)
    bars = [
        _bar(session, value, LEFT + (at + 0.5) * slot, min(slot * 0.8, _WIDEST), top)
        for at, (session, value) in enumerate(zip(shown, values, strict=True))
    ]
    every = -(-len(shown) // 6)
    ticks = range(every // 2, len(shown), every)
    x_ticks = [Tick(round(LEFT + (at + 0.5) * slot, 1), str(shown[at].record.date)) for at in ticks]
    y_ticks = [Tick(round(height_of(value, top), 1), short(value)) for value in (0, top / 2, top)]
    return Timeline(measure, bars, x_ticks, y_ticks, len(dated) - len(shown))


def _bar(session: Session, value: int | None, middle: float, width: float, top: float) -> TimelineBar:
    height = max(height_of(0, top) - height_of(value or 0, top), _LEAST_HEIGHT)
    record = session.record
    tokens = all_tokens(session)
    said = [
        str(record.date),
        session.outcome,
        f"{record.turns:,} turns" if record.turns else "",
        "" if tokens is None else f"{tokens:,} tokens",
        "" if record.total_cost_usd is None else dollars(record.total_cost_usd),
    ]
    title = f"{session_title(session)} ({', '.join(filter(None, said))})".replace("`", "")
    x, y = round(middle - width / 2, 1), round(height_of(0, top) - height, 1)
    address = href(session_file(session.session_id))
    return TimelineBar(x, y, round(width, 1), round(height, 1), session.outcome, title, address)
