"""The fast lane reads what the general parser reads and writes what the general emitter writes, or nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from agent_wiki.wiki import yaml_lines
from agent_wiki.wiki.yaml_syntax import dump_any_yaml, dump_yaml, load_any_yaml, load_yaml
from tests.hangs import no_hang
from tests.wiki.test_yaml_syntax import ODD_TEXTS, TEXTS, VALUES

PIECES = st.sampled_from(
    ["a", "b1", "no", "-", "- ", ": ", ":", " ", "  ", "\n", "\n  ", "#", " #", "'", "''", '"', "\\n", "\\x41",
     "[", "]", "{", "}", ", ", ",", "a: 1", "[a, b]", "{a: 1, b: 'x'}", "a:\n", "- {a: b}\n", "x: y\n", "? ", "| ",
     "&a ", "*a", "!t ", "%", "@", "`", "---", "...", "~", "=", "<<: ", "\t", "\r", "é", "😀", "\u2028", "\ufeff", "\0"]
)  # fmt: skip
SHORT = st.text(st.sampled_from("ab0-?:,[]{}#&*!|>'\"%@`. \\/~=<yn_é"), max_size=6)


@given(st.lists(PIECES, max_size=12).map("".join))
@example("a:\n  b: 1\n c: 2\n")
@example("a: 1\n  b: 2\n")
@example("a:\n- x\n  y: 1\n")
@example("a:\n- x\n - y\n")
@example("a: 'x\n  b'\n")
@example("a: x\n  y\n")
@example("a: [b, \n")
@example("a:\n# c\n  b: 1\nd:\n")
@example("a: 1\na:\n- b\na: 2\n")
def test_what_is_read_is_what_the_general_parser_reads(text: str) -> None:
    try:
        wanted = load_any_yaml(text)
    except yaml.YAMLError:
        with pytest.raises(yaml_lines.NotPlain):
            yaml_lines.read(text)
    else:
        assert load_yaml(text) == wanted
        assert repr(load_yaml(text)) == repr(wanted)


@given(st.dictionaries(TEXTS | SHORT, VALUES | SHORT | st.lists(SHORT) | st.dictionaries(SHORT, SHORT), max_size=6))
@example({"a": {"b": "c: d"}, "e": [{"f": "g, h"}, {}, "i: j"], "k": [[], ["- l"]]})
@example({text: [text] for text in ODD_TEXTS})
def test_what_is_written_is_what_the_general_emitter_writes(mapping: dict[str, Any]) -> None:
    assert dump_yaml(mapping) == dump_any_yaml(mapping)
    assert repr(load_yaml(dump_yaml(mapping))) == repr(load_any_yaml(dump_yaml(mapping)))


@pytest.mark.parametrize("frame", ["{}", "a{}b", "{} a", "1 {}"])
def test_every_character_is_written_as_the_general_emitter_does(frame: str) -> None:
    codes = [*range(0x500), *range(0x1FF0, 0x2070), *range(0xD7F0, 0xD800), *range(0xFEF0, 0x10010)]
    for text in [frame.replace("{}", chr(code)) for code in codes]:
        assert dump_yaml({"block": text}) == dump_any_yaml({"block": text})
        assert dump_yaml({"flow": [text], text[:40]: 1}) == dump_any_yaml({"flow": [text], text[:40]: 1})


@pytest.mark.parametrize(
    "text",
    ["a: [" + "b " * 300_000, "a: [" + "b, " * 300_000, "a: {" + "b" * 999_999, "a: {" + "b: c, " * 200_000,
     "a: '" + "'" * 999_999, 'a: "' + "\\" * 999_999, " " * 999_999 + "x", "a: x" + " " * 999_999],
    ids=range(8),
)  # fmt: skip
def test_a_hostile_line_costs_no_more_than_its_length(text: str) -> None:
    with no_hang(), suppress(yaml_lines.NotPlain):
        yaml_lines.read(text)
