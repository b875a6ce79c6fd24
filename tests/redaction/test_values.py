"""Values of any depth are redacted, and where their secrets stood is said without them."""

from __future__ import annotations

from agent_wiki.redaction.values import redact_value
from tests.planted import HARMLESS, vendor_keys

KEY = vendor_keys()["github"]


def test_texts_names_and_values_of_names_for_secrets_are_redacted_with_their_place() -> None:
    value = {"a": [1, {"b": f"use {KEY}"}], "password": "x9$kQ2v!mZ", KEY: (None, "kept")}
    redacted, found = redact_value(value)
    assert redacted == {
        "a": [1, {"b": "use [REDACTED:github-token]"}],
        "password": "[REDACTED:password]",
        "[REDACTED:github-token]": (None, "kept"),
    }
    assert sorted(map(str, found)) == [
        "a secret (github-token) was redacted",
        "a.1.b: a secret (github-token) was redacted",
        "password: a secret (password) was redacted",
    ]
    assert redact_value(redacted) == (redacted, [])


def test_what_has_no_secret_is_the_same_object() -> None:
    value = {"texts": HARMLESS, "more": {"name": "[REDACTED:github-token]"}}
    redacted, found = redact_value(value)
    assert (redacted is value, found) == (True, [])
