"""What a tool of the harness refuses, and how the same thing was got."""

from __future__ import annotations

from typing import Any

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.signals import refusals
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script

_UNCHANGED = "File unchanged since last read. The content from the earlier result is still current."
_NOT_FOUND = "String to replace not found in file."


def _lessons(script: Script) -> list[Lesson]:
    return refusals.lessons(MinedSession.of(script.done()))


def _only(script: Script) -> tuple[str, str]:
    """The rule that all lessons share, and how sure its cause is."""
    found = [(each.guideline.rule, grade_of(each.guideline, script.done()).cause) for each in _lessons(script)]
    assert len(set(found)) == 1, found
    return found[0]


def _refused(name: str, arguments: dict[str, Any], answer: str) -> Script:
    return Script().call(name, arguments, answer, failed=True)


def _patch(path: str, old: str = "one") -> dict[str, Any]:
    return {"input": f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+two\n*** End Patch"}


def test_an_edit_that_finds_its_file_by_the_whole_path_is_a_rule() -> None:
    answer = "Failed to read file to update docs/cart.md: No such file or directory"
    script = Script().call("shell", {"command": ["cat", "docs/cart.md"], "workdir": "/home/kim/till"}, "one")
    script.call("apply_patch", _patch("docs/cart.md"), answer, failed=True)
    rule, cause = _only(script.call("apply_patch", _patch("/home/kim/till/docs/cart.md"), "Success"))
    assert rule.startswith("Give `apply_patch` the absolute path of a file when `apply_patch` answers `Failed to read")
    assert cause == "checked"
    relative = Script().call("read", {"path": "~/till/cart.md"}, "one")
    relative.call(
        "edit", {"input": "@cart.md\n1 two", "path": "~/till/cart.md"}, "File not found: cart.md", failed=True
    )
    relative.call("edit", {"input": "@till/cart.md\n1 two", "path": "~/till/cart.md"}, "till/cart.md: 1 two")
    assert _only(relative)[0].startswith(
        "Give `edit` the path of a file from the folder that the session began in when"
    )


def test_another_edit_or_a_folder_that_nobody_worked_in_is_none() -> None:
    answer = "Failed to read file to update docs/cart.md: No such file or directory"
    script = Script().call("apply_patch", _patch("docs/cart.md"), answer, failed=True)
    assert not _lessons(script.call("apply_patch", _patch("/home/kim/till/docs/cart.md"), "Success"))
    script = Script().runs("ls /home/kim/till").call("apply_patch", _patch("docs/cart.md"), answer, failed=True)
    assert not _lessons(script.call("apply_patch", _patch("/home/kim/till/docs/cart.md", "three"), "Success"))


def _edit(old: str, path: str = "cart.py") -> dict[str, str]:
    return {"file_path": path, "old_string": old, "new_string": "total = 1"}


def test_lines_that_a_look_put_right_are_a_rule_where_it_came_again() -> None:
    script = _refused("Edit", _edit("total = 0"), _NOT_FOUND).call("Read", {"file_path": "cart.py"}, "9 total: int = 0")
    script.call("Edit", _edit("total: int = 0"), "updated")
    script.call("Edit", _edit("sum = 0", "till.py"), _NOT_FOUND, failed=True)
    assert not _lessons(script)  # the refusal says all that there is to say
    rule, cause = _only(script.call("Edit", _edit("open = 0", "till.py"), _NOT_FOUND, failed=True))
    assert rule.startswith("Copy what `Edit` is to find from a fresh look at the file when `Edit` answers `String to")
    assert cause == "checked"


def test_lines_that_no_look_had_shown_are_none() -> None:
    script = _refused("Edit", _edit("total = 0"), _NOT_FOUND).call("Edit", _edit("sum = 0"), _NOT_FOUND, failed=True)
    script.call("Read", {"file_path": "cart.py"}, "9 price = 0")
    assert not _lessons(script.call("Edit", _edit("total: int = 0"), "updated"))


def test_a_patch_is_refused_as_a_whole_and_a_shell_that_is_given_it_is_apply_patch() -> None:
    error = "error: Failed to find expected lines in cart.py: one"
    script = Script().runs(f"apply_patch <<'E'\n{_patch('cart.py')['input']}\nE", error, failed=True)
    script.runs("sed -n 1,20p cart.py", "# one").runs(
        f"apply_patch <<'E'\n{_patch('cart.py', '# one')['input']}\nE", "ok"
    )
    assert _lessons(script)[0].guideline.title == "Copy the lines apply_patch looks for"


def test_lines_that_stand_in_the_file_were_out_of_order() -> None:
    error = "apply_patch verification failed: Failed to find expected lines in cart.py:\none\ntwo"
    script = Script().call("apply_patch", _patch("cart.py", "one"), error, failed=True)
    script.runs("sed -n 1,20p cart.py", "two\n 7\tone\n# one")
    assert not _lessons(script.call("apply_patch", _patch("cart.py", "# one"), "done"))


def _again(script: Script, shown: str, *, path: str = "cart.py") -> Script:
    """The refused edit once more after a look, as it stands in the file, and two in another file for the count."""
    script.call("Read", {"file_path": path}, shown).call("Edit", _edit("total: int = 0", path), "updated")
    script.call("Edit", _edit("open = 0", "till.py"), _NOT_FOUND, failed=True)
    return script.call("Edit", _edit("shut = 0", "till.py"), _NOT_FOUND, failed=True)


def test_lines_that_had_been_shown_already_were_copied_and_something_else_was_wrong() -> None:
    script = Script().call("Read", {"file_path": "cart.py"}, "9→total = 0")
    script.call("Edit", _edit("total = 0"), _NOT_FOUND, failed=True)
    assert not _lessons(_again(script, "9 total: int = 0"))


def test_lines_that_were_shown_before_the_file_was_changed_are_no_fresh_look() -> None:
    script = Script().call("Read", {"file_path": "cart.py"}, "9→total = 0").call("Edit", _edit("x = 0"), "updated")
    script.call("Edit", _edit("total = 0"), _NOT_FOUND, failed=True)
    assert _lessons(_again(script, "9 total: int = 0"))


def test_a_look_after_which_the_edit_is_refused_again_is_no_remedy() -> None:
    script = _refused("Edit", _edit("total = 0"), _NOT_FOUND).call("Read", {"file_path": "cart.py"}, "9 total: int = 0")
    script.call("Edit", _edit("totals = 0"), _NOT_FOUND, failed=True)
    first, second = 2, 6  # the turns of the refused calls; only the second is followed by a look and a pass
    events = [each.guideline.event_turn for each in _lessons(_again(script, "9 total: int = 0"))]
    assert first not in events
    assert second in events


def test_an_edit_of_other_lines_is_not_the_same_edit() -> None:
    script = _refused("Edit", _edit("total = 0"), _NOT_FOUND).call("Read", {"file_path": "cart.py"}, "9 class Basket:")
    script.call("Edit", _edit("class Basket:"), "updated")
    script.call("Edit", _edit("open = 0", "till.py"), _NOT_FOUND, failed=True)
    assert not _lessons(script.call("Edit", _edit("shut = 0", "till.py"), _NOT_FOUND, failed=True))
