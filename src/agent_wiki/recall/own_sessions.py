"""Sessions that are not mined, and why. This tool's own runs, for example, would teach the wiki about itself."""

from __future__ import annotations

from agent_wiki.recall.wiki_commands import MINING
from agent_wiki.recall.wiki_tools import wiki_words
from agent_wiki.shell.simple_commands import simple_commands
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import paired_calls
from agent_wiki.trajectory.lazily import regex

# Every prompt of this tool has this text, so that recordings of its own requests are recognized.
PROMPT_MARK = "agent-wiki mining request"
MINING_VARIABLE = "AGENT_WIKI_MINING"
"""Set in the environment of every program that an engine asks: the hooks of this package do nothing there."""

_ORIGINAL_TOOL = regex(r"build_agent_wiki\.py|render-(?:summary|guidelines|skill|cluster|task|subtask)\b")
_MINING_SKILLS = regex(r"^(?:agent-wiki:)?(?:agent-)?wiki-(?:ingest|summarize|extract|synthesize|consolidate)")


def left_out_reason(trajectory: Trajectory) -> str | None:
    """Why a trajectory is not mined, in a few words; None if it is mined."""
    replies = [message for message in trajectory.messages if message.role == "assistant"]
    if not replies:
        return "no reply of an agent recorded"
    requests = [message for message in trajectory.messages if message.role == "user" and message.mark is None]
    if requests and all((message.content or "").strip().lower() == "warmup" for message in requests):
        return "a harness's warm-up without a request"
    if len(trajectory.messages) == 1:
        return "one reply alone without a request"
    if _mines_sessions(trajectory):
        return "a session in which sessions were mined"
    return None


def _mines_sessions(trajectory: Trajectory) -> bool:
    if any(PROMPT_MARK in (message.content or "") for message in trajectory.messages if message.role != "tool"):
        return True
    for call in paired_calls(trajectory):
        command = call.command() or ""
        if _runs_a_stage(command) or _ORIGINAL_TOOL.search(command):
            return True
        if call.name.lower() == "skill" and _MINING_SKILLS.match(str(call.arguments.get("skill", ""))):
            return True
    return False


def _runs_a_stage(command: str) -> bool:
    """Whether a command line runs one of this tool's stages; merely naming one in an argument does not count."""
    if "wiki" not in command:
        return False
    return any(words[1] in MINING for each in simple_commands(command) if len(words := wiki_words(each)) > 1)
