"""Of a failed result the line that says what went wrong, and not what stands around it."""

from __future__ import annotations

import pytest

from agent_wiki.shell.result_lines import error_line

_STACK = """lib/fetch.js:27
  return new TypeError(it)

TypeError: Illegal constructor
    at webidl.errors.exception (lib/fetch.js:27:10)

Node.js v20"""
_TABLE = """Desired=Unknown/Install/Remove
| Status=Not/Inst
||/ Name Version
dpkg-query: no packages found matching lamps"""


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (_STACK, "TypeError: Illegal constructor"),
        (_TABLE, "dpkg-query: no packages found matching lamps"),
        ("Install source not found.\nProcess Group PGID: 42681", "Install source not found."),
    ],
)
def test_the_line_says_what_failed(result: str, line: str) -> None:
    assert error_line(result) == line
