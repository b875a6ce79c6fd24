"""Pages under a ceiling that always holds, on a terminal that stays what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.retrieval import Hit, read_pages
from agent_wiki.retrieval.reading import BYTES_PER_TOKEN
from agent_wiki.retrieval.terminal import hit_lines, plain_text
from tests.retrieval.wikis import CANCEL, PYTEST, YAML, write_page, write_wiki


def _hits(wiki: Path) -> list[Hit]:
    return [Hit(wiki, row, 0.5, "because") for row in (CANCEL, PYTEST, YAML)]


@pytest.mark.parametrize("most", [0, 1, 2, 5, 20, 40, 60, 90, 150, 400, 2000, 100_000])
def test_the_ceiling_holds_at_any_size(tmp_path: Path, most: int) -> None:
    wiki = write_wiki(tmp_path / "wiki")
    write_page(wiki, CANCEL, more="日本語のテスト 🎉\n" * 300 + "x" * 50_000)
    text = read_pages(_hits(wiki), most)
    assert len(text.encode()) <= most * BYTES_PER_TOKEN


def test_what_is_cut_or_left_out_is_named(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path / "wiki")
    write_page(wiki, CANCEL, more="one line of many\n" * 500)
    text = read_pages(_hits(wiki), 400)
    assert f"cut here; the whole page is {CANCEL['link']}" in text
    assert text.rstrip().endswith(f"Not shown for lack of space: {PYTEST['link']}, {YAML['link']}")


def test_with_room_all_pages_are_whole_best_first(tmp_path: Path) -> None:
    text = read_pages(_hits(write_wiki(tmp_path / "wiki")), 2000)
    heads = [line for line in text.splitlines() if line.startswith("--- ")]
    assert [head.split()[1] for head in heads] == [CANCEL["link"], PYTEST["link"], YAML["link"]]
    assert "cut here" not in text
    assert "3 sessions (1 success, 2 failure), trust tool" in heads[1]


def test_a_page_that_is_gone_or_a_link_out_of_the_wiki_is_said_to_be_unreadable(tmp_path: Path) -> None:
    hit = Hit(write_wiki(tmp_path / "wiki"), {**YAML, "link": "../outside__1.md"}, 0.5, "")
    assert "cannot be read" in read_pages([hit], 200)


def test_nothing_is_printed_for_nothing() -> None:
    assert read_pages([], 2000) == ""


def test_what_a_page_holds_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path / "wiki")
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b1m\x07\x08 \u202egnihtyna\u200b \U000e0041 plain\r\nnext\ttab"
    write_page(wiki, YAML, more=evil)
    text = read_pages([Hit(wiki, YAML, 0.5, "")], 2000)
    assert "red" in text
    assert "\n" in text
    assert not set(text) & set("\x1b\x07\x08\x9b\u202e\u200b\U000e0041\r")
    row = {**YAML, "title": f"t{evil}", "link": f"guidelines/{evil}.md", "trust": evil, "used": {evil: 1}}
    shown = "".join(hit_lines(Hit(wiki, row, 0.5, evil, has_sunk=True), 1))
    assert not set(shown) & set("\x1b\x07\x08\x9b\u202e\u200b\U000e0041\r\n")
    assert "did more harm than good" in shown
    assert plain_text("a\ud800b") == "a?b"
    assert plain_text("a\u00adb\ufff9c\u2028d\u202ee") == "abcde"
