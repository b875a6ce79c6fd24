"""The package's layers: each top-level package imports only packages that come before it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "agent_wiki"

# From what knows nothing to what knows everything.
LAYERS = (
    "errors",
    "extensions",
    "trajectory",
    "shell",
    "redaction",
    "safety",
    "wiki",
    "readers",
    "compare",
    "recall",
    "pages",
    "spending",
    "engine",
    "stages",
    "asking",
    "report",
    "engines",
    "pipeline",
    "retrieval",
    "checks",
    "evaluation",
    "changes",
    "site",
    "harness",
    "commands",
    "api",
)
# The package itself and `python -m agent_wiki` stand for all of it.
_ENTRY_POINTS = frozenset({"__init__", "__main__"})
_MOST_TOP_LEVEL_ENTRIES = 29


@lru_cache(maxsize=1)
def _imports() -> dict[str, list[ast.Import | ast.ImportFrom]]:
    """Every import of each module, also inside functions."""
    return {
        path.relative_to(PACKAGE).as_posix(): [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        for path in PACKAGE.rglob("*.py")
    }


def _imported(nodes: Iterable[ast.Import | ast.ImportFrom]) -> Iterator[str]:
    """Every module that these name."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.module == "agent_wiki":
            yield from (f"agent_wiki.{alias.name}" for alias in node.names)
        elif node.module:
            yield node.module


def _layer(dotted: str) -> str | None:
    """The top-level package of a module's dotted name; None for modules of others."""
    first, _, rest = dotted.partition(".")
    return rest.partition(".")[0] if first == "agent_wiki" and rest else None


def _upward_imports() -> set[tuple[str, str]]:
    found = set()
    for place, nodes in _imports().items():
        own = place.partition("/")[0].removesuffix(".py")
        if own in _ENTRY_POINTS:
            continue
        for dotted in _imported(nodes):
            layer = _layer(dotted)
            if layer in LAYERS and LAYERS.index(layer) > LAYERS.index(own):
                found.add((place, dotted))
    return found


def test_every_top_level_module_has_a_layer() -> None:
    there = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")} - _ENTRY_POINTS
    assert sorted(there.symmetric_difference(LAYERS)) == []


def test_the_top_level_stays_small() -> None:
    entries = [path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    assert len(entries) <= _MOST_TOP_LEVEL_ENTRIES, sorted(entries)


def test_imports_only_point_downward() -> None:
    assert sorted(_upward_imports()) == []


def test_imports_are_absolute() -> None:
    """A relative import would escape the test above."""
    relative = [
        place
        for place, nodes in _imports().items()
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []
