"""A round of judging: pages of recordings that nobody had seen, read beside their recordings by judges of their own.

    python -m benchmarks.rounds prepare RECORDINGS ROUND [--number 32] [--salt WORD] [--used]
    python -m benchmarks.rounds tally ROUND

RECORDINGS has a folder of recordings for each owner. `prepare` builds a wiki of at most twelve recordings of each and
picks one session of each owner before a second of any, in an order that only the salt decides. It writes the session as
text (`rec/`), its summary (`pages/`) and its guidelines (`pages/*.guidelines.md`); each guideline of the wiki with its
recordings around the turns that it cites (`guidelines/`); and lists for four judges. They are given
`benchmarks/judging.md` and nothing else, and write lines into `out/list_a.jsonl`, one who judges the guidelines into
`out/guidelines.jsonl`. `tally` counts what they wrote.

Owners whose recordings were looked at before are left out, known by digests alone (`judgements/owners.json`); `--used`
adds those of this round.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_wiki.engine import no_progress
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.trajectory import Message, Trajectory
from benchmarks.guidelines import sessions

OWNERS = Path(__file__).parent / "judgements" / "owners.json"
JUDGING = Path(__file__).parent / "judging.md"
LISTS = "abcd"
_MOST_OF_OWNER = 12  # recordings
_LEAST_CALLS, _MOST_CHARACTERS = 4, 260_000  # of a session that a judge can read whole
_SHOWN = {"user": 6_000, "assistant": 3_000}  # characters of a turn; of a result fewer
_MOST_OF_RESULT, _MOST_OF_CALL = 1_600, 1_500
_BEFORE, _AFTER, _MOST_CITED = 4, 8, 3  # turns around those that a guideline cites; sources shown of it
_SOURCE = re.compile(r"^- \[[^\n]*\]\(\.\./summaries/(?P<stem>[^)\n]+)\.md\)(?P<turns>[^\n]*)", re.MULTILINE)
_CITED = re.compile(r"\bT(\d+) [“`]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A session that may be judged, and whose it is."""

    owner: str
    trajectory: Trajectory
    text: str


@dataclass(slots=True)
class Tally:
    """What the judges of a round wrote, counted."""

    judged: int = 0
    outcomes: int = 0  # that agree
    either: int = 0  # that agree, or with a second outcome that the judge would accept
    goals: Counter[str] = field(default_factory=Counter)
    titles: Counter[str] = field(default_factory=Counter)
    summaries: Counter[str] = field(default_factory=Counter)
    guidelines: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)  # lessons whose cause the recording shows, by match
    faults: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        """The figures, one a line."""
        yield f"sessions judged: {self.judged}"
        yield f"outcomes that agree: {self.outcomes}, with a second one that the judge would accept: {self.either}"
        for name, counts, kinds in (
            ("goals", self.goals, ("right", "half", "wrong")),
            ("titles", self.titles, ("right", "half", "wrong")),
            ("summaries", self.summaries, ("keep", "weak", "false")),
            ("guidelines", self.guidelines, ("keep", "weak", "false", "unclear")),
            ("checked lessons", self.checked, ("full", "half", "none")),
            ("faults", self.faults, ("false", "misleads", "empty", "cut")),
        ):
            yield f"{name}: {', '.join(f'{counts[kind]} {kind}' for kind in kinds)}"


def tally(folder: Path) -> Tally:
    """What was written into a round's `out/`. Raises `ValueError` for a line that is no JSON."""
    own: dict[str, dict[str, Any]] = {}
    found = Tally()
    for name in LISTS:
        for line in _lines(folder / "out" / f"list_{name}.jsonl"):
            if line["step"] == 1:
                own[line["k"]] = line
            else:
                _count(found, own[line["k"]], line)
    found.guidelines.update(line["verdict"] for line in _lines(folder / "out" / "guidelines.jsonl"))
    return found


def _lines(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _count(found: Tally, own: dict[str, Any], page: dict[str, Any]) -> None:
    """Count one page. In: the judge's own reading, and what the judge says of the page."""
    found.judged += 1
    found.outcomes += bool(page["agrees"])
    found.either += bool(page["agrees"] or page.get("agrees_also"))
    found.goals[page["goal"]] += 1
    found.titles[page["title"]] += 1
    found.summaries[page["summary"]] += 1
    found.faults.update(fault["kind"] for fault in page.get("faults", []))
    matches = {each["lesson"]: each["match"] for each in page.get("found", [])}
    lessons = enumerate(own.get("lessons", []))
    found.checked.update(matches.get(at, "none") for at, each in lessons if each["cause"] == "checked")


def digest_of(owner: str) -> str:
    """What an owner is known by."""
    return hashlib.sha256(owner.lower().encode()).hexdigest()[:12]


def _order(salt: str, name: str) -> str:
    return hashlib.sha256(f"{salt} {name}".encode()).hexdigest()


def picked(candidates: Sequence[Candidate], number: int, salt: str) -> list[Candidate]:
    """`number` of them, one of each owner before a second of any, in an order that only the salt decides."""
    of_owner: dict[str, list[Candidate]] = defaultdict(list)
    for each in sorted(candidates, key=lambda each: _order(salt, each.trajectory.session_id)):
        of_owner[each.owner].append(each)
    ranked = [(at, _order(salt, owner), each) for owner, own in of_owner.items() for at, each in enumerate(own)]
    return [each for _, _, each in sorted(ranked, key=lambda rank: rank[:2])[:number]]


def shown(trajectory: Trajectory) -> str:
    """A session as a judge reads it: numbered turns, what is long shortened in its middle, and a recorded verdict."""
    source = trajectory.source
    verdicts = {"reward": source.reward, "resolved": source.resolved}
    recorded = "".join(f" recorded {name} {value}" for name, value in verdicts.items() if value is not None)
    head = f"# session {trajectory.session_id}, format {source.format}{recorded}"
    return "\n".join([head, *(_turn(turn, message) for turn, message in trajectory.turns())])


def _turn(turn: int, message: Message) -> str:
    marks = f"{' ERROR' if message.is_error else ''}{f' ({message.mark})' if message.mark else ''}"
    most = _MOST_OF_RESULT if message.tool_call_id else _SHOWN.get(message.role, _MOST_OF_RESULT)
    calls = [f"  CALL {call.name} {_shortened(call.arguments, _MOST_OF_CALL)}" for call in message.tool_calls]
    return "\n".join([f"\n[turn {turn}] {message.role}{marks}", _shortened(message.content or "", most), *calls])


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most * 2 // 3]}\n…[{len(text) - most} characters left out]…\n{text[-(most // 3) :]}"


def _sampled(recordings: Path, folder: Path, salt: str) -> list[Candidate]:
    """Copy at most twelve recordings of each owner into `folder`, and read them. Known owners are left out."""
    known = set(json.loads(OWNERS.read_text(encoding="utf-8")))
    found: list[Candidate] = []
    for place in sorted(each for each in recordings.iterdir() if each.is_dir() and digest_of(each.name) not in known):
        chosen = sorted(place.iterdir(), key=lambda each: _order(salt, each.name))[:_MOST_OF_OWNER]
        for each in chosen:
            copy = shutil.copytree if each.is_dir() else shutil.copy
            (folder / place.name).mkdir(parents=True, exist_ok=True)
            copy(each, folder / place.name / each.name)
        found += [Candidate(place.name, each, shown(each)) for each in sessions(folder / place.name)]
    return found


def _may_be_judged(candidate: Candidate) -> bool:
    calls = sum(len(message.tool_calls) for message in candidate.trajectory.messages)
    is_part = candidate.trajectory.source.parent_session_id is not None
    return calls >= _LEAST_CALLS and len(candidate.text) <= _MOST_CHARACTERS and not is_part


def prepare(recordings: Path, folder: Path, number: int, salt: str) -> list[Candidate]:
    """Build the wiki of a round, and lay out what its judges read. Gives the sessions that they judge."""
    for name in ("rec", "pages", "guidelines", "out"):
        (folder / name).mkdir(parents=True)
    candidates = _sampled(recordings, folder / "recordings", salt)
    run([folder / "recordings"], Options(folder / "wiki"), Report("ingest", "wiki"), no_progress)
    chosen = picked([each for each in candidates if _may_be_judged(each)], number, salt)
    shuffled = sorted(chosen, key=lambda each: _order(f"{salt} list", each.trajectory.session_id))
    summaries = {path: path.read_text(encoding="utf-8") for path in sorted((folder / "wiki/summaries").glob("*.md"))}
    guidelines = {
        path: path.read_text(encoding="utf-8") for path in sorted((folder / "wiki/guidelines").glob("*__*.md"))
    }
    lists: dict[str, list[str]] = {name: [] for name in LISTS}
    for at, each in enumerate(shuffled):
        name = f"s{at:02d}"
        marked = re.compile(rf"^session_id: '?{re.escape(each.trajectory.session_id)}'?$", re.MULTILINE)
        own = {path.stem: text for path, text in summaries.items() if marked.search(text)}
        taught = [
            text for text in guidelines.values() if {match["stem"] for match in _SOURCE.finditer(text)} & own.keys()
        ]
        (folder / "rec" / f"{name}.txt").write_text(each.text, encoding="utf-8")
        (folder / "pages" / f"{name}.md").write_text("\n\n-----\n\n".join(own.values()), encoding="utf-8")
        pages = "\n\n-----\n\n".join(taught) or "(none)"
        (folder / "pages" / f"{name}.guidelines.md").write_text(pages, encoding="utf-8")
        lists[LISTS[at % len(LISTS)]].append(name)
    for name, names in lists.items():
        (folder / f"list_{name}").write_text("\n".join(names) + "\n", encoding="utf-8")
    _write_guidelines(folder, guidelines, {each.trajectory.session_id: each.trajectory for each in candidates})
    return chosen


def _write_guidelines(folder: Path, pages: dict[Path, str], known: dict[str, Trajectory]) -> None:
    """Each guideline with its recordings around the turns that it cites."""
    for path, text in pages.items():
        parts = [text, "\n=====  THE RECORDINGS AROUND THE CITED TURNS  =====\n"]
        for match in list(_SOURCE.finditer(text))[:_MOST_CITED]:
            own = max((name for name in known if match["stem"].startswith(name)), key=len, default="")
            turns = [int(turn) for turn in _CITED.findall(match["turns"])]
            if not own or not turns:
                parts.append(f"(the recording {match['stem']} is not shown)")
                continue
            first, last = min(turns) - _BEFORE, max(turns) + _AFTER
            around = [_turn(turn, message) for turn, message in known[own].turns() if first <= turn <= last]
            parts += [f"\n##### session {own}", *around]
        (folder / "guidelines" / path.name).write_text("\n".join(parts), encoding="utf-8")


def main(words: list[str]) -> int:
    """Prepare a round, or count what its judges wrote."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    begin = commands.add_parser("prepare")
    begin.add_argument("recordings", type=Path)
    begin.add_argument("round", type=Path)
    begin.add_argument("--number", type=int, default=32)
    begin.add_argument("--salt", default="")
    begin.add_argument("--used", action="store_true")
    commands.add_parser("tally").add_argument("round", type=Path)
    given = parser.parse_args(words)
    if given.command == "tally":
        print("\n".join(tally(given.round).lines()))
        return 0
    chosen = prepare(given.recordings, given.round, given.number, given.salt)
    owners = {each.owner for each in chosen}
    print(f"{len(chosen)} sessions of {len(owners)} owners; the judges' instructions: {JUDGING}")
    if given.used:
        known = set(json.loads(OWNERS.read_text(encoding="utf-8"))) | {digest_of(each) for each in owners}
        OWNERS.write_text(json.dumps(sorted(known), indent=0) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
