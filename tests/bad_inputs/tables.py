"""The named bad inputs by kind. Names are file names, so that what a command says of one can be looked for."""

from __future__ import annotations

import json
from typing import Any

from tests.bad_inputs.texts import ANY, PACKED, YAML
from tests.wikis import chat

Inputs = dict[str, bytes]


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _named(inputs: Inputs, ending: str) -> Inputs:
    return {f"{name}{ending}": content for name, content in inputs.items()}


_CHAT = chat("s")
_MESSAGES: list[Any] = [
    None, 7, "text", [], {}, [None], [[]], [{}], [{"role": None}], [{"role": 7, "content": 7}],
    [{"role": "user"}], [{"role": "nobody", "content": "x"}], [{"role": "user", "content": {"a": 1}}],
    [{"role": "user", "content": [None, 7, {"type": "text"}]}],
    [{"role": "assistant", "tool_calls": 7}], [{"role": "assistant", "tool_calls": [None]}],
    [{"role": "assistant", "tool_calls": [{"function": {"name": None, "arguments": "{"}}]}],
    [{"role": "assistant", "tool_calls": [{"function": {"name": "../../x", "arguments": "[1"}}]}],
    [{"role": "tool", "tool_call_id": {}, "content": "x"}], [{"role": "tool", "content": None}] * 3,
]  # fmt: skip
_HEADS: list[dict[str, Any]] = [
    {"session_id": "../../etc/passwd"}, {"session_id": ""}, {"session_id": 7}, {"session_id": "x" * 5_000},
    {"session_id": "a\0b"}, {"session_id": "CON"}, {"timestamp": "yesterday"}, {"timestamp": 10**40},
    {"timestamp": "9999-12-31T23:59:59-23:59"}, {"model": ["m"]}, {"model": "\x1b[31m"}, {"schema_version": 99},
    {"source": 7}, {"source": {"format": "../x", "file": "../../x", "sha256": 7}}, {"usage": {"input_tokens": -1}},
]  # fmt: skip

RECORDINGS: Inputs = {
    **_named(ANY, ".json"),
    **PACKED,
    **{f"messages-{at}.json": _json({**_CHAT, "messages": each}) for at, each in enumerate(_MESSAGES)},
    **{f"head-{at}.json": _json({**_CHAT, **each}) for at, each in enumerate(_HEADS)},
    "cut.json": _json(_CHAT)[:-40],
    "lines-cut.jsonl": _json({"type": "user", "message": {"role": "user", "content": "x"}})[:-9],
    "lines-of-claude-damaged.jsonl": b'{"type":"user","message":7}\n{"type":"assistant","message":{"content":[7]}}\n',
    "lines-of-codex-damaged.jsonl": b'{"type":"session_meta","payload":7}\n{"type":"response_item","payload":null}\n',
}
"""What `ingest`, `normalize`, `save`, `secrets`, `worklist` and others are given as recordings."""

_PAGE = b"---\ntype: guideline\nid: 0123456789ab\ntitle: T\n---\n\n# T\n\nText.\n"
PAGES: Inputs = {
    **_named(ANY, ".md"),
    **{f"head-{name}.md": b"---\n" + content + b"\n---\n\n# T\n" for name, content in YAML.items()},
    "head-never-closed.md": b"---\ntype: guideline\nid: x\n",
    "head-twice.md": _PAGE + _PAGE,
    "head-empty.md": b"---\n---\n",
    "id-elsewhere.md": _PAGE.replace(b"0123456789ab", b"../../x"),
    "type-unknown.md": _PAGE.replace(b"guideline", b"nonsense"),
    "type-list.md": _PAGE.replace(b"guideline", b"[a, b]"),
    "title-deep.md": _PAGE.replace(b"title: T", b"title: {a: {b: {c: [1]}}}"),
    "tags-number.md": _PAGE.replace(b"title: T", b"title: T\ntags: 7\nsupport: -1\ntrust: [user]"),
    "links-out.md": _PAGE + b"[x](../../../../etc/passwd) [y](file:///etc/passwd) [[../../x]]\n",
}
"""What may lie in `guidelines/` of a wiki that came from elsewhere."""

CONFIGS: Inputs = {
    **ANY,
    **YAML,
    **{
        f"{section}-{name}": f"{section}: {value}\n".encode()
        for section in ("tags", "clusters", "tasks", "session_family_overrides", "rejected", "rules", "kept")
        for name, value in {"number": "7", "list": "[1, [2]]", "odd": "{'../../x': {title: 7, members: 7}}"}.items()
    },
    "sidecar-elsewhere": b"summaries: sidecar:../../../../x\n",
    "sidecar-of-nothing": b"summaries: 'sidecar:'\n",
}
"""`_config.yaml`, and what `wiki config patch` is given."""

ANSWERS: Inputs = {
    **ANY,
    **{
        f"answer-{at}": _json(each)
        for at, each in enumerate(
            [
                {"arcs": 7},
                {"arcs": []},
                {"arcs": [None]},
                {"arcs": [{}]},
                {"arcs": [{"goal": 7}]},
                {"unknown": 1},
                {"arcs": [{"goal": "x" * 300_000, "first_turn": 1, "last_turn": 10**30}]},
                {"request": "x", "answer": 7},
                {"request": "../../x", "answer": {}},
                {"request": "sha256:" + "0" * 64, "answer": {"arcs": []}},
                {"answer": {"answer": {}}},
                {"guidelines": [{"rule": "\u202e\x1b[31m"}]},
            ]
        )
    },
}
"""What `wiki apply` is given."""

RECORDS: Inputs = {
    **_named(ANY, ".json"),
    **{f"yaml-{name}.json": content for name, content in YAML.items()},
    "other-version.json": b'{"schema_version": 999, "session_id": "x"}',
    "other-session.json": b'{"schema_version": 1, "session_id": "../../x", "source": {}}',
}
"""What may lie in `_sessions/`."""

JOURNALS: Inputs = {
    **ANY,
    "answer-of-nothing": b'{"kind": "answer"}\n',
    "answer-damaged": b'{"kind": "answer", "request": 7, "prompt": [], "answer": {}, "usage": 7}\n',
    "answer-torn": b'{"kind": "answer", "request": "sha256:0", "answer": "{}"}',
    "batch-damaged": b'{"kind": "batch-begun", "requests": [7]}\n{"kind": "batch", "batch": 7}\n',
    "cuts-damaged": b'{"kind": "segments", "cuts": 7}\n{"kind": "left", "contents": [[]]}\n',
}
"""What may lie in `.wiki/journal/`."""

HOOKS: Inputs = {
    **ANY,
    **{
        f"payload-{at}": _json(each)
        for at, each in enumerate(
            [
                {"hook_event_name": "Stop"},
                {"hook_event_name": "Nonsense"},
                {"hook_event_name": 7, "session_id": []},
                {"transcript_path": "/dev/null"},
                {"transcript_path": "/"},
                {"transcript_path": "a\0b"},
                {"transcript_path": "x" * 5_000},
                {"transcript_path": "~nobody/x"},
                {"session_id": "../../../x"},
                {"cwd": "/no/such/folder", "transcript_path": "x"},
                {"cwd": "a\0b"},
                {"workspace_roots": [[]]},
                {"recording": {}},
                {"recording": {"messages": 7}},
                {"recording": {"info": {}, "messages": [{}]}},
            ]
        )
    },
}
"""What `wiki hook stop` is given by a harness."""

_REQUESTS: list[dict[str, Any]] = [
    {},
    {"method": 7},
    {"method": "nonsense"},
    {"method": "tools/call"},
    {"method": "tools/call", "params": 7},
    {"method": "tools/call", "params": {"name": "nonsense", "arguments": {}}},
    {"method": "tools/call", "params": {"name": "wiki_consult", "arguments": {"task": 7}}},
    {"method": "tools/call", "params": {"name": "wiki_consult", "arguments": {"task": "x" * 300_000}}},
    {"method": "tools/call", "params": {"name": "wiki_page", "arguments": {"path": "../../etc/passwd"}}},
    {"method": "resources/read", "params": {"uri": "file:///etc/passwd"}},
    {"method": "resources/read", "params": {"uri": "wiki://../../etc/passwd"}},
    {"id": [], "method": "ping"},
    {"method": "initialize", "params": {"protocolVersion": 7}},
    {"method": "prompts/get", "params": []},
]
MCP: Inputs = {
    **{f"line-{name}": content.replace(b"\n", b" ") for name, content in ANY.items()},
    **{f"request-{at}": _json({"jsonrpc": "2.0", "id": 1, **each}) for at, each in enumerate(_REQUESTS)},
}
"""Lines that `wiki mcp` reads."""

KINDS: dict[str, Inputs] = {
    "recording": RECORDINGS, "page": PAGES, "config": CONFIGS, "patch": CONFIGS, "answer": ANSWERS,
    "record": RECORDS, "journal": JOURNALS, "hook": HOOKS, "mcp": MCP,
}  # fmt: skip
