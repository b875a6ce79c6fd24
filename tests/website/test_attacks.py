"""No text of the corpus of attacks is alive in a site: not as a title, tag, page, script, or in a session."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from agent_wiki.site.build import build_site_of
from tests.website.attacked import BREAKOUTS, attack_texts, attacked_contents
from tests.website.links import OUR_TAGS, PageParts, broken_links, pages_of

OUR_SCRIPTS = {"site.js", "minisearch.js", "ranking.js", "search.js"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attacked")
    contents, recordings = attacked_contents(folder)
    report = build_site_of(contents, folder / "site", [recordings])
    assert (report.problems, report.with_recording) == ([], 2)
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, PageParts]:
    return pages_of(site)


def test_no_element_attribute_link_or_script_comes_from_an_attack(site: Path, pages: dict[Path, PageParts]) -> None:
    assert len(pages) > 12
    for page, parts in pages.items():
        assert parts.live == [], page
        assert set(parts.tags) <= OUR_TAGS, page
        assert {Path(each).name for each in parts.leads_to if each.endswith(".js")} <= OUR_SCRIPTS
    assert broken_links(site, pages) == []  # each link leads to a file of the site


def test_each_attack_is_shown_as_text(pages: dict[Path, PageParts]) -> None:
    """In a session as it was written, but for what cannot be seen; so the corpus did reach the pages."""
    said = unescape("".join(page.read_text(encoding="utf-8") for page in pages if page.parent.name == "sessions"))
    words = {word for text in attack_texts() for word in re.findall(r"[a-z]{9,}", text)}
    assert len(words) > 50
    assert {word for word in words if word not in said} == set()
    assert all(text.split("\n")[0] in said for text in BREAKOUTS[:5])


def test_rows_of_the_search_end_no_script(site: Path) -> None:
    rows = (site / "search" / "rows-1.js").read_text(encoding="utf-8")
    assert "script" in rows
    assert "</" not in rows
    assert rows.count("\n") == len(rows.strip().split("\n"))
