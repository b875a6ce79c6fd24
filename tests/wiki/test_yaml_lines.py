"""The fast lane writes what the general emitter writes, or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_wiki.wiki.yaml_syntax import dump_any_yaml, dump_yaml
from tests.wiki.test_yaml_syntax import ODD_TEXTS, TEXTS, VALUES

SHORT = st.text(st.sampled_from("ab0-?:,[]{}#&*!|>'\"%@`. \\/~=<yn_é"), max_size=6)

NUMBER_LIKE = st.text(st.sampled_from("01259abcdefxotTZ-_.:+ "), max_size=12)
CONSTANT_LIKE = st.sampled_from(("yes", "NO", "oN", "Off", "TRUE", "nULL", "y", "N", "t"))


@given(st.lists(NUMBER_LIKE | CONSTANT_LIKE, max_size=6))
@example(["0b101", "0b10c", "12e5", "12e5c", "0o17", "00012-1", "2026-01-02", "2026-01-02t1", "1e-5", "12345-e5"])
@example(["0x1a", "0xg", "no", "nO", "none", "on/off", "y", "Y", "yes ", "true", "null!", "a ", "(", "/ "])
def test_what_looks_like_a_number_or_a_constant_is_quoted_as_the_general_emitter_does(texts: list[str]) -> None:
    mapping = {"flow": texts, **{f"field {position}": text for position, text in enumerate(texts)}}
    assert dump_yaml(mapping) == dump_any_yaml(mapping)


@given(st.dictionaries(TEXTS | SHORT, VALUES | SHORT | st.lists(SHORT) | st.dictionaries(SHORT, SHORT), max_size=6))
@example({"seconds": 240.0, "tiny": 1e-7, "large": 1e16, "items": [0.5, {"half": 0.5}]})
@example({"a": {"b": "c: d"}, "e": [{"f": "g, h"}, {}, "i: j"], "k": [[], ["- l"]]})
@example({text: [text] for text in ODD_TEXTS})
def test_what_is_written_is_what_the_general_emitter_writes(mapping: dict[str, Any]) -> None:
    assert dump_yaml(mapping) == dump_any_yaml(mapping)


@pytest.mark.long
@pytest.mark.parametrize("frame", ["{}", "a{}b", "{} a", "1 {}"])
def test_every_character_is_written_as_the_general_emitter_does(frame: str) -> None:
    codes = [*range(0x500), *range(0x1FF0, 0x2070), *range(0xD7F0, 0xD800), *range(0xFEF0, 0x10010)]
    for text in [frame.replace("{}", chr(code)) for code in codes]:
        assert dump_yaml({"block": text}) == dump_any_yaml({"block": text})
        assert dump_yaml({"flow": [text], text[:40]: 1}) == dump_any_yaml({"flow": [text], text[:40]: 1})
