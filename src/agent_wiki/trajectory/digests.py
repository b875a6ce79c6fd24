"""The SHA-256 of a text and of JSON values: by what things are known that have no other name."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def sha256_of(text: str) -> str:
    """64 hex digits; a surrogate, which UTF-8 has not, counts as a question mark."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def sha256_of_values(values: Any) -> str:
    """`sha256:…` over values as JSON, whatever the order of their keys."""
    return f"sha256:{sha256_of(json.dumps(values, sort_keys=True, ensure_ascii=False))}"
