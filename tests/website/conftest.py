"""The site of the example, made once a process for all tests that only read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.site.build import build_site

_EXAMPLE = Path(__file__).parents[2] / "wiki-example"


@pytest.fixture(scope="session")
def example_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, with all recordings."""
    out = tmp_path_factory.mktemp("example") / "site"
    report = build_site(_EXAMPLE / "wiki", out, [_EXAMPLE / "traces"], is_published=False)
    assert (report.problems, report.sessions, report.with_recording) == ([], 20, 20)
    return out
