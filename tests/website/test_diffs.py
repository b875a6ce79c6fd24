"""Calls of editing tools, and results that are diffs, as lines of a diff."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.site.diffs import diff_in, diff_of_call


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"old_string": "a\nb", "new_string": "a\nc"}, ["same a", "removed b", "added c"]),
        ({"command": "str_replace", "old_str": "b", "new_str": "c"}, ["removed b", "added c"]),
        ({"edits": [{"old_string": "x", "new_string": "y"}]}, ["removed x", "added y"]),
        ({"file_path": "f", "content": "1\n2"}, ["added 1", "added 2"]),
        (
            {"input": "*** Begin Patch\n*** Add File: f\n+x"},
            ["place *** Begin Patch", "place *** Add File: f", "added x"],
        ),
        ({"command": "ls"}, []),
        ({"edits": "none", "content": 3}, []),
    ],
)
def test_a_change_is_a_diff(arguments: dict[str, Any], lines: list[str]) -> None:
    assert [f"{line.kind} {line.text}" for line in diff_of_call(arguments) if line.text[:2] != "@@"] == lines


def test_a_result_is_a_diff_only_where_it_has_hunks() -> None:
    text = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n"
    assert [line.kind for line in diff_in(text)] == ["place"] * 4 + ["removed", "added", "same"]
    assert diff_in("--- a title\n+ a plus\n") == []


def test_a_long_change_is_cut_with_the_number_of_its_lines() -> None:
    lines = diff_of_call({"content": "\n".join(map(str, range(500)))})
    assert (lines[-1].kind, lines[-1].text) == ("cut", "380 more lines")


def test_a_patch_in_a_command_is_a_diff_too() -> None:
    command = "apply_patch <<'E'\n*** Begin Patch\n*** Update File: f\n@@\n-old\n+new\n*** End Patch\nE"
    assert [line.kind for line in diff_in(command) if line.kind in ("added", "removed")] == ["removed", "added"]
