"""`wiki mcp` as programs start it themselves: its tools are called, and what is read over it is counted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import need
from tests.clients.loopback import Loopback
from tests.clients.played.turns import bash, mcp, says
from tests.clients.programs import CLAUDE_CODE, CODEX, CODEX_PLAIN, COPILOT, GEMINI, OPENCODE, QWEN
from tests.clients.taught import rows, teach, used
from tests.clients.work import Work

_SERVER: dict[str, Any] = {"command": "wiki", "args": ["mcp", "--wiki", "wiki"]}


def _configured(at_work: Work) -> Sequence[str]:
    """Configure the server where the program looks for it; returns further words of its command."""
    program, servers = at_work.program, {"mcpServers": {"wiki": _SERVER}}
    if program is CLAUDE_CODE:
        _written(at_work.project / ".mcp.json", servers)
        return ["--mcp-config", ".mcp.json"]
    if program is COPILOT:
        _written(
            at_work.project / "servers.json", {"mcpServers": {"wiki": {**_SERVER, "type": "local", "tools": ["*"]}}}
        )
        return ["--additional-mcp-config", "@servers.json"]
    if program in {GEMINI, QWEN}:
        _written(at_work.project / f".{program.name}" / "settings.json", servers)
    elif program is OPENCODE:
        command = [_SERVER["command"], *_SERVER["args"]]
        _written(at_work.project / "opencode.json", {"mcp": {"wiki": {"type": "local", "command": command}}})
    else:
        with (at_work.home / ".codex" / "config.toml").open("a", encoding="utf-8") as stream:
            stream.write(
                f'[mcp_servers.wiki]\ncommand = "wiki"\nargs = {json.dumps(_SERVER["args"])}\nrequired = true\n'
            )
    return []


def _written(path: Path, settings: Mapping[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(settings), encoding="utf-8")


def _plays(model: Loopback, link: str, page_id: str) -> None:
    model.plays(
        "mcp",
        says("I ask the wiki.", mcp("consult", task="run the tests of this project")),
        says("", mcp("read_page", link=link)),
        says("The page applies: tests are run with make.", bash("make test")),
        says("", mcp("report_use", id=page_id, status="followed", evidence="make test passed")),
        says("The tests pass with `make test`, as the wiki says."),
    )


@pytest.mark.parametrize(
    "at_work",
    [
        pytest.param(CLAUDE_CODE, id="claude-code"),
        pytest.param(CODEX, id="codex-code-mode"),
        pytest.param(CODEX_PLAIN, id="codex-plain"),
        pytest.param(GEMINI, id="gemini"),
        pytest.param(QWEN, id="qwen"),
        pytest.param(OPENCODE, id="opencode"),
        pytest.param(COPILOT, id="copilot"),
    ],
    indirect=True,
)
def test_a_page_read_over_mcp_and_followed_is_counted(at_work: Work) -> None:
    link = teach(at_work)
    (page_id,) = [row["id"] for row in rows(at_work.wiki) if row["link"] == link]
    _plays(at_work.model, link, page_id)
    more = _configured(at_work)
    words = at_work.program.words("Run the tests of this project. [[mcp]]")
    at_work.session("", [words[0], *more, *words[1:]])
    assert "never with unittest directly" in at_work.model.requests()[-1]
    assert used(at_work, link) == {"followed": 1}


def _inspected(at_work: Work, *words: str) -> Any:
    inspector = ["mcp-inspector", "--cli", "wiki", "mcp", "--wiki", "wiki", *words]
    return json.loads(at_work.run(inspector, codes=(0, 5)).stdout)  # 5: the tool said that it cannot


@pytest.mark.parametrize("at_work", [CLAUDE_CODE], indirect=True, ids=["inspector"])
def test_the_inspector_lists_and_calls_the_tools(at_work: Work) -> None:
    need("mcp-inspector")
    link = teach(at_work)
    tools = _inspected(at_work, "--method", "tools/list")["tools"]
    assert {"consult", "read_page", "provenance", "report_use"} <= {tool["name"] for tool in tools}
    assert all(tool["description"] for tool in tools)
    call = ["--method", "tools/call", "--tool-name"]
    (found,) = _inspected(at_work, *call, "consult", "--tool-arg", "task=run the tests")["content"]
    assert link in found["text"]
    (page,) = _inspected(at_work, *call, "read_page", "--tool-arg", f"link={link}")["content"]
    assert "never with unittest directly" in page["text"]
    outside = _inspected(at_work, *call, "read_page", "--tool-arg", "link=../README.md")
    assert outside["isError"]
