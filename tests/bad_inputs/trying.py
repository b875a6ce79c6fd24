"""One bad input and every command that takes it, in this process: what went wrong that must not."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from agent_wiki.commands import harness, main
from tests.hangs import no_hang
from tests.wikis import Script, ingest, record, rule, tree

Words = tuple[str, ...]

_WIKI = ("--wiki", "wiki")
_READ: tuple[Words, ...] = (
    ("catalog", *_WIKI), ("ingest", "in", *_WIKI), ("consult", "run the check before a change", *_WIKI),
    ("dump", "guidelines", *_WIKI), ("review", *_WIKI), ("status", *_WIKI), ("check", *_WIKI),
    ("why", "guidelines/{name}", *_WIKI), ("site", "--out", "out", *_WIKI), ("join", "wiki", "--wiki", "out-wiki"),
)  # fmt: skip
COMMANDS: dict[str, tuple[Words, ...]] = {
    "recording": (
        ("ingest", "in", *_WIKI, "--jobs", "1"), ("ingest", "{file}", *_WIKI), ("normalize", "in", "--out", "out"),
        ("save", "{file}", "--out", "out"), ("secrets", "in"), ("worklist", "{file}", *_WIKI),
        ("prompt", "summarize", "{file}", *_WIKI), ("eval", "metrics", "in", "--out", "out"),
        ("check", "--recordings", "in", *_WIKI),
    ),
    "page": (*_READ, ("keep", "guidelines/{name}", *_WIKI), ("restore", "guidelines/{name}", *_WIKI)),
    "config": (*_READ, ("config", "patch", "fine.yaml", *_WIKI)),
    "patch": (("config", "patch", "{file}", *_WIKI), ("config", "patch", "{file}", "--dry-run", *_WIKI)),
    "answer": (
        ("apply", "summarize", "in/good.json", "--answer", "{file}", "--wiki", "out-wiki"),
        ("apply", "--answer", "{file}", *_WIKI),
    ),
    "record": (*_READ, ("forget", "good", "--dry-run", *_WIKI)),
    "journal": (("cost", *_WIKI), ("worklist", "in", *_WIKI), ("ingest", "in", *_WIKI, "--engine", "recorded")),
    "hook": (("hook",),),
    "mcp": (("mcp", *_WIKI),),
}  # fmt: skip
_PLACES = {
    "recording": "in/{name}", "page": "wiki/guidelines/{name}", "config": "wiki/_config.yaml",
    "record": "wiki/_sessions/{name}", "journal": "wiki/.wiki/journal/{name}.jsonl",
}  # fmt: skip
_MAY_CHANGE = ("wiki", "out", "out-wiki", ".evolve")


def made_ready(folder: Path) -> Path:
    """A project with a recording and the wiki of it."""
    script = Script(folder)
    script.says("", rules=[rule("Run the check before a change.")])
    project = folder / "project"
    (project / ".git").mkdir(parents=True)
    (project / "fine.yaml").write_text("clusters: {}\n", encoding="utf-8")
    ingest([record(project / "in", "good")], project / "wiki", script.engine)
    return project


def problems(
    kind: str, name: str, content: bytes, ready: Path, folder: Path, *, most: int | None = None, only: str = ""
) -> list[str]:
    """Try one input with each command (at most so many, or one alone). Out: what went wrong."""
    project = folder / "project"
    shutil.copytree(ready, project)
    given = project / _PLACES.get(kind, "{name}").format(name=name)
    given.parent.mkdir(parents=True, exist_ok=True)
    given.write_bytes(content)
    pages = {path for path in tree(ready) if path.endswith(".md") and path.startswith("wiki/")}
    outside = _outside(folder)
    found: list[str] = []
    for words in (each for each in COMMANDS[kind][:most] if only in ("", each[0])):
        here = tuple(word.format(name=name, file=given.relative_to(project)) for word in words)
        found += [f"{kind} {name}: {' '.join(here)}: {each}" for each in _wrong_with(here, content, project)]
    found += [f"{kind} {name}: changed outside: {path}" for path in _outside(folder) ^ outside]
    return found + [f"{kind} {name}: lost: {path}" for path in sorted(pages - tree(project).keys())]


class _Kept(io.BytesIO):
    """What was printed, also after a server has closed its output."""

    def close(self) -> None:
        """Stay open."""


def _wrong_with(words: Words, content: bytes, project: Path) -> Iterator[str]:
    kept = _Kept()
    printed = io.TextIOWrapper(kept, encoding="utf-8", errors="replace", write_through=True)
    code: object = None
    try:
        with no_hang(), _in_project(project, content), redirect_stdout(printed), redirect_stderr(printed):
            code = _hooked(content) if words == ("hook",) else main(list(words))
    except Exception as error:  # noqa: BLE001 - what no command may raise
        yield f"{type(error).__name__}: {error}"
    log = project / ".evolve" / "hook.log"
    text = kept.getvalue().decode("utf-8", "replace") + (log.read_text(encoding="utf-8") if log.exists() else "")
    if code not in (0, 1, 2, 3):
        yield f"exit code {code}"
    if "Traceback" in text or "bug:" in text:
        yield f"a traceback: {text[-300:]}"


def _hooked(content: bytes) -> int:
    return harness.stop(harness.Words(content.decode("utf-8", "replace"), Path("wiki"), is_waiting=True))


@contextmanager
def _in_project(project: Path, content: bytes) -> Iterator[None]:
    """With the input as standard input, and the project as the working folder."""
    before, standard_input = Path.cwd(), sys.stdin
    os.chdir(project)
    sys.stdin = io.TextIOWrapper(io.BytesIO(content + b"\n"), encoding="utf-8", errors="replace")
    try:
        yield
    finally:
        os.chdir(before)
        sys.stdin = standard_input


def _outside(folder: Path) -> set[str]:
    paths = (path.relative_to(folder / "project").parts for path in (folder / "project").rglob("*"))
    inside = {"/".join(parts) for parts in paths if parts[0] not in _MAY_CHANGE}
    return inside | {path.name for path in folder.iterdir()}
