"""Markdown of pages as HTML: nothing in it is live but links to pages of the wiki."""

from __future__ import annotations

import pytest

from agent_wiki.site.markdown import html_of, line_html, spoken_html


def _html(text: str, turns_at: str | None = None) -> str:
    return str(html_of(text, {"other.md": "other.html"}.get, turns_at)).strip()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](https://example.com/a)", "<p>x (https://example.com/a)</p>"),
        ("<https://example.com>", "<p>https://example.com</p>"),
        ("![alt](https://example.com/a.png)", "<p>alt</p>"),
        ("[x](other.md)", '<p><a href="other.html">x</a></p>'),
        ("[x](gone.md)", "<p>x</p>"),
        ("[x]\n\n[x]: https://example.com", "<p>x (https://example.com)</p>"),
        ("# Big\n", "<h3>Big</h3>"),
        ("a\u202eb", "<p>a\\u202eb</p>"),
    ],
)
def test_what_a_page_says_is_shown_and_not_live(text: str, shown: str) -> None:
    assert _html(text) == shown


def test_a_table_has_no_inline_style() -> None:
    assert _html("| a | b |\n|---|---:|\n| 1 | 2 |").count('class="number"') == 2
    assert "style" not in _html("| a |\n|---:|\n| 1 |")


def test_turns_lead_to_the_session_but_not_within_code_or_links() -> None:
    assert _html("in T8, `T9`, [T10](other.md)", "s.html") == (
        '<p>in <a href="s.html#t8" class="turn">T8</a>, <code>T9</code>, <a href="other.html">T10</a></p>'
    )
    assert "<a" not in _html("in T8")


def test_a_title_has_code_and_nothing_else() -> None:
    assert str(line_html("use `a<b>` & <i>")) == "use <code>a&lt;b&gt;</code> &amp; &lt;i&gt;"


def test_a_line_leads_to_the_turns_that_its_page_has() -> None:
    shown = str(line_html("see T2, `T1` and T3", 2))
    assert shown == 'see <a class="turn" href="#t2">T2</a>, <code>T1</code> and T3'


def test_what_was_said_has_code_bold_words_and_headings_and_nothing_else() -> None:
    said = "# Plan\nuse `a<b>` **now** <i>\n```sh\nrm **x** `y` <b>\n```\nthen ``` and [x](https://example.com)"
    assert str(spoken_html(said)) == (
        "<strong>Plan</strong>\nuse <code>a&lt;b&gt;</code> <strong>now</strong> &lt;i&gt;\n"
        '<code class="block">rm **x** `y` &lt;b&gt;</code>then ``` and [x](https://example.com)'
    )
    assert str(spoken_html("```\nnot closed **a** `b")) == "```\nnot closed <strong>a</strong> `b"
