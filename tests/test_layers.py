"""The package's layers: each top-level package imports only packages that come before it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "agent_wiki"

# From what knows nothing to what knows everything.
LAYERS = (
    "errors",
    "trajectory",
    "shell",
    "redaction",
    "wiki",
    "readers",
    "pages",
    "recall",
    "spending",
    "engine",
    "stages",
    "asking",
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
_MOST_TOP_LEVEL_ENTRIES = 25
_INNER = ("pages/compare/", "pages/safety/", "pipeline/report/", "readers/extensions.py")
"""What lies below the package that it serves, and knows nothing else of it."""


@cache
def _sources() -> dict[str, str]:
    """The text of every module."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def _imports(source: str) -> list[ast.Import | ast.ImportFrom]:
    """Every import of a module, also inside functions."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]


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


def _upward_imports(place: str, source: str) -> list[str]:
    """The modules that one module imports from above. It is parsed only where its text names such a package at all."""
    own = place.partition("/")[0].removesuffix(".py")
    if own in _ENTRY_POINTS:
        return []
    above = LAYERS[LAYERS.index(own) + 1 :]
    if not re.search(rf"\bagent_wiki\s*(?:\.\s*(?:{'|'.join(above)})\b|import\b)", source):
        return []
    return [dotted for dotted in _imported(_imports(source)) if _layer(dotted) in above]


def test_every_top_level_module_has_a_layer() -> None:
    there = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")} - _ENTRY_POINTS
    assert sorted(there.symmetric_difference(LAYERS)) == []


def test_the_top_level_stays_small() -> None:
    entries = [path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    assert len(entries) <= _MOST_TOP_LEVEL_ENTRIES, sorted(entries)


@pytest.mark.parametrize("inner", _INNER)
def test_what_serves_a_package_from_within_knows_nothing_else_of_it(inner: str) -> None:
    own, package = f"agent_wiki.{inner.removesuffix('.py').strip('/').replace('/', '.')}", inner.partition("/")[0]
    modules = {place: source for place, source in _sources().items() if place.startswith(inner)}
    assert modules
    imported = {place: list(_imported(_imports(source))) for place, source in modules.items()}
    others = {
        place: found
        for place, names in imported.items()
        if (found := [each for each in names if _layer(each) == package and not f"{each}.".startswith(f"{own}.")])
    }
    assert others == {}


def test_imports_only_point_downward() -> None:
    upward = {place: _upward_imports(place, source) for place, source in _sources().items()}
    assert {place: names for place, names in upward.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from agent_wiki.commands.app import app",
        "import agent_wiki.commands.app as app",
        "import os, agent_wiki . commands",
        "from agent_wiki import (\n    shell,\n    commands,\n)",
        "def f():\n    if True:\n        from agent_wiki.commands import main",
    ],
)
def test_an_upward_import_is_found(source: str) -> None:
    (found,) = _upward_imports("wiki/page.py", source)
    assert found.startswith("agent_wiki.commands")
    assert _upward_imports("api.py", source) == []


def test_imports_are_absolute() -> None:
    """A relative import would escape the test above."""
    relative = [
        place
        for place, source in _sources().items()
        if re.search(r"\bfrom\s*\.", source)
        for node in _imports(source)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []
