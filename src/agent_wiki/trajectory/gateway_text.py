"""What a gateway between chats and an agent (OpenClaw) writes around the words that a person sent.

    [Telegram Kim (@kim) id:12 +2m 2026-02-09 18:46 UTC] Hello      who wrote where and when
    Sender (untrusted metadata):\\n```json … ```                     the same, as blocks before the words
    System: [2026-03-02 22:46:22 UTC] Exec completed (…) :: …       events since the last turn, a line each
    [media attached: …]  [message_id: …]  [Queued messages …]       what came with the words
    [Thread starter - for context] … [slack message id: …]          what the words answer
    [Replying to …] … [/Replying]                                   the same, behind them
    [cron:<id> <name>] … Current time: … Return your summary …      around a task that is due

The person's words are what is left, verbatim and in their order.
"""

from __future__ import annotations

import re

from agent_wiki.trajectory.harness_text import harness_mark
from agent_wiki.trajectory.lazily import regex

_SIGNS = ("(untrusted", "[message_id:", "System: [", "[media attached:", "[Queued messages", "[Subagent Task]:",
          "Note: The previous agent run was")  # fmt: skip
_EVENT = r"System(?: \(untrusted\))?:"
_WHEN = r"\s*\[(?:[A-Z][^\]\n]{0,160} )?\d{4,6}-\d\d-\d\d"
_ENVELOPE = regex(_WHEN + r" \d\d:\d\d(?::\d\d)? (?:[A-Z]{2,5}(?:[+-]\d{1,2}(?::?\d\d)?)?)\] ?")
_IN_UTC = regex(_WHEN + r"T\d\d:\d\d(?::\d\d)?Z\] ?")  # as lines of logs begin, too
_SENDER = regex(r" id:\S| \+\d{1,9}[smhd] ")  # in an envelope: who wrote, and how long after the turn before
_BEFORE = regex(
    rf"\s*(?:{_EVENT} \[[^\]\n]{{8,60}}\][^\n]*(?:\n|\Z)(?:{_EVENT}[^\n]*(?:\n|\Z))*"
    r"|[A-Z][\w ]{2,60}\(untrusted[^)\n]{0,80}\):\n```json\n.{0,4000}?\n```"
    r"|\[media attached[^\n]*\](?:\n|\Z)|To send an image back, [^\n]*(?:\n|\Z)"
    r"|\[message_id: [^\]\n]{1,120}\]|\[Queued messages while agent was busy\]|---\nQueued #\d{1,4}\n"
    r"|\[Thread starter - for context\]\n.{0,4000}?\n\[slack message id: [^\]\n]{1,120}\]"
    r"|\[Bootstrap pending\]\n.{0,2000}?\n\n|\[Retry after the previous model attempt failed or timed out\]"
    r"|\[cron:[0-9a-f-]{36} [^\]\n]{1,200}\] |[^\n:()\[\]]{1,60} \(U[0-9A-Z]{8,12}\): "
    r"|(?<=```)\n{1,3}[^\n:()\[\]]{1,60} \(\d{6,12}\): "  # else it may be an order, and its number
    r"|Note: The previous agent run was aborted by the user\. Resume carefully or ask for clarification\.(?:\n|\Z)"
    r'|\[Replying to: "[^"\n]{0,400}"\]'
    r"|(?:ou|on)_[0-9a-f]{24,40}: |\[Subagent Context\][^\n]*(?:\n|\Z)|\[Subagent Task\]: )",
    re.DOTALL,
)
_SENT = regex(r"^System: \[[^\]\n]{8,60}\] [^\n:]{1,60} DM [^\n:]{1,80}: ([^\n]+)", re.MULTILINE, needs=(" DM ",))
_BEHIND = regex(
    r"\s*(?:\[(?:message_id|slack message id): [^\]\n]{1,120}\]|\[System: [^\[\]]{1,1000}\]"
    r"|Current time: [A-Z][a-z]+day, [^\n]{10,120}|Return your summary as plain text; [^\n]{0,400})\s*\Z"
)
_ANSWERED = regex(r"\[Replying to [^\]\n]{1,120}\].{0,8000}?\[/Replying\]", re.DOTALL, needs=("[Replying to ",))
_BETWEEN = regex(r"\n---\nQueued #\d{1,4}\n(?:\[[^\]\n]{10,200}\] )?", needs=("Queued #",))
_MOST_PARTS, _LONGEST_END = 40, 1_200  # parts of a turn, characters


def without_gateway(text: str) -> str:
    """A user's turn without what a gateway wrote around it; empty where that is all, unchanged where there is none."""
    start = text.lstrip()[:1]
    if start != "[" and not any(sign in text for sign in _SIGNS):
        return text
    if start == "[" and not (_envelope(text, 0) or _BEFORE.match(text)):
        return text
    position = 0
    for _ in range(_MOST_PARTS):
        found = _BEFORE.match(text, position) or _envelope(text, position)
        if found is None:
            break
        position = found.end()
    noted = text
    text = text[position:]
    for _ in range(_MOST_PARTS):
        if (found := _BEHIND.search(text[-_LONGEST_END:])) is None:
            break
        text = text[: len(text) - len(found[0])]
    own = _BETWEEN.sub("\n", text).strip()
    own = _ANSWERED.sub("", own).strip() or own
    if harness_mark(own):
        return ""  # a heartbeat, behind events
    # Some versions note the words as an event alone.
    return own or "\n".join(each.strip() for each in _SENT.findall(noted))


def _envelope(text: str, position: int) -> re.Match[str] | None:
    """The envelope at a place; one that may be the time of a pasted log only with another sign of a gateway."""
    if found := _ENVELOPE.match(text, position):
        return found
    found = _IN_UTC.match(text, position)
    is_sent = found and (position or _SENDER.search(found[0]) or any(sign in text for sign in _SIGNS))
    return found if is_sent else None
