"""What redaction replaces in a call's arguments is what a search of the recording names."""

from __future__ import annotations

import base64
import json

import pytest

from agent_wiki.redaction.places import json_spans
from agent_wiki.redaction.redact import redact_json
from tests.planted import HARMLESS, vendor_keys

SECRET = "Tr0ub4dor-" + "Hh7mQ2xW"

ARGUMENTS: list[object] = [
    {"args": ["-y", "server", "--api-key", "aB3dE5gH7jK9" + "mN1pQ3zz"]},
    {"argv": ["tool", "--password", SECRET]},
    {"auth": {"user": "ann", "pass": SECRET}},
    {"headers": {"Authorization": "Basic " + base64.b64encode(b"ann:Tr0ub4dor7").decode()}},
    {"headers": {"Cookie": "theme=dark; sid=k9XcN2OPmeM7jvqPVS4tNKiaEdF8" + "rRgSnRFs8KqZ"}},
    {"env": [{"name": "DB_PASSWORD", "value": SECRET}]},
    {"password": SECRET, "note": vendor_keys()["github"]},
]


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_what_only_several_strings_of_a_call_give_away_is_named_in_its_recording(arguments: object) -> None:
    written = json.dumps(arguments)
    count = redact_json(written)[1]
    assert count
    call, inside = {"type": "tool_use", "input": arguments}, {"function": {"arguments": written}}
    for line in (json.dumps({"message": {"role": "assistant", "content": [each]}}) for each in (call, inside)):
        spans = json_spans(line)
        assert len(spans) == count
        assert spans == sorted(spans)
        assert not any('"' in line[start:end] for start, end, _ in spans)
        shown = line
        for start, end, kind in reversed(spans):
            shown = f"{shown[:start]}[REDACTED:{kind}]{shown[end:]}"
        assert json_spans(shown) == []
        assert json.loads(shown)


def test_what_one_turn_says_is_not_about_the_next() -> None:
    for text in HARMLESS:
        assert json_spans(json.dumps({"messages": [{"role": "user", "content": text}, {"role": "assistant"}]})) == []


@pytest.mark.parametrize("hidden", ["\u2060", "\u200b", "\u00ad", "\ufeff", "\U000e0041"])
@pytest.mark.parametrize("at", [3, 12])
def test_a_key_that_the_escape_of_an_unseen_character_divides_is_found(hidden: str, at: int) -> None:
    key = vendor_keys()["github"]
    text = json.dumps({"o": f"{key[:at]}{hidden}{key[at:]}"})
    assert text.isascii()
    assert redact_json(text) == ('{"o": "[REDACTED:github-token]"}', 1)
    assert redact_json(json.dumps({"call": text}))[1] == 1
    assert len(json_spans(json.dumps({"call": text}))) == 1


def test_the_escape_of_an_emoji_hides_nothing() -> None:
    text = json.dumps({"o": "\u26a0\ufe0fpassword: required \u200b then\u200b"})
    assert redact_json(text) == (text, 0)
