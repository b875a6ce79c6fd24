"""A summary says what was done to a file, not only that it was changed."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.acts import acts_of
from agent_wiki.engines.offline.changes import change_of
from tests.engines.sessions import Session

PATCH = (
    "*** Begin Patch\n*** Update File: b.py\n@@\n-x = 1\n*** Update File: a.py\n@@\n+def total():\n+    return 1\n"
    "*** End Patch"
)


@pytest.mark.parametrize(
    ("session", "path", "clause"),
    [
        (Session().edit("a.py", "x = 1", "def total():\n    return 1"), "a.py", "added `total`"),
        (Session().edit("a.go", "func (c *Cart) Sum() {}", "func Total() {}"), "a.go", "added `Total`; removed `Sum`"),
        (Session().edit("a.toml", "version = 1", "version = 2"), "a.toml", "`version = 1` became `version = 2`"),
        (Session().edit("a.env", "DB_PASSWORD=old1", "DB_PASSWORD=new2"), "a.env", ""),
        (Session().edit("a.ps1", "", "function Write-Lamp { 1 }"), "a.ps1", "added `Write-Lamp`"),
        (Session().write("a.ts", "export const One = 1\nclass Two {}\nfunction three() {}\nfunction four() {}"), "a.ts",
         "added `One`, `Two` and others"),
        (Session().write("notes.md", "# Notes\ntext\n## Use\n"), "notes.md", "“Notes”"),
        (Session().write("notes.md", "# a\ntext\n"), "notes.md", ""),
        (Session().write("notes.md", "---\na: b\n---\n\n## Use\n## Cost\n## Rest\n"), "notes.md",
         "added “Use” and others"),
        (Session().call("apply_patch", {"input": PATCH}), "a.py", "added `total`"),
        (Session().edit("a.py", "def total():\n    x = 1", "def total():\n    x = 2"), "a.py", "changed `total`"),
        (Session().edit("a.py", "x = 1\ny = 2", "x = 2\ny = 3"), "a.py", ""),
        (Session().edit("a.py", "def sum(a):", "def sum(a, b):"), "a.py", "`def sum(a):` became `def sum(a, b):`"),
    ],
)  # fmt: skip
def test_a_change_is_named_by_what_came_and_what_went(session: Session, path: str, clause: str) -> None:
    assert change_of(acts_of(session.done()), path) == clause
