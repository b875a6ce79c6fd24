"""Recordings of every format, damaged at random: each is read, or said to be unreadable with its name and a reason.

A few seconds with fixed seeds; `AGENT_WIKI_FUZZ_CASES=60000` goes on with as many others.
"""

from __future__ import annotations

import copy
import gzip
import json
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from agent_wiki.errors import UnreadableRecording
from agent_wiki.pipeline.mine import Assignment, mine, trajectories_of
from agent_wiki.readers.detect import reader_of, readers
from agent_wiki.readers.recording import Recording
from agent_wiki.stages.order import SESSION_STAGES
from agent_wiki.trajectory import Trajectory, envelope_chunks
from tests.hangs import no_hang
from tests.test_hostile_wiki import recordings

CASES = int(os.environ.get("AGENT_WIKI_FUZZ_CASES", "600"))
SAMPLES = Path(__file__).parent / "data"
REAL = (
    "clients/codex/exec-json/x2.jsonl",
    "otlp/vercel-ai-5.jsonl",
    "otlp/openai-agents-responses.jsonl",
    "langfuse/observations_v2/run.jsonl",
    "langsmith/runs.jsonl",
    "clients/copilot-cli/session-state/33c51cbc*/events.jsonl",
    "clients/gemini-cli/stream-json/readfail.jsonl",
    "clients/qwen-code/projects/*/chats/7ce5b7c0*.jsonl",
    "clients/qwen-code/stream-json/readfail.jsonl",
    "clients/opencode/export/ses_dfb2032b3*.json",
    "clients/opencode/run/readfail.jsonl",
    "clients/pi/mode-json/parallel.jsonl",
)
TIME = "2026-01-01T00:00:00Z"
SAID = {"role": "assistant", "content": "All tests pass."}

Document = Any
Change = Callable[[random.Random, bytes], bytes]

ODD: list[Any] = [
    None, True, 0, -1, 1.5, float("nan"), float("inf"), 10**400, "", " ", "x" * 3_000, "\ud800", "\x00", "🙂", "1e999",
    "9999-12-31T23:59:59-23:59",
    [], {}, [[]], [None], [{}], {"": None}, ["text"], {"type": "text"}, {"type": "tool_use"}, {"text": {"text": []}},
    {"type": "tool_result", "content": [{"type": "text", "text": None}]}, "<system-reminder>", "```", "{", '{"a": [',
]  # fmt: skip


def codex() -> list[Document]:
    command, output = '{"command": ["ls"]}', '{"output": "x", "metadata": {"exit_code": 1}}'
    payloads: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": "019d95a4-64c6-7b20-97f0-81e518d38258", "cwd": "/src", "git": {"branch": "main"}}),
        ("turn_context", {"model": "m", "cwd": "/src"}),
        ("event_msg", {"type": "user_message", "message": "Please fix it"}),
        ("response_item", {"type": "message", "role": "user", "content": [{"text": "Please fix it"}]}),
        ("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]}),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": command, "call_id": "c"}),
        ("event_msg", {"type": "exec_command_end", "call_id": "c", "exit_code": 1}),
        ("response_item", {"type": "function_call_output", "call_id": "c", "output": output}),
        ("event_msg", {"type": "token_count", "info": {"total_token_usage": {"input_tokens": 5}}}),
        ("response_item", {"type": "message", "role": "assistant", "content": [{"text": "Ok"}]}),
        ("compacted", {"message": "before"}),
    ]
    return [{"timestamp": TIME, "type": kind, "payload": payload} for kind, payload in payloads]


def stream_json() -> list[Document]:
    use = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "x"}], "is_error": True}
    reply = {"id": "m", "role": "assistant", "model": "m", "content": [use], "usage": {"input_tokens": 4}}
    return [
        {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/src", "model": "m", "tools": []},
        {"type": "assistant", "session_id": "s", "uuid": "1", "parent_tool_use_id": None, "message": reply},
        {"type": "user", "session_id": "s", "uuid": "2", "message": {"role": "user", "content": [result]}},
        {"type": "assistant", "session_id": "s", "uuid": "3", "message": SAID},
        {"type": "result", "subtype": "success", "session_id": "s", "total_cost_usd": 0.5, "duration_ms": 9},
    ]


def gemini() -> list[Document]:
    call = {"id": "c", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success"}
    answer = {"result": [{"functionResponse": {"id": "c", "response": {"output": "x\nExit Code: 1"}}}]}
    more = {"thoughts": [], "toolCalls": [call | answer], "tokens": {"input": 5, "output": 2, "cached": 1}}
    return [
        {"sessionId": "g-1", "projectHash": "h", "startTime": TIME, "lastUpdated": TIME},
        {"id": "1", "timestamp": TIME, "type": "user", "content": [{"text": "Please list"}]},
        {"id": "2", "timestamp": TIME, "type": "gemini", "content": "ok", **more},
        {"$set": {"lastUpdated": TIME, "summary": "listing"}},
    ]


def pi() -> list[Document]:
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "ls"}}
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "isError": True, "content": [{"text": "x"}]}
    reply = {"role": "assistant", "content": [call], "model": "m", "usage": {"input": 3, "cost": {"total": 0.1}}}
    messages = [{"role": "user", "content": "Please list"}, reply, result, SAID | {"content": [{"text": "Done."}]}]
    entries = [{"type": "message", "id": str(n), "timestamp": TIME, "message": m} for n, m in enumerate(messages)]
    return [{"type": "session", "id": "p-1", "cwd": "/src", "timestamp": TIME}, *entries]


def sts() -> list[Document]:
    call = {"id": "c", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    replies = [{"role": "assistant", "content": "", "toolCalls": [call], "timestamp": 1_750_000_000_000}, SAID]
    messages = [
        {"role": "user", "content": "Please list"},
        replies[0],
        {"role": "tool", "content": "x", "toolCallId": "c"},
    ]
    header = {"type": "session", "harness": "own", "id": "h-1", "name": "listing"}
    return [header, *({"type": "message", "message": message} for message in [*messages, replies[1]])]


def antigravity() -> list[Document]:
    call = {"name": "run_command", "args": {"CommandLine": '"ls"', "WaitMsBeforeAsync": "500"}}
    steps: list[tuple[str, str, dict[str, Any]]] = [
        ("USER_EXPLICIT", "USER_INPUT", {"content": "<USER_REQUEST>\nPlease list\n</USER_REQUEST>"}),
        ("MODEL", "PLANNER_RESPONSE", {"content": "ok", "thinking": "hm", "tool_calls": [call]}),
        ("MODEL", "RUN_COMMAND", {"content": "The command failed with exit code: 1"}),
        ("MODEL", "PLANNER_RESPONSE", {"content": "Done."}),
    ]
    return [
        {"step_index": n, "source": source, "type": kind, "status": "DONE", "created_at": TIME, **more}
        for n, (source, kind, more) in enumerate(steps)
    ]


def cline() -> list[Document]:
    asked = "<task>\nPlease list\n</task>\n<environment_details>\n# Current Working Directory (/src) Files\n"
    call = "ok\n\n<execute_command>\n<command>ls</command>\n</execute_command>"
    result = "[execute_command for 'ls'] Result:\nCommand failed with exit code 1."
    native = {"type": "tool_use", "id": "t", "name": "execute_command", "input": {"command": "ls"}}
    answered = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}]}
    metrics = {"tokens": {"prompt": 3, "completion": 4}, "cost": 0.1}
    blocks: list[tuple[str, list[Any]]] = [
        ("user", [{"type": "text", "text": asked}]),
        ("assistant", [{"type": "text", "text": call}]),
        ("user", [{"type": "text", "text": result}]),
        ("assistant", [{"type": "thinking", "thinking": "hm"}, native]),
        ("user", [answered]),
        ("assistant", [{"type": "text", "text": "Done."}]),
    ]
    return [{"role": role, "content": content, "ts": 1_750_000_000_000, "metrics": metrics} for role, content in blocks]


def single_documents() -> dict[str, Document]:
    chat = [{"role": "user", "content": "Please list"}, SAID | {"content": "x\n\n```bash\nls\n```"}]
    answered = [*chat, {"role": "user", "content": "<returncode>1</returncode>\nx"}, SAID]
    response = {"extra": {"response": {"created": 1_700_000_000, "model": "m", "usage": {"prompt_tokens": 3}}}}
    swe = {"info": {"exit_status": "Submitted", "mini_version": "1"}, "messages": [*answered, SAID | response]}
    step = {"action": "ls", "observation": "x", "response": "ok", "thought": "hm", "state": "{}"}
    told = [*answered, {"role": "tool", "id": "c", "content": "x", "error": True}]
    task = {"id": "r", "task_id": "1", "trial": 0, "reward_info": {"reward": 1.0}, "messages": told}
    runs = {"tasks": [{"id": "1"}], "simulations": [task]}
    history = [*chat, {"name": "Ann", "content": "hi"}]
    return {
        "cline": cline(),
        "mini_swe": swe | {"trajectory_format": "mini-swe-agent-1", "instance_id": "a__b-1"},
        "swe": {"environment": "e", "trajectory": [step], "history": chat, "info": {"model_stats": {"tokens_sent": 3}}},
        "tau2": {"timestamp": TIME, "info": {"agent_info": {"llm": "m"}}, **runs},
        "who": {"question": "Why?", "ground_truth": "x", "is_correct": False, "history": history},
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One small recording or more of each format."""
    folder = recordings(tmp_path_factory.mktemp("fuzz") / "traces", ["thing"])
    of_lines = {"codex": codex(), "stream": stream_json(), "gemini": gemini(), "pi": pi(), "sts": sts()}
    of_lines["antigravity"] = antigravity()
    for name, lines in of_lines.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for name, document in single_documents().items():
        (folder / f"{name}.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    with zipfile.ZipFile(folder / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        log = json.loads((folder / "inspect 0 0.json").read_bytes())
        samples = log.pop("samples")
        archive.writestr("header.json", json.dumps(log))
        archive.writestr("samples/1_epoch_1.json", json.dumps(samples[0]))
    for number, pattern in enumerate(REAL):
        sample = next(SAMPLES.glob(pattern))
        (folder / f"real {number} {sample.name}").write_bytes(sample.read_bytes())
    row = {"harness": "pi", "session_id": "p-1", "messages": None, "trace": "\n".join(map(json.dumps, pi()))}
    (folder / "table.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row) + "\n", encoding="utf-8")
    return sorted(folder.iterdir())


def places(value: Any) -> list[tuple[Any, ...]]:
    """The paths of all values inside a JSON value."""
    found: list[tuple[Any, ...]] = []
    waiting: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    while waiting:
        path, each = waiting.pop()
        found.append(path)
        inner = each.items() if isinstance(each, dict) else enumerate(each) if isinstance(each, list) else ()
        waiting.extend(((*path, key), child) for key, child in inner)
    return found[1:]


def changed_value(rng: random.Random, value: Any) -> Any:
    """A JSON value with some of the values inside it replaced, removed, doubled, wrapped or exchanged."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        paths = places(value)
        if not paths:
            return rng.choice(ODD)
        *way, last = rng.choice(paths)
        holder = value
        for key in way:
            holder = holder[key]
        match rng.randrange(5):
            case 0:
                holder[last] = [{"k": holder[last]}]
            case 1:
                del holder[last]
            case 2:
                holder[last] = json.dumps(holder[last])
            case _:
                holder[last] = copy.deepcopy(rng.choice(ODD))
    return value


def of_json(rng: random.Random, raw: bytes) -> bytes:
    """Change a document, or some lines of a recording of lines."""
    try:
        return json.dumps(changed_value(rng, json.loads(raw))).encode()
    except ValueError:
        lines = [json.loads(line) for line in raw.splitlines()]
        for _ in range(rng.choice((1, 3))):
            number = rng.randrange(len(lines))
            lines[number] = changed_value(rng, lines[number])
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def of_lines(rng: random.Random, raw: bytes) -> bytes:
    lines = [line for line in raw.splitlines(keepends=True) for _ in range(rng.choice((0, 1, 1, 1, 2)))]
    rng.shuffle(lines)
    return b"".join(lines)


def of_bytes(rng: random.Random, raw: bytes) -> bytes:
    changed = bytearray(raw)
    for _ in range(rng.choice((1, 3, 30))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def packed(rng: random.Random, raw: bytes) -> bytes:
    whole = rng.choice((gzip.compress, zstandard.ZstdCompressor().compress))(raw)
    return whole if rng.random() < 0.3 else whole[: rng.randrange(len(whole))]


CHANGES: dict[str, Change] = {
    "values": of_json,
    "more values": of_json,
    "bytes": of_bytes,
    "cut": lambda rng, raw: raw[: rng.randrange(len(raw))],
    "hole": lambda rng, raw: raw[: rng.randrange(len(raw))] + raw[rng.randrange(len(raw)) :],
    "lines": of_lines,
    "one line": lambda _, raw: raw.replace(b"\n", b""),
    "line ends": lambda _, raw: b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"),
    "twice": lambda rng, raw: raw + rng.choice((b"", b"\n")) + raw,
    "packed": packed,
}


def read(path: Path) -> list[Trajectory]:
    recording = Recording(path, path.name)
    try:
        return list(trajectories_of(recording, "0" * 64))
    except UnreadableRecording as error:
        assert str(error).startswith(path.name)  # noqa: PT017 - it may be raised or not
        return []


def check(path: Path) -> None:
    """Mine one file: no bug, nothing lost without a word, and what is normalized stays what it is."""
    found = mine(Assignment(path, path.name, SESSION_STAGES, "offline"), {})
    assert found.bug is None, found.bug
    assert found.failure or found.sessions or found.warnings
    assert found.failure is None or path.name in found.failure.unit
    assert [failure for session in found.sessions for failure in session.failures] == []
    for number, trajectory in enumerate(read(path)):
        envelope = "".join(envelope_chunks(trajectory))
        again = path.with_name(f"again-{number}.json")
        again.write_text(envelope, encoding="utf-8", newline="\n")
        assert ["".join(envelope_chunks(each)) for each in read(again)] == [envelope]


def test_every_format_is_among_the_recordings(whole: list[Path]) -> None:
    formats = {reader_of(Recording(path, path.name)).FORMAT for path in whole}
    assert formats == {reader.FORMAT for reader in readers()}


def test_no_damage_is_a_bug_a_hang_or_a_silent_loss(whole: list[Path], tmp_path: Path) -> None:
    for seed in range(CASES):
        rng = random.Random(seed)
        source, name = rng.choice(whole), rng.choice(sorted(CHANGES))
        path = tmp_path / f"damaged{source.suffix}"
        change = of_bytes if source.suffix == ".eval" else CHANGES[name]
        path.write_bytes(change(rng, source.read_bytes()))
        try:
            with no_hang():
                check(path)
        except Exception as error:
            error.add_note(f"seed {seed}: {name} of {source.name}")
            raise
