"""Any number of recordings that a wiki makes of what it makes of real ones: lessons in some, families, verdicts.

Every session of OpenAI messages has some six thousand characters and is the same for the same number. Of twenty, five
are trials of one task with a recorded reward, three of them without its id; four meet an error that names the remedy,
half of those one that others meet too; in one the user states a rule. One in a hundred meets what all others do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.generated_sessions import WORDS

_VERBS = ("Fix", "Add", "Rename", "Speed up", "Document", "Remove", "Replace", "Split", "Port", "Test")
_BLOCK = 20
_TRIALS = 5
_COMMON_LESSONS = 400
_MET_EACH = 100
_STATED = (
    "always run `{tool} check` before committing",
    "please always run `{tool} check` before you commit",
    "never commit without `{tool} check`",
)


def write_sessions(folder: Path, numbers: Iterable[int]) -> None:
    """Write the sessions of these numbers, a thousand in a folder."""
    for number in numbers:
        path = folder / f"{number // 1000:04d}" / f"session-{number:07d}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(recording(number)), encoding="utf-8")


def recording(number: int) -> dict[str, Any]:
    """The session of that number."""
    rng = Random(f"session {number}")
    place = number % _BLOCK
    is_trial = place < _TRIALS
    messages = _Messages()
    messages.say("user", _request(number // _BLOCK if is_trial else number, is_trial=is_trial))
    work = rng.randrange(2, 9)
    for step in range(work):
        if step == work // 2 and _TRIALS <= place < _TRIALS + 4:
            _lesson(messages, rng)
        _step(messages, rng)
    if number % _MET_EACH == _BLOCK // 2:
        _met_by_many(messages)
    passed = rng.random() < 0.6
    messages.call(
        "pytest -q tests",
        f"{rng.randrange(9, 99)} passed" if passed else "FAILED tests/test_a.py - AssertionError\n1 failed",
        failed=not passed,
    )
    messages.say("assistant", f"The {_words(rng, 30)}.")
    if place == _TRIALS + 4:
        tool = _tool(rng)
        messages.say("user", rng.choice(_STATED).format(tool=tool))
        messages.call(f"{tool} check", "ok")
        messages.say("assistant", "Done.")
    made: dict[str, Any] = {
        "session_id": f"session-{number:07d}",
        "model": f"m-{number % 3}",
        "timestamp": f"2026-{1 + number // 300 % 9:02d}-{1 + number // 11 % 28:02d}T10:00:00Z",
        "messages": messages.made,
    }
    if is_trial:
        made |= {"reward": float(passed)} | ({"task_id": f"bench/{number // _BLOCK}"} if place >= 3 else {})
    return made


class _Messages:
    def __init__(self) -> None:
        self.made: list[dict[str, Any]] = []

    def say(self, role: str, text: str) -> None:
        self.made.append({"role": role, "content": text})

    def call(self, command: str, result: str, *, failed: bool = False, said: str | None = None) -> None:
        identity = f"call_{len(self.made)}"
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        self.made.append(
            {
                "role": "assistant",
                "content": said,
                "tool_calls": [{"id": identity, "type": "function", "function": function}],
            }
        )
        self.made.append({"role": "tool", "tool_call_id": identity, "content": f"{result}\nexit code {int(failed)}"})


def _request(number: int, *, is_trial: bool) -> str:
    rng = Random(f"{'task' if is_trial else 'request'} {number}")
    what = rng.sample(WORDS, 6)
    name = f"{what[0]}_{what[1]}_{number}"
    asked = f"{rng.choice(_VERBS)} the {what[2]} {what[3]} of `{name}` in src/{what[4]}/{name}.py"
    return f"{asked}: {_words(rng, 30)}. Then run the tests of {what[5]}."


def _lesson(messages: _Messages, rng: Random) -> None:
    command, other, error = _failure(Random(f"lesson {rng.randrange(_COMMON_LESSONS)}") if rng.random() < 0.5 else rng)
    messages.call(command, error, failed=True)
    messages.call(other, "ok")


def _failure(rng: Random) -> tuple[str, str, str]:
    """A command with an option that its program does not know, the same with one that it knows, and the error."""
    called, option, value = f"{_tool(rng)} {rng.choice(WORDS)}", f"--{rng.choice(WORDS)}", f"{rng.choice(WORDS)}-index"
    return (
        f"{called} {option} {value}",
        f"{called} {option}-{rng.choice(WORDS)} {value}",
        f"error: unknown option {option}",
    )


def _met_by_many(messages: _Messages) -> None:
    messages.call("shopctl plan --stage lamps", "error: unknown option --stage", failed=True)
    messages.call("shopctl plan --stage-name lamps", "No changes.")


def _step(messages: _Messages, rng: Random) -> None:
    path = f"src/{rng.choice(WORDS)}/{rng.choice(WORDS)}.py"
    said = f"The {_words(rng, 12)}." if rng.random() < 0.4 else None
    messages.call(
        rng.choice((f"cat {path}", f"grep -n {rng.choice(WORDS)} {path}", "git diff")), _words(rng, 120), said=said
    )


def _tool(rng: Random) -> str:
    return f"{rng.choice(WORDS)}{rng.choice(('ctl', 'kit', 'ify', 'er'))}"


def _words(rng: Random, count: int) -> str:
    return " ".join(rng.choices(WORDS, k=count))


def lesson_question(rng: Random) -> str:
    """A request to which the lesson that some session has applies."""
    command, _, error = _failure(Random(f"lesson {rng.randrange(_COMMON_LESSONS)}"))
    return f"{command} stops with `{error}`"
