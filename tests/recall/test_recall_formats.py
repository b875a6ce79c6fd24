"""Reads of a wiki as each recorded format has them: through the reader, as an ingest sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.readers import claude_code, codex, mini_swe_agent, openai_messages
from agent_wiki.recall.reads import wiki_reads
from agent_wiki.trajectory import Trajectory
from tests.readers import claude_lines
from tests.readers.lines import only, write_document, write_lines

PAGE = "guidelines/list-zip-entries__0123456789ab.md"
OTHER = "guidelines/count-zip-entries__ba9876543210.md"
TEXT = "---\nid: 0123456789ab\ntype: guideline\n---\n# List zip entries\n\nUse `unzip -Z1 <file>`.\n"
LISTED = f"1. List zip entries [guideline, 0.71]\n   why: title: zip\n   {PAGE} (1 session)\n"
ROWS = [
    {"kind": "guideline", "id": "0123456789ab", "title": "List zip entries", "summary": "Use unzip", "link": PAGE},
    {"kind": "guideline", "id": "ba9876543210", "title": "Count them", "summary": "Use wc", "link": OTHER},
]
STAMP = "2026-02-03T04:05:06.000Z"


def reads(trajectory: Trajectory) -> list[tuple[str, str]]:
    return [(read.page, read.text) for read in wiki_reads(trajectory)]


def codex_session(tmp_path: Path, name: str, arguments: dict[str, Any], output: Any) -> Trajectory:
    def item(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": STAMP, "type": "response_item", "payload": {"type": kind, **payload}}

    session = "019c0000-0000-7000-8000-00000000000a"
    meta = {"id": session, "timestamp": STAMP, "cli_version": "0.130.0", "cwd": "/repo"}
    records = [
        {"timestamp": STAMP, "type": "session_meta", "payload": meta},
        item("message", role="user", content=[{"type": "input_text", "text": "Count the entries."}]),
        {"timestamp": STAMP, "type": "event_msg", "payload": {"type": "user_message", "message": "Count the entries."}},
        item("function_call", name=name, arguments=json.dumps(arguments), call_id="c1"),
        item("function_call_output", call_id="c1", output=output),
        item("message", role="assistant", content=[{"type": "output_text", "text": "Three."}]),
    ]
    return only(codex.read(write_lines(tmp_path / "rollout.jsonl", records)))


def openai_session(tmp_path: Path, name: str, arguments: dict[str, Any], output: str) -> Trajectory:
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    messages = [
        {"role": "user", "content": "Count the entries."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": output},
        {"role": "assistant", "content": "Three."},
    ]
    return only(openai_messages.read(write_document(tmp_path / "r.json", messages)))


def claude_session(tmp_path: Path, name: str, arguments: dict[str, Any], output: Any) -> Trajectory:
    lines = [
        claude_lines.user("Count the entries."),
        claude_lines.assistant("m1", claude_lines.call("c1", name, **arguments)),
        claude_lines.user([claude_lines.result("c1", output)]),
        claude_lines.assistant("m2", claude_lines.text("Three.")),
    ]
    return only(claude_code.read(claude_lines.recording_of(tmp_path, *lines)))


@pytest.mark.parametrize(
    ("name", "arguments", "output"),
    [
        ("exec_command", {"cmd": f"sed -n 1,80p wiki/{PAGE}"}, f"Process exited with code 0\nOutput:\n{TEXT}"),
        ("shell", {"command": ["bash", "-lc", f"cat wiki/{PAGE}"]}, json.dumps({"output": TEXT, "metadata": {}})),
        ("mcp__wiki__read_page", {"link": PAGE}, json.dumps([{"type": "text", "text": TEXT}])),
        ("mcp__wiki__read_page", {"link": PAGE}, [{"type": "input_text", "text": TEXT}]),
        ("wiki__consult", {"task": "zip"}, json.dumps({"content": [{"type": "text", "text": LISTED}]})),
        ("exec_command", {"cmd": "wiki consult zip"}, f"Process exited with code 0\nOutput:\n{LISTED}"),
    ],
)
def test_codex(tmp_path: Path, name: str, arguments: dict[str, Any], output: Any) -> None:
    assert [page for page, _ in reads(codex_session(tmp_path, name, arguments, output))] == [PAGE]


def test_rows_after_a_harness_line_are_separated(tmp_path: Path) -> None:
    output = f"Process exited with code 0\nOutput:\n{json.dumps(ROWS, indent=2)}\n"
    first, second = reads(codex_session(tmp_path, "exec_command", {"cmd": "wiki consult --json zip"}, output))
    assert (first[0], "unzip" in first[1], "wc" in first[1]) == (PAGE, True, False)
    assert (second[0], "unzip" in second[1], "wc" in second[1]) == (OTHER, False, True)


@pytest.mark.parametrize(
    ("name", "arguments", "output"),
    [
        ("execute_bash", {"command": f"cat wiki/{PAGE}"}, TEXT),
        ("str_replace_editor", {"command": "view", "path": f"/repo/wiki/{PAGE}"}, f"Here's the result:\n{TEXT}"),
        ("read_page", {"link": PAGE}, TEXT),
        ("wiki_consult", {"task": "zip"}, LISTED),
        ("wiki.consult", {"task": "zip"}, json.dumps({"result": LISTED})),
    ],
)
def test_openai_messages(tmp_path: Path, name: str, arguments: dict[str, Any], output: str) -> None:
    assert [page for page, _ in reads(openai_session(tmp_path, name, arguments, output))] == [PAGE]


@pytest.mark.parametrize(
    ("name", "arguments", "output"),
    [
        (
            "Read",
            {"file_path": f"/repo/wiki/{PAGE}"},
            "".join(f"{n:>6}→{x}\n" for n, x in enumerate(TEXT.split("\n"), 1)),
        ),
        ("Grep", {"pattern": "zip", "path": "wiki", "output_mode": "content"}, f"wiki/{PAGE}:6:# List zip entries"),
        ("Bash", {"command": f"cat wiki/{PAGE}"}, TEXT),
        ("mcp__wiki__read_page", {"link": PAGE}, [{"type": "text", "text": TEXT}]),
        ("mcp__agent-wiki__consult", {"task": "zip"}, [{"type": "text", "text": LISTED}]),
        ("mcp__filesystem__read_text_file", {"path": f"/repo/wiki/{PAGE}"}, [{"type": "text", "text": TEXT}]),
    ],
)
def test_claude_code(tmp_path: Path, name: str, arguments: dict[str, Any], output: Any) -> None:
    assert [page for page, _ in reads(claude_session(tmp_path, name, arguments, output))] == [PAGE]


def test_mini_swe_agent(tmp_path: Path) -> None:
    document = {
        "info": {"exit_status": "Submitted", "mini_version": "1.0"},
        "trajectory_format": "mini-swe-agent-1",
        "messages": [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "Count the entries."},
            {"role": "assistant", "content": f"THOUGHT: look\n\n```bash\ncat wiki/{PAGE}\n```"},
            {"role": "user", "content": f"<returncode>0</returncode>\n<output>\n{TEXT}</output>"},
        ],
    }
    recording = write_document(tmp_path / "a.traj.json", document)
    assert [page for page, _ in reads(only(mini_swe_agent.read(recording)))] == [PAGE]
