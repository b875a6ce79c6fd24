"""A recorded session in the file format of the agent that is said to have held it. Pure functions.

The shapes are those of real recordings. Ids are made up (UUIDs of a name, so always the same), and so are the times:
the start is written in the session, each further line is said to come 15 seconds later. No model spoke, so there is
neither usage nor cost.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from trace_sandbox import PROJECT
from trace_sessions import Call, Performed, Recorded, Result

SUFFIXES = {"claude-code": ".jsonl", "codex": ".jsonl", "openai": ".json", "mini-swe-agent": ".traj.json"}
MODEL = "scripted-example"  # no model spoke: the authors wrote the dialogue
_VERSION = "0.0.0-example"
_NAMESPACE = uuid.UUID("6f0b1c1e-6a52-5b0f-9f0c-2d6a3f0f5e11")


def dumped(recorded: Recorded) -> str:
    """The file's whole text."""
    kind = recorded.session.format
    if kind == "claude-code":
        return _lines(claude_code(recorded))
    if kind == "codex":
        return _lines(codex(recorded))
    document = openai(recorded) if kind == "openai" else mini_swe_agent(recorded)
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _lines(records: Iterator[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _id(*names: object) -> str:
    return str(uuid.uuid5(_NAMESPACE, "/".join(map(str, names))))


def _short_id(*names: object) -> str:
    return uuid.uuid5(_NAMESPACE, "/".join(map(str, names))).hex[:24]


def _moment(started: str, line: int) -> str:
    moment = datetime.fromisoformat(started) + timedelta(seconds=15 * line)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def claude_code(recorded: Recorded) -> Iterator[dict[str, Any]]:
    """A session file of Claude Code: a line a block, each naming the line before it."""
    parent: str | None = None
    for line, (kind, message, beside) in enumerate(_claude_messages(recorded)):
        own = _id(recorded.name, "line", line)
        yield {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": PROJECT,
            "sessionId": _id(recorded.name),
            "version": _VERSION,
            "gitBranch": recorded.session.branch,
            "type": kind,
            "message": message,
            **beside,
            "uuid": own,
            "timestamp": _moment(recorded.session.started, line),
        }
        parent = own


def _claude_messages(recorded: Recorded) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for position, performed in enumerate(recorded.turns):
        if performed.turn.user is not None:
            yield "user", {"role": "user", "content": performed.turn.user.rstrip("\n")}, {}
            continue
        ids = [f"toolu_{_short_id(recorded.name, position, number)}" for number, _ in enumerate(performed.results)]
        reply_id = f"msg_{_short_id(recorded.name, position)}"
        for block in _claude_blocks(performed, ids):
            message = {"id": reply_id, "type": "message", "role": "assistant", "model": MODEL, "content": [block]}
            yield "assistant", message, {}
        for call_id, call, result in zip(ids, performed.turn.calls, performed.results, strict=True):
            beside = {"toolUseResult": "User rejected tool use"} if result.is_rejected else {}
            yield "user", {"role": "user", "content": [_claude_result(call_id, call, result)]}, beside


def _claude_blocks(performed: Performed, ids: list[str]) -> Iterator[dict[str, Any]]:
    turn = performed.turn
    if turn.thinking:
        yield {"type": "thinking", "thinking": turn.thinking.rstrip("\n"), "signature": ""}
    if turn.agent:
        yield {"type": "text", "text": turn.agent.rstrip("\n")}
    for call_id, call in zip(ids, turn.calls, strict=True):
        name, arguments = _claude_call(call)
        yield {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _claude_call(call: Call) -> tuple[str, dict[str, Any]]:
    if call.bash is not None:
        return "Bash", {"command": call.bash.rstrip("\n")} | ({"description": call.why} if call.why else {})
    if call.read is not None:
        return "Read", {"file_path": f"{PROJECT}/{call.read}"}
    if call.write is not None:
        return "Write", {"file_path": f"{PROJECT}/{call.write}", "content": call.text}
    return "Edit", {"file_path": f"{PROJECT}/{call.edit}", "old_string": call.old, "new_string": call.new}


def _claude_result(call_id: str, call: Call, result: Result) -> dict[str, Any]:
    text = result.text.rstrip("\n")
    if call.bash is not None and result.exit_code and not result.is_rejected:
        text = f"Exit code {result.exit_code}\n{text}".rstrip("\n")
    return {"tool_use_id": call_id, "type": "tool_result", "content": text, "is_error": result.exit_code != 0}


def codex(recorded: Recorded) -> Iterator[dict[str, Any]]:
    """A Codex rollout: a header, then items, and an event for each prompt that the user typed."""
    session = recorded.session
    meta = {
        "id": _id(recorded.name),
        "timestamp": _moment(session.started, 0),
        "cwd": PROJECT,
        "originator": "codex_cli",
        "cli_version": _VERSION,
        "git": {"branch": session.branch},
    }
    payloads = [("session_meta", meta), ("turn_context", {"cwd": PROJECT, "model": MODEL}), *_codex_items(recorded)]
    for line, (kind, payload) in enumerate(payloads):
        yield {"timestamp": _moment(session.started, line), "type": kind, "payload": payload}


def _codex_items(recorded: Recorded) -> Iterator[tuple[str, dict[str, Any]]]:
    for position, performed in enumerate(recorded.turns):
        turn = performed.turn
        if turn.user is not None:
            text = turn.user.rstrip("\n")
            yield "response_item", _codex_message("user", "input_text", text)
            yield "event_msg", {"type": "user_message", "message": text, "images": []}
            continue
        if turn.thinking:
            summary = [{"type": "summary_text", "text": turn.thinking.rstrip("\n")}]
            yield "response_item", {"type": "reasoning", "summary": summary}
        if turn.agent:
            yield "response_item", _codex_message("assistant", "output_text", turn.agent.rstrip("\n"))
        ids = [f"call_{_short_id(recorded.name, position, number)}" for number, _ in enumerate(performed.results)]
        for call_id, call in zip(ids, turn.calls, strict=True):
            yield "response_item", _codex_call(call_id, call)
        for call_id, call, result in zip(ids, turn.calls, performed.results, strict=True):
            yield "response_item", _codex_result(call_id, call, result)


def _codex_message(role: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _codex_call(call_id: str, call: Call) -> dict[str, Any]:
    if call.bash is not None:
        arguments = json.dumps({"cmd": call.bash.rstrip("\n"), "workdir": PROJECT}, ensure_ascii=False)
        return {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call_id}
    return {"type": "custom_tool_call", "name": "apply_patch", "input": _patch(call), "call_id": call_id}


def _codex_result(call_id: str, call: Call, result: Result) -> dict[str, Any]:
    is_command = call.bash is not None
    kind = "function_call_output" if is_command else "custom_tool_call_output"
    text = result.text
    if not is_command and result.exit_code == 0:
        text = f"Success. Updated the following files:\n{'A' if call.write else 'M'} {call.write or call.edit}\n"
    output = json.dumps({"output": text, "metadata": {"exit_code": result.exit_code}}, ensure_ascii=False)
    return {"type": kind, "call_id": call_id, "output": output}


def _patch(call: Call) -> str:
    """A written or edited file as the patch that Codex would send for it."""
    if call.write is not None:
        added = "".join(f"+{line}\n" for line in call.text.splitlines())
        return f"*** Begin Patch\n*** Add File: {call.write}\n{added}*** End Patch"
    removed = "".join(f"-{line}\n" for line in call.old.splitlines())
    added = "".join(f"+{line}\n" for line in call.new.splitlines())
    return f"*** Begin Patch\n*** Update File: {call.edit}\n@@\n{removed}{added}*** End Patch"


def openai(recorded: Recorded) -> dict[str, Any]:
    """An envelope of chat messages, with the labels of the experiment that the session was part of."""
    session = recorded.session
    messages: list[dict[str, Any]] = []
    if session.system:
        messages.append({"role": "system", "content": session.system.rstrip("\n")})
    for position, performed in enumerate(recorded.turns):
        messages += _chat_messages(recorded.name, position, performed)
    labels = {"task_id": session.task_id, "trial": session.trial, "condition": session.condition}
    envelope = {"model": MODEL, "timestamp": _moment(session.started, 0), "session_id": recorded.name, **labels}
    known = {name: value for name, value in (envelope | {"reward": recorded.reward}).items() if value is not None}
    return known | {"messages": messages}


def _chat_messages(name: str, position: int, performed: Performed) -> list[dict[str, Any]]:
    turn = performed.turn
    if turn.user is not None:
        return [{"role": "user", "content": turn.user.rstrip("\n")}]
    ids = [f"call_{_short_id(name, position, number)}" for number, _ in enumerate(performed.results)]
    reply: dict[str, Any] = {"role": "assistant", "content": turn.agent.rstrip("\n") if turn.agent else None}
    if turn.calls:
        reply["tool_calls"] = [_chat_call(*each) for each in zip(ids, turn.calls, strict=True)]
    results = zip(ids, performed.results, strict=True)
    return [reply, *({"role": "tool", "tool_call_id": each, "content": _stated(result)} for each, result in results)]


def _chat_call(call_id: str, call: Call) -> dict[str, Any]:
    if call.bash is not None:
        name, arguments = "bash", {"command": call.bash.rstrip("\n")}
    elif call.read is not None:
        name, arguments = "read_file", {"path": call.read}
    elif call.write is not None:
        name, arguments = "write_file", {"path": call.write, "content": call.text}
    else:
        name, arguments = "edit_file", {"path": call.edit or "", "old_str": call.old, "new_str": call.new}
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"id": call_id, "type": "function", "function": function}


def _stated(result: Result) -> str:
    text = result.text.rstrip("\n")
    return f"{text}\n[exit code {result.exit_code}]".lstrip("\n") if result.exit_code else text


def mini_swe_agent(recorded: Recorded) -> dict[str, Any]:
    """A mini-swe-agent trajectory: a ```bash block a reply, answered in the user's place."""
    session = recorded.session
    messages: list[dict[str, Any]] = [{"role": "system", "content": (session.system or "").rstrip("\n")}]
    for performed in recorded.turns:
        messages += _mini_messages(performed)
    messages[1]["timestamp"] = _moment(session.started, 0)
    submission = str(messages[-1]["content"])
    details = {
        "exit_status": "Submitted",
        "submission": submission,
        "mini_version": _VERSION,
        "config": {"model": {"model_name": MODEL}, "environment": {"cwd": PROJECT}},
    }
    document = {"info": details, "messages": messages, "trajectory_format": "mini-swe-agent-1"}
    return document | {"instance_id": session.task_id}


def _mini_messages(performed: Performed) -> list[dict[str, Any]]:
    turn = performed.turn
    if turn.user is not None:
        return [{"role": "user", "content": turn.user.rstrip("\n")}]
    command = (turn.calls[0].bash or "").rstrip("\n")
    reply = f"THOUGHT: {(turn.agent or '').rstrip()}\n\n```bash\n{command}\n```"
    result = performed.results[0]
    output = f"<returncode>{result.exit_code}</returncode>\n<output>\n{result.text}</output>"
    if "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" in command:
        output = result.text.partition("\n")[2]
    return [{"role": "assistant", "content": reply}, {"role": "user", "content": output}]
