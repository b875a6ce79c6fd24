"""What a tool of the harness refuses, and how the same thing was got."""

from __future__ import annotations

from typing import Any

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.signals import refusals
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script


def _lessons(script: Script) -> list[Lesson]:
    return refusals.lessons(MinedSession.of(script.done()))


def _only(script: Script) -> tuple[str, str]:
    """The rule that all lessons share, and how sure its cause is."""
    found = [(each.guideline.rule, grade_of(each.guideline, script.done()).cause) for each in _lessons(script)]
    assert len(set(found)) == 1, found
    return found[0]


def _patch(path: str, old: str = "one") -> dict[str, Any]:
    return {"input": f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+two\n*** End Patch"}


def test_an_edit_that_finds_its_file_by_the_whole_path_is_a_rule() -> None:
    answer = "Failed to read file to update docs/cart.md: No such file or directory"
    script = Script().call("shell", {"command": ["cat", "docs/cart.md"], "workdir": "/home/kim/till"}, "one")
    script.call("apply_patch", _patch("docs/cart.md"), answer, failed=True)
    rule, cause = _only(script.call("apply_patch", _patch("/home/kim/till/docs/cart.md"), "Success"))
    assert rule.startswith("Give `apply_patch` the absolute path of a file, or the one from the folder")
    assert cause == "checked"
    relative = Script().call("read", {"path": "~/till/cart.md"}, "one")
    relative.call(
        "edit", {"input": "@cart.md\n1 two", "path": "~/till/cart.md"}, "File not found: cart.md", failed=True
    )
    relative.call("edit", {"input": "@till/cart.md\n1 two", "path": "~/till/cart.md"}, "till/cart.md: 1 two")
    assert _only(relative)[0] == rule.replace("apply_patch", "edit")  # one page for both forms


def test_another_edit_or_a_folder_that_nobody_worked_in_is_none() -> None:
    answer = "Failed to read file to update docs/cart.md: No such file or directory"
    script = Script().call("apply_patch", _patch("docs/cart.md"), answer, failed=True)
    assert not _lessons(script.call("apply_patch", _patch("/home/kim/till/docs/cart.md"), "Success"))
    script = Script().runs("ls /home/kim/till").call("apply_patch", _patch("docs/cart.md"), answer, failed=True)
    assert not _lessons(script.call("apply_patch", _patch("/home/kim/till/docs/cart.md", "three"), "Success"))


def test_that_lines_are_not_there_is_no_lesson_for_agents_look_again_unasked() -> None:
    edit = {"file_path": "cart.py", "old_string": "total = 0", "new_string": "total = 1"}
    script = Script()
    for _ in range(3):
        script.call("Edit", edit, "String to replace not found in file.", failed=True)
    script.call("Read", {"file_path": "cart.py"}, "9 total: int = 0")
    assert not _lessons(script.call("Edit", {**edit, "old_string": "total: int = 0"}, "updated"))
