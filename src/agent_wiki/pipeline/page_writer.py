"""Writing many pages: where the machine has a second processor, a child renders and writes most of them.

The child is a copy of this process as it is, so that nothing has to be handed over. Which pages are its share is
decided by their paths; it says which files it wrote. Where it fails, its share is done here, which raises its error.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
from contextlib import ExitStack
from types import TracebackType
from typing import Self
from zlib import crc32

from agent_wiki.pages.catalog import Catalog, RenderedPage
from agent_wiki.wiki.store import WikiFolder

_FEWEST = 4_000  # pages to render: fewer are written sooner than a child begins
_PARTS, _OF_CHILD = 8, 5  # of eight pages five: this process also makes the indexes


def _is_childs(path: str) -> bool:
    is_one_of_many = path.startswith(("guidelines/", "summaries/"))
    return is_one_of_many and crc32(path.encode("utf-8", "replace")) % _PARTS < _OF_CHILD


class PageWriter:
    """Takes the pages of a catalog and writes those that differ from what lies on disk, until its context ends.

    `left_alone` are paths that are not written. With `jobs` of 1 there is no child.
    """

    def __init__(self, folder: WikiFolder, made: Catalog, left_alone: set[str], jobs: int) -> None:
        self._folder, self._made, self._left_alone = folder, made, left_alone
        is_able = sys.platform == "linux" and threading.active_count() == 1 and not folder.is_dry_run
        pages = len(made.view.guidelines) + len(made.view.sessions)
        self._has_child = jobs > 1 and is_able and pages - len(made.known) >= _FEWEST
        self._child = 0
        self._opened = ExitStack()
        self.changed = 0  # pages that were written

    def __enter__(self) -> Self:
        if self._has_child:
            self._written = self._opened.enter_context(tempfile.TemporaryFile())
            self._made.prepare()
            self._child = os.fork()
            if not self._child:
                self._be_child()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._opened:
            if self._child and error is not None:
                os.kill(self._child, signal.SIGKILL)
                os.waitpid(self._child, 0)
            elif self._child:
                self._collect()

    def put(self, page: RenderedPage) -> None:
        """Write one page, unless the child does."""
        if page.text is None or page.path in self._left_alone:
            return
        if not (self._child and _is_childs(page.path)):
            self.changed += self._folder.write_text(page.path, page.text())

    def _be_child(self) -> None:
        """Write the child's share and end: nothing of what this process would do at its end is the child's to do."""
        code = 1
        try:
            self._folder.written.clear()
            self._write_share()
            written = {path: self._folder.signatures[path] for path in self._folder.written}
            self._written.write(json.dumps(written).encode("ascii"))
            self._written.flush()
            code = 0
        finally:
            os._exit(code)

    def _write_share(self) -> None:
        self._child = 0
        for page in self._made.pages(wanted=_is_childs):
            if _is_childs(page.path):
                self.put(page)

    def _collect(self) -> None:
        """Take in what the child wrote."""
        _, status = os.waitpid(self._child, 0)
        if status:
            self._write_share()
            return
        self._written.seek(0)
        found = json.load(self._written)
        self._folder.written += found
        self._folder.signatures.update({path: tuple(signature) for path, signature in found.items()})
        self.changed += len(found)
