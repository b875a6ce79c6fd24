"""What an agent harness calls at the end of a turn: the trajectory is saved, and mined unless the turn was trivial.

A harness must never suffer from it: `stop` raises nothing, prints nothing and writes problems to `.evolve/hook.log`.
What cannot be done now (another process holds the wiki, a large wiki was updated a moment ago) stays marked in
`.evolve/hook/pending` for the next turn.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_wiki.errors import AgentWikiError, WikiLocked, system_reason
from agent_wiki.harness.hook_input import HookInput, HookProblem, NothingRecorded, parse_input, transcript_of
from agent_wiki.harness.hook_log import HookOutcome, log
from agent_wiki.harness.hook_memory import HookMemory, is_saved
from agent_wiki.harness.projects import project_root, project_wiki
from agent_wiki.recall.own_sessions import MINING_VARIABLE

if TYPE_CHECKING:
    from agent_wiki.harness.background import Background
    from agent_wiki.pipeline.session_stages import SessionReport

# What ends a turn or a session, in each agent's words: Claude Code, Codex and Qwen Code, Codex's `notify`, Gemini CLI,
# Cursor, OpenCode. Copilot names no event.
EVENTS = frozenset(
    {"Stop", "SubagentStop", "SessionEnd", "Interrupt", "agent-turn-complete", "AfterAgent", "stop", "subagentStop",
     "sessionEnd", "session.idle"}
)  # fmt: skip

_ENDS_A_SESSION = frozenset({"SessionEnd", "sessionEnd"})
_FOLDER = "hook"
_LOCK_TIMEOUT_SECONDS = 1.0
_SAVE_TIMEOUT_SECONDS = 60.0  # another session's transcript may be long; no harness waits for it
_LONG_RUN_SECONDS = 2.0
_PAUSE_FACTOR = 20  # after a long run, the next one waits this many times its duration
_MOST_ROUNDS = 3
_ENGINE = "offline"


def stop(
    text: str, named_wiki: Path | None, here: Path, environment: Mapping[str, str], background: Background | None = None
) -> HookOutcome:
    """Save the turn's trajectory and mine what is worth it. Raises nothing: problems are logged and in the outcome.

    `text` is the harness's input, `named_wiki` the wiki that its configuration names. Without a `background` engine the
    embedded one mines.
    """
    outcome = HookOutcome()
    if environment.get(MINING_VARIABLE):  # the agent answers questions of this package
        return outcome
    cwd = here
    try:
        hook = parse_input(text, here)
        cwd = hook.cwd if hook.cwd.is_dir() else here
        if hook.event not in EVENTS:
            raise HookProblem(f"event {hook.event[:40]!r} does not end a turn")
        _save_and_mine(hook, cwd, named_wiki, environment, outcome, background)
    except NothingRecorded:
        pass
    except AgentWikiError as error:
        outcome.problems.append(str(error))
    except (OSError, MemoryError) as error:
        outcome.problems.append(f"{getattr(error, 'filename', None) or 'the hook'}: {system_reason(error)}")
    except Exception:  # noqa: BLE001 - whatever goes wrong here, the harness continues
        outcome.problems.append(traceback.format_exc())
    log(cwd, environment, outcome)
    return outcome


def _save_and_mine(
    hook: HookInput,
    cwd: Path,
    named_wiki: Path | None,
    environment: Mapping[str, str],
    outcome: HookOutcome,
    background: Background | None,
) -> None:
    from agent_wiki.harness import saving
    from agent_wiki.harness.hook_sessions import save_and_mark

    root = project_root(cwd)
    wiki = project_wiki(named_wiki, cwd, environment)
    folder = saving.default_folder(root, environment)
    memory = HookMemory(saving.evolve_folder(root, environment) / _FOLDER)
    warnings: list[str] = []
    current: set[str] = set()
    with transcript_of(hook, environment) as transcript, memory.locked("saving", _SAVE_TIMEOUT_SECONDS):
        for trajectory in saving.trajectories(transcript, transcript.name, warnings):
            is_ending = background is None and hook.event in _ENDS_A_SESSION
            current.add(save_and_mark(trajectory, folder, memory, outcome, wiki, is_ending=is_ending))
    if wiki is None:
        return
    if hook.is_continuation:
        outcome.postponed = "another hook made the agent continue" if memory.pending() else ""
        return
    if background is None:
        _mine_pending(wiki, folder, memory, outcome)
    else:
        going_on = frozenset() if hook.event in _ENDS_A_SESSION else frozenset(current)
        _ask_about_pending(wiki, folder, memory, outcome, background, going_on)


def _mine_pending(wiki: Path, folder: Path, memory: HookMemory, outcome: HookOutcome) -> None:
    """Mine what is pending, including what arrives meanwhile; what cannot be done now is postponed, with the reason."""
    if not memory.pending():
        return
    if _is_paused(memory):
        outcome.postponed = "the wiki is large and was updated a moment ago"
        return
    try:
        with memory.locked("mining", _LOCK_TIMEOUT_SECONDS):
            for _ in range(_MOST_ROUNDS):
                states, pending = memory.pending_states(), memory.pending()
                if not pending:
                    break
                started = time.monotonic()
                _mine(wiki, folder, pending, outcome)
                for stem in pending:
                    memory.unmark(stem, states.get(stem))
                memory.write("last_run.json", {"seconds": time.monotonic() - started, "ended_at": time.time()})
    except WikiLocked as error:
        outcome.postponed = str(error)


def _ask_about_pending(
    wiki: Path, folder: Path, memory: HookMemory, outcome: HookOutcome, background: Background, going_on: frozenset[str]
) -> None:
    """Have an engine in the background mine what is pending, but for sessions that go on: each turn would ask again."""
    from agent_wiki.harness.background import mine_in_background

    if not memory.pending().keys() - going_on:
        return
    try:
        with memory.locked("mining", _LOCK_TIMEOUT_SECONDS):
            pending = {stem: file for stem, file in memory.pending().items() if stem not in going_on}
            mine_in_background(wiki, folder, pending, memory, background, outcome)
    except WikiLocked as error:
        outcome.postponed = str(error)


def _is_paused(memory: HookMemory) -> bool:
    """After a long run the next one waits, so that a large wiki does not occupy the machine at every turn."""
    last = memory.read("last_run.json")
    seconds, ended_at = last.get("seconds"), last.get("ended_at")
    if not isinstance(seconds, int | float) or not isinstance(ended_at, int | float) or seconds < _LONG_RUN_SECONDS:
        return False
    return 0 <= time.time() - ended_at < seconds * _PAUSE_FACTOR


def _mine(wiki: Path, folder: Path, pending: Mapping[str, str], outcome: HookOutcome) -> None:
    """Ingest saved sessions with the embedded engine. Raises `RunError`.

    It is a run of `wiki ingest` in which a session that teaches nothing leaves no record, and which replaces nothing
    that another engine answered.
    """
    from agent_wiki.engine import no_progress
    from agent_wiki.pipeline.ingest import Options, run
    from agent_wiki.pipeline.report import Report
    from agent_wiki.pipeline.session_stages import ANOTHER_ENGINE
    from agent_wiki.stages.order import ALL_STAGES, CORPUS_STAGES
    from agent_wiki.wiki.layout import CONFIG, MACHINERY

    files = [folder / file for file in filter(None, pending.values()) if is_saved(folder / file)]
    if not files:
        return
    # Where a model answered about all sessions at once, the embedded engine does not answer instead.
    skipped = CORPUS_STAGES if (wiki / MACHINERY / "journal").exists() else ()
    stages = tuple(stage for stage in ALL_STAGES if stage not in skipped)
    taught: dict[str, bool] = {}  # name of the saved file → whether the wiki learned from it

    def note(file: str, session: SessionReport) -> None:
        name = Path(file).name
        taught[name] = taught.get(name, False) or session.status in ("mined", "unchanged", "older")
        if session.reason == ANOTHER_ENGINE:
            outcome.postponed = f"another engine answered for {session.session_id}: ingest with that one"

    options = Options(
        wiki,
        stages,
        _ENGINE,
        lock_timeout_seconds=_LOCK_TIMEOUT_SECONDS,
        is_selective=True,
        new_pages="unlisted",
        on_session=note,
    )
    if not (wiki / CONFIG).is_file() and not _has_records(wiki):  # a session that teaches nothing creates no wiki
        run(files, replace(options, dry_run=True), Report("hook stop", str(wiki)), no_progress)
        if not any(taught.values()):
            outcome.without_lessons += sorted(taught)
            return
    report = run(files, options, Report("hook stop", str(wiki)), no_progress)
    outcome.mined += sorted(file for file, has_taught in taught.items() if has_taught)
    outcome.without_lessons += sorted(file for file, has_taught in taught.items() if not has_taught)
    outcome.problems += [*map(str, report.failures), *report.bugs]


def _has_records(wiki: Path) -> bool:
    """Whether a run that was killed before it wrote a page had learned something."""
    from agent_wiki.wiki.layout import SESSIONS

    folder = wiki / SESSIONS
    return folder.is_dir() and any(folder.iterdir())
