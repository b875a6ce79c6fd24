"""Replaces the secrets of a text or a trajectory, before anything else sees it.

Stand-ins for a secret (a variable, a placeholder, a call, a type) are kept, and so is text that merely looks random:
digests, ids, base64. Redacting twice changes nothing. What replaces a secret of a session has its number there (see
`numbers.py`); of a text that no session is known of, it has none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from agent_wiki.redaction.finding import Span, may_hold_secrets, secret_spans, signs_of_secrets, united
from agent_wiki.redaction.json_strings import JsonString, is_json, json_strings
from agent_wiki.redaction.numbers import Numbers, mark_of
from agent_wiki.redaction.views import view_of
from agent_wiki.trajectory import Trajectory

_MOST_PASSES = 4
_LONGEST_VALUE = 512
_REMEMBERED, _LONGEST_REMEMBERED = 4096, 1_000  # a recording says many short texts again and again
_SOURCE_TEXTS = ("title", "cwd", "git_branch", "exit_status")
_Change = Callable[[str], tuple[str, int]]


def redact_trajectory(trajectory: Trajectory) -> Numbers:
    """Redact a trajectory in place and count redactions in `source.hygiene["redactions"]`.

    Covers content, thinking, call arguments (which stay valid JSON) and the texts of `source`. What was recognized once
    is replaced in every turn. Out: the numbers of its secrets, for what else belongs to the session.
    """
    numbers = Numbers(lambda: _texts_of(trajectory))
    total = _changed(trajectory, lambda text: redact_text(text, numbers), lambda text: redact_json(text, numbers))
    if total:  # what a name gave away in one turn stands without it in others
        total += _changed(trajectory, numbers.elsewhere, lambda text: _elsewhere_in_json(text, numbers))
        hygiene = trajectory.source.hygiene
        hygiene["redactions"] = hygiene.get("redactions", 0) + total
        trajectory.source.hygiene = dict(sorted(hygiene.items()))
    return numbers


def _changed(trajectory: Trajectory, change: _Change, change_json: _Change) -> int:
    """Change every text of a trajectory, and the arguments of its calls; returns how much was replaced."""
    total = 0
    for message in trajectory.messages:
        for field in ("content", "thinking"):
            if text := getattr(message, field):
                text, count = change(text)
                if count:
                    setattr(message, field, text)
                    total += count
        for call in message.tool_calls:
            call.arguments, count = change_json(call.arguments)
            total += count
    for field in _SOURCE_TEXTS:
        if text := getattr(trajectory.source, field):
            text, count = change(text)
            setattr(trajectory.source, field, text)
            total += count
    return total


def _texts_of(trajectory: Trajectory) -> Iterator[str]:
    for message in trajectory.messages:
        yield from (message.content or "", message.thinking or "")
        yield from (call.arguments for call in message.tool_calls)
    yield from (getattr(trajectory.source, field) or "" for field in (*_SOURCE_TEXTS, "file"))


def redact_text(text: str, numbers: Numbers | None = None) -> tuple[str, int]:
    """The text with each secret replaced by `[REDACTED:<kind>]`, and how many there were; the same object if none.

    With `numbers` those of a session: `[REDACTED:<kind>:<number>]`. Raises nothing. Idempotent.
    """
    spans = (_spans_of_short if len(text) <= _LONGEST_REMEMBERED else text_spans)(text)
    return (_without(text, spans, numbers) if spans else text), len(spans)


@lru_cache(maxsize=_REMEMBERED)
def _spans_of_short(text: str) -> list[Span]:
    return text_spans(text)


def text_spans(text: str) -> list[Span]:
    """All that is replaced in a text, in order and without overlap.

    Some is found only after the secret beside it is gone.
    """
    found = secret_spans(text)
    if not found:
        return found
    view = view_of(text, [])
    spans = found
    for _ in range(_MOST_PASSES - 1):
        view = view_of(view.text, [(start, end, mark_of(kind)) for start, end, kind in spans], view)
        spans = secret_spans(view.text)
        if not spans:
            break
        found = [*found, *((*view.place(start, end), kind) for start, end, kind in spans)]
    return united(found)


def redact_json(arguments: str, numbers: Numbers | None = None) -> tuple[str, int]:
    """The same for a JSON text: its strings are redacted one by one, then together; it stays JSON.

    A string under a name that suggests a secret is judged with its name. Other text is treated as plain.
    """
    signs = signs_of_secrets(arguments)
    if signs is not None and not signs:
        return arguments, 0
    if not is_json(arguments):
        return redact_text(arguments, numbers)
    strings = (each for each in json_strings(arguments, signs) if each.may_hold)
    changed, count = _in_strings(arguments, strings, lambda name, value: redact_named(name, value, numbers))
    return _together(changed, count, numbers)


def _together(arguments: str, count: int, numbers: Numbers | None) -> tuple[str, int]:
    """JSON whose strings were redacted one by one, and what only several of them give away: the next of an array is
    the value of an option, a user's name beside `pass`. Left as it is where it would be no JSON afterwards.
    """
    spans = [span for span in text_spans(arguments) if '"' not in arguments[span[0] : span[1]]]  # of one string each
    changed = _without(arguments, spans, numbers) if spans else arguments
    return (changed, count + len(spans)) if not spans or is_json(changed) else (arguments, count)


def _elsewhere_in_json(arguments: str, numbers: Numbers) -> tuple[str, int]:
    """The known secrets of a session replaced in JSON, which stays valid: a number that is one of them is left."""
    changed, count = numbers.elsewhere(arguments)
    if count and not is_json(changed):
        return _in_strings(arguments, json_strings(arguments, None), lambda _, value: numbers.elsewhere(value))
    return changed, count


def _in_strings(
    arguments: str, strings: Iterable[JsonString], change: Callable[[str, str], tuple[str, int]]
) -> tuple[str, int]:
    """A JSON text with some of its strings changed, each by its name and its value; all other bytes stay."""
    pieces: list[str] = []
    position = total = 0
    for start, end, name, value, _ in strings:
        changed, count = change(name, value)
        if count:
            in_ascii = arguments[start:end].isascii()
            pieces += [arguments[position:start], json.dumps(changed, ensure_ascii=in_ascii)]
            position, total = end, total + count
    return "".join([*pieces, arguments[position:]]) if total else arguments, total


def redact_named(name: str, value: str, numbers: Numbers | None = None) -> tuple[str, int]:
    """A text redacted and how many secrets it had, judged with the name it is given to; "" where it has none."""
    kind = kind_given_to(name, value)
    if kind is None and is_for_cookies(name):
        changed, count = redact_text(f"{name}: {value}", numbers)
        return (changed[len(name) + 2 :] if changed.startswith(f"{name}: ") else value), count
    if kind is None:
        return redact_text(value, numbers)
    return (mark_of(kind) if numbers is None else numbers.mark(kind, value)), 1


def is_for_cookies(name: str) -> bool:
    """Whether a name is that of a header in which each cookie has a name of its own."""
    return name.lower().endswith("cookie")


def kind_given_to(name: str, value: str) -> str | None:
    """The kind of secret that a value is for being given to this name; None where the name does not make it one."""
    return _kind_of_value(name[-80:], value) if name and len(value) <= _LONGEST_VALUE else None


@lru_cache(maxsize=_REMEMBERED)
def _kind_of_value(name: str, value: str) -> str | None:
    probe = f'{name.replace(chr(34), "")}="{value}"'
    begin = probe.index('"') + 1
    spans = secret_spans(probe) if may_hold_secrets(probe) else []
    return next((kind for start, end, kind in spans if start == begin and end == len(probe) - 1), None)


def _without(text: str, spans: list[Span], numbers: Numbers | None) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, kind in spans:
        pieces += [text[position:start], mark_of(kind) if numbers is None else numbers.mark(kind, text[start:end])]
        position = end
    return "".join([*pieces, text[position:]])
