"""How well a wiki is consulted: built from some sessions, asked with the requests of others of the same families.

    python -m benchmarks.recall [--choose] [--pages N] [--traces DIR]

Three formats of recordings make one wiki. Four times over, a quarter of each family's sessions is held out and the wiki
built from the rest; each held-out session's own first request is asked. Relevant are the pages whose provenance
reaches a session of the same family (tau-bench: the task; mini-swe-agent and Claude Code: the repository). Ways of
looking: by words alone, by meaning alone, fused as `wiki consult` does it, a plain grep of the index for the request's
words, and the index read whole. Weights and threshold are fitted by `benchmarks/questions.py`; `--choose` shows what
they come to on other recordings, another tool's wiki and requests of `recall_requests.py`.

`recall@5` is the share of the relevant pages (of five, when there are more) among the first five; `MRR` the mean of 1
over the rank of the first relevant page. A token is counted as two bytes, as `wiki consult --read` does.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median

from agent_wiki.pages.cluster import cluster_members
from agent_wiki.pages.compare.facts import request_in
from agent_wiki.pages.state import view_of
from agent_wiki.pages.task import sessions_of_tasks
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.load import read_wiki
from agent_wiki.pipeline.normalize import write_envelope
from agent_wiki.pipeline.report import Report
from agent_wiki.retrieval import consult
from agent_wiki.retrieval import lexical as words
from agent_wiki.retrieval.consulting import RowScores, row_scores
from agent_wiki.retrieval.fuse import LEXICAL, MEANING, THRESHOLD
from agent_wiki.retrieval.index import opened
from agent_wiki.trajectory import Trajectory
from agent_wiki.wiki.layout import archived, cluster_path, guideline_path, session_file_stem, skill_path, task_path
from benchmarks import TRACES
from benchmarks.families import trajectories
from benchmarks.generated_wiki import generate
from benchmarks.recall_requests import CHOSEN_WITH, NOTHING_APPLIES, NOTHING_APPLIES_CHOSEN_WITH
from benchmarks.recall_ways import FIRST, WAYS, Asked, Way
from benchmarks.speed import machine

REPORTED = {"tau_bench": "tau-bench", "mini_swe_agent": "mini-swe-agent", "claude_code": "claude-code"}
UNRELATED = ("inspect", "who_and_when", "car_bench", "openai_messages")
CHOSEN_ON = ("codex", "sregym_same_task", "swe_agent", "atif", "gemini_cli", "stream_json", "tau2_bench")
PARTS = 4
SEEDS = 3
WARM_MS, COLD_MS = 30.0, 400.0
_LATENCY_REQUESTS = (
    "set the cache of pytest for service 12",
    "kubectl stops for want of a token, what is the timeout",
    "the docker volume is missing; how is the header of the proxy set",
    "bake a chocolate cake",
    "run gradle with another locale on the schema branch",
    "psql index",
)


@dataclass(frozen=True, slots=True)
class Session:
    """A recorded session: the task it is a trial of, and its user's request (empty if unknown)."""

    trajectory: Trajectory
    format: str
    family: str
    request: str

    @property
    def root(self) -> str:
        source = self.trajectory.source
        return source.parent_session_id or source.forked_from or self.trajectory.session_id


def sessions(traces: Path) -> list[Session]:
    """The sessions of the reported formats."""
    found: list[Session] = []
    for folder, name in REPORTED.items():
        repositories = {path.name: _repository(path) for path in (traces / folder).rglob("*.jsonl")}
        for each in trajectories(traces / folder):
            family = _family(each, name, repositories)
            found.append(Session(each, name, family, _request(each)))
    return found


def _repository(path: Path) -> str:
    """The repository of a Claude Code recording, by the folder it lies in."""
    if "entire" in path.parts:
        return path.parts[path.parts.index("entire") + 1]
    if "projects" in path.parts:
        return path.parts[path.parts.index("projects") + 1]
    return "cli" if "growing_session" in path.parts else "fixtures"


def _family(trajectory: Trajectory, name: str, repositories: Mapping[str, str]) -> str:
    task = trajectory.source.task_id or ""
    if name == "claude-code":
        return repositories.get(trajectory.source.file or "", "")
    return task.partition("__")[0]


def _request(trajectory: Trajectory) -> str:
    """The first thing a user asked in at least three words of their own."""
    for message in trajectory.messages:
        own = request_in(message.content) if message.role == "user" and message.mark is None and message.content else ""
        if len(own.split()) >= 3:
            return own
    return ""


def parts(everything: Sequence[Session], seed: int) -> Iterator[tuple[list[Session], list[Session]]]:
    """(built from, held out), four times; a session, its subagents and its forks stay together."""
    dice = random.Random(seed)
    place: dict[str, int] = {}
    roots: dict[tuple[str, str], list[str]] = defaultdict(list)
    for each in everything:
        if each.root not in roots[(each.format, each.family)]:
            roots[(each.format, each.family)].append(each.root)
    for family in sorted(roots):
        start = dice.randrange(PARTS)
        for position, root in enumerate(dice.sample(sorted(roots[family]), len(roots[family]))):
            place[root] = (start + position) % PARTS
    for part in range(PARTS):
        kept = [each for each in everything if place[each.root] != part]
        yield kept, [each for each in everything if place[each.root] == part]


def build(wiki: Path, chosen: Iterable[Session]) -> None:
    """Make a wiki from these sessions."""
    envelopes = wiki.parent / f"{wiki.name}-sessions"
    envelopes.mkdir(parents=True)
    files = []
    for each in chosen:
        files.append(envelopes / f"{session_file_stem(each.trajectory.session_id)}.json")
        write_envelope(files[-1], each.trajectory)
    run(files, Options(wiki), Report("ingest", str(wiki)), lambda _what, _done, _of: None)


def sessions_of_pages(wiki: Path) -> dict[str, set[str]]:
    """Page → the sessions its provenance reaches: evidence, a task's sessions, the members of a cluster."""
    view = view_of(read_wiki(wiki, []).state)
    config = view.state.config
    guidelines = {name: set(each.session_ids) for name, each in view.guidelines.items()}
    own = {guideline_path(view.guidelines[name].entry.title, name): found for name, found in guidelines.items()}
    own |= {archived(path): found for path, found in own.items()}
    own |= {skill_path(name): set(each.session_ids) for name, each in view.skills.items()}
    own |= {task_path(name): set(ids) for name, ids in sessions_of_tasks(config, view.sessions).items()}
    for name, entry in config.clusters.items():
        own[cluster_path(name)] = set().union(*(guidelines[each] for each in cluster_members(entry, guidelines)))
    return own


@dataclass(slots=True)
class Tally:
    """What one way of looking came to over the requests of one format."""

    recalls: list[float]
    ranks: list[float]
    tokens: list[int]
    nothing: list[bool]

    def note(self, asked: Asked, relevant: set[str]) -> None:
        """Add the answer to one request."""
        first = asked.links[:FIRST]
        self.tokens.append(asked.tokens)
        self.nothing.append(not asked.links)
        if relevant:
            self.recalls.append(len(relevant & set(first)) / min(FIRST, len(relevant)))
            rank = next((at for at, link in enumerate(asked.links, start=1) if link in relevant), None)
            self.ranks.append(1 / rank if rank else 0.0)


def measure(traces: Path, scratch: Path, ways: Mapping[str, Way]) -> Iterator[str]:
    """The table of one run over all seeds: median over the seeds of each figure."""
    everything = sessions(traces)
    recorded = [
        request for folder in UNRELATED for each in trajectories(traces / folder) if (request := _request(each))
    ]
    unrelated = {"unrelated, written": list(NOTHING_APPLIES), "unrelated, recorded": recorded}
    by_seed: dict[tuple[str, str], list[Tally]] = defaultdict(list)
    rows_of_wikis: list[int] = []
    for seed in range(SEEDS):
        tallies: dict[tuple[str, str], Tally] = defaultdict(lambda: Tally([], [], [], []))
        for part, (kept, held) in enumerate(parts(everything, seed)):
            wiki = scratch / f"wiki-{seed}-{part}"
            build(wiki, kept)
            rows_of_wikis.append(len(opened(wiki).links))
            _ask_held(wiki, kept, held, ways, tallies)
            for group, requests in unrelated.items():
                for request in requests:
                    for name, way in ways.items():
                        tallies[(group, name)].note(way(wiki, request), set())
        for key, tally in tallies.items():
            by_seed[key].append(tally)
    yield f"{SEEDS} x {PARTS} wikis of {min(rows_of_wikis)} to {max(rows_of_wikis)} rows"
    yield "requests             way           asked with pages recall@5   MRR nothing tokens"
    for group in (*REPORTED.values(), *unrelated):
        for name in ways:
            yield _row(group, name, by_seed[(group, name)])


def _ask_held(
    wiki: Path,
    kept: Sequence[Session],
    held: Sequence[Session],
    ways: Mapping[str, Way],
    tallies: Mapping[tuple[str, str], Tally],
) -> None:
    of_pages = sessions_of_pages(wiki)
    links = set(opened(wiki).links)
    for each in held:
        if not each.request or each.root != each.trajectory.session_id:
            continue
        family = {
            other.trajectory.session_id for other in kept if (other.format, other.family) == (each.format, each.family)
        }
        relevant = {link for link in links if of_pages.get(link, set()) & family}
        for name, way in ways.items():
            tallies[(each.format, name)].note(way(wiki, each.request), relevant)


def _row(group: str, name: str, tallies: Sequence[Tally]) -> str:
    asked = median(len(each.tokens) for each in tallies)
    with_pages = median(len(each.recalls) for each in tallies)
    has_ranks = all(each.recalls for each in tallies)
    recall = f"{median(mean(each.recalls) for each in tallies):8.2f}" if has_ranks else f"{'':>8}"
    rank = f"{median(mean(each.ranks) for each in tallies):5.2f}" if has_ranks else f"{'':>5}"
    nothing = median(mean(each.nothing) for each in tallies)
    printed = median(count for each in tallies for count in each.tokens)
    return f"{group:<20} {name:<13} {asked:5.0f} {with_pages:10.0f} {recall} {rank} {nothing:7.2f} {printed:6.0f}"


def choose(traces: Path, scratch: Path) -> Iterator[str]:
    """What weights and thresholds were chosen with: each score's figures at each threshold."""
    own = scratch / "chosen"
    run([traces / each for each in CHOSEN_ON], Options(own), Report("ingest", "chosen"), lambda _what, _done, _of: None)
    other = copied(traces.parent / "wikis" / "wiki-twobatch", scratch / "other")
    scores: dict[str, Callable[[RowScores], float]] = {
        "words": lambda each: each.lexical,
        "meaning": lambda each: each.meaning,
        **{f"fused {weight:.1f}": _weighted(weight) for weight in (0.2, 0.3, 0.4, 0.5, 0.6)},
    }
    yield f"chosen: {LEXICAL} of words, {MEANING} of meaning, {THRESHOLD} and more"
    yield "score      threshold  first  among five  unrelated with nothing"
    recorded = [
        request for folder in CHOSEN_ON for each in trajectories(traces / folder) if (request := _request(each))
    ]
    unrelated = {
        own: list(NOTHING_APPLIES_CHOSEN_WITH),
        other: [*NOTHING_APPLIES_CHOSEN_WITH, *dict.fromkeys(recorded)],  # it is about files, and none of them is
    }
    for name, score in scores.items():
        tops, ranks = _chosen_scores(unrelated, score)
        for percent in (85, 90, 95):
            least = sorted(tops)[min(len(tops) * percent // 100, len(tops) - 1)]
            first = mean(value > least and rank == 0 for value, rank in ranks)
            among = mean(value > least and rank < FIRST for value, rank in ranks)
            nothing = mean(top <= least for top in tops)
            yield f"{name:<10} {least:9.2f} {first:6.2f} {among:11.2f} {nothing:8.2f}"


def _weighted(weight: float) -> Callable[[RowScores], float]:
    return lambda each: weight * each.lexical + (1 - weight) * each.meaning


def copied(source: Path, target: Path) -> Path:
    """Copy the files of a wiki into another folder. Returns that folder."""
    for path in source.rglob("*"):
        if path.is_file():
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())
    return target


def _chosen_scores(
    unrelated: Mapping[Path, Sequence[str]], score: Callable[[RowScores], float]
) -> tuple[list[float], list[tuple[float, int]]]:
    """The best score of each unrelated request, and (score, rank) of the page that each other request is for."""
    tops: list[float] = []
    ranks: list[tuple[float, int]] = []
    for wiki, requests in unrelated.items():
        index = opened(wiki)
        titles = [str(index.fields(number)["title"]) for number in range(len(index.links))]
        for request in requests:
            found = row_scores(index, request, words.words_of(request))
            tops.append(max((score(each) for each in found), default=0.0))
        for part, request in CHOSEN_WITH:
            if any(title.startswith(part) for title in titles):
                found = row_scores(index, request, words.words_of(request))
                ranked = sorted(found, key=lambda each: -score(each))
                places = [at for at, each in enumerate(ranked) if titles[each.number].startswith(part)]
                ranks.append((score(ranked[places[0]]), places[0]) if places else (0.0, len(titles)))
    return tops, ranks


def latency(scratch: Path, pages: int) -> Iterator[str]:
    """Building, warm and cold, on a wiki of about `pages` indexed pages."""
    wiki = scratch / "large"
    generate(wiki, pages // 4)
    run([], Options(wiki, ("catalog",)), Report("catalog", "large"), lambda _what, _done, _of: None)
    started = time.perf_counter()
    consult(wiki, "anything")
    yield f"{len(opened(wiki).links):,} rows: index built in {time.perf_counter() - started:.1f} s"
    warm = [_milliseconds(partial(consult, wiki, request)) for request in _LATENCY_REQUESTS * 10]
    yield _times("warm process", warm, WARM_MS)
    command = [sys.executable, "-m", "agent_wiki", "consult", "--wiki", str(wiki)]
    cold = [
        _milliseconds(partial(subprocess.run, [*command, request], capture_output=True, check=True))
        for request in _LATENCY_REQUESTS * 3
    ]
    yield _times("cold command", cold, COLD_MS)


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1_000 * (time.perf_counter() - started)


def _times(what: str, measured: Sequence[float], target: float) -> str:
    middle = median(measured)
    verdict = "met" if middle < target else "MISSED"
    spread = f"{min(measured):.0f} to {max(measured):.0f}, {len(measured)} runs"
    return f"{what}: {middle:.0f} ms ({spread}), under {target:.0f}  {verdict}"


def main(reported: Sequence[str] | None = None) -> int:
    """Print the figures; 1 when a latency target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description="Consulting a wiki.")
    parser.add_argument("--choose", action="store_true", help="what weights and thresholds were chosen with")
    parser.add_argument("--pages", type=int, default=10_000, metavar="N", help="for latency; 0 for none")
    parser.add_argument("--traces", type=Path, default=TRACES, metavar="DIR")
    wanted = parser.parse_args(reported)
    is_met = True
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        lines = choose(wanted.traces, scratch) if wanted.choose else measure(wanted.traces, scratch, WAYS)
        for line in lines:
            print(line, flush=True)
        if wanted.pages and not wanted.choose:
            for line in latency(scratch, wanted.pages):
                print(line, flush=True)
                is_met = is_met and "MISSED" not in line
    print(machine())
    return 0 if is_met else 1
