"""Tests that run on request alone, for what they start is not everywhere and takes long."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
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


def leaves_out_long_tests(config: pytest.Config) -> bool:
    """Whether this is a run of all tests, in which those marked `long` are left out. Of a named file they all run."""
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.markexpr


def without_long_tests(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The others, in their order."""
    return [item for item in items if item.get_closest_marker("long") is None]
