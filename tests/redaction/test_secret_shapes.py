"""A key's first character is looked at first, which leaves out no key."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_wiki.redaction.secret_shapes import PREFIXED


@settings(suppress_health_check=list(HealthCheck))
@given(st.data())
def test_each_key_begins_with_a_first_letter_of_its_kind(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(PREFIXED))
    source = vars(shape.pattern)["_asked"][0]
    first, rest = re.match(r"\(\?=\[\w+\]\)", source), re.compile(source.partition("])")[2])
    assert first is not None
    text = data.draw(st.from_regex(rest))
    assert [each.span() for each in shape.pattern.finditer(text)] == [each.span() for each in rest.finditer(text)]
