"""What the played model says in sessions that several tests hold."""

from __future__ import annotations

from tests.clients.loopback import Loopback
from tests.clients.played.turns import agent, bash, edit, read, says, write

_SLUG = (
    '\n\ndef slug(text):\n    """Lower case, words joined by dashes."""\n    return "-".join(text.lower().split())\n'
)
_PLAIN_RUN = bash("python3 -m unittest discover -s tests", fails=True)
_CHECK = "#!/bin/sh\nset -e\nPYTHONPATH=src python3 -m unittest discover -s tests\n"

FIX = (
    says("I look around first.", bash("ls && cat Makefile"), thinking="The user wants slug. Let me see the layout."),
    says("", _PLAIN_RUN),
    says("The package lies in `src`, so unittest does not find it. The Makefile sets the path.", bash("make test")),
    says("", bash(f"cat >> src/textkit/__init__.py <<'PY'{_SLUG}PY"), bash("tail -5 src/textkit/__init__.py")),
    says("", bash("make test")),
    says("`slug` is added. The tests have to be run with `make test`, because the package lies in `src`; all pass."),
)
"""A command that fails, and the way that works."""

PARALLEL = (
    says("Two things at once.", bash("git status --short"), bash("cat no-such-file.txt", fails=True)),
    says("", read("src/textkit/__init__.py")),
    says("", edit("src/textkit/__init__.py", "def shout(text):", "def shout(text: str):")),
    says("", write("check.sh", _CHECK)),
    says("", bash("sh check.sh")),
    says("Done: the type is there, and `check.sh` runs the tests."),
)
"""Two calls at once, of which one fails; then the program's own tools for files."""

MORE = (says("", bash("git log --oneline | head -3")), says("That is the history."))
SUBAGENT = (
    says("I let a helper look.", agent("[[helper]] Find out how the tests are run. Report the command.")),
    says("The helper says: `make test`."),
)
HELPER = (
    says("", _PLAIN_RUN),
    says("", bash("make test")),
    says("The tests are run with `make test`; plain unittest fails because the package lies in src."),
)
SHORT = (says("Hello. Nothing was to be done."),)
TEACH = (
    says("I run the tests.", _PLAIN_RUN),
    says("", bash("PYTHONPATH=src python3 -m unittest discover -s tests")),
    says("All tests pass when `PYTHONPATH=src` is set."),
)
"""After it a user says how it is done here."""
OBEY = (says("", bash("make test")), says("I ran them with `make test`; they pass."))

RULE = "No. Always run the tests with `make test` in this project, never with unittest directly."


def play_all(model: Loopback) -> None:
    """Have the model know all of these by their names."""
    known = {
        "fix": FIX,
        "parallel": PARALLEL,
        "more": MORE,
        "subagent": SUBAGENT,
        "helper": HELPER,
        "short": SHORT,
        "teach": TEACH,
        "obey": OBEY,
    }
    for name, turns in known.items():
        model.plays(name, *turns)
