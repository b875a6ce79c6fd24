"""Tests that run on request alone, for what they start is not everywhere and takes long."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest


def mark_on_request(config: pytest.Config, items: Iterable[pytest.Item], folder: Path, name: str, reason: str) -> None:
    """Mark every test of a folder with `name`, and skip it where nobody asked for that mark."""
    is_asked_for = name in str(config.option.markexpr)
    for item in items:
        if str(item.path).startswith(f"{folder}{os.sep}"):  # `parents` of all tests would take long
            item.add_marker(name)
            if not is_asked_for:
                item.add_marker(pytest.mark.skip(reason=reason))
