"""A wiki's site for this machine alone: it lies in `.wiki/`, is shown on loopback, and is made again with the wiki."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from agent_wiki.errors import AgentWikiError, UsageError
from agent_wiki.pipeline import recordings_cache
from agent_wiki.pipeline.bucket_state import is_in_bucket
from agent_wiki.pipeline.known_recordings import KnownRecordings
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.retrieval.page_names import WikiPages, pages_named
from agent_wiki.site.addresses import START
from agent_wiki.site.build import DEFAULT_TITLE, build_site
from agent_wiki.site.contents import read_contents, require_wiki
from agent_wiki.site.memory import machinery_of
from agent_wiki.site.output import SiteFolder
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.files import digest_of, scan
from agent_wiki.wiki.store import WikiFolder

LOOPBACK = "127.0.0.1"
_NAMES = (LOOPBACK, "localhost")
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".txt": "text/plain"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; object-src 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def site_folder(wiki: Path) -> Path:
    """Where the site of a wiki lies that is for this machine alone; git does not see it."""
    return machinery_of(wiki) / "site"


def recordings_here(wiki: Path) -> list[Path]:
    """The recordings of this machine that a wiki was read from, and folders of them."""
    return KnownRecordings.load(WikiFolder(wiki)).on_disk()


def recordings_read(wiki: Path) -> list[Path]:
    """The files of this machine that a wiki was read from and that are recordings, sorted."""
    read = recordings_cache.load(WikiFolder(wiki)).items()
    found = (Path(key) for key, entry in read if not is_in_bucket(key) and recordings_cache.is_recording(entry))
    return sorted(path for path in found if path.exists())


def file_of_page(wiki: Path, wanted: str, recordings: Sequence[RecordingPath] = ()) -> tuple[Path, str]:
    """The file that shows a page, made or brought up to date, and the place in it that is meant.

    In: a page as `wiki why` takes it. Raises `UsageError` for a wiki or page that does not exist.
    """
    contents = read_contents(wiki)
    pages = WikiPages(contents.folder, contents.loaded, contents.problems)
    path = pages_named(pages, wanted, wiki, to_read=True)[0]
    address = contents.address_of(path)
    if address is None:
        raise UsageError(f"{wanted}: {path} has no page in the site")
    folder = site_folder(wiki)
    build_site(wiki, folder, recordings, is_published=False)
    file, _, anchor = address.partition("#")
    return folder / unquote(file), anchor


@dataclass(slots=True)
class LocalSite:
    """The site of a wiki, made again before a page is shown when the wiki has changed."""

    wiki: Path
    recordings: Sequence[RecordingPath] = ()
    title: str = DEFAULT_TITLE
    _state: str = ""
    _files: dict[str, Path] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def file(self, address: str) -> Path | None:
        """The file at an address of the site; None where there is none. Raises as `build_site`."""
        name = unquote(urlsplit(address).path).removeprefix("/") or START
        with self._lock:
            if name.endswith(".html"):
                self.refresh()
            return self._files.get(name)

    def refresh(self) -> None:
        """Bring the site up to date. Raises as `build_site`."""
        state = digest_of(scan(str(self.wiki)))
        if state != self._state:
            require_wiki(self.wiki)
            folder = site_folder(self.wiki)
            build_site(self.wiki, folder, self.recordings, self.title, is_published=False)
            self._files = {file: folder / file for file in SiteFolder.opened(folder).listed}
            self._state = state


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD for files of the site alone, and for this machine alone."""

    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(has_body=True)

    def do_HEAD(self) -> None:
        self._answer(has_body=False)

    def _answer(self, *, has_body: bool) -> None:
        if self.headers.get("Host", "") not in self.server.hosts:  # else a page of a stranger could read the wiki
            self._send(HTTPStatus.MISDIRECTED_REQUEST, "text/plain", b"not served under this name\n", has_body=has_body)
            return
        try:
            found = self.server.site.file(self.path)
            content = None if found is None else found.read_bytes()
        except (AgentWikiError, OSError) as error:
            text = f"{error}\n".encode("utf-8", "replace")
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", text, has_body=has_body)
            return
        if found is None or content is None:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"no such page\n", has_body=has_body)
        else:
            self._send(HTTPStatus.OK, _TYPES.get(found.suffix, "text/plain"), content, has_body=has_body)

    def _send(self, status: HTTPStatus, kind: str, content: bytes, *, has_body: bool) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if has_body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the standard library
        """Nothing: the terminal is the person's."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, site: LocalSite, port: int) -> None:
        self.site = site
        super().__init__((LOOPBACK, port), _Handler)
        self.hosts = frozenset(f"{name}:{self.server_port}" for name in _NAMES)


def serve_site(site: LocalSite, port: int, listening: Callable[[str], None]) -> None:
    """Show a site to this machine until interrupted; `listening` gets the address once it is open.

    Port 0 picks a free one. Raises `UsageError` for a port in use, and as `build_site`.
    """
    server = server_of(site, port)
    try:
        site.refresh()
        listening(f"http://{LOOPBACK}:{server.server_port}/")
        server.serve_forever()
    finally:
        server.server_close()


def server_of(site: LocalSite, port: int) -> _Server:
    """The server of a site, listening on loopback. Raises `UsageError` for a port in use."""
    try:
        return _Server(site, port)
    except (OSError, OverflowError) as error:
        raise UsageError(f"wiki serve: port {port} of {LOOPBACK} is not available ({error})") from error
