"""The tags of a summary are those of what its own part of the session taught."""

from __future__ import annotations

from pathlib import Path

from agent_wiki.wiki.page import parse_page
from tests.wikis import Script, arc, ingest, record, rule


def test_a_part_of_a_session_has_no_tags_of_what_another_part_taught(tmp_path: Path) -> None:
    script, wiki = Script(tmp_path), tmp_path / "wiki"
    script.says("s", arcs=[arc("One", 1, 2), arc("Two", 3, 4)], rules=[rule("Run the check before a change.")])
    ingest([record(tmp_path / "t", "s")], wiki, script.engine)
    tags = {}
    for name in ("one", "two"):
        page = parse_page((wiki / f"summaries/s__{name}.md").read_text(encoding="utf-8"), name)
        tags[name] = page.fields["tags"]
    assert tags == {"one": ["cart", "checks"], "two": []}
