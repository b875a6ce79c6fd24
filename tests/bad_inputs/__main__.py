"""Every bad input with every command that takes it; the exit code is 1 if anything went wrong."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from tests.bad_inputs.tables import KINDS
from tests.bad_inputs.trying import COMMANDS, made_ready, problems


def main(kinds: list[str]) -> int:
    """Try these kinds, by default all."""
    began, tried, wrong = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        ready = made_ready(Path(folder, "ready"))
        for kind in kinds or KINDS:
            for number, (name, content) in enumerate(KINDS[kind].items()):
                found = problems(kind, name, content, ready, Path(folder, f"{kind}-{number}"))
                wrong += len(found)
                tried += len(COMMANDS[kind])
                sys.stdout.writelines(f"{each}\n" for each in found)
    names = sum(len(KINDS[kind]) for kind in kinds or KINDS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    spent = f"{time.monotonic() - began:.0f} s, at most {peak} MB"
    sys.stdout.write(f"{names} inputs, {tried} commands, {wrong} problems, {spent}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
