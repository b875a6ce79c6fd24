"""Objections that users of coding agents raise again and again, and the rule each one asks for."""

from __future__ import annotations

from typing import Literal

from agent_wiki.engines.offline.lessons import WordedEntry
from agent_wiki.engines.offline.tables import AnyOf, entries

# What must be true of the session besides the words, see `signals/objections.py`.
Need = Literal["nothing", "a test is added", "agent concedes"]


class Objection(WordedEntry):
    """One entry of `tables/objections.toml`, which says what each field means."""

    words: AnyOf
    needs: Need = "nothing"


def known_objections() -> tuple[Objection, ...]:
    """All of them, in the order of the table."""
    return entries("objections", Objection)
