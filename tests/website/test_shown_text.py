"""Recorded text in pieces: what is cited is marked, what is long is cut, and nothing is hidden in it."""

from __future__ import annotations

from agent_wiki.site.shown_text import TextPiece, anchors_in, parted, pieces_of, quote_anchor, visible


def test_hidden_characters_show_and_colours_are_left_out() -> None:
    assert visible("\x1b[31mred\x1b[0m a\u202eb\u200bc\x00\x1b]0;t\x07") == "red a\\u202eb\\u200bc␀␛]0;t␇"
    assert visible("a\r\nb\tc") == "a\nb\tc"


def test_a_cited_stretch_is_marked_where_it_first_stands() -> None:
    pieces = pieces_of("one two one", 3, ["one", "absent"], 100)
    assert [(piece.kind, piece.text, piece.anchor) for piece in pieces] == [
        ("cited", "one", quote_anchor(3, "one")),
        ("text", " two one", ""),
    ]
    assert anchors_in("one two", 3, ["one", "absent"]) == {quote_anchor(3, "one")}


def test_a_long_text_keeps_its_ends_and_what_is_cited_in_the_middle() -> None:
    text = "a" * 5_000 + "CITED" + "b" * 5_000
    pieces = pieces_of(text, 1, ["CITED"], 900)
    assert [piece.kind for piece in pieces] == ["text", "cut", "text", "cited", "text", "cut", "text"]
    shown = "".join(piece.text for piece in pieces if piece.kind != "cut")
    cut = [int(piece.text.split()[0].replace(",", "")) for piece in pieces if piece.kind == "cut"]
    assert len(shown) + sum(cut) == len(text)
    assert len(shown) < 2_000


def test_a_long_request_is_parted_at_the_end_of_a_line_and_loses_nothing() -> None:
    lines = "".join(f"line {number}\n" for number in range(100))
    pieces = [TextPiece("text", lines[:400]), TextPiece("cited", "CITED", "t1-a"), TextPiece("text", lines[400:])]
    first, rest = parted(pieces, 300)
    assert first[-1].text.endswith("\n")
    assert sum(len(piece.text) for piece in first) <= 300
    assert "".join(piece.text for piece in [*first, *rest]) == "".join(piece.text for piece in pieces)
    assert [piece.kind for piece in rest] == ["text", "cited", "text"]
    assert parted(pieces, 500) == (pieces, [])
