"""The site on this machine: shown under loopback's names alone, made again when the wiki has changed."""

from __future__ import annotations

import http.client
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from agent_wiki.commands import main
from agent_wiki.pipeline.forget_machinery import cached_files
from agent_wiki.pipeline.known_recordings import KnownRecordings
from agent_wiki.site.local import LocalSite, server_of
from agent_wiki.wiki.store import WikiFolder

WIKI = Path(__file__).parents[2] / "wiki-example" / "wiki"
CSV_RULE = "guidelines/always-parse-csv-with-the-csv-module__caf16d1e74d4"


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    shutil.copytree(WIKI, tmp_path / "wiki")
    return tmp_path / "wiki"


@pytest.fixture
def port(wiki: Path) -> Iterator[int]:
    server = server_of(LocalSite(wiki), 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def _asked(port: int, path: str, host: str | None = None, method: str = "GET") -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(), dict(answer.getheaders())
    connection.close()
    return found


def test_pages_are_shown_and_follow_the_wiki(wiki: Path, port: int) -> None:
    status, text, headers = _asked(port, "/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "What the wiki knows" in text
    assert headers["Content-Security-Policy"].startswith("default-src 'self'")
    page = wiki / f"{CSV_RULE}.md"
    page.write_text(page.read_text(encoding="utf-8").replace("csv module.\n", "module csv.\n", 1), encoding="utf-8")
    assert "module csv." in _asked(port, f"/{CSV_RULE}.html")[1]
    assert "A person edited this page" in _asked(port, f"/{CSV_RULE}.html")[1]
    assert _asked(port, "/site.css", method="HEAD")[:2] == (200, "")


def test_no_other_name_is_answered(port: int) -> None:
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"localhost.evil.example:{port}"):
        assert _asked(port, "/", host)[0] == 421
    assert _asked(port, "/site.js", f"localhost:{port}")[0] == 404  # no page was asked for yet, so nothing was made


def test_nothing_but_files_of_the_site_is_shown(port: int) -> None:
    for path in ("/../_config.yaml", "/%2e%2e/lock", "//etc/passwd", "/agent-wiki-site.txt", "/..%2flock"):
        assert _asked(port, path)[0] == 404


def test_a_page_is_brought_up_to_date_and_printed_or_opened(
    wiki: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["view", "always-parse-csv-with-the-csv-module__caf16d1e74d4", "--wiki", str(wiki), "--print"]) == 0
    printed = Path(capsys.readouterr().out.strip())
    assert printed == wiki / ".wiki" / "site" / f"{CSV_RULE}.html"
    assert "csv module" in printed.read_text(encoding="utf-8")
    assert (wiki / ".wiki" / ".gitignore").read_text() == "*\n"
    assert main(["view", "nothing-of-that-name", "--wiki", str(wiki), "--print"]) == 2
    assert f".wiki/site/{CSV_RULE}.html" in cached_files(wiki)  # what `wiki forget` removes
    opened: list[str] = []

    def opens(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", opens)
    assert main(["view", "openai-orders-4", "--wiki", str(wiki)]) == 0
    assert Path(unquote(urlsplit(opened[0]).path)) == wiki / ".wiki" / "site" / "sessions" / "openai-orders-4.html"


def test_the_recordings_that_the_wiki_was_read_from_are_shown(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    KnownRecordings.load(WikiFolder(wiki)).note([WIKI.parent / "traces" / "openai-orders-4.json"], {})
    assert main(["view", "openai-orders-4", "--wiki", str(wiki), "--print"]) == 0
    page = Path(capsys.readouterr().out.strip())
    assert 'class="said-by is-user"' in page.read_text(encoding="utf-8")
    assert main(["site", "--wiki", str(wiki), "--out", str(wiki.parent / "site")]) == 0
    assert "the wiki was read from " in capsys.readouterr().out
    assert "The recording is not shown here" in (wiki.parent / "site/sessions/openai-orders-4.html").read_text("utf-8")


def test_a_port_in_use_is_one_line(wiki: Path, port: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--wiki", str(wiki), "--port", str(port)]) == 2
    assert f"port {port} of 127.0.0.1 is not available" in capsys.readouterr().err


@pytest.mark.parametrize("is_there", [False, True])
def test_a_folder_without_a_wiki_is_one_line_and_stays_as_it_is(
    is_there: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "wiki"
    if is_there:
        folder.mkdir()
    before = sorted(tmp_path.rglob("*"))
    assert main(["serve", "--wiki", str(folder), "--port", "0"]) == 2
    said = f"wiki: {folder}: no wiki here; `wiki ingest PATH` makes one of recordings, `wiki init` an empty one\n"
    assert capsys.readouterr().err == said
    assert sorted(tmp_path.rglob("*")) == before


def test_a_recording_that_cannot_be_read_is_named_once_with_its_line(
    wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(b"\0" * 99)
    assert main(["site", "--wiki", str(wiki), "--out", str(tmp_path / "site"), "--recordings", str(torn)]) == 1
    assert f"wiki: {torn}:1: it begins with NUL bytes" in capsys.readouterr().err
