"""What a program is asked, and what it says: the contract between `ProgramEngine` and one module per program."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from agent_wiki.engines.programs.running import Finished, Launch
from agent_wiki.engines.requests import Round
from agent_wiki.errors import BudgetReached, RunError, ServiceFailed
from agent_wiki.trajectory.lazily import dataclass

_BUSY = re.compile(
    r"\b(429|5\d\d)\b|rate.?limit|overloaded|too many requests|resource.?exhausted|temporar|high demand|unavailable"
    r"|timed? ?out|connection|network|ECONN|ENOTFOUND|EAI_AGAIN|fetch failed|stream (?:error|disconnected)"
    r"|internal server error",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"\b(401|403)\b|not logged in|log ?in\b|/login|invalid (?:api|x-api).?key|api key not|unauthorized|unauthenticated"
    r"|authentication|auth method|credentials|oauth token|missing bearer",
    re.IGNORECASE,
)
_USED_UP = re.compile(
    r"(?:usage|session|weekly|daily|spending|5-hour|quota)\W+(?:\w+\W+)?(?:limit|exceeded|reached)"
    r"|hit your .{0,20}limit|credit balance|insufficient.?quota|purchase more credits"
    r"|exceeded your current quota|exhausted your",
    re.IGNORECASE,
)
_UNKNOWN_WORDS = re.compile(
    r"unknown (?:option|argument)|unexpected argument|unrecognized|invalid choice", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: the system prompt, the question with what it is about, the schema of the answer, rounds so far.

    `model` is "" for the program's own default. `most_tokens` bounds the answer, `most_usd` the cost where it is known.
    """

    system: str
    question: str
    schema: Mapping[str, Any]
    model: str = ""
    most_tokens: int = 0
    most_usd: float | None = None
    rounds: tuple[Round, ...] = ()

    def text(self) -> str:
        """The question and the rounds as one text, for a program that keeps no conversation."""
        parts = [self.question]
        for each in self.rounds:
            answer = each.answer.strip() or "(nothing)"
            parts.append(f"Your answer to this was:\n\n{answer}\n\n{each.complaint}\n")
        return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class Said:
    """What a program said: the answer's text, tokens under the service's names, and cost; what it did not report is
    absent. `model` is the one that answered, "" where it did not say.
    """

    answer: str
    usage: Mapping[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    model: str = ""
    stop_reason: str = "end_turn"
    detail: str = ""


class Program(Protocol):
    """A program that answers a question a run. It is found by the first word of its call."""

    @property
    def name(self) -> str:
        """What `--engine` calls it."""

    @property
    def marks(self) -> tuple[str, ...]:
        """What decides an answer besides prompt and model."""

    def call(self, asked: Asked, folder: Path, environment: Mapping[str, str]) -> Launch:
        """How it is asked. Its files are in `folder`, it works in `folder/empty`. Raises `RunError`."""

    def login_check(self, environment: Mapping[str, str]) -> Launch | None:
        """What says `not logged in`, to run once before the first question; None where an answer says it as soon."""

    def said(self, finished: Finished, folder: Path) -> Said:
        """What it said. Raises what `failure` gives, and `NoAnswer`."""


class Busy(ServiceFailed):
    """The service behind a program has no time now: worth another try."""


def failure(program: str, reason: str) -> Exception:
    """Why a program gave no answer, as the error of that kind: end the run, try again, or fail this question."""
    reason = " ".join(reason.split())[:300] or "it gave no reason"
    if _UNKNOWN_WORDS.search(reason):
        return RunError(f"{program} does not take the words of this engine ({reason}); is it an old version?")
    if _USED_UP.search(reason):
        return BudgetReached(f"{program}: {reason}; answers are kept, run again when it is over")
    if _LOGIN.search(reason):
        return RunError(f"{program} is not logged in ({reason}); run it once by hand and log in")
    if _BUSY.search(reason):
        return Busy(f"{program}: {reason}")
    return ServiceFailed(f"{program}: {reason}")


def counts(values: object, names: Mapping[str, str]) -> dict[str, int]:
    """Of a program's figures those that are counts, under the service's names. In: its name → the service's."""
    if not isinstance(values, Mapping):
        return {}
    found = {name: values.get(own) for own, name in names.items()}
    return {
        name: count
        for name, count in found.items()
        if isinstance(count, int) and not isinstance(count, bool) and count >= 0
    }


def objects_on_lines(text: str) -> list[dict[str, Any]]:
    """The JSON objects that a program printed, one a line; other lines are left out."""
    found = []
    for line in text.replace("\r", "\n").split("\n"):  # a text in JSON may have other ends of lines as they are
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found
