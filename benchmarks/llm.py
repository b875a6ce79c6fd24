"""`wiki ingest --engine anthropic` against the test server: time, input tokens and memory, held against the targets.

    python -m benchmarks.llm [--sessions 200] [--repeat 3] [--how together thorough batch]

The server answers on loopback from a process of its own, each answer after `--latency-ms`; the client is the real
command in a process of its own, with `--concurrency` requests at a time. Both are new for each run, so that no cache
and no journal is warm. Three ways, each with one model: `together` puts the three questions on a trajectory in one
request; `thorough` puts them one by one, so that they share its prefix in the cache; `batch` sends batches, whose
waiting is the service's and has no target.

- Time is that of the whole command, from the start of its process; the ideal is calls x latency / concurrency. It is
  also reported from the first request on: the imports before it take the same time for ten sessions or ten thousand.
- Input tokens are in units of plain ones: a write to the cache is 1.25 (5 minutes) or 2 (an hour) of them, a read 0.1,
  a batch costs half. They are held against what three requests on each trajectory come to without cache and batch:
  prompts, schema and all, counted by a run of `thorough` beforehand.
- Memory is the largest resident set of the client's process.

All sessions succeed, so that each trajectory is read by three questions; every quote of every answer stands, so that
none is asked again. Exit code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from agent_wiki_testing import Asked, Endpoint, MessagesServer
from agent_wiki_testing.ledger import BATCH_FACTOR
from agent_wiki_testing.tokens import CHARACTERS_PER_TOKEN
from benchmarks.generated_sessions import ON_TRAJECTORY, answer, generate
from benchmarks.speed import Row, Run, machine, spread, wiki

_ROOT = Path(__file__).resolve().parent.parent
_READINGS = 3
_MODEL = "claude-haiku-5-5"
_HOW: dict[str, tuple[str, ...]] = {
    "together": ("--model", _MODEL, "--together"),
    "thorough": ("--model", _MODEL, "--thorough"),
    "batch": ("--model", _MODEL, "--batch", "--wait"),
}
_MOST_TIME = 1.15  # times the ideal
_MOST_MEMORY = 500.0  # MiB
_MOST_TOKENS = {"together": 0.4, "thorough": 0.5, "batch": 0.25}  # of reading each trajectory three times


@dataclass(frozen=True, slots=True)
class Load:
    """What a run has to do: recordings, the characters of their trajectories, and how the server is asked."""

    recordings: Path
    sessions: int
    characters: int
    latency_seconds: float
    concurrency: int


@dataclass(slots=True)
class Served:
    """What the server saw of one run. Tokens are those of questions on trajectories; moments are seconds since 1970.

    `read_tokens` is all that the prompts held, `billed_tokens` what was billed for them in units of plain ones.
    """

    answers: dict[str, int] = field(default_factory=dict)
    most_in_flight: int = 0
    read_tokens: int = 0
    billed_tokens: float = 0.0
    other_tokens: float = 0.0
    first_answer_at: float = 0.0
    last_answer_at: float = 0.0

    def calls(self) -> int:
        """All answers, whatever the stage."""
        return sum(self.answers.values())


@dataclass(frozen=True, slots=True)
class Measured:
    """One run: the client's process, when it was started (seconds since 1970), and what the server saw."""

    run: Run
    started_at: float
    served: Served

    def seconds_to_first_request(self, latency_seconds: float) -> float:
        """From the start of the process to the first request, by way of the first answer."""
        return self.served.first_answer_at - latency_seconds - self.started_at

    def seconds_after_last_answer(self) -> float:
        """What the client still did when all had been answered."""
        return self.started_at + self.run.seconds - self.served.last_answer_at


def serve(latency_seconds: float) -> None:
    """Serve until standard input ends. Prints the base URL, and at the end what was served, as one line of JSON."""
    stages: dict[str, str] = {}
    moments: list[float] = []

    def answered(asked: Asked) -> Any:
        stages[asked.digest] = asked.stage or ""
        moments.append(time.time())
        return answer(asked)

    with MessagesServer(answered, Endpoint(latency_seconds=latency_seconds), keeps_bodies=False) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()
        billed = list(server.ledger.billed)
    served = Served(dict(Counter(stages[each.digest] for each in billed)), server.ledger.most_in_flight)
    for each in billed:
        tokens = each.usage.billed_input_tokens() * (BATCH_FACTOR if each.is_batch else 1.0)
        if stages[each.digest] in ON_TRAJECTORY:
            served.read_tokens += each.usage.prompt_tokens()
            served.billed_tokens += tokens
        else:
            served.other_tokens += tokens
    if moments:
        served.first_answer_at, served.last_answer_at = min(moments), max(moments)
    print(json.dumps(asdict(served)), flush=True)


@contextmanager
def _server(latency_seconds: float) -> Iterator[tuple[str, list[Served]]]:
    """A server in a process of its own: its base URL, and a list that holds what it served once the block is over."""
    command = [sys.executable, "-m", "benchmarks.llm", "--serve", "--latency-ms", str(round(1_000 * latency_seconds))]
    seen: list[Served] = []
    with subprocess.Popen(
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        if process.stdout is None:
            raise RuntimeError("the test server has no output")
        yield process.stdout.readline().strip(), seen
        found, _ = process.communicate()  # closes its input
        seen.append(Served(**json.loads(found)))


def measured(load: Load, how: str, folder: Path) -> Measured:
    """One run of `wiki ingest` into a new wiki. Raises `RuntimeError` when anything but plain answers came of it."""
    shutil.rmtree(folder, ignore_errors=True)
    with _server(load.latency_seconds) as (base_url, seen):
        started_at = time.time()
        run = wiki(
            *("ingest", str(load.recordings), "--wiki", str(folder), "--json"),
            *("--engine", "anthropic", "--base-url", base_url, "--concurrency", str(load.concurrency)),
            *_HOW[how],
        )
    _check(json.loads(run.printed), load)
    return Measured(run, started_at, seen[0])


def _check(report: dict[str, Any], load: Load) -> None:
    """A run in which a session failed or a claim was dropped measures something else.

    With batches a run goes over the recordings several times; what an earlier pass mined is unchanged in the last.
    """
    wrong = [*report["failures"], *report["dropped_claims"], *report["warnings"]]
    sessions: dict[str, int] = report["sessions"]
    if wrong or sessions.keys() - {"mined", "unchanged"} or sum(sessions.values()) != load.sessions:
        raise RuntimeError(f"sessions: {sessions}; {'; '.join(map(str, wrong[:3])) or 'nothing else is wrong'}")


def three_readings(load: Load, folder: Path) -> int:
    """All that the prompts hold, in tokens, when three requests read each trajectory."""
    return measured(replace(load, latency_seconds=0.0), "thorough", folder).served.read_tokens


def rows(how: str, runs: Sequence[Measured], load: Load, read_tokens: int) -> Iterator[Row]:
    """Time, input tokens and memory of the runs of one way. `read_tokens` are those of three readings."""
    served, is_batch = runs[0].served, how == "batch"
    if not is_batch:
        yield from _time_rows(how, runs, load)
    else:
        yield Row(f"{how}, time", spread([each.run.seconds for each in runs], "s", 2))
    shares = [each.served.billed_tokens / read_tokens for each in runs]
    most = _MOST_TOKENS.get(how)
    yield Row(
        f"{how}, input tokens billed",
        spread(shares, "of three readings", 3),
        f"at most {most}" if most else "",
        statistics.median(shares) <= most if most else None,
    )
    bare = load.characters / CHARACTERS_PER_TOKEN
    a_session = f"{served.billed_tokens / load.sessions:,.0f} of {read_tokens / load.sessions:,.0f} tokens"
    of_bare = f"{served.billed_tokens / bare / _READINGS:.3f} of the trajectories alone, three times"
    yield Row(f"{how}, a session", a_session, f"{of_bare}; clusters and tasks {served.other_tokens:,.0f} in all")
    memory = max(each.run.memory_mib for each in runs)
    yield Row(f"{how}, memory", f"{memory:.0f} MiB at most", f"at most {_MOST_MEMORY:.0f} MiB", memory <= _MOST_MEMORY)


def _time_rows(how: str, runs: Sequence[Measured], load: Load) -> Iterator[Row]:
    """The whole command against the ideal; the same without its start, which does not grow with the sessions."""
    ideals = [each.served.calls() * load.latency_seconds / load.concurrency for each in runs]
    starts = [each.seconds_to_first_request(load.latency_seconds) for each in runs]
    whole = [each.run.seconds / ideal for each, ideal in zip(runs, ideals, strict=True)]
    asking = [(each.run.seconds - start) / ideal for each, start, ideal in zip(runs, starts, ideals, strict=True)]
    yield Row(
        f"{how}, time",
        spread(whole, "of the ideal", 3),
        f"at most {_MOST_TIME}; {runs[0].served.calls()} calls, ideal {ideals[0]:.2f} s",
        statistics.median(whole) <= _MOST_TIME,
    )
    at_once = min(each.served.most_in_flight for each in runs)
    yield Row(f"{how}, from the first request", spread(asking, "of the ideal", 3), f"{at_once} at once")
    after = statistics.median(each.seconds_after_last_answer() for each in runs)
    yield Row(f"{how}, to the first request", spread(starts, "s", 2), f"after the last answer {after:.2f} s")


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.llm", description="The engine that asks a model.")
    parser.add_argument("--sessions", type=int, default=200, metavar="N")
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument("--how", nargs="+", choices=[*_HOW], default=[*_HOW])
    parser.add_argument("--latency-ms", type=int, default=300, metavar="MS")
    parser.add_argument("--concurrency", type=int, default=16, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", action="store_true", help="be the server of a run, until standard input ends")
    wanted = parser.parse_args(words)
    if wanted.serve:
        serve(wanted.latency_ms / 1_000)
        return 0
    with tempfile.TemporaryDirectory(prefix="wiki-llm-") as scratch:
        recordings = Path(scratch, "recordings")
        characters = generate(recordings, wanted.sessions, wanted.seed)
        load = Load(recordings, wanted.sessions, characters, wanted.latency_ms / 1_000, wanted.concurrency)
        print(f"{machine()}\n{wanted.sessions} sessions, {characters:,} characters in trajectories", flush=True)
        is_met, read_tokens = True, three_readings(load, Path(scratch, "wiki"))
        for how in wanted.how:
            runs = [measured(load, how, Path(scratch, "wiki")) for _ in range(wanted.repeat)]
            for row in rows(how, runs, load, read_tokens):
                print(row, flush=True)
                is_met = is_met and row.is_met is not False
    print(machine())
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
