"""JavaScript for Codex's code mode, in which today's models call every tool from one script."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.clients.played.tools import patch
from tests.clients.played.turns import Call


def script(calls: Sequence[Call]) -> str:
    """One script for all calls of a turn, side by side where there are several."""
    if len(calls) == 1:
        return f"const r = await {_expression(calls[0])};\ntext(r);"
    inner = ",\n  ".join(map(_expression, calls))
    return f"const rs = await Promise.all([\n  {inner}\n]);\nfor (const r of rs) text(r);"


def _expression(call: Call) -> str:
    given = call.arguments
    if call.kind == "mcp":
        return f"tools.mcp__wiki__{given['tool']}({json.dumps(given['arguments'])})"
    if call.kind == "raw":
        return f"tools.{given['name']}({json.dumps(given['arguments'])})"
    if call.kind == "edit":
        return f"tools.apply_patch({json.dumps(patch(given['path'], given['old'], given['new']))})"
    if call.kind == "write":
        added = "\n".join("+" + line for line in given["content"].splitlines())
        return f"tools.apply_patch({json.dumps(_new_file(given['path'], added))})"
    command = given["command"] if call.kind == "bash" else f"cat '{given['path']}'"
    return f"tools.exec_command({json.dumps({'cmd': command})})"


def _new_file(path: str, added: str) -> str:
    return f"*** Begin Patch\n*** Add File: {path}\n{added}\n*** End Patch"
