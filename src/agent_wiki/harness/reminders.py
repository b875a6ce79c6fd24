"""What an agent is asked at the start of a session, in the form in which its hooks answer."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from agent_wiki.errors import AgentWikiError
from agent_wiki.harness.projects import DEFAULT_WIKI, project_wiki
from agent_wiki.wiki.index_file import index_bytes
from agent_wiki.wiki.templates import Templates


def consult_command(wiki: str) -> str:
    """The command that consults the wiki at a path."""
    return shlex.join(["wiki", "consult", *([] if wiki == DEFAULT_WIKI else ["--wiki", wiki])])


def reminder(wiki: Path | None, cwd: Path, environment: Mapping[str, str]) -> str:
    """The text for an agent at the start of a session; empty if there is no wiki with pages."""
    found = project_wiki(wiki, cwd, environment)
    try:
        pages = sum(1 for line in index_bytes(found).splitlines() if line.strip()) if found else 0
    except (AgentWikiError, MemoryError):
        pages = 0
    if found is None or pages == 0:
        return ""
    place = Path(os.path.relpath(found, cwd)).as_posix()
    is_found_unnamed = project_wiki(None, cwd, environment) == found
    consult = consult_command(DEFAULT_WIKI if is_found_unnamed else place)
    is_outside = not found.resolve().is_relative_to(cwd.resolve())
    return Templates().render(
        "connect/session-start.md", wiki=place, consult=consult, pages=pages, is_outside=is_outside
    )


def answer(text: str, agent: str) -> str:
    """`text` as the hooks of an agent answer: as it is for an agent that is unknown or not named; empty for no text."""
    from agent_wiki.harness.agents import AGENTS

    form = next((each.answer_form for each in AGENTS if each.name == agent), "text")
    if not text or form == "text":
        return text
    if form == "hookSpecificOutput":
        return json.dumps({form: {"hookEventName": "SessionStart", "additionalContext": text}})
    return json.dumps({form: text})
