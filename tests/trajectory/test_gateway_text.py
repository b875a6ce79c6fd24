"""A user's turn without what a gateway between chats and an agent wrote around it."""

from __future__ import annotations

import pytest

from agent_wiki.trajectory.gateway_text import without_gateway
from agent_wiki.trajectory.harness_text import harness_mark
from tests.hangs import no_hang

SENDER = 'Sender (untrusted metadata):\n```json\n{\n  "label": "ui"\n}\n```\n\n'
INFO = 'Conversation info (untrusted metadata):\n```json\n{\n  "timestamp": "Mon"\n}\n```\n\n'
EVENT = "System: [2026-03-02 22:46:22 GMT+8] Exec completed (mellow-c, code 0) :: done\n"
AT = "[Thu 2026-03-19 21:28 GMT+8] "
NOW = "Current time: Tuesday, February 17th, 2026 — 8:00 AM (America/New_York)"
HEARTBEAT = f"Read HEARTBEAT.md if it exists (workspace context). Follow it strictly.\n{NOW}"
THREAD = (
    "[Thread starter - for context]\n[Slack Kim 2026-02-12 14:44 CST] Broken\n[slack message id: 17.06 channel: C0]\n"
)
SLACK = "[Slack #shop +2h 2026-02-12 17:23 CST] Kim Lamp (U0ADB338G87): Mend it [slack message id: 17.09 channel: C0]"
BOOTSTRAP = "[Bootstrap pending]\nRead it.\nFollow it.\n\n"
ABORTED = "Note: The previous agent run was aborted by the user. Resume carefully or ask for clarification."
CRON = "[cron:1e5d75bc-4013-42c7-b364-f8b53112db98 Mending] "
ID = "ou_5d44368d96ae0414c410f8d8014be25b"


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (f"{AT}Mend it\n[message_id: 55e20000]", "Mend it"),
        ("[Telegram Kim (@kim) id:12 +2m 2026-02-09 18:46 UTC] Mend it", "Mend it"),
        ("[Telegram Kim (@kim) id:12 +3m 2026-01-28T04:17Z] Mend it", "Mend it"),
        ("[Telegram Kim id:12 2026-01-28T04:17:05Z] Mend it", "Mend it"),
        ("[2026-01-28T04:17Z] Mend it\n[message_id: 55e20000]", "Mend it"),
        (f"{SENDER}[2026-01-28T04:17Z] Mend it", "Mend it"),
        ("[Zalo user:b17f +20476089d 58087-09-30 09:33 UTC] Mend it", "Mend it"),
        (f"{SENDER}{AT}Mend it", "Mend it"),
        (f"{INFO}Kim Lamp (7647804464): Mend it\n\n[Replying to Bot id:4]\nIt is:\n- sold\n[/Replying]", "Mend it"),
        (f"{AT}Mend it [Replying to Bot id:4] Sold. [/Replying]\n[message_id: 5]", "Mend it"),
        (f"{ABORTED}\n\n{INFO}{SENDER}Mend it", "Mend it"),
        (f"{EVENT}\n{ABORTED}\n\n{INFO}Mend it", "Mend it"),
        (f'{AT}{ID}: [Replying to: "[image]"]\n\nMend it', "Mend it"),
        (f"{INFO}{SENDER}Mend it\n\nand that", "Mend it\n\nand that"),
        (f"{EVENT}{EVENT}\n{AT}Mend it", "Mend it"),
        (f"{EVENT}\n{INFO}[message_id: om_1]\n{ID}: Mend it\n\n[System: The bot has no permission.]", "Mend it"),
        (f"System: [2026-03-04 09:35:57 GMT+8] Feishu[main] DM from {ID}: Mend it\n\n[message_id: x]", "Mend it"),
        ("[media attached: /a/b.jpg (image/jpeg)]\nTo send an image back, use MEDIA.\nMend it", "Mend it"),
        ("[Queued messages while agent was busy]\n\n---\nQueued #1\nMend it\n\n---\nQueued #2\nNow", "Mend it\n\nNow"),
        (f"{AT}[Subagent Context] You are a subagent.\n\n[Subagent Task]: Mend it", "Mend it"),
        (EVENT, ""),
        (f"{EVENT}System: \nSystem: and more of it\n{AT}Mend it", "Mend it"),
        ("System (untrusted): [2026-04-26 22:02:59 PDT] Check\nSystem (untrusted): in\n\nMend it", "Mend it"),
        (f"{EVENT}\n{HEARTBEAT}", ""),
        (f"{THREAD}\n{SLACK}", "Mend it"),
        (f"{THREAD}\n{EVENT}\n{SLACK}\n[message_id: 1770.05]", "Mend it"),
        (f"[Queued messages while agent was busy]\n\n---\nQueued #1\n{THREAD}\n{SLACK}", "Mend it"),
        (f"{BOOTSTRAP}[Retry after the previous model attempt failed or timed out]\n\n{AT}Mend it", "Mend it"),
        (f"{AT}Order form (20240115): the total is wrong", "Order form (20240115): the total is wrong"),
        (f"{CRON}Mend it\n{NOW}\n\nReturn your summary as plain text; it is sent.", "Mend it"),
    ],
)
def test_the_persons_words_are_left(text: str, own: str) -> None:
    assert without_gateway(text) == own


@pytest.mark.parametrize(
    "text",
    ["Mend it", "[x] mend it", "[2026-01-01] mend it", "See [message_id: 5] in it", "System: mend it", f"Mend it {AT}",
     "[2026-03-02T10:15:30Z] ERROR no lamps\n[2026-03-02T10:15:31Z] ERROR no rods\nWhy?",
     "[INFO 2026-03-02T10:15:30Z] started"],
)  # fmt: skip
def test_words_that_no_gateway_wrote_are_kept(text: str) -> None:
    assert without_gateway(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "A new session was started via /new or /reset. Execute your Session Startup sequence now.",
        f"{AT}An async command the user already approved has completed.\nDo not run it again.",
        f"{AT}OpenClaw runtime context (internal):\nThis context is runtime-generated.",
        "Pre-compaction memory flush. Store durable memories now.",
        HEARTBEAT,
        "[OpenClaw heartbeat poll]",
        'A background task "Mending" just completed successfully.\n\nFindings:\nNone.',
        "[Queued announce messages while agent was busy]\n\n---\nQueued #1\nA background task",
    ],
)
def test_what_the_gateway_says_itself_is_no_request(text: str) -> None:
    assert harness_mark(text) == "injected"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "System: [" * 20_000,
        "\n---\nQueued #1\n" * 10_000,
        "[message_id: " * 9_000,
        "[Thread starter - for context]\n" * 9_000,
        "System: [2026-03-02 22:46:22]\n" + "System: x\n" * 20_000,
        f"{AT}a\n[Replying to x]{' ' * 200_000}x",
    ],
)
def test_hostile_text_is_read_at_once(text: str) -> None:
    with no_hang():
        without_gateway(text)
