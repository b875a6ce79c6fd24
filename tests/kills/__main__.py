"""Commands are killed at random moments, run again, and compared with commands that nobody killed.

python -m tests.kills --count 200 --seed 1 --traces FOLDER
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from agent_wiki_testing import MessagesServer
from tests.engines.answering import says
from tests.kills.scenes import scenes

_TRACES = Path(__file__).parents[2] / "wiki-example" / "traces"
_MOST_BYTES = 300_000  # of a recording, so that a kill takes seconds and not minutes


def main() -> int:
    """Kill so many commands; the exit code is 1 if anything was lost."""
    wanted = _arguments()
    rng = random.Random(wanted.seed)
    found = sorted(path for path in wanted.traces.rglob("*") if path.is_file() and path.stat().st_size < _MOST_BYTES)
    recordings = {f"{number:03}-{path.name}": path.read_bytes() for number, path in enumerate(found)}
    began, kills, ends, losses = time.monotonic(), Counter[str](), Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder, MessagesServer(says({})) as server:
        place = Path(folder)
        prepared = scenes(recordings, server, place / "ready", rng)
        for number, scene in enumerate(prepared):
            scene.measure(place / f"whole-{number}")
        number = 0
        while kills.total() < wanted.count:
            scene = prepared[number % len(prepared)]
            where, lost = scene.kill(place / f"killed-{number}", rng)
            (kills if where else ends)[scene.name] += 1
            losses += len(lost)
            for each in lost:
                sys.stdout.write(f"{scene.name} {scene.words}, killed {where or 'after its end'}: lost {each}\n")
            number += 1
    counts = ", ".join(f"{name} {count}" for name, count in sorted(kills.items()))
    sys.stdout.write(
        f"{kills.total()} kills ({counts}), {ends.total()} came too late; {losses} losses; "
        f"seed {wanted.seed}, {len(recordings)} recordings, {time.monotonic() - began:.0f} s\n"
    )
    return 1 if losses else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="kills (default 20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--traces", type=Path, default=_TRACES, help="a folder of recordings (default: the example's)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
