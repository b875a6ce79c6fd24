"""Templates of the owner beside a wiki: what they change, and what they must not lose."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.errors import UnsafePath
from tests.wikis import Script, changed, ingest, record, rule, tree

TEMPLATES = {
    "another heading": "# {{ title }}\n\n{{ rule }}\n\n## Why\n\n{{ rationale }}\n",
    "no heading": "# {{ title }}\n\n{{ rule }}\n\nBecause: {{ rationale }}\n",
    "nothing but the rule": "{{ rule }}\n",
    "what every template may call": "{{ rule }}\n\nFor {{ counted(2, 'reason') }}: {{ rationale }}\n",
}


def _engine(folder: Path) -> str:
    told = Script(folder)
    told.says("", rules=[rule("Run the check before a change.")])
    told.says("b", rules=[rule("Run the check before a change.", rationale="It had failed for an hour.")])
    return told.engine


def _own_template(wiki: Path, text: str) -> None:
    (wiki / "templates").mkdir(parents=True, exist_ok=True)
    (wiki / "templates" / "guideline.md.j2").write_text(text, encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_batches_join_to_the_same_bytes_whatever_the_owners_template_shows(tmp_path: Path, template: str) -> None:
    engine = _engine(tmp_path)
    paths = [record(tmp_path / "in", name, f"2026-01-0{day}") for day, name in enumerate("abc", start=1)]
    for name in ("at-once", "one-by-one"):
        _own_template(tmp_path / name, template)
    ingest(paths, tmp_path / "at-once", engine)
    for path in reversed(paths):
        ingest([path], tmp_path / "one-by-one", engine)
    assert changed(tree(tmp_path / "at-once"), tree(tmp_path / "one-by-one")) == []


@pytest.mark.parametrize(
    "place", ["templates", "templates/guideline.md.j2", "templates/more/x.j2", "prompts", "models.yaml"]
)
def test_a_link_among_the_owners_files_is_refused_before_anything_is_written(tmp_path: Path, place: str) -> None:
    wiki, outside = tmp_path / "wiki", tmp_path / "outside"
    outside.write_text("{{ rule }}\n", encoding="utf-8")
    (wiki / place).parent.mkdir(parents=True)
    (wiki / place).symlink_to(outside)
    engine = "anthropic" if place in ("prompts", "models.yaml") else _engine(tmp_path)
    with pytest.raises(UnsafePath, match=f"wiki/{place}: a link inside the wiki could lead out of it; remove it"):
        ingest([record(tmp_path / "in", "a")], wiki, engine)
    assert tree(wiki).keys() <= {place}


def test_a_template_changed_later_reaches_existing_pages_with_rewrite(tmp_path: Path) -> None:
    engine, wiki, paths = _engine(tmp_path), tmp_path / "wiki", [record(tmp_path / "in", "a")]
    ingest(paths, wiki, engine)
    before = tree(wiki)
    _own_template(wiki, TEMPLATES["another heading"])
    ingest(paths, wiki, engine, rewrite=True)
    (page,) = wiki.glob("guidelines/run*.md")
    text = page.read_text(encoding="utf-8")
    assert "## Why\n\nThe check told what was wrong." in text
    assert "## Rationale" not in text
    (wiki / "templates" / "guideline.md.j2").unlink()
    ingest(paths, wiki, engine, rewrite=True)
    assert changed(before, tree(wiki)) == []
