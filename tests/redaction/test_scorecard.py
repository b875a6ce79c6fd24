"""How many of the planted secrets are found in each form in which recordings hold them."""

from __future__ import annotations

import pytest

from agent_wiki.redaction.redact import redact_text
from tests.planted import HARMLESS, forms, given_secrets, private_key, vendor_keys


def _planted() -> list[tuple[str, str]]:
    keys = [(f"token {key}", key) for key in vendor_keys().values()]
    return [*keys, *given_secrets(), (private_key(), private_key())]


def _left(form: str) -> list[str]:
    """The planted texts that still hold at least half of their secret."""
    change = forms()[form]
    found = []
    for text, secret in _planted():
        shown = redact_text(change(text, secret))[0]
        if any(part in shown for part in (secret[: len(secret) // 2], secret[-(len(secret) // 2) :])):
            found.append(text)
    return found


def test_there_are_at_least_eighty_kinds() -> None:
    assert len(_planted()) >= 80


@pytest.mark.parametrize("form", list(forms()))
def test_recall(form: str) -> None:
    left = _left(form)
    assert len(left) <= 0.02 * len(_planted()), left


@pytest.mark.parametrize("form", list(forms()))
def test_what_only_looks_like_a_secret_stays_in_each_form(form: str) -> None:
    for text in HARMLESS:
        shown = forms()[form](text, text.split()[0])
        assert redact_text(shown) == (shown, 0)
