"""`wiki worklist`, `wiki prompt` and `wiki apply`: a wiki built by an agent that answers the questions itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_wiki.commands.files import text_in
from agent_wiki.commands.selecting import Exclude, Include, Since, paths_of, selection_of
from agent_wiki.commands.show import print_json, print_lines
from agent_wiki.commands.stages import ArchiveCovered, AsJson, Wiki
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.errors import UsageError
from agent_wiki.wiki.text import counted

if TYPE_CHECKING:
    from agent_wiki.engines.recorded import ObservedPrompt
    from agent_wiki.pipeline.open_questions import OpenQuestion
    from agent_wiki.readers.recording_path import RecordingPath

_STAGE = (
    "A stage (summarize, …), or what it produces: summary, guidelines, skill, cluster, task or subtask; together: all "
    "questions on a recording in one."
)

Recordings = Annotated[
    list[str] | None,
    typer.Argument(help="Recordings, or folders of them, also in a bucket; by default those the wiki knows."),
]
Trajectory = Annotated[str | None, typer.Argument(help="The recording that the question is about.")]
Session = Annotated[str, typer.Option("--session", help="The session, where a recording holds several.")]
Request = Annotated[str, typer.Option("--request", help="The question by its digest, as a worklist has it.")]

_EXIT_FAILED = 1


def worklist(
    recordings: Recordings = None,
    since: Since = "",
    include: Include = None,
    exclude: Exclude = None,
    wiki: Wiki = None,
    as_json: AsJson = False,
) -> None:
    """List the open questions: stage, request, session and recording, one line each."""
    from agent_wiki.pipeline import open_questions
    from agent_wiki.report import as_lines, as_values

    selection = selection_of(since, include, exclude)
    found = open_questions.worklist(wiki_folder(wiki), paths_of(recordings or ()), selection)
    if as_json:
        print_json({"questions": [asdict(each) for each in found.questions], "problems": as_values(found.problems)})
    else:
        print_lines([_line(each) for each in found.questions] or ["no open questions"])
    _print_errors(as_lines(found.problems))
    raise typer.Exit(_EXIT_FAILED if found.problems else 0)


def _line(question: OpenQuestion) -> str:
    from agent_wiki.report import SHORT_DIGEST

    parts = [f"{question.stage:<20}", question.request[:SHORT_DIGEST]]
    if question.recording is not None:
        parts += [question.about[0], question.recording]
    else:
        parts += [f"{question.kind} of", ", ".join(question.about)]
    return "  ".join(" ".join(each.split()) if each is not parts[0] else each for each in parts)


def prompt(
    stage: Annotated[str, typer.Argument(help=_STAGE)],
    trajectory: Trajectory = None,
    session: Session = "",
    request: Request = "",
    wiki: Wiki = None,
    as_json: AsJson = False,
) -> None:
    """Print the request for an engine: system prompt, message, and the JSON schema of the answer."""
    from agent_wiki.pipeline.open_questions import NoSuchQuestion, QuestionSelector, printed

    try:
        found = printed(wiki_folder(wiki), QuestionSelector(stage, _existing(trajectory), session, request))
    except NoSuchQuestion as error:
        _print_errors([str(error)])
        raise typer.Exit(_EXIT_FAILED) from None
    if as_json:
        print_json(_values(found.asked))
    else:
        print_lines(_sections(found.asked))


def _values(asked: ObservedPrompt) -> dict[str, Any]:
    return {
        "stage": asked.prompt.stage,
        "request": asked.prompt.digest,
        "about": list(asked.about),
        "is_answered": asked.is_answered,
        "system": asked.prompt.system,
        "message": asked.prompt.text,
        "schema": asked.prompt.schema,
        "max_tokens": asked.prompt.max_tokens,
    }


def _sections(asked: ObservedPrompt) -> list[str]:
    """The parts under headings that nobody who wrote into a recording could have predicted."""
    mark = asked.prompt.digest.removeprefix("sha256:")[:12]
    about = " ".join(", ".join(asked.about).split())
    return [
        f"# {asked.prompt.stage}: {about}",
        f"# request {asked.prompt.digest}" + (" (answered)" if asked.is_answered else ""),
        f"===== system {mark} =====",
        asked.prompt.system,
        f"===== message {mark} =====",
        asked.prompt.text,
        f"===== JSON schema of the answer {mark} =====",
        json.dumps(asked.prompt.schema, ensure_ascii=False, indent=2),
    ]


def apply(
    stage: Annotated[str, typer.Argument(help=f"{_STAGE} Not needed with --request or an envelope.")] = "",
    trajectory: Trajectory = None,
    session: Session = "",
    request: Request = "",
    answer: Annotated[
        Path | None, typer.Option("--answer", help="A file with the answer, instead of standard input.")
    ] = None,
    model: Annotated[str, typer.Option("--model", help="The model that answered, for the journal.")] = "",
    archive_covered: ArchiveCovered = True,
    archive_members: Annotated[
        bool, typer.Option("--archive-members", help="Archive the members of the clusters that the answer creates.")
    ] = False,
    wiki: Wiki = None,
    as_json: AsJson = False,
) -> None:
    """Check an answer, keep it in the journal, and write its pages.

    The answer is a JSON object as the prompt specifies, or {"request": DIGEST, "answer": {…}} to name its question.
    """
    from agent_wiki.pipeline.apply_answer import Choices, apply_answer
    from agent_wiki.pipeline.open_questions import QuestionSelector
    from agent_wiki.report import as_lines

    wanted = QuestionSelector(stage, _existing(trajectory), session, request)
    choices = Choices(model, archive_covered, archive_members)
    applied = apply_answer(wiki_folder(wiki), wanted, text_in(answer), choices)
    if as_json:
        print_json(applied.to_json())
    elif applied.problems:
        _print_errors([str(each) for each in applied.problems])
    else:
        counts = f"{counted(len(applied.written), 'file')} written, {len(applied.removed)} removed"
        print_lines([f"{applied.stage}: {', '.join(applied.about)}: {counts}"])
        print_lines(f"  {path}" for path in applied.written)
    _print_errors([*as_lines(applied.warnings), *applied.bugs])
    raise typer.Exit(_EXIT_FAILED if applied.problems else 0)


def _existing(named: str | None) -> RecordingPath | None:
    (recording,) = paths_of([named]) if named is not None else [None]
    if isinstance(recording, Path) and not recording.exists():
        raise UsageError(f"{recording}: no such file or folder")
    return recording


def _print_errors(lines: Iterable[str]) -> None:
    print_lines((" ".join(line.split()) for line in lines), err=True)
