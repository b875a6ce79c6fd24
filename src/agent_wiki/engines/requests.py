"""What decides a request, whoever is asked: the question as a prompt, the model, and the rounds so far."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from agent_wiki.asking.prompts import Prompt
from agent_wiki.trajectory.lazily import dataclass

Structure = Literal["native", "tool", "prompt"]
"""How structure is asked for: the schema is handed over, as a tool that must be called, or behind the question."""
Lifetime = Literal["5m", "1h"]
"""How long a service is asked to keep what it has read."""
STRUCTURES: tuple[Structure, ...] = ("native", "tool", "prompt")


@dataclass(frozen=True, slots=True)
class Round:
    """An invalid answer, and what was wrong with it."""

    answer: str
    complaint: str


@dataclass(frozen=True, slots=True)
class Asking:
    """All that decides a request but for how structure is asked for and how long marks live.

    `is_cached` puts a mark behind the prefix. `about` names what the question is about, and decides nothing.
    """

    prompt: Prompt
    answer_type: type[BaseModel]
    model: str
    is_cached: bool
    rounds: tuple[Round, ...] = ()
    about: tuple[str, ...] = ()
