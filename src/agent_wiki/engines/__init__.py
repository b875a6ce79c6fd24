"""One module (or package) per engine, reached by name; engines of other packages by their entry points."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_wiki.asking.options import AskingOptions
from agent_wiki.engine import Engine
from agent_wiki.errors import UnitError, UsageError
from agent_wiki.readers.extensions import extensions, loaded, origin
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.layout import CONFIG, SESSIONS, SIDECAR
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import plain_line

if TYPE_CHECKING:
    from agent_wiki.engines.asking_engine import AskingEngine

ENGINES = (
    "offline", "anthropic", "claude-code", "codex", "gemini", "command:'PROGRAM …'", "recorded", "recorded:FOLDER",
    "scripted:FILE",
)  # fmt: skip
EMBEDDED = "offline"
_RECORDS_LOOKED_AT = 20
_ASKING = "anthropic"
_AGENTS = ("claude-code", "codex", "gemini")
_COMMAND = "command"
_RECORDED = "recorded"
GROUP = "agent_wiki.engines"
_IGNORING = " without "
_SPEAKS_OF_RULES = re.compile(r"rules[\"']?\s*:")  # begins with its word: so a long text is searched in no time


def engine_named(name: str) -> Engine:
    """The engine of that name: of this package, or what the entry point of that name gives when it is called.

    Raises `UsageError` for an unknown one.
    """
    kind, _, ignored = name.partition(_IGNORING)
    if kind == EMBEDDED:
        from agent_wiki.engines.offline import OfflineEngine

        return OfflineEngine(ignored.split(",") if ignored else ())
    if name.startswith("scripted:"):
        from agent_wiki.engines.scripted import ScriptedEngine

        return ScriptedEngine.from_file(Path(name.removeprefix("scripted:")))
    entry = extensions(GROUP).get(name)
    if entry is None:
        raise UsageError(f"no engine {name!r}; there is {', '.join((*ENGINES, *extensions(GROUP)))}")
    engine = loaded(entry)()
    if not isinstance(engine, Engine):
        raise UsageError(f"--engine {name}: {origin(entry)} gives no engine, such as a BaseEngine is")
    return engine


def default_engine(wiki: Path) -> str:
    """The engine of a run that names none: the embedded one.

    Raises `UsageError` where another made the wiki's pages: all would be made again, and what was paid for them would
    be lost from sight; and where that cannot be seen.
    """
    if (wiki / SIDECAR).is_file() and not (wiki / SESSIONS).is_dir():
        raise UsageError(
            f"{wiki}: its records lie in its sidecar; run `wiki catalog` to fetch them, or name the --engine"
        )
    for name in _engines_of(wiki):
        if name not in (EMBEDDED, ""):
            raise UsageError(
                f"{wiki}: made with --engine {plain_line(name, 40)}; say so to go on with it, "
                f"or --engine {EMBEDDED} to make its pages again"
            )
    return EMBEDDED


def _engines_of(wiki: Path) -> Iterator[str]:
    """Who answered for some of a wiki's sessions, by their records; of the former layout by their pages."""
    from agent_wiki.wiki.page import parse_page
    from agent_wiki.wiki.records import FOLDER, parse_record

    for path in sorted((wiki / FOLDER).glob("*.json"))[:_RECORDS_LOOKED_AT]:
        with suppress(OSError, UnitError):  # the run reports it
            record = parse_record(path.read_bytes(), path.name, {})
            yield from (stage.made_by.engine for stage in record.stages.values())
    for path in sorted((wiki / "summaries").glob("*.md"))[:_RECORDS_LOOKED_AT]:
        with suppress(OSError, ValueError, UnitError):
            made = parse_page(path.read_text(encoding="utf-8"), path.name).fields.get("made_by")
            yield str(made.get("engine") or "") if isinstance(made, dict) else ""


@dataclass(frozen=True, slots=True)
class OpenedEngine:
    """The engine of a run. By `name` each worker process makes its own; it is "" where all threads share one."""

    engine: Engine
    name: str = ""

    @property
    def in_workers(self) -> str | Engine:
        """What workers are given: the name, or the engine that they share."""
        return self.name or self.engine


def _asks(name: str) -> bool:
    """Whether that engine has somebody asked: a service, or a program."""
    return name in (_ASKING, *_AGENTS) or name.partition(":")[0] == _COMMAND


def engine_that_asks(name: str, wiki: Path, asking: AskingOptions, stages: Sequence[str] = ()) -> AskingEngine:
    """The engine of that name, for a run of `stages`. Nothing is asked yet.

    Raises `UsageError` for one that asks nobody, and what the engine raises.
    """
    if not _asks(name):
        asked = ", ".join((_ASKING, *_AGENTS, f"{_COMMAND}:'PROGRAM …'"))
        raise UsageError(f"the engine {plain_line(name, 40)} asks no model and costs nothing; name --engine {asked}")
    if name == _ASKING:
        from agent_wiki.engines.anthropic_api import AnthropicEngine

        return AnthropicEngine(wiki, asking, stages)
    from agent_wiki.engines.programs import ProgramEngine
    from agent_wiki.engines.programs.named import program_named

    return ProgramEngine(program_named(name), wiki, asking, stages)


@contextmanager
def opened_engine(
    named: str | Engine, wiki: Path, asking: AskingOptions, stages: Sequence[str] = ()
) -> Iterator[OpenedEngine]:
    """What answers for the length of a run of `stages`. An engine that comes opened stays open.

    Raises `UsageError` for an unknown name.
    """
    if not isinstance(named, str):
        yield OpenedEngine(named)
        return
    kind, _, place = named.partition(":")
    if kind != _ASKING and asking.is_batched:
        raise UsageError(f"--batch is for --engine {_ASKING}: {plain_line(kind, 40)} takes no batches")
    engine: Engine
    if _asks(named):
        engine = engine_that_asks(named, wiki, asking, stages)
    elif kind == _RECORDED:
        from agent_wiki.engines.recorded import RecordedEngine

        engine = RecordedEngine(wiki, Path(place) if place else None)
    else:
        named = _as_the_owner_wants(named, wiki)
        engine = engine_named(named)
    is_shared = kind == _RECORDED or _asks(named) or engine.concurrency > 1
    try:
        yield OpenedEngine(engine, "" if is_shared else named)
    finally:
        engine.close()


@contextmanager
def one_round(engine: Engine) -> Iterator[None]:
    """Around a round of questions, the wiki locked: an engine may look for answers before and send for more after."""
    engine.begin_round()
    yield
    engine.end_round()


def _as_the_owner_wants(name: str, wiki: Path) -> str:
    """The name by which workers find the embedded engine without the rules that a wiki's owner switched off."""
    text = (WikiFolder(wiki).read_text(CONFIG) if name == EMBEDDED else None) or ""
    ignored = parse_config(text).ignored_rules if _SPEAKS_OF_RULES.search(text) else ()
    return f"{name}{_IGNORING}{','.join(ignored)}" if ignored else name
