"""`_config.yaml` keeps what a person wrote, comments included."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.errors import RunError
from agent_wiki.wiki.config import CLUSTERS, TAGS, TASKS, is_stage_made, parse_config, signed
from agent_wiki.wiki.config_edits import edit_config
from agent_wiki.wiki.yaml_syntax import dump_yaml, load_yaml

DEFAULT = """\
schema_version: 1

# Tags of guidelines.
tags:
  guideline: {}
  # an example

# Clusters.
clusters: {}  # none yet
  # slug:
  #   title: x
tasks: {}
"""


def test_an_entry_is_added_and_taken_out_again_to_the_same_bytes() -> None:
    added = edit_config(DEFAULT, TAGS, {"04474b0794e6": ["exif", "no"]})
    assert "    04474b0794e6: [exif, 'no']\n  # an example" in added
    assert parse_config(added).tags == {"04474b0794e6": ["exif", "no"]}
    assert edit_config(added, TAGS, {"04474b0794e6": None}) == DEFAULT


def test_comments_on_the_line_and_below_survive() -> None:
    added = edit_config(DEFAULT, CLUSTERS, {"b": {"title": "B", "members": ["x"]}})
    assert "clusters:  # none yet\n  b:\n" in added
    assert "  # slug:\n" in added
    assert parse_config(added).clusters == {"b": {"title": "B", "members": ["x"]}}


def test_entries_are_in_sorted_order_and_comments_stay_with_their_entry() -> None:
    text = (
        "clusters:\n  b: {title: B}\n  # about d\n  d:\n    title: D\n"
        "    description: |\n      two\n      lines\n\ntasks: {}\n"
    )
    added = edit_config(text, CLUSTERS, {"c": {"title": "C"}, "a": {"title": "A"}, "e": {"title": "E"}})
    names = [line.strip() for line in added.splitlines() if line.startswith("  ") and not line.startswith("    ")]
    assert names == ["a: {title: A}", "b: {title: B}", "c: {title: C}", "# about d", "d:", "e: {title: E}"]
    assert parse_config(added).clusters["d"]["description"] == "two\nlines\n"
    assert edit_config(added, CLUSTERS, {"c": None, "a": None, "e": None}) == text


def test_an_entry_is_replaced_by_whole_lines() -> None:
    text = "tasks:\n  x:\n    title: X\n    findings: old\n  y: {title: Y}  # mine\n"
    edited = edit_config(text, TASKS, {"x": {"title": "X2"}})
    assert edited == "tasks:\n  x: {title: X2}\n  y: {title: Y}  # mine\n"


def test_missing_sections_and_an_empty_file_are_made() -> None:
    assert parse_config(edit_config("", TAGS, {"a": ["t"]})).tags == {"a": ["t"]}
    assert parse_config(edit_config("# only a comment\n", TAGS, {"a": ["t"]})).tags == {"a": ["t"]}
    assert parse_config(edit_config("tags:\n", TAGS, {"a": ["t"]})).tags == {"a": ["t"]}
    assert parse_config(edit_config("tags: {}\n", TAGS, {"a": ["t"]})).tags == {"a": ["t"]}


def test_a_flow_mapping_a_person_wrote_keeps_its_entries() -> None:
    edited = edit_config("tags: {guideline: {z: [q]}}\nother: 1\n", TAGS, {"a": ["t"]})
    assert parse_config(edited).tags == {"a": ["t"], "z": ["q"]}
    assert edited.endswith("other: 1\n")


def test_only_an_untouched_stage_entry_counts_as_stage_made() -> None:
    entry = signed({"title": "T", "members": ["a", "b"]}, "consolidate-clusters", "offline")
    assert is_stage_made(entry)
    assert not is_stage_made({**entry, "title": "mine"})
    assert not is_stage_made({"title": "T"})


@pytest.mark.parametrize("text", ["a: [", "- x", "clusters: 3", "\ta: 1"])
def test_a_damaged_config_stops_the_run_with_its_place(text: str) -> None:
    with pytest.raises(RunError, match=r"_config\.yaml"):
        parse_config(text)


@pytest.mark.parametrize("section", ["clusters", "tasks"])
@pytest.mark.parametrize(
    "name", ["../../x", "/etc/x", "x/y", "x\\y", "..", ".x", "", " ", "-x", "a\0b", "a\nb", "x" * 300]
)
def test_a_name_that_leads_elsewhere_is_refused_with_its_line_and_a_better_one(section: str, name: str) -> None:
    text = dump_yaml({"schema_version": 1, section: {"fine": {"title": "t"}, name: {"title": "t", "members": []}}})
    with pytest.raises(
        RunError, match=rf"_config\.yaml:4: {section}: .* cannot be the name of a page; name it '[a-z-]+'"
    ):
        parse_config(text)


def test_two_names_that_differ_by_case_alone_are_refused() -> None:
    with pytest.raises(RunError, match=r"_config\.yaml:3: tasks: 'Cart' differs from 'cart' by case alone"):
        parse_config("tasks:\n  cart: {title: t}\n  Cart: {title: t}\n")
    assert set(parse_config("tasks: {größe_1.2: {}, A B: {}}\nclusters: {Cart: {}}\n").tasks) == {"größe_1.2", "A B"}


_NAMES = st.text("abcdefno0123456789-", min_size=1, max_size=6)
_TAGS = st.lists(
    st.sampled_from(["no", "a: b", "`x`", "@x", r"\d+", "1.10", "2026-01-01", "#c", "é😀", "null", ""]), max_size=3
)


@given(st.dictionaries(_NAMES, _TAGS, max_size=8), st.dictionaries(_NAMES, st.none() | _TAGS, max_size=8))
def test_edits_parse_back_and_order_does_not_matter(
    first: dict[str, list[str]], second: dict[str, list[str] | None]
) -> None:
    text = edit_config(edit_config(DEFAULT, TAGS, first), TAGS, second)
    wanted = {name: value for name, value in {**first, **second}.items() if value is not None}
    assert parse_config(text).tags == wanted
    assert text == edit_config(DEFAULT, TAGS, dict(reversed(wanted.items())))


def test_the_last_entry_of_a_flow_section_is_removed_and_the_rest_is_kept() -> None:
    text = "tags: {guideline: {a1: [x]}, mine: {b: c}}  # ours\n"
    emptied = edit_config(text, ("tags", "guideline"), {"a1": None})
    assert load_yaml(emptied) == {"tags": {"guideline": {}, "mine": {"b": "c"}}}
    added = edit_config(text, ("tags", "guideline"), {"a2": ["y"]})
    assert load_yaml(added) == {"tags": {"guideline": {"a1": ["x"], "a2": ["y"]}, "mine": {"b": "c"}}}
    assert load_yaml(edit_config("clusters: {a: {b: c}}\n", ("clusters",), {"a": None})) == {"clusters": {}}
