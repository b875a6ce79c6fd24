"""Text that a harness wrote in a user's place is known by its beginning, whatever format it is read from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.readers.openai_messages import read
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Message
from agent_wiki.trajectory.harness_text import answers_stop_hook, harness_mark

SUMMARIES = [
    "This session is being continued from a previous conversation that ran out of context.",
    "Another language model started to solve this problem and produced a summary",
    "<state_snapshot>\n<overall_goal>Fix it.</overall_goal>\n</state_snapshot>",
    "<summary>\nFix it.\n</summary>",
    "Here is a summary of the conversation to date:\n\nFix it.",
    "## Summary of the conversation\n\nFix it.",
    "## Context from the previous session\n\nFix it.",
]
WRITTEN = [
    "<task-notification>\n<task-id>b</task-id>\n</task-notification>",
    "<timestamp>Saturday, Jun 6, 2026</timestamp>\n<system_notification>\nThe server compiled.\n</system_notification>",
    "(no content)",
    "Stop hook feedback:\nFix it.",
    "SessionStart:startup hook success: Fix it.",
    "# AGENTS.md instructions for /srv/shop\n\nFix it.",
    "Contents of /srv/shop/CLAUDE.md (project instructions, checked into the codebase):\n\nFix it.",
    "Base directory for this skill: /srv/shop/.claude/skills/cart\n\nFix it.",
    "I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n```\na.py\n```",
    "Missing required parameters for function 'str_replace_editor': {'security_risk'}",
]
OWN = [
    "This session is being slow. Fix it.",
    "Here is a summary of what I want: fix it.",
    "Summary of the cart is wrong, fix it.",
    "Stop the hook, its feedback is noise.",
    "(no content) is shown in the cart, fix it.",
    "# AGENTS.md is out of date, fix it.",
    "Contents of /srv/shop/CLAUDE.md are wrong, fix it.",
    "<summary> has no marker in Safari.",
    "I ran the following shell command: `ls`. Fix it.",
    "Context from the previous page is lost on reload, fix it.",
]


@pytest.mark.parametrize(("texts", "mark"), [(SUMMARIES, "compaction"), (WRITTEN, "injected"), (OWN, None)])
def test_it_is_known_by_how_it_begins(texts: list[str], mark: str | None) -> None:
    assert {text: harness_mark(text) for text in texts} == dict.fromkeys(texts, mark)


def test_it_is_marked_in_a_format_that_says_nothing_of_it(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": text} for text in (OWN[0], SUMMARIES[1], WRITTEN[3])]
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    (trajectory,) = read(Recording(path, path.name))
    assert [message.mark for message in trajectory.messages] == [None, "compaction", "injected"]


def test_blocks_that_codex_puts_before_a_request_are_its_own_and_the_request_is_not() -> None:
    plugins = "<recommended_plugins>\nPlugins that are not installed.\n</recommended_plugins>"
    skills = "<skills_instructions>\nSkills.\n</skills_instructions>"
    assert harness_mark(plugins) == "injected"
    assert (
        harness_mark(f"{plugins}\n{skills}\n# AGENTS.md instructions\n\n<INSTRUCTIONS>x</INSTRUCTIONS>") == "injected"
    )
    assert harness_mark(f"{plugins}\nMend the lamps.") is None
    assert harness_mark("<recommended_plugins> is a tag that I do not know") is None


@pytest.mark.parametrize(("hook", "is_one"), [("Stop hook feedback:\nSave it.", True), ("Save it.", False)])
def test_a_reply_to_a_stop_hook_is_known_by_what_stands_before_it(hook: str, *, is_one: bool) -> None:
    mark = harness_mark(hook)
    opened = [Message(role="user", content="Open the shop."), Message(role="assistant", content="It is open.")]
    messages = [*opened, Message(role="user", content=hook, mark=mark), Message(role="assistant", content="Nothing.")]
    assert answers_stop_hook(messages, 4) is is_one
    assert not answers_stop_hook(messages, 2)
    called_before = [messages[0], *messages[2:]]  # the hook came upon no reply
    assert not answers_stop_hook(called_before, 3)
