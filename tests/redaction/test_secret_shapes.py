"""A key's first character is looked at first, which leaves out no key."""

from __future__ import annotations

import base64
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_wiki.redaction.encoded import ENCODED
from agent_wiki.redaction.finding import _PREFIX, _beginning_with
from agent_wiki.redaction.redact import redact_text
from agent_wiki.redaction.secret_shapes import PREFIXED
from agent_wiki.redaction.shapes import SHORTEST_RUN
from tests.planted import _HEX, _LETTERS, _body


@settings(suppress_health_check=list(HealthCheck))
@given(st.data())
def test_each_key_begins_with_a_first_letter_of_its_kind(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(PREFIXED))
    source = vars(shape.pattern)["_asked"][0]
    first, rest = re.match(r"\(\?=\[\w+\]\)", source), re.compile(source.partition("])")[2])
    assert first is not None
    text = data.draw(st.from_regex(rest))
    assert [each.span() for each in shape.pattern.finditer(text)] == [each.span() for each in rest.finditer(text)]


def test_no_prefix_hides_another_behind_what_is_left_of_an_escape() -> None:
    """`cf` and `t` are the ends of escapes: with a kind that begins with `pat-` or `sk`, `cfpat-` would be lost."""
    for shape in (*PREFIXED, ENCODED):
        for literal in shape.literals:
            found = _PREFIX.search(f" {literal.lower()}{'0' * SHORTEST_RUN}")
            assert found is not None
            assert (literal, shape) in _beginning_with(found["begin"])


_KEYS = {
    "google-key": "AQ." + "Ab8R" + _body(_LETTERS + "-_", 46, 1),
    "google-token": "1//" + "0g" + _body(_LETTERS + "-_", 90, 2),
    "twilio-key": "S" + "K" + _body(_HEX, 32, 3),
    "airtable-token": "pa" + "t" + _body(_LETTERS, 14, 4) + "." + _body(_HEX, 64, 5),
    "mail-key": "xkey" + "sib-" + _body(_HEX, 64, 6) + "-" + _body(_LETTERS, 16, 7),
    "stripe-key": "whsec" + "_+/" + _body(_LETTERS + "+/", 30, 8),
    "hosting-token": "fm" + "2_/+" + _body(_LETTERS + "+/", 200, 9),
    "design-token": "CF" + "PAT-" + _body(_LETTERS, 43, 10),
    "aws-key": "AB" + "SK" + base64.b64encode(b"BedrockAPIKey-a1b2-at-123456789012:" + b"aB3/" * 13).decode(),
    "ai-vendor-key": "rp" + "a_" + _body("ABCDEFGH", 42, 11),
}


@pytest.mark.parametrize("kind", list(_KEYS))
def test_a_key_of_a_published_shape_is_found_without_a_name(kind: str) -> None:
    assert redact_text(f"$ cat key.txt\n{_KEYS[kind]}\n") == (f"$ cat key.txt\n[REDACTED:{kind}]\n", 1)
