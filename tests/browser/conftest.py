"""Tests that look at the site in a headless browser, run on request only: `pytest -m browser tests/browser`.

They need `playwright` and `axe-playwright-python`, and a Chromium on the path (Debian's `chromium`); where one of them
is missing they are skipped, and say which.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.site.build import build_site, build_site_of
from tests.on_request import mark_on_request
from tests.website.attacked import attacked_contents
from tests.website.rich import rich_wiki

_HERE = Path(__file__).parent
_EXAMPLE = _HERE.parents[1] / "wiki-example"
_ON_REQUEST = "a browser is started on request: pytest -m browser tests/browser"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark_on_request(config, items, _HERE, "browser", _ON_REQUEST)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no Chromium is on the path")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=program, args=_ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core."""
    module = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    return (Path(module.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the example."""
    out = tmp_path_factory.mktemp("example") / "site"
    build_site(_EXAMPLE / "wiki", out, [_EXAMPLE / "traces"], is_published=False)
    return out


@pytest.fixture(scope="session")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a wiki in which everything occurs, hostile text too."""
    folder = tmp_path_factory.mktemp("rich")
    wiki, recordings = rich_wiki(folder)
    build_site(wiki, folder / "site", [recordings], is_published=False)
    return folder / "site"


@pytest.fixture(scope="session")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a wiki that is made of attacks."""
    folder = tmp_path_factory.mktemp("attacked")
    contents, recordings = attacked_contents(folder)
    build_site_of(contents, folder / "site", [recordings])
    return folder / "site"
