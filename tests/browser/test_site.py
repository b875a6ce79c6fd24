"""The site in a browser, from disk and over HTTP: it works, nothing hostile runs, and everybody can use it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.site.local import LocalSite, server_of
from agent_wiki.site.search_rows import row_files

CSV_RULE = "guidelines/always-parse-csv-with-the-csv-module__caf16d1e74d4.html"
CSV_SESSION = "sessions/24644a62-1b82-555d-a7f3-a364d0719ecb.html"
EXAMPLE_PAGES = (
    "index.html",
    CSV_RULE,
    CSV_SESSION,
    "guidelines/always-run-the-tests-with-make-test__cluster.html",
    "skills/sum-csv-column.html",
    "tasks/orders-per-customer__task.html",
    "guidelines.html",
    "sessions.html",
    "search.html",
)
RICH_PAGES = ("index.html", "review.html", "sessions/00000000-0000-4000-8000-000000000000.html", "sessions.html")


@contextmanager
def shown(browser: Any, page: Path, **how: Any) -> Iterator[Any]:
    """A page that is open in the browser. What it says on the console, asks of others or pops up fails the test."""
    context = browser.new_context(**how)
    tab = context.new_page()
    trouble: list[str] = []
    tab.on("console", lambda message: trouble.append(message.text))
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on("dialog", lambda dialog: trouble.append(dialog.message))
    tab.on("request", lambda request: trouble.append(request.url) if not request.url.startswith("file:") else None)
    tab.goto(page.as_uri())
    yield tab
    assert trouble == []
    context.close()


@pytest.mark.parametrize("name", EXAMPLE_PAGES)
def test_axe_finds_nothing_on_a_page_of_the_example(browser: Any, axe: str, example: Path, name: str) -> None:
    assert _violations(browser, axe, example / name) == []


@pytest.mark.parametrize("name", RICH_PAGES)
def test_axe_finds_nothing_where_everything_occurs(browser: Any, axe: str, rich: Path, name: str) -> None:
    assert _violations(browser, axe, rich / name) == []


def _violations(browser: Any, axe: str, page: Path) -> list[str]:
    """What axe-core finds on a page in both schemes, with all of it unfolded."""
    tab = browser.new_page()
    tab.goto(page.as_uri())
    if tab.locator("#search").count():
        tab.wait_for_selector("#search[data-ready]")
    tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    tab.evaluate(axe)
    found = tab.evaluate("axe.run()")["violations"]
    tab.emulate_media(color_scheme="dark")  # in which nothing but colours is another
    found += tab.evaluate("axe.run({ runOnly: ['color-contrast'] })")["violations"]
    tab.close()
    nodes = [(each["id"], node) for each in found for node in each["nodes"]]
    return [f"{rule}: {node['html'][:120]} {node['failureSummary'][:200]}" for rule, node in nodes]


@pytest.mark.parametrize("name", [*EXAMPLE_PAGES, "review.html"])
def test_a_phone_shows_all_of_a_page_without_moving_it_sideways(browser: Any, example: Path, name: str) -> None:
    with shown(browser, example / name, viewport={"width": 360, "height": 740}) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_quote_leads_to_its_turn_which_is_open_and_in_sight(browser: Any, example: Path) -> None:
    with shown(browser, example / "skills/sum-csv-column.html") as tab:
        tab.click(".quote a")
        mark = tab.locator("mark:target")
        assert mark.inner_text().startswith("python3 scripts/sum_csv_column.py data/invoices.csv")
        assert mark.evaluate("(each) => each.closest('details').open")
        box = mark.bounding_box()
        assert 0 <= box["y"] <= tab.viewport_size["height"]


def test_the_search_finds_as_one_types_and_filters(browser: Any, example: Path) -> None:
    with shown(browser, example / "index.html") as tab:
        tab.keyboard.press("/")
        tab.keyboard.type("parse csv")
        tab.keyboard.press("Enter")
        tab.wait_for_selector("#search[data-ready]")
        assert tab.input_value("#words") == "parse csv"
        assert tab.inner_text("#results .item-title >> nth=0") == "Always parse CSV with the csv module"
        tab.fill("#words", "csv")
        tab.select_option("select[name=kind]", "skill")
        kinds = {each.partition("\n")[0] for each in tab.locator("#results .marks span:first-child").all_inner_texts()}
        assert kinds == {"skill"}
        tab.fill("#words", "make test")  # the title of which has it as code
        assert tab.locator("#results .item-title", has_text="Always run the tests with make test").count() == 0
        tab.select_option("select[name=kind]", "guideline")
        assert tab.locator("#results .item-title", has_text="Always run the tests with make test").count() == 1
        tab.select_option("select[name=kind]", "skill")
        tab.fill("#words", "sqlit")
        assert tab.inner_text("#results .item-title >> nth=0") == "Load csv into sqlite"
        tab.click("#results .item-title >> nth=0")
        assert "load-csv-into-sqlite" in tab.url


def test_ten_thousand_rows_are_searched_from_disk_and_more_come_in_shards(
    browser: Any, example: Path, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    shutil.copytree(example, site)
    rows = [
        [f"x{n}.html", "guideline", f"Set the {n} of tool {n % 97}", f"`tool{n % 97}` stops", "Some words of the rule.",
         [f"tag-{n % 300}"], "general", [], "tool", "checked", "2026-01-01", ""]
        for n in range(12_000)
    ]  # fmt: skip
    for name, text in row_files(rows):
        (site / name).write_text(text, encoding="utf-8")
    page = (site / "search.html").read_text(encoding="utf-8").replace('data-shards="1"', 'data-shards="2"')
    (site / "search.html").write_text(page, encoding="utf-8")
    with shown(browser, site / "search.html") as tab:
        tab.wait_for_selector("#search[data-ready]", timeout=60_000)
        tab.fill("#words", "tool 11999")
        assert tab.inner_text("#found") == "1 of 12,000 pages"
        seconds = (
            tab.evaluate("() => { const at = performance.now(); search(); return performance.now() - at; }") / 1_000
        )
        assert seconds < 1


def test_a_command_is_copied_by_a_click(browser: Any, rich: Path) -> None:
    with shown(browser, rich / "review.html", permissions=["clipboard-read", "clipboard-write"]) as tab:
        button = tab.locator("#edited").locator("xpath=..").locator("button.copy").first
        button.click()
        tab.wait_for_selector("text=Copied")
        assert tab.evaluate("navigator.clipboard.readText()").startswith("wiki keep guidelines/set-the-")


def test_hostile_text_is_text(browser: Any, rich: Path) -> None:
    with shown(browser, rich / "search.html") as tab:
        tab.wait_for_selector("#search[data-ready]")
        assert tab.locator("#results img").count() == 0
        for page in sorted(rich.rglob("*.html"))[::3]:
            tab.goto(page.as_uri())
            assert tab.locator("img, iframe, script:not([src])").count() == 0
            assert tab.title() != "1"


def test_the_corpus_of_attacks_opens_asks_and_says_nothing(browser: Any, attacked: Path) -> None:
    """Every page, unfolded, and the search with all its rows; `shown` fails on a dialog, a message or a request."""
    with shown(browser, attacked / "search.html") as tab:
        tab.wait_for_selector("#search[data-ready]")
        tab.fill("#words", "script")
        assert tab.locator("#results .item").count() > 0
        for page in sorted(attacked.rglob("*.html")):
            tab.goto(page.as_uri())
            tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            assert tab.locator("img, iframe, base, style, script:not([src]), [onclick], [onerror]").count() == 0
            assert tab.title() != "ran"


def test_the_policy_stops_what_would_be_injected(browser: Any, example: Path) -> None:
    context = browser.new_context()
    tab = context.new_page()
    tab.goto((example / "index.html").as_uri())
    tab.evaluate("""() => {
        const made = document.createElement('script');
        made.textContent = 'window.ran = true';
        document.head.append(made);
        document.body.setAttribute('onclick', 'window.ran = true');
        document.body.click();
        return fetch('https://example.com').catch(() => null);
    }""")
    assert tab.evaluate("window.ran") is None
    context.close()


def test_the_keyboard_reaches_everything(browser: Any, example: Path) -> None:
    with shown(browser, example / CSV_RULE) as tab:
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
        tab.keyboard.press("Enter")
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.closest('main') !== null")


def test_it_prints_without_what_only_a_screen_needs(browser: Any, example: Path) -> None:
    with shown(browser, example / CSV_RULE) as tab:
        tab.emulate_media(media="print")
        assert not tab.is_visible(".find")
        assert not tab.is_visible("button.copy >> nth=0")
        assert tab.is_visible("h1")


def test_it_works_over_http_and_follows_the_wiki(browser: Any, tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    shutil.copytree(Path(__file__).parents[2] / "wiki-example" / "wiki", wiki)
    server = server_of(LocalSite(wiki), 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        tab = browser.new_page()
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(f"http://127.0.0.1:{server.server_port}/")
        tab.fill("#find", "csv")
        tab.press("#find", "Enter")
        tab.wait_for_selector("#search[data-ready]")
        assert tab.locator("#results .item").count() > 3
        assert all(each.startswith(f"http://127.0.0.1:{server.server_port}/") for each in asked)
        tab.close()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
