"""Says what the tests in a browser lack on this machine, and ends with 1 if they lack anything."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec

from tests.browser.conftest import BROWSERS

_MODULES = ("playwright", "axe_playwright_python")


def missing() -> list[str]:
    """What is not there."""
    lacking = [name for name in _MODULES if find_spec(name) is None]
    return lacking if any(map(shutil.which, BROWSERS)) else [*lacking, "a Chromium on the path"]


def main() -> int:
    """Print it."""
    lacking = missing()
    if lacking:
        print(f"it needs {', '.join(lacking)}")  # noqa: T201
    return int(bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
