"""What a client of the wiki's MCP server sends in vain is answered, in one line that says what is wrong."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.wikis import Script, ingest, record, rule

mcp = pytest.importorskip("mcp")

from agent_wiki.harness.mcp_server import server_of  # noqa: E402 - only where the extra is installed

_PING = '{"jsonrpc": "2.0", "id": "last", "method": "ping"}'


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wiki of one session."""
    folder = tmp_path_factory.mktemp("made")
    script = Script(folder)
    script.says("", rules=[rule("Run `make check` first.")])
    ingest([record(folder / "t", "a")], folder / "wiki", script.engine)
    return folder / "wiki"


def _answers(wiki: Path, *lines: str) -> list[dict[str, Any]]:
    """What a server answers to these lines, up to its answer to a ping behind them."""
    command = [sys.executable, "-m", "agent_wiki", "mcp", "--wiki", str(wiki)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{line}\n" for line in [*lines, _PING]))
        process.stdin.flush()
        found: list[dict[str, Any]] = []
        while not found or found[-1]["id"] != "last":
            found.append(json.loads(process.stdout.readline()))
        process.stdin.close()
    return found[:-1]


def test_a_line_that_is_no_request_is_answered_and_a_notification_or_an_empty_line_is_not(wiki: Path) -> None:
    lines = {
        "no JSON": (None, -32700),
        '{"jsonrpc": "2.0", "id": 1, "method": 5}': (1, -32600),
        '{"jsonrpc": "2.0", "id": 5}': (5, -32600),
        '{"jsonrpc": "2.0", "id": 6, "error": {}}': (None, -32600),
        '{"id": "two", "method": "ping"}': ("two", -32600),
        '{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": 7}': (3, -32600),
        '{"jsonrpc": "2.0", "id": true, "method": "ping", "params": 7}': (None, -32600),
        '{"jsonrpc": "2.0", "id": 4, "result": 7}': (None, -32600),
        "[]": (None, -32600),
        "7": (None, -32600),
        "  ": (),
        '{"jsonrpc": "2.0", "method": "none/such"}': (),
    }
    found = _answers(wiki, *lines)
    assert [(each["id"], each["error"]["code"]) for each in found] == [each for each in lines.values() if each]
    assert all("\n" not in each["error"]["message"] for each in found)


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("consult", {"kind": 7}, "consult: task: Field required; kind: Input should be a valid string"),
        ("report_use", {"id": "x", "status": "perfect"}, "report_use: status: Input should be 'followed', 'ignored', "),
        (
            "consult",
            {"task": "run", "tags": [1, 2, 3, {"\x1b[31m\n": 4}]},
            f"consult: {'; '.join(f'tags.{at}: Input should be a valid string' for at in range(3))}; and 1 more",
        ),
    ],
)
def test_arguments_that_a_tool_does_not_take_are_one_line(
    tool: str, arguments: dict[str, Any], says: str, wiki: Path
) -> None:
    async def refusal() -> tuple[bool, str]:
        async with mcp.Client(server_of(wiki)) as client:
            reported = await client.call_tool(tool, arguments)
            return bool(reported.is_error), reported.content[0].text

    is_error, text = asyncio.run(refusal())
    assert is_error
    assert text.startswith(says)
    assert "\n" not in text
