"""What the records of sessions say of rules: which rule of the embedded engine found which guideline or skill."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_wiki.wiki.layout import session_file_stem

_RECORDS = "_sessions"


@dataclass(frozen=True, slots=True)
class Made:
    """One thing that a rule found: the session, and the guideline's id or the skill's name with its title."""

    session_id: str
    page: str
    title: str


def made_by_rules(wiki: Path, problems: list[str]) -> Iterator[tuple[str, Made]]:
    """Each rule that a record of the wiki names, with what it found. A record that cannot be read is a problem."""
    for path in sorted((wiki / _RECORDS).glob("*.json")):
        yield from _made_in(path, problems)


def rules_behind(wiki: Path, page: str, sessions: Iterable[str]) -> list[str]:
    """The rules that found a guideline (by its id) or a skill (by its name) in these sessions, sorted."""
    paths = [wiki / _RECORDS / f"{session_file_stem(session)}.json" for session in sorted(set(sessions))]
    found = (each for path in paths if path.is_file() for each in _made_in(path, []))
    return sorted({rule for rule, made in found if made.page == page})


def _made_in(path: Path, problems: list[str]) -> Iterator[tuple[str, Made]]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        entries = [entry for stage in record["stages"].values() for entry in stage.get("answer") or ()]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        problems.append(f"{_RECORDS}/{path.name}: not the record of a session ({type(error).__name__})")
        return
    for entry in entries:
        if isinstance(entry, dict) and entry.get("rule_id"):
            page = str(entry.get("id") or entry.get("name"))
            yield str(entry["rule_id"]), Made(str(record.get("session_id")), page, str(entry.get("title")))
