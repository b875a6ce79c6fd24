"""A user's turn without what harnesses put around the user's text, and in the place of what is no text."""

from __future__ import annotations

import re

from agent_wiki.trajectory.gateway_text import without_gateway
from agent_wiki.trajectory.lazily import regex

_WRAPPERS = (
    "ide_[a-z_]{1,40}", "system-reminder", "environment_context", "user_instructions", "instructions",
    "local-command-stdout", "local-command-stderr", "local-command-caveat", "bash-stdout", "bash-stderr",
    "uploaded_files", "turn_aborted", "env_context", "repo_context", "attachments", "session_context",
    "[a-z]{1,30}_system_message",
    "recommended_plugins", "(?:apps|plugins|skills|permissions)_instructions", "collaboration_mode",
    "bash-notification", "ci-monitor-event",
    "user-prompt-submit-hook", "attached_contents", "system_instruction", r'file(?=\s+name="[^"<>]{1,300}"\s+mime=)',
)  # fmt: skip
_WRAPPED = regex(rf"<({'|'.join(_WRAPPERS)})(?:\s[^<>]{{0,200}})?>", re.IGNORECASE)
# A simulated user ends a conversation with one.
_CONTROL_WORD = regex(r"(?<!#)#{2,9}[A-Z_-]{2,40}#{2,9}", needs=("##",))
PLACEHOLDER = regex(
    r"\[(?:attached )?(?:image|audio|video|document|file|attachment|pasted text|block|screenshot)"
    r"(?: ?[#:+][^\]\n]{0,200})?\]|<image name=[^<>\n]{0,400}>|</image>",
    re.IGNORECASE,
)
"""What stands in the place of an image or a file."""
# A request that one agent hands to another, or an editor puts after what is open in it.
_HANDED_OVER = regex(r"\A\s*<[\w-]{0,30}delegation>.{0,2000}?<(?P<tag>input|prompt|task)>(?P<own>.*)", re.DOTALL)
_AFTER_CONTEXT = regex(r"^#{1,4} My request for \w{1,30}:[ \t]*\n?", re.MULTILINE, needs=("# My request",))
# A hosting page says where the program runs, in brackets before the first word.
_SET_BEFORE = regex(
    r"\A\s*(?:\[(?:Runtime context|System instruction):\s[^\[\]]{0,4000}\]\s*)+(?=[^\s\[])", needs=("[",)
)
_ASKED_WITHIN = regex(r"\A\s*<user_message>(.*)</user_message>\s*\Z", re.DOTALL, needs=("<user_message>",))  # Replit
# What OpenHands shows a model that has no calls of its own, before the task.
_AFTER_EXAMPLE = regex(
    r"\A\s*Here's a running example of how to perform a task with the provided tools\..{1,40000}?"
    r"-{5,40} NEW TASK DESCRIPTION -{5,40}\s*(?P<own>\S.*?)(?:-{5,40} END OF NEW TASK DESCRIPTION -{5,40}.*)?\Z",
    re.DOTALL,
    needs=("NEW TASK DESCRIPTION",),
)
_PROMPT_MARK = regex(r"^\s*(?:[❯>»$]\s+)+")


def unwrapped(content: str) -> str:
    """A user turn's text without the blocks that harnesses wrap into it; empty when nothing else is there."""
    text = without_gateway(_CONTROL_WORD.sub("", content.replace("\r\n", "\n")))
    if asked_within := _ASKED_WITHIN.match(text):
        text = asked_within[1]
    if example := _AFTER_EXAMPLE.match(text):
        text = example["own"]
    if handed := _HANDED_OVER.match(text):
        text = handed["own"].partition(f"</{handed['tag']}>")[0]
    if (asked := _AFTER_CONTEXT.search(text)) and text[asked.end() :].strip():
        text = text[asked.end() :]
    text = _without_blocks(text)
    text = _PROMPT_MARK.sub("", _SET_BEFORE.sub("", text)).strip()
    return PLACEHOLDER.sub(" ", text).strip() or text


def _without_blocks(text: str) -> str:
    """A blank in the place of each block; of one that is never closed only the opening goes."""
    if _WRAPPED.search(text) is None:
        return text  # nearly all turns
    lower = text.lower()
    lower = lower if len(lower) == len(text) else text  # some letters have two in lower case
    parts, end = [], 0
    unclosed: set[str] = set()
    for match in _WRAPPED.finditer(text):
        tag = match[1].lower()
        if match.start() < end:
            continue  # within the block before it
        close = -1 if tag in unclosed else lower.find(f"</{tag}>", match.end())
        parts.append(text[end : match.start()])
        end = match.end() if close < 0 else close + len(tag) + 3
        if close < 0:
            unclosed.add(tag)  # nor is a later one
    return " ".join([*parts, text[end:]])
