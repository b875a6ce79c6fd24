"""What tests of `wiki hook stop` share: transcripts of the example, and what a hook leaves in a project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agent_wiki.harness.hook_log import HookOutcome
from tests.wikis import tree

EXAMPLE = Path(__file__).parents[2] / "wiki-example" / "traces"
TEACHES, TRIVIAL, TEACHES_NOTHING = (
    EXAMPLE / "claude-truncate.jsonl",
    EXAMPLE / "claude-module-sizes.jsonl",
    EXAMPLE / "mini-slug-accents-3.traj.json",
)
CODEX = EXAMPLE / "codex-wrap-width.jsonl"
Stop = Callable[..., HookOutcome]


def wiki_of(project: Path) -> dict[str, bytes]:
    """The wiki's files but for its machinery and the log, which has times."""
    return {
        path: content
        for path, content in tree(project / "wiki").items()
        if not path.startswith(".wiki/") and path != "_audit.log"
    }


def saved_in(project: Path) -> list[Path]:
    """The sessions that are saved in a project."""
    return sorted((project / ".evolve" / "trajectories").glob("*.json"))
