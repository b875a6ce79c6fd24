"""What differs between two runs of a command."""

from __future__ import annotations

import pytest

from agent_wiki.shell.simple_commands import simple_commands
from agent_wiki.shell.step_changes import changed_parts


@pytest.mark.parametrize(
    ("one", "other", "parts"),
    [
        ("npm test", "npm test --silent", set()),
        ("npm test", "pnpm test", {"program"}),
        ("git push", "git push --force", {"flags"}),
        ("git push", "A=1 git push origin", {"arguments", "environment"}),
        ("node - <<'E'\na\nE", "node - <<'E'\nb\nE", {"here-document"}),
        ("node - <<'E'\n// first\na\nE", "node - <<'E'\na\nE", set()),
        ("python -c '\n# first\nf(1)\n'", "python -c '\nf(1)\n'", set()),
        ("node -e 'f(1)'", "node - <<'E'\nf(1)\nE", {"here-document"}),
    ],
)
def test_the_parts_in_which_two_commands_differ(one: str, other: str, parts: set[str]) -> None:
    (mine,), (theirs,) = simple_commands(one), simple_commands(other)
    assert changed_parts(mine, theirs) == parts
