"""Every module has exactly one row on the architecture page, and every top-level package says what it may touch."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).parent.parent
PACKAGE = REPOSITORY / "src" / "agent_wiki"
_ROW = re.compile(r"^\| `([\w/]+\.py)` \| (.*) \|$", re.MULTILINE)
_LAYER = re.compile(r"^\| \d+ \| ((?:`[\w/.]+`(?:, )?)+) \| ", re.MULTILINE)
_ACCEPT = "`python docs/generate_modules.py` accepts this"


@pytest.fixture
def page() -> str:
    return (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """The script that writes the table, which is in no package."""
    spec = importlib.util.spec_from_file_location("generate_modules", REPOSITORY / "docs" / "generate_modules.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows(generator: ModuleType) -> dict[str, str]:
    """Module → what it says of itself, which takes half a second to find out."""
    made: dict[str, str] = generator.module_rows()
    return made


def test_every_module_has_exactly_one_row(page: str) -> None:
    listed = [place for place, _ in _ROW.findall(page)]
    modules = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")}
    assert sorted(modules - set(listed)) == [], f"modules without a row; {_ACCEPT}"
    assert sorted(set(listed) - modules) == [], f"rows without a module; {_ACCEPT}"
    assert sorted({place for place in listed if listed.count(place) > 1}) == [], "modules with several rows"


def test_a_row_says_what_the_module_says_of_itself(page: str, rows: dict[str, str]) -> None:
    listed = dict(_ROW.findall(page))
    stale = {place: said for place, said in rows.items() if listed.get(place) != said}
    assert stale == {}, f"rows that no longer match the module's docstring; {_ACCEPT}"


def test_the_page_is_what_the_generator_writes(page: str, generator: ModuleType) -> None:
    assert generator.page_with_table(page) == page, _ACCEPT


def test_every_module_has_a_first_sentence(rows: dict[str, str]) -> None:
    assert [place for place, said in rows.items() if not said.endswith((".", "?", ":"))] == []


def test_the_page_lists_every_top_level_package_with_what_it_may_touch(page: str) -> None:
    layers = page.partition("\n## Layers\n")[2].partition("\n## ")[0]
    named = {name.strip("/") for row in _LAYER.findall(layers) for name in re.findall(r"`([\w/.]+)`", row)}
    there = {path.name for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert sorted(there - named - {"__init__.py", "__main__.py"}) == [], "packages without a row"
    assert sorted(named - there) == [], "rows without a package"
