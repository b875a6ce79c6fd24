"""Recordings of every format, damaged at random: each is read, or said to be unreadable with its name and a reason.

A few seconds with fixed seeds; `AGENT_WIKI_FUZZ_CASES=60000` goes on with as many others, and tries every place.
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
from tests.fuzz_recordings import AIDER, CURSOR_CHAT, SPECSTORY, of_lines_by_name, pi, single_documents
from tests.hangs import no_hang
from tests.test_hostile_wiki import recordings

CASES = int(os.environ.get("AGENT_WIKI_FUZZ_CASES", "300"))
EACH = 1 if "AGENT_WIKI_FUZZ_CASES" in os.environ else 4  # of so many places one is tried
SAMPLES = Path(__file__).parent / "data"
REAL = (
    "clients/codex/exec-json/x2.jsonl",
    "otlp/vercel-ai-5.jsonl",
    "otlp/openai-agents-responses.jsonl",
    "langfuse/observations_v2/run.jsonl",
    "langsmith/runs.jsonl",
    "clients/copilot-cli/session-state/4db47861*/events.jsonl",
    "clients/gemini-cli/stream-json/readfail.jsonl",
    "clients/qwen-code/projects/*/chats/7ce5b7c0*.jsonl",
    "clients/qwen-code/stream-json/readfail.jsonl",
    "clients/opencode/export/ses_dfb2032b3*.json",
    "clients/opencode/run/readfail.jsonl",
    "clients/pi/mode-json/parallel.jsonl",
)
Change = Callable[[random.Random, bytes], bytes]

ODD: list[Any] = [
    None, True, 0, -1, 1.5, float("nan"), float("inf"), 10**400, "", " ", "x" * 3_000, "\ud800", "\x00", "🙂", "1e999",
    "9999-12-31T23:59:59-23:59",
    [], {}, [[]], [None], [{}], {"": None}, ["text"], {"type": "text"}, {"type": "tool_use"}, {"text": {"text": []}},
    {"type": "tool_result", "content": [{"type": "text", "text": None}]}, "<system-reminder>", "```", "{", '{"a": [',
]  # fmt: skip


MOST_BYTES = 20_000  # of a recording in which every value is replaced once


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One small recording or more of each format."""
    folder = recordings(tmp_path_factory.mktemp("fuzz") / "traces", ["thing"])
    for name, lines in of_lines_by_name().items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for name, document in single_documents().items():
        (folder / f"{name}.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    (folder / "aider.md").write_text(AIDER, encoding="utf-8")
    (folder / "specstory.md").write_text(SPECSTORY, encoding="utf-8")
    (folder / "cursor.md").write_text(CURSOR_CHAT, encoding="utf-8")
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
    if raw.lstrip().startswith((b"# ", b"<!--")):
        return of_lines(rng, raw)
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


def check(path: Path, *, may_be_begun: bool) -> None:
    """Mine one file: no bug, nothing lost without a word, and what is normalized stays what it is.

    `may_be_begun`: so much is gone that what is left may be that of a session without a turn, which the report lists.
    """
    found = mine(Assignment(path, path.name, SESSION_STAGES, "offline"), {})
    assert found.bug is None, found.bug
    assert found.failure or found.sessions or found.warnings or (may_be_begun and found.is_empty)
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


@pytest.mark.long
def test_no_damage_is_a_bug_a_hang_or_a_silent_loss(whole: list[Path], tmp_path: Path) -> None:
    for seed in range(CASES):
        rng = random.Random(seed)
        source, name = rng.choice(whole), rng.choice(sorted(CHANGES))
        path = tmp_path / f"damaged{source.suffix}"
        change = of_bytes if source.suffix == ".eval" else CHANGES[name]
        path.write_bytes(change(rng, source.read_bytes()))
        try:
            with no_hang():
                check(path, may_be_begun=path.stat().st_size < source.stat().st_size / 2)
        except Exception as error:
            error.add_note(f"seed {seed}: {name} of {source.name}")
            raise


def values_of(raw: bytes) -> list[Any]:
    """The JSON values of a recording: its document, or those of its lines."""
    try:
        return [json.loads(raw)]
    except ValueError:
        return [json.loads(line) for line in raw.splitlines()]


@pytest.mark.long
@pytest.mark.parametrize(("odd", "first"), [(["message"], 0), ({"type": "message"}, 2)], ids=["list", "object"])
def test_a_list_or_an_object_in_any_place_is_no_bug(whole: list[Path], tmp_path: Path, odd: Any, first: int) -> None:
    sources = [path for path in whole if path.suffix in (".json", ".jsonl") and path.stat().st_size < MOST_BYTES]
    for source in sources:
        values = values_of(source.read_bytes())
        path = tmp_path / f"odd{source.suffix}"
        for place in places(values)[first % EACH :: EACH]:
            *way, last = place
            if not way:  # a whole record
                continue
            holder: Any = values
            for key in way:
                holder = holder[key]
            holder[last], kept = odd, holder[last]
            path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
            holder[last] = kept
            try:
                read(path)
            except Exception as error:
                error.add_note(f"{place} of {source.name}")
                raise
