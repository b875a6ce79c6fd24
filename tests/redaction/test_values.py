"""Values of any depth are redacted, and where their secrets stood is said without them."""

from __future__ import annotations

import pytest

from agent_wiki.redaction.redact import redact_text
from agent_wiki.redaction.values import redact_value
from tests.planted import HARMLESS, given_secrets, private_key, vendor_keys

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


def test_each_planted_secret_is_found_among_other_texts_as_it_is_alone() -> None:
    around = {"key_turns": [{"text": "passed"}], "author": "see https://example.com", "input_tokens": 3}
    for planted in (*vendor_keys().values(), *(text for text, _ in given_secrets()), private_key()):
        alone, count = redact_text(planted)
        redacted, _ = redact_value({**around, "quote": [planted, "plain"]})
        assert (redacted["quote"][0], count > 0) == (alone, True)


@pytest.mark.parametrize(
    ("said", "is_secret"),
    [
        ("Password root: `{}`", True),
        ("Poi inserisci la password (`{}`)", True),
        ("the password for the till user: **`{}`**", True),
        ("password regex: `[A-Z0-9]+`", False),
        ("password hashing with: `Argon2id`", False),
    ],
)
def test_a_password_that_is_given_in_words_and_backticks_is_one(said: str, *, is_secret: bool) -> None:
    given = "Till" + "2024!"
    redacted, _ = redact_text(said.format(given))
    assert (given not in redacted) is (is_secret or given not in said.format(given))
    assert ("[REDACTED:password" in redacted) is is_secret
