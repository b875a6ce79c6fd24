"""YAML keeps the meaning its author saw, here and in a YAML 1.1 parser."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from agent_wiki.wiki.yaml_syntax import compose_yaml, dump_yaml, load_yaml

ODD_TEXTS = (
    "no", "off", "y", "Null", "~", "", "123456", "1.10", "1e5", "0x10", "0o17", "1_000", "1:30", "+1", ".5", "1.",
    "2026-06-10", "2026-06-10T10:00:00Z", "`x`", "@x", r"\d+", "a: b", "a #b", "#c", "| x |", "- x", "? x", "---",
    "...", "<<", "=", "!x", "&a", "*a", "%x", "a\r\nb", "a\rb", "a\nb\n", "\ta", " a", "a ", "😀", "שלום", "\u202ex",
    "\x00", "\x1b[0m", "\x7f", "\x85", "\u2028", "\ufeff", "\uffff", '"', "'", "{a: 1}", "[a]", "a" * 300,
)  # fmt: skip

TEXTS = st.sampled_from(ODD_TEXTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda each: st.lists(each, max_size=4) | st.dictionaries(TEXTS, each, max_size=4), max_leaves=12
)


@given(st.dictionaries(TEXTS, VALUES, max_size=6))
@example({"count": 10**30, "small": -(10**19), "tiny": 1e-7, "large": 1e16})
def test_what_is_dumped_is_read_back_with_types(mapping: dict[str, Any]) -> None:
    assert load_yaml(dump_yaml(mapping)) == (mapping or {})
    assert _typed(load_yaml(dump_yaml(mapping))) == _typed(mapping)


def _typed(value: Any) -> Any:
    """A value with its types spelled out, for 1 == True == 1.0."""
    if isinstance(value, dict):
        return {name: _typed(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_typed(each) for each in value]
    return (type(value).__name__, value)


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_a_yaml_1_1_parser_reads_our_texts_as_texts(text: str) -> None:
    assert yaml.safe_load(dump_yaml({"field": text, "list": [text]})) == {"field": text, "list": [text]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: no", "no"), ("a: 5", 5), ("a: -5", -5), ("a: 1.5", 1.5), ("a: true", True), ("a: null", None),
        ("a: 2026-06-10", "2026-06-10"), ("a: 007", "007"), ("a: '5'", "5"), ('a: "true"', "true"), ("a: 1:30", "1:30"),
        ("a:", None), ("a: 1e5", "1e5"), ("a: 12345678901234567890123", 12345678901234567890123),
    ],
)  # fmt: skip
def test_plain_scalars_mean_what_a_person_reads(text: str, value: Any) -> None:
    assert _typed(load_yaml(text)["a"]) == _typed(value)


def test_a_number_too_long_for_a_number_stays_text() -> None:
    assert load_yaml("a: " + "9" * 5_000)["a"] == "9" * 5_000


def test_verified_at_is_a_date_for_other_tools_and_text_for_us() -> None:
    dumped = dump_yaml({"verified_at": "2026-06-10"})
    assert dumped == "verified_at: 2026-06-10\n"
    assert load_yaml(dumped) == {"verified_at": "2026-06-10"}


def test_a_field_is_one_line_and_a_list_of_mappings_one_line_each() -> None:
    entries = [{"turn": 1, "quote": "a\nb"}, {"turn": 2, "quote": "c"}]
    assert dump_yaml({"tags": ["a", "b"], "evidence": entries}) == (
        'tags: [a, b]\nevidence:\n- {turn: 1, quote: "a\\nb"}\n- {turn: 2, quote: c}\n'
    )


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert load_yaml(dump_yaml({"a": "x\ud800y"})) == {"a": "x\ufffdy"}


def test_aliases_that_stand_for_too_much_are_refused_and_a_few_are_not() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    with pytest.raises(yaml.YAMLError, match="stand for more than 100,000 values"):
        load_yaml("\n".join(lines))
    assert load_yaml("\n".join(lines[:2]))["a1"] == [["x"] * 9] * 9


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a [[{c: [*a]}]]"])
def test_an_alias_inside_of_what_it_stands_for_is_refused(text: str) -> None:
    with pytest.raises(yaml.YAMLError, match="inside of what it stands for"):
        load_yaml(text)


@pytest.mark.parametrize("text", ["a: [", "a: 'x", "[a]: 1", "a: *none", "\tx: 1"])
def test_damaged_yaml_is_an_error_with_a_place(text: str) -> None:
    with pytest.raises(yaml.MarkedYAMLError):
        load_yaml(text)


def test_marks_give_the_place_of_a_value() -> None:
    node = compose_yaml("a: 1\nb:\n  c: 2\n")
    assert isinstance(node, yaml.MappingNode)
    assert [key.start_mark.line for key, _ in node.value] == [0, 1]
