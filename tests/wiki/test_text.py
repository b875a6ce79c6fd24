"""Text from a recording stays text, whatever it holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_wiki.wiki.text import plain_line, with_cut_paths, without_links

_HOSTILE = st.text(st.sampled_from("ab `\\<>[]()#*-!\n\r\t\x1b\x00\u202e|=_:/hwtps.&;") | st.characters(), max_size=120)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("two\nlines\r\nhere", "two lines here"),
        ("\x1b[31mred\x1b[0m and \x1b]0;title\x07bell", "red and bell"),
        ("# heading", "heading"),
        ("> - 1. nested marks", "nested marks"),
        ("<script>alert(1)</script>", "‹script>alert(1)‹/script>"),
        ("[click](https://example.org/a)", "[click] (example.org/a)"),
        ("see https://www.example.org/x now", "see example.org/x now"),
        ("a `span` and `open", "a `span` and open"),
        ("```sh\nls\n```", "`sh ls `"),
        ("a < b and x <- y", "a < b and x <- y"),
        ("the `Vec` of **bold**", "the `Vec` of bold"),
        ("hid\u202eden\u200b", "hidden"),
        ("", ""),
        (" \n\t ", ""),
    ],
)
def test_a_line_is_plain(text: str, line: str) -> None:
    assert plain_line(text, 200) == line


def test_a_long_line_is_cut_at_a_word() -> None:
    assert plain_line("one two three four", 14) == "one two three…"
    assert plain_line("x" * 500, 10) == "x" * 9 + "…"


@given(_HOSTILE, st.integers(min_value=1, max_value=80))
@example("\\`<b>`", 40)
@example("`" * 7 + "<i>", 40)
@example("[a]**(http:/https:///b)", 40)
def test_nothing_in_a_line_can_act(text: str, most: int) -> None:
    line = plain_line(text, most)
    assert len(line) <= most
    assert line == line.strip()
    assert line.count("`") % 2 == 0
    assert not re.search(r"[\x00-\x1f\x7f]", line)
    outside_code = "".join(line.split("`")[::2])
    assert not re.search(r"<[A-Za-z/!?]", outside_code)
    assert "](" not in line
    assert "://" not in line or not re.search(r"https?://", line)
    assert not re.match(r"#{1,6} |> |- |\d\. ", line)


_ORDINARY = st.text(st.sampled_from("ab 10.)`:/w-+=#"), max_size=30)


@given(_ORDINARY, st.integers(min_value=1, max_value=40))
@example("1. a mark", 40)
@example("123) a mark", 40)
@example("10.", 40)
@example("0123-45", 40)
@example("a  b", 40)
def test_text_that_is_plain_already_is_what_cleaning_would_make_of_it(text: str, most: int) -> None:
    assert plain_line(text, most) == plain_line(f"\u200b{text}", most)


@given(st.text("[](:)a ", max_size=12))
@example("[[[[")
@example("0 ` 0")
@example("0 ** 0")
def test_a_plain_line_is_one_at_once(text: str) -> None:
    line = plain_line(text, 100)
    assert plain_line(line, 100) == line


def test_a_megabyte_on_one_line_takes_no_time() -> None:
    for unit in ("[", "`", "<a ", "\x1b]", "# ", "a" * 3 + " "):
        assert len(plain_line(unit * 400_000, 200)) <= 200


def test_two_stars_in_a_code_span_are_no_emphasis() -> None:
    assert plain_line("**Leave out** `docs/**` and `**/dist`", 80) == "Leave out `docs/**` and `**/dist`"
    assert plain_line("open ` and **b**", 80) == "open and b"


def test_a_link_is_shown_by_its_name_also_where_the_end_of_the_text_cuts_it() -> None:
    assert without_links("see [the plan](/Users/dev/plan.md:22) and ![it](a.png) [x]") == "see the plan and it [x]"
    assert without_links("lines of [code-tour/SKILL.md](/Users/dev/work") == "lines of code-tour/SKILL.md"


@pytest.mark.parametrize("text", ["=`", "-`", "1.`", "]`[", "**#", "`- a", "**|", "`\\\\`"])
def test_a_mark_that_others_had_hidden_is_none_either(text: str) -> None:
    line = plain_line(text, 80)
    assert plain_line(line, 80) == line


def test_brackets_in_a_code_span_are_kept_and_others_open_nothing() -> None:
    assert plain_line("Test it with `[[ -f x ]] && a[1](b)`, not [[x]] or [a]: b", 200) == (
        "Test it with `[[ -f x ]] && a[1](b)`, not [ [x]] or [a]: b"
    )
    assert plain_line("[a]: b", 9) == "[a] : b"  # which gives a link its address
    assert plain_line("an open `[[ -f x", 200) == plain_line("an open [[ -f x", 200)


@pytest.mark.parametrize(
    ("path", "cut"),
    [
        ("/home/kim/shop/src/cart.py", "…/shop/src/cart.py"),
        ("/mnt/c/Users/kim/shop/src/cart.py", "…/kim/shop/src/cart.py"),
        ("/private/var/root/shop/cart.py", "…/var/root/shop/cart.py"),
    ],
)
def test_a_path_is_cut_at_its_folders(path: str, cut: str) -> None:
    assert with_cut_paths(f"see {path}") == f"see {cut}"
