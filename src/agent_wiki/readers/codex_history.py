"""Separates what a forked Codex session did from the turns and token totals copied from its parent.

`codex fork`, and starting a subagent with its parent's history, copy the parent's lines, its `session_meta`
included, to the start of the new rollout with new timestamps, so a line's time is no indication. The ids of
turns are: they are UUIDv7, created when the turn first ran. (Read in the public threads of agentsview #657 and
tokscale #735 and #895; the older ids there are UUIDv4 beside a `started_at`.)
"""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Any

from agent_wiki.readers.recorded import count, epoch_seconds

_REPLAY_PAUSE_SECONDS = 1.0  # a copied history is written without pauses; a person takes longer


def uuid7_seconds(identifier: Any) -> float | None:
    """The time encoded in a UUIDv7, in seconds since 1970; None for any other value."""
    try:
        parsed = uuid.UUID(str(identifier))
    except ValueError:
        return None
    return (parsed.int >> 80) / 1000 if parsed.version == 7 else None


class InheritedHistory:
    """Tracks whether the current line of a rollout was copied from another session.

    `own` is the payload of the first `session_meta`, `forked_from` the id of the session that was copied.
    """

    def __init__(self) -> None:
        self.own: dict[str, Any] = {}
        self.forked_from: str | None = None
        self.is_inside = False
        self._has_own_turn = False
        self._saw_dated_turn = False
        self._last_line: float | None = None

    def meta(self, payload: dict[str, Any]) -> None:
        """Process a `session_meta`: the first names the session; one of another session starts a copied history."""
        if not self.own:
            self.own = payload
            parent = payload.get("forked_from_id")
            self.forked_from = parent if isinstance(parent, str) and parent else None
            return
        other = payload.get("id")
        if isinstance(other, str) and other != self.own.get("id") and not self._has_own_turn:
            self.forked_from = self.forked_from or other
            self.is_inside = True

    def line(self, timestamp: Any) -> None:
        """Process any line. If turns have no dates, the first pause ends the copied history."""
        moment = epoch_seconds(timestamp)
        if moment is None:
            return
        pause = moment - self._last_line if self._last_line is not None else 0.0
        if self.is_inside and not self._saw_dated_turn and pause >= _REPLAY_PAUSE_SECONDS:
            self._enter_own()
        self._last_line = moment

    def turn(self, payload: dict[str, Any]) -> None:
        """Process the start of a turn (`task_started`, `turn_context`): one older than the session was copied."""
        began, born = _began(payload), self._born()
        if began is None or born is None or self.forked_from is None or self._has_own_turn:
            return
        self._saw_dated_turn = True
        if began < born:
            self.is_inside = True
        else:
            self._enter_own()

    def _enter_own(self) -> None:
        self.is_inside = False
        self._has_own_turn = True

    def _born(self) -> float | None:
        from_id = uuid7_seconds(self.own.get("id"))
        return from_id if from_id is not None else epoch_seconds(self.own.get("timestamp"))


def _began(payload: dict[str, Any]) -> float | None:
    from_id = uuid7_seconds(payload.get("turn_id"))
    if from_id is not None:
        return from_id
    started_at = epoch_seconds(payload.get("started_at"))
    # `started_at` is truncated to the second: a turn of the session's first second is its own.
    return started_at + 0.999 if started_at is not None else None


class TokenMeter:
    """A session's own tokens: from Codex's record of each reply, in older rollouts from its running totals.

    A fork inherits the totals of its parent, and a restart resets them. OpenAI counts what was read from the cache
    and what was written to it as part of the input; here they are separate, as in `Usage`.
    """

    def __init__(self) -> None:
        self.tokens: Counter[str] = Counter()
        self._seen: dict[str, int] | None = None
        self._has_records = False

    def take_reply(self, usage: Any) -> None:
        """Process the usage of one reply (`token_usage_record`). From the first one on, totals say nothing new."""
        tokens = _counts(usage)
        if tokens is not None:
            self._has_records = True
            self._add(tokens)

    def take(self, report: Any, *, is_inherited: bool, is_fork: bool) -> None:
        """Process one `token_count.info`, which may be null."""
        if self._has_records or not isinstance(report, dict):
            return
        total, last = _counts(report.get("total_token_usage")), _counts(report.get("last_token_usage"))
        if total is None:
            return
        before = self._seen
        if before is None and is_fork and last is not None:
            before = {name: total[name] - last.get(name, 0) for name in total}
        self._seen = total
        if is_inherited:
            return
        if before is None or any(total[name] < before.get(name, 0) for name in total):
            before = {}
        self._add({name: total[name] - before.get(name, 0) for name in total})

    def _add(self, tokens: dict[str, int]) -> None:
        self.tokens["input_tokens"] += max(0, tokens["input"] - tokens["cached"] - tokens.get("written", 0))
        if "written" in tokens:
            self.tokens["cache_creation_input_tokens"] += tokens["written"]
        self.tokens["cache_read_input_tokens"] += tokens["cached"]
        self.tokens["output_tokens"] += tokens["output"]


def _counts(usage: Any) -> dict[str, int] | None:
    """The tokens of a usage by short names; what was written to the cache only where that is recorded."""
    if not isinstance(usage, dict):
        return None
    names = {"input": "input_tokens", "cached": "cached_input_tokens", "output": "output_tokens"}
    counts = {short: count(usage.get(name)) or 0 for short, name in names.items()}
    written = count(usage.get("cache_write_input_tokens"))
    return counts if written is None else counts | {"written": written}
