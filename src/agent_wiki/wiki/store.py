"""The disk edge of writing: one wiki folder, read once, written by one writer, under a lock.

Every file is written whole (temporary file, then rename) or not at all, and only inside the folder.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from pydantic_core import from_json, to_json

from agent_wiki.errors import RunError, UnreadablePage, UnsafePath, UsageError, WikiLocked
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.cache_file import cached, write_cached
from agent_wiki.wiki.files import Signature, content_of, scan, signature_of
from agent_wiki.wiki.layout import AUDIT_LOG, MACHINERY, kind_of, may_become_wiki
from agent_wiki.wiki.missing import no_wiki
from agent_wiki.wiki.page import Page, parse_page, render_page
from agent_wiki.wiki.replacing import LEADS_OUT, created, folder_synced, write_whole

GIT_IGNORE = "*\n"
"""What `.wiki/.gitignore` says."""
_LOCK, _IGNORE = "lock", ".gitignore"
_OF_LOCK = frozenset((_LOCK, _IGNORE))
_HELD: ContextVar[Path | None] = ContextVar("held", default=None)  # the wiki that this thread holds for its runs


@dataclass(slots=True)
class WikiFolder:
    """One wiki on disk. `root` need not exist yet."""

    root: Path
    is_dry_run: bool = False
    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    planned: dict[str, str] = field(default_factory=dict)  # what a dry run would write
    _files: dict[str, Signature] | None = None
    _folders: dict[str, str] = field(default_factory=dict)
    _made: set[str] = field(default_factory=set)
    _kept: set[str] = field(default_factory=set)  # names below `.wiki/` that this object wrote

    def check_place(self, *, may_be_new: bool = True) -> None:
        """Raise `UsageError` where a run would turn a folder of something else into a wiki.

        `may_be_new`: the folder need not be there yet; else it must hold something of a wiki.
        """
        try:
            names = [each.name for each in self.root.iterdir()]
        except FileNotFoundError:
            names = []
        except NotADirectoryError:
            raise UsageError(f"{self.root}: a file, not the folder of a wiki") from None
        if not names and not may_be_new:
            raise no_wiki(self.root)
        if not may_become_wiki(names):
            raise UsageError(
                f"{self.root}: holds other things and is no wiki; name another folder with --wiki, "
                "or make this one a wiki with `wiki init --wiki FOLDER`"
            )

    @property
    def is_bare(self) -> bool:
        """Whether nothing lies here, or nothing but what holding the wiki leaves."""
        return _names(self.root) <= {MACHINERY} and _names(self.root / MACHINERY) <= _OF_LOCK

    def unmake(self) -> None:
        """Remove what this run wrote into a bare wiki, and the folder itself if nothing else is in it.

        Only while the wiki is held: what another process has begun meanwhile must stay.
        """
        for path in dict.fromkeys(self.written):
            self.remove(path)
        machinery = self.root / MACHINERY
        names = _names(machinery)
        if self.is_dry_run or not names <= _OF_LOCK | self._kept:
            return
        with suppress(OSError):  # of a lock that the system lets nobody remove while it is held: then all stays
            for name in sorted(names, reverse=True, key=_LOCK.__eq__):
                (machinery / name).unlink()
            machinery.rmdir()
            self.root.rmdir()

    @contextmanager
    def locked(self, timeout_seconds: float = 600.0, *, with_runs: bool = False) -> Iterator[None]:
        """Hold the wiki for this process; `with_runs` also for the runs that this thread makes meanwhile.

        Where another holds it, a line on standard error says within a second who, and since when. Raises `WikiLocked`
        when it holds it for too long.
        """
        self._files = None  # another process may have written before
        held_before = _HELD.get()
        if self.is_dry_run or (held_before is not None and held_before == self.root.resolve()):
            yield
            return
        from filelock import FileLock, Timeout

        from agent_wiki.wiki import holder

        self._make_folder(self._folder_inside(MACHINERY))
        try:
            lock = FileLock(self._inside(f"{MACHINERY}/{_LOCK}"), timeout=timeout_seconds)
            with holder.acquired(lock, timeout_seconds):
                self._folders.clear()
                self._made.clear()  # the one before may have unmade them
                ignore = self._inside(f"{MACHINERY}/{_IGNORE}")
                if not Path(ignore).exists():
                    self._replace(ignore, GIT_IGNORE.encode())
                held = _HELD.set(self.root.resolve() if with_runs else None)
                try:
                    yield
                finally:
                    _HELD.reset(held)
        except Timeout as error:
            found = holder.described(error.lock_file)
            waited = f"for {timeout_seconds:.0f} s" + (f" ({found})" if found else "")
            message = f"{self.root}: another process has been writing this wiki {waited}; try again"
            raise WikiLocked(message) from error

    def copy_of_lock(self) -> int | None:
        """A descriptor that keeps the wiki held as long as any process has it open; None when it is not held.

        The lock's own descriptor is closed in a copy of this process. Only where `/proc` lists a process's files.
        """
        _, lock = self._found(f"{MACHINERY}/{_LOCK}")
        for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
            with suppress(OSError):
                if lock is not None and os.path.samestat(os.fstat(int(name)), lock):
                    return os.dup(int(name))
        return None

    def read_text(self, path: str, errors: Literal["strict", "replace"] = "strict") -> str | None:
        """A file's text with its own line ends; None when there is no such file.

        Raises `RunError` for bytes that are not UTF-8, unless `errors` says to replace them: what cannot be read
        must not be written back.
        """
        try:
            return content_of(self._inside(path)).decode("utf-8", errors)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnicodeDecodeError as error:
            raise RunError(f"{path}: not UTF-8 text; correct it and run again") from error

    def text_or_empty(self, path: str) -> str:
        """A file's text, only to look at: empty where there is none, and a mark for each byte that is not UTF-8."""
        return self.read_text(path, errors="replace") or ""

    def files(self) -> dict[str, Signature]:
        """Every file's signature by path, as the folder was when it was first looked at, and as written since.

        What others change meanwhile is not in it, so that the next run takes notice of it.
        """
        if self._files is None:
            self._files = scan(str(self.root))
        return self._files

    def page_paths(self, but: Container[str] = ()) -> list[str]:
        """The path of every page in the wiki, sorted, `but` for those that are known as such."""
        files = [path for path in self.files() if path not in but and path.endswith(".md")]
        return sorted(path for path in files if kind_of(path) is not None)

    def read_page(self, path: str) -> tuple[str, Page]:
        """A page's text and what it parses to. Raises `UnreadablePage`."""
        try:
            text = content_of(self._inside(path)).decode("utf-8")
        except UnicodeDecodeError as error:
            raise UnreadablePage(path, "not UTF-8 text") from error
        except OSError as error:
            raise UnreadablePage(path, error.strerror or str(error)) from error
        return text, parse_page(text, path)

    def files_of(self, folder: str, ending: str, but: Container[str] = ()) -> Iterator[tuple[str, bytes]]:
        """Path and content of every file directly in a folder `but` some, sorted by name; links are skipped."""
        root = f"{self.root}/{folder}"
        try:
            names = sorted(each.name for each in os.scandir(root) if each.is_file(follow_symlinks=False))
        except (FileNotFoundError, NotADirectoryError):
            return
        for name in names:
            if name.endswith(ending) and f"{folder}/{name}" not in but:
                yield f"{folder}/{name}", content_of(f"{root}/{name}")

    def write_page(self, path: str, page: Page) -> None:
        """Write a page whole, with the lines of fields that did not change."""
        self.write_text(path, render_page(page, self.read_text(path)))

    def write_text(self, path: str, text: str) -> bool:
        """Write a file unless it has exactly these bytes already; returns whether it was written."""
        was_free = self._files is not None and self._files.keys().isdisjoint((path, f"{path}/"))  # no link either
        target, status = (self._place(path), None) if was_free else self._found(path)
        content = text.encode("utf-8", "replace")
        if _holds(target, status, content):
            return False
        self.written.append(path)
        if self.is_dry_run:
            self.planned[path] = text
        else:
            self._remember(path, self._replace(target, content, is_new=status is None))
        return True

    def note_written(self, files: Mapping[str, Signature]) -> None:
        """Take notice of what another process wrote for this run."""
        self.written += files
        self.files().update(files)

    def make_executable(self, path: str) -> None:
        """Set the executable bits of a file that a skill runs."""
        target = self._path(path)
        if not self.is_dry_run and target.exists():
            mode = target.stat().st_mode
            wanted = mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
            if mode != wanted:
                target.chmod(wanted)
                self._remember(path, target.lstat())

    def remove(self, path: str) -> None:
        """Remove a file, and its folder when that is empty now. A file that is not there is no error."""
        target = self._path(path)
        if not target.exists():
            return
        self.removed.append(path)
        if self.is_dry_run:
            return
        target.unlink()
        if self._files is not None:
            self._files.pop(path, None)
        folder = target.parent
        while folder != self.root and not any(folder.iterdir()) and folder.parent != self.root:
            folder.rmdir()
            self._folders.clear()
            self._made.clear()
            folder = folder.parent

    def append_audit(self, records: Iterable[dict[str, Any]]) -> None:
        """Append JSON lines to the audit log."""
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        if not text or self.is_dry_run:
            return
        target = self._path(AUDIT_LOG)
        self._make_folder(str(target.parent))
        with target.open("a", encoding="utf-8", errors="replace") as stream:
            stream.write(text)

    def read_machinery(self, name: str) -> Any:
        """A JSON value stored under `.wiki/`, None when it is missing or damaged."""
        text = self.read_text(f"{MACHINERY}/{name}", errors="replace")
        try:
            return None if text is None else json.loads(text)
        except (ValueError, RecursionError):
            return None

    def write_machinery(self, name: str, value: Any) -> None:
        """Store a JSON value under `.wiki/`."""
        if not self.is_dry_run:
            self._kept.add(name)
            content = json.dumps(value, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
            target, status = self._found(f"{MACHINERY}/{name}")
            if not _holds(target, status, content):
                self._replace(target, content)

    def read_cache(self, name: str) -> Any:
        """What `write_cache` kept under `.wiki/`; None when it is missing or not as it was written."""
        content = cached(self._inside(f"{MACHINERY}/{name}"))
        try:
            return None if content is None else from_json(content, cache_strings="keys")
        except ValueError:
            return None

    def write_cache(self, name: str, value: Any) -> None:
        """Keep a JSON value that only saves time, with its checksum."""
        self.write_cached_lines(name, [to_json(value).decode()])

    def read_cached_text(self, name: str) -> str:
        """The lines that `write_cached_lines` kept; none when they are missing or not as they were written."""
        return (cached(self._inside(f"{MACHINERY}/{name}")) or b"").decode("utf-8", "replace")

    def write_cached_lines(self, name: str, lines: Iterable[str]) -> None:
        """Keep lines, which end in a line feed, likewise."""
        if self.is_dry_run:
            return
        self._kept.add(name)
        target = self._path(f"{MACHINERY}/{name}")
        self._make_folder(str(target.parent))
        write_cached(target, lines)

    def _replace(self, target: str, content: bytes, *, is_new: bool = False) -> os.stat_result:
        """Write in `.wiki/`, then rename: a reader sees the old file or the new one, a killed run leaves no other."""
        machinery = self._folder_inside(MACHINERY)
        beside = f"{machinery}/{os.getpid()}.tmp"
        self._make_folder(machinery)
        self._make_folder(target.rpartition("/")[0])
        try:
            status = created(target, content) if is_new else None
            if status is None:
                write_whole(beside, content)
                os.replace(beside, target)  # noqa: PTH105
            folder_synced(target.rpartition("/")[0])
            return status or os.lstat(target)
        except OSError as error:
            with suppress(OSError):
                Path(beside).unlink()
            raise RunError(f"{target}: cannot write ({error.strerror}); nothing of it was changed") from error

    def _remember(self, path: str, status: os.stat_result) -> None:
        if self._files is not None:
            self._files[path] = signature_of(status)

    def _path(self, path: str) -> Path:
        return Path(self._inside(path))

    def _inside(self, path: str) -> str:
        """`path` below the root. Raises `UnsafePath` when it, or a link on its way, leaves the wiki."""
        return self._found(path)[0]

    def _found(self, path: str) -> tuple[str, os.stat_result | None]:
        """The same, and the status of what lies there, None for nothing."""
        target = self._place(path)
        try:
            status = os.lstat(target)
        except (FileNotFoundError, NotADirectoryError):
            return target, None
        if stat.S_ISLNK(status.st_mode):
            raise UnsafePath(f"{target}: {LEADS_OUT}")
        return target, status

    def _place(self, path: str) -> str:
        """The same, whatever lies there."""
        folder, _, name = path.rpartition("/")
        if name in ("", ".", "..") or "\\" in path or "\0" in path or path.startswith("/"):
            raise UnsafePath(f"{path!r} is not a path inside the wiki; nothing was written")
        return f"{self._folder_inside(folder)}/{name}"

    def _folder_inside(self, folder: str) -> str:
        """A folder below the root, checked once a run: the lock keeps others from changing it meanwhile."""
        if folder in self._folders:
            return self._folders[folder]
        current, is_there = str(self.root), self.root.is_dir()
        for part in folder.split("/") if folder else ():
            if part in ("", ".", ".."):
                raise UnsafePath(f"{folder!r} is not a folder inside the wiki; nothing was written")
            current = f"{current}/{part}"
            mode = _mode_of(current) if is_there else 0
            if stat.S_ISLNK(mode):
                raise UnsafePath(f"{current}: {LEADS_OUT}")
            is_there = stat.S_ISDIR(mode)
        if is_there:
            self._folders[folder] = current
        return current

    def _make_folder(self, folder: str) -> None:
        if folder in self._made:
            return
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{folder}: cannot make this folder ({error.strerror})") from error
        self._made.add(folder)


def _mode_of(path: str) -> int:
    """What lies there, links not followed; 0 for nothing."""
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _names(folder: Path) -> set[str]:
    try:
        return {each.name for each in folder.iterdir()}
    except (FileNotFoundError, NotADirectoryError):
        return set()


def _holds(target: str, status: os.stat_result | None, content: bytes) -> bool:
    return status is not None and status.st_size == len(content) and content_of(target) == content
