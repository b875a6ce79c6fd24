"""What is known of a session, in figures: names and values for its page, tokens for lists and plots."""

from __future__ import annotations

from agent_wiki.pages.sessions import Session
from agent_wiki.wiki.text import plain_line


def facts_of(session: Session) -> list[tuple[str, str]]:
    """What is known of a session, in the order in which people ask for it; what is unknown is left out."""
    record = session.record
    tools = [arc.tool_calls for arc in session.arcs if arc.tool_calls is not None]
    errors = [arc.errors for arc in session.arcs if arc.errors is not None]
    named = [
        ("Outcome", session.outcome),
        ("Date", record.date),
        ("Agent", record.agent),
        ("Model", record.model),
        ("Repository", record.repository),
        ("Task", record.task_id),
        ("Condition", record.condition),
        ("Trial", record.trial),
        ("Reward", None if record.reward is None else f"{record.reward:g}"),
        ("Turns", f"{record.turns:,}" if record.turns else None),
        ("Tool calls", f"{sum(tools):,}" + (f", {sum(errors):,} failed" if sum(errors) else "") if tools else None),
        ("Duration", _duration(record.duration_seconds)),
        ("Tokens", tokens_shown(session)),
        ("Cost", None if record.total_cost_usd is None else dollars(record.total_cost_usd)),
    ]
    return [(name, plain_line(value, 120)) for name, value in named if value]


def dollars(cost: float) -> str:
    """A cost as people read it: cents, and of less than ten what would be lost in them."""
    return f"${cost:,.2f}" if cost >= 0.1 or not cost else f"${cost:.4f}"


def tokens_shown(session: Session) -> str | None:
    """Tokens in and out; None where they were not recorded."""
    record = session.record
    read = tokens_in(session)
    if read is None and record.output_tokens is None:
        return None
    return f"{read or 0:,} in, {record.output_tokens or 0:,} out"


def tokens_in(session: Session) -> int | None:
    """What a session's model read, from caches too; None where it was not recorded."""
    record = session.record
    parts = (record.input_tokens, record.cache_creation_input_tokens, record.cache_read_input_tokens)
    known = [each for each in parts if each is not None]
    return sum(known) if known else None


def all_tokens(session: Session) -> int | None:
    """What it read and wrote; None where neither was recorded."""
    known = [each for each in (tokens_in(session), session.record.output_tokens) if each is not None]
    return sum(known) if known else None


def _duration(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
