"""Every command that writes, on a few recordings each."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from agent_wiki.asking.options import AskingOptions
from agent_wiki.commands import harness, main
from agent_wiki.pipeline.worklist import worklist
from agent_wiki_testing import MessagesServer
from tests.harness.hook_inputs import claude_input
from tests.kills.scene import Scene
from tests.wikis import ingest

Recordings = Mapping[str, bytes]  # by name
_EXAMPLE = Path(__file__).parents[2] / "wiki-example"
_ANSWERS = _EXAMPLE / "answered" / "journal" / "answers.jsonl"
_INGEST = ("ingest", "in", "--wiki", "wiki")


def wiki_command(folder: str, words: tuple[str, ...]) -> None:
    """`wiki WORD…` in the folder."""
    os.chdir(folder)
    sys.exit(main(list(words)))


def hook(folder: str, words: tuple[str, ...]) -> None:
    """`wiki hook stop --wait` for a transcript."""
    payload = json.dumps(claude_input(Path(folder, *words), folder))
    os.chdir(folder)
    sys.exit(harness.stop(harness.Words(payload, Path("wiki"), is_waiting=True)))


def asking(folder: str, words: tuple[str, ...]) -> None:
    """`wiki ingest --engine anthropic`, which asks a server on loopback."""
    report = ingest([Path(folder, "in")], Path(folder, "wiki"), "anthropic", asking=AskingOptions(base_url=words[0]))
    sys.exit(report.exit_code)


def scenes(recordings: Recordings, server: MessagesServer, place: Path, rng: random.Random) -> list[Scene]:
    """The commands, each on another choice of the recordings. What they need is made in `place`."""
    return [
        Scene("ingest", _given(place / "ingest", _some(recordings, rng, 6)), wiki_command, (*_INGEST, "--jobs", "2")),
        _of_grown(place / "grown", _some(recordings, rng, 5)),
        Scene("asking", _given(place / "asking", _some(recordings, rng, 3)), asking, (server.base_url,), server),
        _catalog(place / "catalog", _some(recordings, rng, 5)),
        _applying(place / "applying", rng),
        *(_of_one(place, number, recordings, rng) for number in range(4)),
    ]


def _some(recordings: Recordings, rng: random.Random, number: int) -> Recordings:
    return {name: recordings[name] for name in rng.sample(sorted(recordings), min(number, len(recordings)))}


def _given(folder: Path, recordings: Recordings) -> Path:
    (folder / "in").mkdir(parents=True, exist_ok=True)
    (folder / ".git").mkdir(exist_ok=True)
    for name, content in recordings.items():
        (folder / "in" / name).write_bytes(content)
    return folder


def _of_grown(folder: Path, recordings: Recordings) -> Scene:
    """Some sessions were in the wiki before, when they had fewer turns; others come anew."""
    begun = {name: _half(content) for name, content in recordings.items() if name.endswith(".jsonl")}
    ingest([_given(folder, begun) / "in"], folder / "wiki", "offline")
    return Scene("ingest of grown sessions", _given(folder, recordings), wiki_command, (*_INGEST, "--jobs", "1"))


def _half(content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(lines[: max(1, len(lines) // 2)])


def _catalog(folder: Path, recordings: Recordings) -> Scene:
    """Indexes and pages are gone; the records, from which they are made, are there."""
    ingest([_given(folder, recordings) / "in"], folder / "wiki", "offline")
    for page in (*folder.glob("wiki/*.md"), *folder.glob("wiki/[a-z]*/*.md"), folder / "wiki" / "_index.jsonl"):
        page.unlink()
    shutil.rmtree(folder / "wiki" / ".wiki")
    return Scene("catalog", folder, wiki_command, ("catalog", "--wiki", "wiki"))


def _applying(folder: Path, rng: random.Random) -> Scene:
    """An answer of the example is applied to a wiki that has some of the others."""
    traces = {path.name: path.read_bytes() for path in sorted((_EXAMPLE / "traces").iterdir())}
    _given(folder, {name: traces[name] for name in sorted(traces)[:5]})
    journal = folder / "wiki" / ".wiki" / "journal"
    journal.mkdir(parents=True)
    answers = [json.loads(line) for line in _ANSWERS.read_bytes().splitlines()]
    answers = [each for each in answers if each["kind"] == "answer"]
    known = rng.sample(answers, len(answers) // 2)
    lines = [json.dumps(each, ensure_ascii=False, sort_keys=True) for each in known]
    (journal / "20260101T000000.000000Z-1.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ingest([folder / "in"], folder / "wiki", "recorded")
    questions = {each.request for each in worklist(folder / "wiki", [folder / "in"]).questions}
    answer = next(each for each in answers if each["request"] in questions)
    (folder / "answer.json").write_text(
        json.dumps({"request": answer["request"], "answer": json.loads(answer["answer"])}), encoding="utf-8"
    )
    return Scene("apply", folder, wiki_command, ("apply", "--answer", "answer.json", "--wiki", "wiki"))


def _of_one(place: Path, number: int, recordings: Recordings, rng: random.Random) -> Scene:
    """One session: saved by hand or by the hook, which mines it too."""
    chosen = _some(recordings, rng, 1)
    folder, (name,) = _given(place / f"one-{number}", chosen), chosen
    if number % 2:
        return Scene("save", folder, wiki_command, ("save", f"in/{name}"), is_repeated=True)
    return Scene("hook", folder, hook, ("in", name))
