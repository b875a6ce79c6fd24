"""One module (or package) per engine, reached by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent_wiki.asking.options import AskingOptions
from agent_wiki.engine import Engine
from agent_wiki.errors import UnitError, UsageError
from agent_wiki.report import Progress
from agent_wiki.wiki.text import plain_line

if TYPE_CHECKING:
    from agent_wiki.engines.anthropic_api import AnthropicEngine
    from agent_wiki.engines.recorded import RecordedEngine

ENGINES = ("offline", "anthropic", "recorded", "recorded:FOLDER", "scripted:FILE")
_EMBEDDED = "offline"
_PAGES_LOOKED_AT = 20
_ASKING = "anthropic"
_RECORDED = "recorded"


def engine_named(name: str) -> Engine:
    """The engine of that name. Raises `UsageError` for an unknown one."""
    if name == _EMBEDDED:
        from agent_wiki.engines.offline import OfflineEngine

        return OfflineEngine()
    if name.startswith("scripted:"):
        from agent_wiki.engines.scripted import ScriptedEngine

        return ScriptedEngine.from_file(Path(name.removeprefix("scripted:")))
    raise UsageError(f"no engine {name!r}; there is {', '.join(ENGINES)}")


def default_engine(wiki: Path) -> str:
    """The engine of a run that names none: the embedded one.

    Raises `UsageError` where another made the wiki's pages: all would be made anew, and what was paid for them be lost
    from sight.
    """
    from agent_wiki.wiki.page import parse_page

    for path in sorted((wiki / "summaries").glob("*.md"))[:_PAGES_LOOKED_AT]:
        try:
            made = parse_page(path.read_text(encoding="utf-8"), path.name).fields.get("made_by")
        except (OSError, ValueError, UnitError):
            continue  # the run tells it
        name = made.get("engine") if isinstance(made, dict) else None
        if isinstance(name, str) and name not in (_EMBEDDED, ""):
            raise UsageError(
                f"{wiki}: made with --engine {plain_line(name, 40)}; say so to go on with it, "
                f"or --engine {_EMBEDDED} to make its pages anew"
            )
    return _EMBEDDED


def resolved(engine: str | Engine) -> Engine:
    """The engine itself, or the one of that name."""
    return engine_named(engine) if isinstance(engine, str) else engine


@contextmanager
def opened_engine(
    named: str | Engine, wiki: Path, asking: AskingOptions, stages: Sequence[str] = ()
) -> Iterator[str | Engine]:
    """What answers for the length of a run of `stages`: an engine that all threads share, or a name by which workers
    find one.

    An engine that comes opened stays open.
    """
    kind, _, place = named.partition(":") if isinstance(named, str) else ("", "", "")
    if kind not in ("", _ASKING) and asking.is_batched:
        raise UsageError(f"--batch is for --engine {_ASKING}: {plain_line(kind, 40)} asks nobody")
    if kind not in (_ASKING, _RECORDED) or (kind == _ASKING and place):
        yield named
        return
    engine = _asking_engine(wiki, asking, stages) if kind == _ASKING else _recorded_engine(wiki, place)
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def one_round(engine: str | Engine) -> Iterator[None]:
    """Around a round of questions, the wiki locked: an engine may look for answers before and send for more after."""
    getattr(engine, "begin", lambda: None)()
    yield
    getattr(engine, "end", lambda: None)()


def has_more_after_waiting(engine: str | Engine, progress: Progress) -> bool:
    """Wait for answers that are under way; True when there were any, so that another round finds them."""
    wait: Callable[[Progress], bool] = getattr(engine, "wait", lambda _progress: False)
    return wait(progress)


def _asking_engine(wiki: Path, asking: AskingOptions, stages: Sequence[str]) -> AnthropicEngine:
    from agent_wiki.engines.anthropic_api import AnthropicEngine

    return AnthropicEngine(wiki, asking, stages)


def _recorded_engine(wiki: Path, place: str) -> RecordedEngine:
    from agent_wiki.engines.recorded import RecordedEngine

    return RecordedEngine(wiki, Path(place) if place else None)
