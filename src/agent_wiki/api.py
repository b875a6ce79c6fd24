"""The public API, offered by `import agent_wiki`: build a wiki, read recordings, read a wiki, write an engine.

Everything here is a thin edge over what the commands use. `agent_wiki` loads this module when one of its names is
first asked for.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from agent_wiki import retrieval
from agent_wiki.asking.options import AskingOptions
from agent_wiki.asking.prompts import Prompt, PromptFile, read_prompts, render_prompt
from agent_wiki.engine import (
    Account,
    Answer,
    BaseEngine,
    Coverage,
    Engine,
    MadeWith,
    Problem,
    Progress,
    Question,
    no_progress,
)
from agent_wiki.engines import default_engine
from agent_wiki.errors import (
    AgentWikiError,
    AnswerRejected,
    BudgetReached,
    NoAnswer,
    Queued,
    RunError,
    ServiceFailed,
    Unanswered,
    UnitError,
    UnreadablePage,
    UnreadableRecording,
    UnsafePath,
    UsageError,
    WikiLocked,
    system_reason,
)
from agent_wiki.pipeline.export_parts import files_of_exports
from agent_wiki.pipeline.forget import forget
from agent_wiki.pipeline.ingest import STAGES_OF_COMMAND, Options, run
from agent_wiki.pipeline.inputs import input_files
from agent_wiki.pipeline.mine import trajectories_of
from agent_wiki.pipeline.readable import readable
from agent_wiki.pipeline.report import Failure, Note, Report
from agent_wiki.pipeline.taken_out import Forgotten
from agent_wiki.readers.buckets import path_of
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.retrieval import Hit
from agent_wiki.retrieval.page_names import WikiPages
from agent_wiki.retrieval.why import CONTEXT_CHARACTERS, Why
from agent_wiki.retrieval.why import why as walk
from agent_wiki.stages.order import ALL_STAGES
from agent_wiki.trajectory import Message, Source, ToolCall, Trajectory, Usage
from agent_wiki.wiki.missing import require_folder
from agent_wiki.wiki.page import Page
from agent_wiki.wiki.records import SessionRecord
from agent_wiki.wiki.store import WikiFolder

__all__ = [
    "Account", "AgentWikiError", "Answer", "AnswerRejected", "AskingOptions", "BaseEngine", "BudgetReached",
    "Coverage", "Engine", "Failure", "Forgotten", "Hit", "MadeWith", "Message", "NoAnswer", "Note", "Page", "Problem",
    "Prompt", "Question", "Queued", "Recording", "Report", "RunError", "Sample", "ServiceFailed", "SessionRecord",
    "Source", "ToolCall", "Trajectory", "TrajectoryBuilder", "Unanswered", "UnitError", "UnreadablePage",
    "UnreadableRecording", "UnsafePath", "Usage", "UsageError", "Why", "Wiki", "WikiLocked", "ingest", "normalize",
    "open", "prompt_of",
]  # fmt: skip

AnyPath: TypeAlias = str | os.PathLike[str]

_MOST_TOKENS = 2_000


def ingest(
    paths: AnyPath | Iterable[AnyPath],
    wiki: AnyPath = "wiki",
    engine: str | Engine | None = None,
    *,
    stages: Collection[str] | None = None,
    jobs: int = 1,
    rewrite: bool = False,
    dry_run: bool = False,
    archive_covered: bool = True,
    asking: AskingOptions | None = None,
    progress: Progress | None = None,
) -> Report:
    """Build a wiki from recordings, or bring it up to date, as `wiki ingest` does.

    In: files and folders with recordings; the wiki's folder, created if it does not exist; an engine, or the name of
    one (None: the embedded one). `stages` are the names of those to run (None: all). `jobs` are the worker processes
    of an engine given by name: with more than one, guard your script by `if __name__ == "__main__"`. `asking` is for
    engines that ask a model; `progress` is called with (what, done, of). Out: what the run did; what is wrong with
    single recordings is among its `failures`. Raises `UsageError` for a stage that there is not or fewer jobs than one,
    and `RunError` where the run cannot begin or continue.
    """
    if jobs < 1:
        raise UsageError(f"jobs: {jobs} is less than 1")
    folder = Path(wiki)
    options = Options(
        folder,
        _stages(stages),
        engine=default_engine(folder) if engine is None else engine,
        jobs=jobs,
        rewrite=rewrite,
        dry_run=dry_run,
        archive_covered=archive_covered,
        asking=asking or AskingOptions(),
    )
    report = Report("ingest", str(folder), is_dry_run=dry_run)
    return run(_paths(paths), options, report, progress or no_progress)


def normalize(path: AnyPath, report: Report | None = None) -> Iterator[Trajectory]:
    """Read the sessions of a recording, or of all recordings in a folder, with secrets redacted.

    What in a folder is not a recording is skipped. Raises `UnreadableRecording` for one that cannot be read; with
    a `report`, that is noted among its `failures` instead and the others are read. Raises `UsageError` if there is
    no such path.
    """
    files = input_files([path_of(os.fspath(path))])
    exports = files_of_exports(each.path for each in files)
    for file in files:
        if report is not None:
            yield from readable(file, report, exports.part(file.path))
            continue
        recording = Recording(file.path, file.name, part=exports.part(file.path))
        try:
            yield from trajectories_of(recording, recording.sha256())
        except UnreadableRecording as error:
            if file.is_named or not error.is_foreign:
                raise
        except (OSError, MemoryError) as error:
            raise UnreadableRecording(file.name, system_reason(error)) from error


def open(wiki: AnyPath) -> Wiki:  # noqa: A001 - read as `agent_wiki.open`
    """Open a wiki for reading. Raises `UsageError` if there is no such folder."""
    require_folder(Path(wiki), is_named_by_option=False)
    return Wiki(Path(wiki))


def prompt_of(question: Question[Any], wiki: AnyPath | None = None) -> Prompt:
    """What to ask a model: `system`, `text`, and the JSON `schema` of the answer.

    The owner's prompts beside a `wiki` take precedence over those of this package. A session is shown as a whole,
    however long it is. Raises `RunError` for a prompt file that cannot be used.
    """
    return render_prompt(question, _prompts(None if wiki is None else Path(wiki, "prompts")))


class Wiki:
    """A wiki as it lies on disk, for reading; made by `open`.

    Pages and records are read when they are first asked for. Open the wiki again to see what a later run wrote.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[UnreadablePage] = []
        """Pages and records that cannot be read, as they are met."""

    @cached_property
    def pages(self) -> Mapping[str, Page]:
        """The pages by path, sorted; `[…]` and `get` also take a page's id, a skill's name or a session's id."""
        return _Pages(self._read)

    @property
    def records(self) -> Mapping[str, SessionRecord]:
        """What each session contributed, by its id."""
        return self._read.view.state.records

    def consult(
        self,
        task: str,
        *,
        tags: Collection[str] = (),
        kinds: Collection[str] = (),
        most: int = 5,
        repository: str | None = None,
    ) -> list[Hit]:
        """The pages that apply to a task in plain words, best first; empty if none does.

        A page must have one of the `tags` and be of one of the `kinds`, where these are given. What holds for
        `repository` (`name`, `owner/name` or an address) alone, or for one that the task names, is preferred; what
        holds for another one alone is left out. Raises `UsageError` for a kind that is none, fewer pages than one, or
        a folder that is no wiki.
        """
        if most < 1:
            raise UsageError(f"most: {most} is less than 1")
        if isinstance(kinds, str) or isinstance(tags, str):
            raise UsageError("kinds and tags: give a list of words, not one word")
        return retrieval.consult(self.folder, task, tags=tags, kinds=kinds, most=most, repository=repository)

    def text_of(self, hits: Sequence[Hit], max_tokens: int = _MOST_TOKENS) -> str:
        """The text of the pages found, best first, for an agent to read; a token is counted as two bytes."""
        return retrieval.read_pages(hits, max_tokens)

    def why(self, page: str, *, recordings: Sequence[AnyPath] = (), context: int = CONTEXT_CHARACTERS) -> Why:
        """Walk from a page to the turns that it is based on, and check each quote against its recording again.

        In: a page's path or id, or a session's id; files and folders with recordings, besides those that the wiki
        knows; the characters to show on either side of a quote. Raises `UsageError` for an unknown page.
        """
        return walk(self.folder, page, [path_of(os.fspath(each)) for each in recordings], context)

    def forget(self, *sessions: str, for_good: bool = False, dry_run: bool = False) -> Forgotten:
        """Take sessions out of the wiki with all that only they contained, as `wiki forget` does; then open it again.

        In: ids, beginnings of ids, or file names of recordings. Raises `UsageError` for one that is not there.
        """
        report = Report("forget", str(self.folder), is_dry_run=dry_run)
        return forget(self.folder, sessions, report, no_progress, for_good=for_good)

    @cached_property
    def _read(self) -> WikiPages:
        return WikiPages.read(WikiFolder(self.folder), self.problems)


class _Pages(Mapping[str, Page]):
    """Pages by path, and by their other names."""

    def __init__(self, pages: WikiPages) -> None:
        self._pages = pages
        self._paths = {path: path for path in pages}
        for path in pages:
            ids, slugs, _ = pages.names(path)
            for name in (*ids, *slugs):
                self._paths.setdefault(name, path)

    def __getitem__(self, name: str) -> Page:
        return self._pages[self._paths[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pages)

    def __len__(self) -> int:
        return len(self._pages)


def _paths(paths: AnyPath | Iterable[AnyPath]) -> list[RecordingPath]:
    named = [paths] if isinstance(paths, str | os.PathLike) else paths
    return [path_of(os.fspath(each)) for each in named]


def _stages(named: Collection[str] | None) -> tuple[str, ...]:
    """What the commands of these names run, in its order. Raises `UsageError` for another name."""
    if isinstance(named, str):
        raise UsageError(f"stages: give a list of names, not {named!r} alone")
    unknown = set(named or ()) - STAGES_OF_COMMAND.keys()
    if unknown:
        raise UsageError(f"no stage {min(unknown)!r}; there is {', '.join(STAGES_OF_COMMAND)}")
    wanted = {stage for name in named or ("ingest",) for stage in STAGES_OF_COMMAND[name]}
    return tuple(stage for stage in ALL_STAGES if stage in wanted)


@lru_cache(maxsize=4)
def _prompts(overrides: Path | None) -> dict[str, PromptFile]:
    return read_prompts(overrides)
