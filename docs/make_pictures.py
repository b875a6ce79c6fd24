"""Makes the README's pictures of the site from the example: `python docs/make_pictures.py`.

It needs what the browser tests need (tests/browser/conftest.py).
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from agent_wiki.site.build import build_site

_ROOT = Path(__file__).resolve().parent.parent
_IMAGES = _ROOT / "docs" / "images"
_EXAMPLE = _ROOT / "wiki-example"
_SIZE = {"width": 1200, "height": 720}
_SHOWN = {
    "site-page.png": ("guidelines/always-parse-csv-with-the-csv-module__caf16d1e74d4.html", "light", ""),
    "site-session.png": ("sessions/24644a62-1b82-555d-a7f3-a364d0719ecb.html", "dark", "#t8"),
}
"""Picture → page, colour scheme, and the place in the page that is at its top."""


def main() -> None:
    """Build the example's site and take both pictures."""
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = Path(folder) / "site"
        build_site(_EXAMPLE / "wiki", site, [_EXAMPLE / "traces"], is_published=False)
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for name, (page, scheme, place) in _SHOWN.items():
            tab = browser.new_page(viewport=_SIZE, color_scheme=scheme)
            tab.goto((site / page).as_uri() + place)
            tab.evaluate("document.activeElement.blur()")
            tab.screenshot(path=_IMAGES / name)
            tab.close()
        browser.close()


if __name__ == "__main__":
    main()
