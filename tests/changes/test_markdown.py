"""Text of a recording in a pull request's body: it is shown, and nothing in it acts."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.changes.markdown import Links, inert
from agent_wiki.errors import UsageError

NO_WIDTH = "\u200b"


def _as_read(markdown: str) -> str:
    """The text that a service takes references from: after entities and escapes."""
    return html.unescape(re.sub(r"\\([^\w\s])", r"\1", markdown))


@pytest.mark.parametrize(
    "text",
    [
        "thanks @octocat",
        "fixes #12",
        "closes owner/repository#12",
        "resolves GH-12 and gh-12",
        "closes KEY-12",
        "implements !12, $12, &12, %12, ~12 and ^12",
        '~"a label" and @{u}',
        "[issue:12] [vulnerability:3]",
        "mail somebody@example.org",
        "see https://example.org/x and _www.example.org",
    ],
)
def test_nothing_refers_to_anything(text: str) -> None:
    for shown in (inert(text, 200), _as_read(inert(text, 200))):
        assert not re.search(r"[@#!&~%^](?!#?\w+;)[\w\"{]|\$\d|(?i:gh|key)-\d|\w:\d|www\.|://", shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!-- hidden -->", "‹!&#8203;-- hidden --&gt;"),
        ("<img src=x>", "‹img src=x&gt;"),
        ("# A heading", "A heading"),
        ("/close\nand so on", "/close and so on"),
        ("a | b", r"a \| b"),
        ("`make` **now** _x_", r"\`make\` now \_x\_"),
        ("![an image](http://x.example/y)", "!\\[an image\\] (x.example/y)"),
        ("a\x1b[31m red\u202e\u2028 line", "a red line"),
        ("&lt;b&gt;", "&amp;&#8203;lt;b&amp;&#8203;gt;"),
        ("costs $5", "costs &#36;&#8203;5"),
    ],
)
def test_markup_is_shown_as_it_is_written(text: str, shown: str) -> None:
    assert inert(text, 200) == shown


def test_words_stay_as_they_are() -> None:
    text = "Run the tests in src/app.py, then 3 of 4 pass (80%)."
    assert inert(text, 200) == text
    assert _as_read(inert("npm i @types/node", 200)).replace(NO_WIDTH, "") == "npm i @types/node"


def test_secrets_are_removed() -> None:
    assert "ghp_" not in inert("token: ghp_" + "a1B2" * 9, 200)


@given(st.text(alphabet="@#<`|&$_*a1 \\-[]\n"), st.integers(1, 60))
def test_a_text_is_one_line_of_bounded_length_that_no_escape_is_cut_out_of(text: str, most: int) -> None:
    shown = inert(text, most)
    assert len(shown) <= most
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)(?:\\\\)*\\(?:…|$)|&(?!(?:amp|lt|gt|#36|#8203);)", shown)


def test_a_long_text_is_not_read_to_its_end() -> None:
    assert len(inert("@x " * 100_000, 300)) <= 300


def test_links_go_below_the_address_and_without_one_paths_are_named() -> None:
    links = Links("https://example.org/o/r/blob/main/", "docs/wiki/")
    assert links.to("a b).md", "page") == "[page](https://example.org/o/r/blob/main/docs/wiki/a%20b%29.md)"
    assert Links("", "docs/wiki/").to("guidelines/a__1.md", "page") == "page `docs/wiki/guidelines/a__1.md`"
    assert Links("", "").to("a*b @c.md") == r"a\*b @&#8203;c.md"


@pytest.mark.parametrize(
    "base", ["javascript:alert(1)", "https://x.example/a)b", "https://x.example/?q", "https://" + 600 * "a"]
)
def test_an_address_that_could_end_a_link_is_refused(base: str) -> None:
    with pytest.raises(UsageError, match="--link-base"):
        Links(base, "")
