"""Cursor: a rule in `.cursor/rules/agent-wiki.mdc`, and hooks in `.cursor/hooks.json`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agent_wiki.harness.agents.agent import Agent, Hook, HookFile, always

_RULE_HEAD = "---\ndescription: When and how to consult this project's agent wiki\nalwaysApply: true\n---\n\n"


def _transcript_of(conversation_id: str, _environment: Mapping[str, str]) -> Path | None:
    """The transcript of a conversation below `~/.cursor/projects`, for hooks that do not name it."""
    projects = Path("~/.cursor/projects").expanduser()
    for name in (f"{conversation_id}.jsonl", f"{conversation_id}/{conversation_id}.jsonl"):
        found = sorted(projects.glob(f"*/agent-transcripts/{name}"))
        if found:
            return found[-1]
    return None


AGENT = Agent(
    name="cursor",
    title="Cursor",
    program="cursor-agent",
    pointer=always(".cursor/rules/agent-wiki.mdc"),
    new_pointer=_RULE_HEAD,
    signs=(".cursor", ".cursorrules"),
    hook_file=HookFile(
        ".cursor/hooks.json",
        (Hook("sessionStart", "start", 10), Hook("stop", "stop", 60), Hook("sessionEnd", "stop", 60)),
        is_flat=True,
        has_type=False,
        other_members={"version": 1},
    ),
    answer_form="additional_context",
    transcript_of=_transcript_of,
)
