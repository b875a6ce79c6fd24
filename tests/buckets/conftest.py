"""Fixtures of tests that need a bucket."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wikis import Script


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)
