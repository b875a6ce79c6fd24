"""Made-up recordings, what the scripted engine says of them, and the wikis that come of it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_wiki.engine import Engine
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.trajectory import Source, Trajectory

COMMAND = "make check"
RESULT = "2 checks failed"


def _call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def chat(
    session_id: str,
    day: str = "2026-01-01",
    more: int = 0,
    request: str = "Please fix the cart.",
    reads: Sequence[str] = (),
    writes: Mapping[str, str] | None = None,
) -> Any:
    """An envelope of OpenAI messages with four turns, and two more for each of `more`.

    With `writes`, files by name, turn 4 writes these too, with a result each. With `reads`, pages of a wiki, it then
    reads these (turn 5 and a result each) and runs the command again.
    """
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": request},
        {"role": "assistant", "content": None, "tool_calls": [_call("c1", "Bash", command=COMMAND)]},
        {"role": "tool", "tool_call_id": "c1", "content": RESULT},
        {"role": "assistant", "content": f"The cart of {session_id} adds up now."},
    ]
    for number, (name, text) in enumerate((writes or {}).items()):
        messages[3].setdefault("tool_calls", []).append(_call(f"w{number}", "Write", file_path=name, content=text))
        messages.append({"role": "tool", "tool_call_id": f"w{number}", "content": "File created"})
    for position in range(more):
        messages.append({"role": "user", "content": f"And point {position}?"})
        messages.append({"role": "assistant", "content": f"Point {position} is done."})
    if reads:
        calls = [_call(f"r{number}", "Read", file_path=f"wiki/{page}") for number, page in enumerate(reads)]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": "# A page"} for call in calls]
        messages.append({"role": "assistant", "content": None, "tool_calls": [_call("c2", "Bash", command=COMMAND)]})
        messages.append({"role": "tool", "tool_call_id": "c2", "content": RESULT})
    return {"model": "m-1", "timestamp": f"{day}T10:00:00Z", "session_id": session_id, "messages": messages}


def record(
    folder: Path, session_id: str, day: str = "2026-01-01", more: int = 0, name: str = "", **happened: Any
) -> Path:
    """Write one recording, with what `chat` is told; its file is named after the session unless `name` is given."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (name or f"{session_id}.json")
    path.write_text(json.dumps(chat(session_id, day, more, **happened)), encoding="utf-8")
    return path


def arc(goal: str = "Fix the cart", first: int = 1, last: int = 4, **fields: Any) -> dict[str, Any]:
    """One arc of a summary."""
    shown: dict[str, Any] = {"outcome": "success", "outcome_turn": first}
    told = {"slug": "", **shown, "narrative": "The check failed, then passed.", "key_turns": []}
    return {**told, "goal": goal, "first_turn": first, "last_turn": last, **fields}


def rule(text: str, **fields: Any) -> dict[str, Any]:
    """One guideline, citing the call of every made-up recording."""
    told: dict[str, Any] = {
        "title": "Run the check first",
        "rule": text,
        "rationale": "The check told what was wrong.",
        "trigger": "before a change",
        "tags": ["checks", "cart"],
        "evidence": [{"turn": 2, "quote": COMMAND}],
    }
    return {**told, **fields}


def skill(name: str, /, **fields: Any) -> dict[str, Any]:
    """One skill, citing the same call."""
    told: dict[str, Any] = {
        "name": name,
        "description": "Checks the cart. Use it before a change.",
        "trigger": "a cart to change",
        "overview": "Check, change, check.",
        "when_to_use": "Before a change of the cart.",
        "steps": [{"text": "Check", "command": COMMAND}, {"text": "Change", "command": None}],
        "tags": ["checks", "cart"],
        "evidence": [{"turn": 2, "quote": COMMAND}],
    }
    return {"skill": {**told, **fields}}


def worked_session(**source: Any) -> Trajectory:
    """Five turns: a request, a shell call, its failure, a web page, a reply."""
    builder = TrajectoryBuilder()
    builder.user("Please fix the cart.")
    builder.assistant(None, thinking="I look first.", calls=[("c1", "Bash", {"command": f'{COMMAND} "x"\n'})])
    builder.tool("c1", RESULT, is_error=True)
    builder.assistant("Now the web.", calls=[("c2", "WebFetch", {"url": "u"}), ("c3", "mcp__x__y", {})])
    builder.tool("c2", "Visit `me` <b>now</b> | ## now", name="WebFetch")
    builder.assistant("The cart adds up.")
    return builder.finish("s-1", Source("test", file="s.json", **source), timestamp="2026-01-02T10:00:00Z")


class Script:
    """Collects what the scripted engine will say; `engine` writes it down and names the engine.

    Each state of the answers is a file of its own, for an engine is known by its name.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.told: dict[str, dict[str, Any]] = {
            "summarize": {"": {"arcs": [arc()]}},
            "extract-guidelines": {},
            "synthesize-skill": {},
        }

    def says(self, session: str, *, arcs: Any = None, rules: Iterable[Any] | None = None, skill: Any = None) -> None:
        """`session` is an id, or `<id>#<turns>` for that version of it alone."""
        if arcs is not None:
            self.told["summarize"][session] = {"arcs": arcs}
        if rules is not None:
            self.told["extract-guidelines"][session] = {"guidelines": list(rules)}
        if skill is not None:
            self.told["synthesize-skill"][session] = skill

    @property
    def engine(self) -> str:
        text = json.dumps(self.told, sort_keys=True)
        file = self._folder / f"answers-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
        file.write_text(text, encoding="utf-8")
        return f"scripted:{file}"


def ingest(paths: Iterable[RecordingPath], wiki: Path, engine: str | Engine, **options: Any) -> Report:
    """Run all stages, or those of `stages`."""
    report = Report("ingest", str(wiki))
    return run(list(paths), Options(wiki, engine=engine, **options), report, lambda _what, _done, _of: None)


def tree(wiki: Path) -> dict[str, bytes]:
    """Every file but the machinery and the one file that holds clock times; none where there is no wiki."""
    return dict(sorted(_files(str(wiki)))) if wiki.is_dir() else {}


def _files(folder: str, before: str = "") -> Iterator[tuple[str, bytes]]:
    with os.scandir(folder) as entries:
        for each in entries:
            if each.is_dir(follow_symlinks=False):
                yield from () if each.name == ".wiki" else _files(each.path, f"{before}{each.name}/")
            elif each.name not in (".wiki", "_audit.log") and each.is_file():
                yield before + each.name, Path(each.path).read_bytes()


def changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """Files that differ between two trees, for a readable failure."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
