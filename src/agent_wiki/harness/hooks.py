"""What an agent harness calls at the end of a turn: the trajectory is saved, and mined when the turn was not trivial.

A harness must never suffer from it: `stop` raises nothing, prints nothing and writes problems to `.evolve/hook.log`.
What cannot be done now (another process has the wiki, a large wiki was brought up to date a moment ago) is left for the
next time, by a mark in `.evolve/hook/pending`.

Claude Code gives every hook JSON on standard input, and so do the hooks of Codex (session_id, transcript_path, cwd,
hook_event_name, stop_hook_active). Codex's older `notify` gives JSON as the last argument, names with dashes, and no
transcript: that is looked for by its thread id.
"""

from __future__ import annotations

import json
import os
import re
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_wiki.errors import AgentWikiError, RunError, UnsafePath, WikiLocked

if TYPE_CHECKING:
    from agent_wiki.pipeline.session_stages import SessionReport
    from agent_wiki.trajectory import Trajectory

EVENTS = ("Stop", "SubagentStop", "SessionEnd", "agent-turn-complete")

_LOG = "hook.log"
_FOLDER = "hook"
_LONGEST_LOG = 256 * 1024  # bytes; beyond it the older half goes
_LOCK_TIMEOUT_SECONDS = 1.0
_SAVE_TIMEOUT_SECONDS = 5.0
_LONG_RUN_SECONDS = 2.0
_REST = 20  # after a long run of the wiki so many times its seconds pass before the next
_MOST_ROUNDS = 3
_THREAD_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,99}")
_MOST_DAYS = 400
_DEFAULT_WIKI = "wiki"
_ENGINE = "offline"


class HookProblem(AgentWikiError):
    """What a harness gave cannot be used; `str()` is one line for the log."""


@dataclass(frozen=True, slots=True)
class HookInput:
    """What a harness tells of a turn that ended. `is_continuation`: another hook had made the agent go on."""

    event: str
    session_id: str
    transcript: Path | None
    cwd: Path
    is_continuation: bool = False


@dataclass(slots=True)
class Outcome:
    """What a hook did, for tests and the log."""

    saved: list[Path] = field(default_factory=list)
    unchanged: int = 0
    marked: list[str] = field(default_factory=list)  # sessions with something to mine: `<session id>: <signs>`
    mined: list[str] = field(default_factory=list)  # names of the saved files that the wiki took
    unlearnt: list[str] = field(default_factory=list)  # those that hold nothing to learn
    left: str = ""  # why something was left for the next time
    problems: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One line for the log."""
        parts = [f"{len(self.saved)} saved, {self.unchanged} unchanged"]
        parts += [f"to mine: {'; '.join(self.marked)}"] if self.marked else []
        parts += [f"mined: {len(self.mined)}"] if self.mined else []
        parts += [f"nothing to learn: {len(self.unlearnt)}"] if self.unlearnt else []
        parts += [f"left for the next time: {self.left}"] if self.left else []
        return ", ".join(parts)


def parse_input(text: str, here: Path) -> HookInput:
    """What a harness said, in either spelling. `here` stands in for a missing `cwd`. Raises `HookProblem`."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HookProblem(f"the hook's input is not JSON ({type(error).__name__})") from error
    if not isinstance(told, dict):
        raise HookProblem("the hook's input is no JSON object")
    transcript = _text(told, "agent_transcript_path") or _text(told, "transcript_path")
    return HookInput(
        event=_text(told, "hook_event_name") or _text(told, "type") or "Stop",
        session_id=_text(told, "session_id") or _text(told, "thread-id") or _text(told, "thread_id"),
        transcript=Path(transcript).expanduser() if transcript else None,
        cwd=Path(_text(told, "cwd") or here),
        is_continuation=told.get("stop_hook_active") is True,
    )


def _text(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""


def transcript_of(told: HookInput, environment: Mapping[str, str]) -> Path:
    """The turn's transcript: the file the harness names, else Codex's rollout of that thread. Raises `HookProblem`."""
    if told.transcript is not None:
        if told.transcript.is_file():
            return told.transcript
        raise HookProblem(f"{told.transcript}: no such transcript")
    if not _THREAD_ID.fullmatch(told.session_id):
        raise HookProblem("the hook's input names neither a transcript nor a thread")
    home = Path(environment.get("CODEX_HOME") or Path("~/.codex").expanduser())
    for day in _days(home / "sessions"):
        found = sorted(day.glob(f"rollout-*{told.session_id}.jsonl*"))
        if found:
            return found[-1]
    raise HookProblem(f"no rollout of thread {told.session_id} below {home / 'sessions'}")


def _days(sessions: Path) -> Iterator[Path]:
    """Codex's folders `sessions/YYYY/MM/DD`, the latest first."""
    yield sessions
    days = sorted(sessions.glob("[0-9]*/[0-9]*/[0-9]*"), reverse=True)
    yield from days[:_MOST_DAYS]


def standing_wiki(named: Path | None, cwd: Path, environment: Mapping[str, str]) -> Path | None:
    """The wiki to mine into: the nearest `wiki` (or `named`) from `cwd` up to the project's root, if there is one.

    A named one that is nowhere yet is to be made in the project; without a name only a wiki that is there is taken, so
    that a hook of a user's own settings plants none.
    """
    from agent_wiki.harness.saving import project_root

    root = project_root(cwd)
    relative = named or Path(_DEFAULT_WIKI)
    for folder in (cwd, *cwd.parents):
        if (folder / relative / "_config.yaml").is_file():
            return folder / relative
        if folder == root:
            break
    if named is None:
        return None
    project = environment.get("CLAUDE_PROJECT_DIR")
    home = Path(project) if project and cwd.is_relative_to(project) else root
    return home / named


def signs_to_learn(trajectory: Trajectory, after_turn: int) -> tuple[str, ...]:
    """What in the turns behind `after_turn` may hold a lesson: an error, a correction, a script, and the like.

    Empty for trivial turns. A way around an error shows by the error.
    """
    from agent_wiki.recall.reads import wiki_reads
    from agent_wiki.shell.verdict import has_failed
    from agent_wiki.trajectory.calls import paired_calls

    calls = [call for call in paired_calls(trajectory) if max(call.turn, call.result_turn or 0) > after_turn]
    signs = {
        "an error": any(has_failed(call) for call in calls),
        "a correction": any(call.mark == "rejected" for call in calls) or _is_corrected(trajectory, after_turn),
        "a standing instruction": _is_instructed(trajectory, after_turn),
        "a script": any(_writes_script(call) for call in calls),
        "a wiki page read": any(read.turn > after_turn and not read.is_index for read in wiki_reads(trajectory)),
    }
    return tuple(name for name, is_there in signs.items() if is_there)


_SCRIPT_NAME = re.compile(r"\.(?:sh|bash|zsh|fish|ps1)$", re.IGNORECASE)
_RUN_BY = re.compile(r"^(?:python[\d.]*|node|ruby|perl|bash|sh|zsh|deno|bun|Rscript)$")
_TURNS_AGAINST = re.compile(
    r"^\W*(?:no|nope|don't|do not|stop|wait|actually|instead|wrong|undo|revert|why (?:did|are|would) you|that's not"
    r"|that is not|not what|you (?:should|forgot|missed|didn't|did not|broke)|still|never|always"
    r"|please (?:don't|never))\b"
    r"|\b(?:instead of|rather than|not what i|(?:doesn't|does not|didn't|isn't|not) work|wrong|broke|fails?|failing)\b",
    re.IGNORECASE,
)
_STANDS = re.compile(r"\b(?:always|never|from now on|in future|in the future|every time|remember to)\b", re.IGNORECASE)
_MOST_OF_A_REPLY = 2_000


def _is_corrected(trajectory: Trajectory, after_turn: int) -> bool:
    """The user stopped the agent, or said something against its course after the first request."""
    from agent_wiki.engines.offline.objections import known_objections

    if trajectory.source.parent_session_id:
        return False  # a subagent's "user" is another agent
    is_first = True
    for turn, message in trajectory.turns():
        if message.mark == "interrupt" and turn > after_turn:
            return True
        if message.role != "user" or message.mark is not None:
            continue
        text = (message.content or "")[:_MOST_OF_A_REPLY]
        folded = text.lower().replace("’", "'")
        if turn > after_turn and not is_first:
            objects = any(each.words.search(folded) for each in known_objections())
            if objects or _TURNS_AGAINST.search(folded):
                return True
        is_first = False
    return False


def _is_instructed(trajectory: Trajectory, after_turn: int) -> bool:
    """The user said how things are done, beyond this one request."""
    return any(
        _STANDS.search((message.content or "")[:_MOST_OF_A_REPLY])
        for turn, message in trajectory.turns()
        if turn > after_turn and message.role == "user" and message.mark is None
    )


def _writes_script(call: Any) -> bool:
    """A shell script, a file that begins as one, or a program handed to an interpreter as a here-document."""
    from agent_wiki.shell.simple_commands import simple_commands

    command = call.command()
    if command is None:
        content = call.arguments.get("content") or call.arguments.get("file_text")
        is_written = isinstance(content, str)
        return is_written and (content.startswith("#!") or bool(_SCRIPT_NAME.search(call.path() or "")))
    if ">" not in command and "<<" not in command:
        return False
    for each in simple_commands(command):
        if any(_SCRIPT_NAME.search(file) for file in each.writes) or each.body.startswith("#!"):
            return True
        if each.body.count("\n") >= 3 and _RUN_BY.match(each.program):
            return True
    return False


def stop(text: str, named_wiki: Path | None, here: Path, environment: Mapping[str, str]) -> Outcome:
    """Save the turn's trajectory and mine what is worth it. Raises nothing: problems are logged, and in the outcome.

    `text` is what the harness gave, `named_wiki` the wiki its configuration names.
    """
    outcome = Outcome()
    cwd = here
    try:
        told = parse_input(text, here)
        cwd = told.cwd if told.cwd.is_dir() else here
        if told.event not in EVENTS:
            raise HookProblem(f"event {told.event[:40]!r} is none that ends a turn")
        _save_and_mine(told, cwd, named_wiki, environment, outcome)
    except AgentWikiError as error:
        outcome.problems.append(str(error))
    except Exception:  # noqa: BLE001 - whatever goes wrong here, the harness goes on
        outcome.problems.append(traceback.format_exc())
    _log(cwd, environment, outcome)
    return outcome


def _save_and_mine(
    told: HookInput, cwd: Path, named_wiki: Path | None, environment: Mapping[str, str], outcome: Outcome
) -> None:
    from agent_wiki.harness import saving

    transcript = transcript_of(told, environment)
    root = saving.project_root(cwd)
    wiki = standing_wiki(named_wiki, cwd, environment)
    folder = saving.default_folder(root, environment)
    desk = _Desk(saving.evolve_folder(root, environment) / _FOLDER)
    warnings: list[str] = []
    with desk.locked("saving", _SAVE_TIMEOUT_SECONDS):
        for trajectory in saving.trajectories(transcript, transcript.name, warnings):
            _keep(trajectory, folder, desk, outcome, is_mined=wiki is not None)
    if wiki is None:
        return
    if told.is_continuation:
        outcome.left = "another hook keeps the agent going" if desk.pending() else ""
        return
    _mine_pending(wiki, folder, desk, outcome)


@dataclass(slots=True)
class _Desk:
    """What hooks of one project remember: `.evolve/hook`. It may be thrown away at any time."""

    folder: Path

    def read(self, name: str) -> dict[str, Any]:
        """A JSON object kept here, empty when it is missing or damaged."""
        with suppress(OSError, ValueError, RecursionError):
            kept = json.loads((self.folder / name).read_text(encoding="utf-8"))
            return kept if isinstance(kept, dict) else {}
        return {}

    def write(self, name: str, kept: Mapping[str, Any]) -> None:
        """Keep a JSON object. Raises `OSError`, and `UnsafePath` for a link in the place of the folder."""
        target = self.folder / name
        if target.parent.is_symlink():
            raise UnsafePath(f"{target.parent}: a link in the project could lead out of it")
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        beside.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8", errors="replace")
        beside.replace(target)

    def mark_pending(self, stem: str, file: str) -> None:
        """Note that a saved file is to be mined."""
        self.write(f"pending/{stem}.json", {"file": file})

    def pending(self) -> dict[str, str]:
        """Stem → name of the saved file, of all that is to be mined."""
        found = {}
        for path in sorted((self.folder / "pending").glob("[!.]*.json")):
            file = self.read(f"pending/{path.name}").get("file")
            found[path.stem] = Path(file).name if isinstance(file, str) else ""
        return found

    def unmark(self, stem: str) -> None:
        """A saved file has been looked at."""
        (self.folder / "pending" / f"{stem}.json").unlink(missing_ok=True)

    @contextmanager
    def locked(self, name: str, timeout_seconds: float) -> Iterator[None]:
        """Hold one lock of the project's hooks. Raises `WikiLocked` when another hook has it for too long."""
        from filelock import FileLock, Timeout

        place = self.folder / f"{name}.lock"
        if self.folder.is_symlink() or place.is_symlink():
            raise UnsafePath(f"{place}: a link in the project could lead out of it")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(place, timeout=timeout_seconds)
        try:
            lock.acquire()
        except Timeout as error:
            raise WikiLocked(f"another hook of this project is at work ({name})") from error
        try:
            yield
        finally:
            lock.release()


def _keep(trajectory: Trajectory, folder: Path, desk: _Desk, outcome: Outcome, *, is_mined: bool) -> None:
    """Save one trajectory unless this very state of it is saved; a session's later state takes the earlier one's file.

    What a wiki may learn from, in the turns since the last look, is marked as pending.
    """
    from agent_wiki.harness import saving
    from agent_wiki.trajectory import digest
    from agent_wiki.wiki.layout import session_file_stem

    stem = session_file_stem(trajectory.session_id)
    name = f"sessions/{stem}.json"
    kept, found = desk.read(name), digest(trajectory)
    file = Path(str(kept.get("file") or "")).name
    is_saved = bool(file) and (folder / file).is_file() and not (folder / file).is_symlink()
    if kept.get("digest") == found and is_saved:
        outcome.unchanged += 1
    else:
        if is_saved:
            saving.replace(folder / file, trajectory)
        else:
            file = saving.write_new(folder, trajectory, datetime.now(UTC)).name
        outcome.saved.append(folder / file)
    looked_at, turns = kept.get("looked_at"), len(trajectory.messages)
    since = looked_at if isinstance(looked_at, int) and looked_at <= turns else 0
    if is_mined and since < turns:
        signs = signs_to_learn(trajectory, since)
        if signs:
            desk.mark_pending(stem, file)
            outcome.marked.append(f"{trajectory.session_id}: {', '.join(signs)}")
        since = turns
    state = {"digest": found, "file": file, "looked_at": since}
    if state != kept:
        desk.write(name, state)


def _mine_pending(wiki: Path, folder: Path, desk: _Desk, outcome: Outcome) -> None:
    """Mine what is pending, also what comes in meanwhile; what cannot be done now is left, and told."""
    if not desk.pending():
        return
    if _is_resting(desk):
        outcome.left = "the wiki is large and was brought up to date a moment ago"
        return
    try:
        with desk.locked("mining", _LOCK_TIMEOUT_SECONDS):
            for _ in range(_MOST_ROUNDS):
                pending = desk.pending()
                if not pending:
                    break
                started = time.monotonic()
                _mine(wiki, folder, pending, outcome)
                for stem in pending:
                    desk.unmark(stem)
                desk.write("last_run.json", {"seconds": time.monotonic() - started, "ended_at": time.time()})
    except WikiLocked as error:
        outcome.left = str(error)


def _is_resting(desk: _Desk) -> bool:
    """After a long run the next one waits, so that a large wiki does not take the machine at each turn."""
    last = desk.read("last_run.json")
    seconds, ended_at = last.get("seconds"), last.get("ended_at")
    if not isinstance(seconds, int | float) or not isinstance(ended_at, int | float) or seconds < _LONG_RUN_SECONDS:
        return False
    return 0 <= time.time() - ended_at < seconds * _REST


def _mine(wiki: Path, folder: Path, pending: Mapping[str, str], outcome: Outcome) -> None:
    """Bring what saved sessions teach into the wiki, by the embedded engine. Raises `RunError`.

    It is a run of `wiki ingest` in which a session that teaches nothing leaves no record, and that replaces nothing
    that another engine answered.
    """
    from agent_wiki.pipeline.ingest import ANOTHER_ENGINE, Options, run
    from agent_wiki.report import Report
    from agent_wiki.stages.order import ALL_STAGES, CORPUS_STAGES
    from agent_wiki.wiki.layout import CONFIG, MACHINERY

    files = [folder / file for file in filter(None, pending.values()) if (folder / file).is_file()]
    if not files:
        return
    # What a model answered of all sessions at once is not asked of the embedded engine again.
    left_out = CORPUS_STAGES if (wiki / MACHINERY / "journal").exists() else ()
    stages = tuple(stage for stage in ALL_STAGES if stage not in left_out)
    learnt: dict[str, bool] = {}

    def note(file: str, session: SessionReport) -> None:
        name = Path(file).name
        learnt[name] = learnt.get(name, False) or session.status in ("mined", "unchanged", "older")
        if session.reason == ANOTHER_ENGINE:
            outcome.left = f"another engine answered for {session.session_id}: ingest with that one"

    options = Options(
        wiki, stages, _ENGINE, lock_timeout_seconds=_LOCK_TIMEOUT_SECONDS, is_selective=True, on_session=note
    )
    if not (wiki / CONFIG).is_file():  # a session that teaches nothing makes no wiki
        run(files, replace(options, dry_run=True), Report("hook stop", str(wiki)), _no_progress)
        if not any(learnt.values()):
            outcome.unlearnt += sorted(learnt)
            return
    report = run(files, options, Report("hook stop", str(wiki)), _no_progress)
    outcome.mined += sorted(file for file, is_learnt in learnt.items() if is_learnt)
    outcome.unlearnt += sorted(file for file, is_learnt in learnt.items() if not is_learnt)
    outcome.problems += [*map(str, report.failures), *report.bugs]


def _no_progress(_what: str, _done: int, _of: int) -> None:
    """A harness shows no progress."""


def _log(cwd: Path, environment: Mapping[str, str], outcome: Outcome) -> None:
    """Append what was done and what went wrong, the file bounded. A log that cannot be written is no reason to fail."""
    from agent_wiki.harness.saving import evolve_folder, project_root
    from agent_wiki.redaction.redact import redact_text

    with suppress(OSError, RunError):
        target = evolve_folder(project_root(cwd), environment) / _LOG
        if target.parent.is_symlink() or target.is_symlink() or not (target.parent.is_dir() or outcome.problems):
            return
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        lines = [f"{now} PROBLEM {' | '.join(redact_text(each)[0].splitlines())}" for each in outcome.problems]
        if outcome.saved or outcome.mined or outcome.left:
            lines.append(f"{now} {outcome.line()}")
        if lines:
            _append(target, "".join(f"{' '.join(line.split())}\n" for line in lines))


def _append(target: Path, text: str) -> None:
    content = text.encode("utf-8", "replace")[-_LONGEST_LOG // 2 :]
    if target.exists() and target.stat().st_size + len(content) > _LONGEST_LOG:
        kept = target.read_bytes()[-_LONGEST_LOG // 2 :]
        kept = kept[kept.find(b"\n") + 1 :]
        beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        beside.write_bytes(kept)
        beside.replace(target)
    descriptor = os.open(target, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "ab") as stream:
        stream.write(content)
