"""The fast lane writes what the general emitter writes, or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_wiki.wiki.yaml_syntax import dump_any_yaml, dump_yaml
from tests.wiki.test_yaml_syntax import ODD_TEXTS, TEXTS, VALUES

SHORT = st.text(st.sampled_from("ab0-?:,[]{}#&*!|>'\"%@`. \\/~=<yn_é"), max_size=6)


@given(st.dictionaries(TEXTS | SHORT, VALUES | SHORT | st.lists(SHORT) | st.dictionaries(SHORT, SHORT), max_size=6))
@example({"a": {"b": "c: d"}, "e": [{"f": "g, h"}, {}, "i: j"], "k": [[], ["- l"]]})
@example({text: [text] for text in ODD_TEXTS})
def test_what_is_written_is_what_the_general_emitter_writes(mapping: dict[str, Any]) -> None:
    assert dump_yaml(mapping) == dump_any_yaml(mapping)


@pytest.mark.parametrize("frame", ["{}", "a{}b", "{} a", "1 {}"])
def test_every_character_is_written_as_the_general_emitter_does(frame: str) -> None:
    codes = [*range(0x500), *range(0x1FF0, 0x2070), *range(0xD7F0, 0xD800), *range(0xFEF0, 0x10010)]
    for text in [frame.replace("{}", chr(code)) for code in codes]:
        assert dump_yaml({"block": text}) == dump_any_yaml({"block": text})
        assert dump_yaml({"flow": [text], text[:40]: 1}) == dump_any_yaml({"flow": [text], text[:40]: 1})
