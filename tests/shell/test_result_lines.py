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


def test_of_a_client_s_report_of_a_failed_tool_what_the_tool_said() -> None:
    call = '{"name":"push_files","args":{"files":"' + "x" * 20_000 + '"}}'
    told = '[{"functionResponse":{"response":{"content":[{"type":"text","text":"409 Git Repository is empty"}]}}}]'
    text = f"MCP tool 'push_files' reported tool error for function call: {call} with response: {told}"
    assert error_line(text) == "409 Git Repository is empty"
    assert error_line("Exit Code: 1\nlampctl: unknown parameter 'led'") == "lampctl: unknown parameter 'led'"
