"""What a client puts into each of a user's turns."""

from __future__ import annotations

from agent_wiki.trajectory.templates import without_templates

HEAD = "This is the studio of a student. Folder: studio. Do not change agent_panel.py unless the student says so."


def test_a_preamble_with_a_state_and_a_label_is_left_out() -> None:
    pages = ("Home.", "Home.\n\n[Nick] Kim", "Play.")
    questions = ("Hello", "Add a button", "Read it: now")
    turns = [f"{HEAD} Page: {page}\n\nThe student asks: {asked}" for page, asked in zip(pages, questions, strict=True)]
    assert without_templates([*turns, "And now?"]) == [*questions, "And now?"]
    assert without_templates(turns[:2]) == turns[:2]


def test_a_label_without_a_preamble_is_the_users_own() -> None:
    turns = [f"Change the colour of lamp {word}.\nNote: at once" for word in ("one", "two", "three")]
    assert without_templates(turns) == turns


def test_no_turn_is_left_empty() -> None:
    turns = [f"{HEAD} Page: {page}\n\nThe student asks:" for page in ("a", "b", "c")]
    assert all(without_templates(turns))


def test_what_the_user_types_again_for_each_part_is_the_users_own() -> None:
    turns = [f"Write a specification for one use case. Files: - The use case: UC-{number}.md" for number in (9, 10, 11)]
    assert without_templates(turns) == turns
    asked = [f"You are in the studio of a student today: {what}" for what in ("draw a lamp", "hang it up", "light it")]
    assert without_templates(asked) == ["draw a lamp", "hang it up", "light it"]
