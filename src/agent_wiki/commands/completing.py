"""What a shell offers when a person presses tab: pages, sessions, stages, engines and agents.

Names alone, and only those of plain characters: shells evaluate what completion prints, and titles come from
recordings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import typer

_PLAIN = re.compile(r"[\w.][\w./-]{0,199}")
_MOST_OFFERED = 200
_ENGINES = ("offline", "anthropic", "claude-code", "codex", "gemini", "recorded")


def pages(context: typer.Context, incomplete: str) -> list[str]:
    """Pages by file name; by path where a folder was begun."""
    from agent_wiki.retrieval.rows import index_fields
    from agent_wiki.wiki.layout import INDEX

    try:
        rows = index_fields((_wiki(context) / INDEX).read_bytes())
    except OSError:
        return []
    links = [str(row["link"]) for row in rows]
    return _offered(links if "/" in incomplete else (Path(link).stem for link in links), incomplete)


def sessions(context: typer.Context, incomplete: str) -> list[str]:
    """The sessions of the wiki."""
    from agent_wiki.wiki.layout import SESSIONS

    return _offered((path.stem for path in (_wiki(context) / SESSIONS).glob("*.json")), incomplete)


def stages(incomplete: str) -> list[str]:
    """The stages that ask something."""
    from agent_wiki.stages.order import STAGES

    return _offered((stage.name for stage in STAGES if stage.scope != "wiki"), incomplete)


def engines(incomplete: str) -> list[str]:
    """The engines that need no further word."""
    return _offered(_ENGINES, incomplete)


def agents(incomplete: str) -> list[str]:
    """The agents that can be connected."""
    from agent_wiki.harness.agents import AGENTS

    return _offered((agent.name for agent in AGENTS), incomplete)


def keys(incomplete: str) -> list[str]:
    """The keys of the configuration."""
    from agent_wiki.wiki.config_keys import KEYS

    return _offered(KEYS, incomplete)


def _wiki(context: typer.Context) -> Path:
    from agent_wiki.commands.unchanged import wiki_folder

    return wiki_folder(context.params.get("wiki"))


def _offered(names: Iterable[str], incomplete: str) -> list[str]:
    plain = {name for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name)}
    return sorted(plain)[:_MOST_OFFERED]
