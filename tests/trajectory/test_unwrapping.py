"""A user's turn without what the page that hosts the agent puts before it."""

from __future__ import annotations

import pytest

from agent_wiki.trajectory.unwrapping import unwrapped
from tests.hangs import no_hang

WHERE = "[Runtime context:\n- The shop is at shop.example.\n- Do NOT open other pages.]"


@pytest.mark.parametrize("before", [WHERE, f"{WHERE}\n\n[System instruction: Only describe the plan.]"])
def test_what_stands_in_brackets_before_the_first_word_is_left_out(before: str) -> None:
    assert unwrapped(f"{before}\n\nMend the lamps [both of them].") == "Mend the lamps [both of them]."


def test_a_turn_that_is_nothing_else_is_kept() -> None:
    assert unwrapped(WHERE) == WHERE
    assert unwrapped(f"{WHERE}\n[System instruction: Only describe the plan.]").startswith(WHERE)


def test_the_users_own_brackets_are_kept() -> None:
    for text in ("[draft] mend the lamps", "[Environment: production, Ubuntu 22] the lamps are dark, mend them"):
        assert unwrapped(text) == text


def test_a_request_in_a_tag_is_what_it_holds_without_what_is_attached() -> None:
    attached = "<attached_contents>\n<file path='lamp.txt'>\nA lamp.\n</file>\n</attached_contents>"
    assert unwrapped(f"<user_message>\nMend the lamps {attached}\n\n</user_message>\n") == "Mend the lamps"
    assert unwrapped("See <user_message>this</user_message> there") == "See <user_message>this</user_message> there"


def test_a_file_that_was_sent_along_is_none_of_the_users_words() -> None:
    sent = 'read the caps in it <file name="caps---1.csv" mime="text/csv">\nwhy do you cap?;1\n</file>'
    assert unwrapped(sent) == "read the caps in it"
    assert unwrapped("why is <file> empty in the form?") == "why is <file> empty in the form?"
    own = 'rename it in <file name="caps.xml">a cap</file> please'
    assert unwrapped(own) == own


def test_the_task_behind_an_example_is_the_request() -> None:
    line = "-" * 20
    example = "Here's a running example of how to perform a task with the provided tools.\n\nUSER: Make an app."
    head, end = (f"\n{line} {words} {line}\n" for words in ("NEW TASK DESCRIPTION", "END OF NEW TASK DESCRIPTION"))
    assert unwrapped(f"{example}{head}Mend the lamps.{end}Go.") == "Mend the lamps."
    assert unwrapped(example) == example


def test_what_an_editor_says_of_itself_is_none_of_the_users_words() -> None:
    assert unwrapped("<ide_diagnostics>a.ts:3 is unused</ide_diagnostics> Mend the lamps") == "Mend the lamps"


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("a <system-reminder>b</system-reminder> c <ide_selection>d</IDE_SELECTION> e", "a   c   e"),
        ("a <instructions>b <system-reminder>c</system-reminder> d</instructions> e", "a   e"),
        ("a <instructions> b <instructions> c", "a   b   c"),  # never closed
        ("a <NIMBALYST_SYSTEM_MESSAGE>\nb <file>c.md</file>\n</NIMBALYST_SYSTEM_MESSAGE>", "a"),
        ("İ <instructions>b</instructions> c", "İ   c"),
    ],
)
def test_blocks_are_left_out_whole_and_in_their_order(text: str, own: str) -> None:
    assert unwrapped(text) == own


def test_openings_without_end_are_read_at_once() -> None:
    with no_hang():
        unwrapped("<ide_a>" * 100_000)
        unwrapped("<instructions>a</instructions>" * 30_000)
