"""`wiki worklist`, `wiki prompt` and `wiki apply`: a wiki built by an agent that answers the questions itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_wiki.commands import completing
from agent_wiki.commands.files import text_in
from agent_wiki.commands.selecting import Exclude, Include, Since, paths_of, selection_of
from agent_wiki.commands.show import print_answer, print_lines
from agent_wiki.commands.stages import ArchiveCovered, AsJson, Wiki
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.errors import UsageError

if TYPE_CHECKING:
    from agent_wiki.engines.recorded import ObservedPrompt
    from agent_wiki.readers.recording_path import RecordingPath


class Only(StrEnum):
    """A part of a printed prompt."""

    system = "system"
    message = "message"
    schema = "schema"


_STAGE = (
    "A stage (summarize, …), or what it produces: summary, guidelines, skill, cluster, task or subtask; together: all "
    "questions on a recording in one."
)

Recordings = Annotated[
    list[str] | None,
    typer.Argument(help="Recordings, or folders of them, also in a bucket; by default those the wiki knows."),
]
Trajectory = Annotated[str | None, typer.Argument(help="The recording that the question is about.")]
Session = Annotated[
    str,
    typer.Option("--session", help="The session, where a recording holds several.", autocompletion=completing.sessions),
]
Request = Annotated[str, typer.Option("--request", help="The question by its digest, as a worklist has it.")]

_EXIT_FAILED = 1
_ALL_ANSWERED = "no such question is open any more: this one is answered, and an answer to it replaces that"


def worklist(
    recordings: Recordings = None,
    since: Since = "",
    include: Include = None,
    exclude: Exclude = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="List the first N questions alone.")] = None,
    wiki: Wiki = None,
    prompts: Annotated[
        Path | None,
        typer.Option("--prompts", help="Write each question into a file in this folder, with an index of them."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --prompts: show what would be written; write nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the open questions: stage, request, size, session and recording, one line each, and what to do next."""
    from agent_wiki.commands.answer_lines import prompt_folder_line, worklist_lines
    from agent_wiki.pipeline import worklist as open_ones
    from agent_wiki.pipeline.prompt_files import PromptFolder
    from agent_wiki.pipeline.report import as_lines, as_values

    if dry_run and prompts is None:
        raise UsageError(
            "--dry-run: it is for --prompts FOLDER, without which nothing is written but what `.wiki/` remembers"
        )
    folder = PromptFolder(prompts, dry_run) if prompts is not None else None
    if folder is not None:
        folder.check(wiki_folder(wiki))
    selection = selection_of(since, include, exclude)
    found = open_ones.worklist(wiki_folder(wiki), paths_of(recordings or ()), selection, folder, limit)
    if as_json:
        questions = [asdict(each) for each in found.questions]
        print_answer("worklist", {"questions": questions, "more": found.more, "problems": as_values(found.problems)})
    else:
        print_lines(worklist_lines(found.questions, wiki, found.more))
        print_lines([prompt_folder_line(folder)] if folder is not None else [])
    _print_errors(as_lines(found.problems))
    raise typer.Exit(_EXIT_FAILED if found.problems else 0)


def prompt(
    stage: Annotated[
        str, typer.Argument(help=f"{_STAGE} Not needed with --request.", autocompletion=completing.stages)
    ] = "",
    trajectory: Trajectory = None,
    session: Session = "",
    request: Request = "",
    wiki: Wiki = None,
    only: Annotated[Only | None, typer.Option("--only", help="Print this part alone, without a heading.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the request for an engine: system prompt, message, and the JSON schema of the answer."""
    from agent_wiki.pipeline.open_questions import AmbiguousQuestion, NoSuchQuestion, QuestionSelector, printed
    from agent_wiki.pipeline.prompt_files import prompt_sections
    from agent_wiki.pipeline.report import SHORT_DIGEST

    if only and as_json:
        raise UsageError("--only prints text; with --json each part is a field")
    try:
        found = printed(wiki_folder(wiki), QuestionSelector(stage, _existing(trajectory), session, request))
    except AmbiguousQuestion as error:
        raise UsageError(str(error)) from None
    except NoSuchQuestion as error:
        _print_errors([str(error)])
        raise typer.Exit(_EXIT_FAILED) from None
    values = _values(found.asked)
    if found.asked.is_answered and not request:
        _print_errors([_ALL_ANSWERED])
    if found.others and not request:
        digest = found.asked.prompt.digest[:SHORT_DIGEST]
        _print_errors([f"one of {found.others + 1} open questions: apply its answer with --request {digest}"])
    if as_json:
        print_answer("prompt", values)
    elif only:
        part = values[only.value]
        text = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, indent=2)
        print_lines([text.removesuffix("\n")], is_verbatim=True)
    else:
        print_lines(prompt_sections(found.asked), is_verbatim=True)


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


def apply(
    stage: Annotated[
        str,
        typer.Argument(help=f"{_STAGE} Not needed with --request or an envelope.", autocompletion=completing.stages),
    ] = "",
    trajectory: Trajectory = None,
    session: Session = "",
    request: Request = "",
    answer: Annotated[
        Path | None, typer.Option("--answer", help="A file with the answer, instead of standard input.")
    ] = None,
    model: Annotated[str, typer.Option("--model", help="The model that answered: pages and journal name it.")] = "",
    archive_covered: ArchiveCovered = True,
    archive_members: Annotated[
        bool, typer.Option("--archive-members", help="Archive the members of the clusters that the answer creates.")
    ] = False,
    wiki: Wiki = None,
    as_json: AsJson = False,
) -> None:
    """Check an answer, keep it in the journal, write its pages, and say what comes next.

    The answer is a JSON object as the prompt specifies, or {"request": DIGEST, "answer": {…}, "model": NAME} to name
    its question, and who answered.
    """
    from agent_wiki.commands.answer_lines import applied_lines
    from agent_wiki.pipeline.apply_answer import Choices, apply_answer
    from agent_wiki.pipeline.open_questions import QuestionSelector
    from agent_wiki.pipeline.report import as_lines

    wanted = QuestionSelector(stage, _existing(trajectory), session, request)
    choices = Choices(model, archive_covered, archive_members)
    applied = apply_answer(wiki_folder(wiki), wanted, text_in(answer), choices)
    if as_json:
        print_answer("apply", applied.to_json())
    elif applied.problems:
        _print_errors([str(each) for each in applied.problems])
    else:
        print_lines(applied_lines(applied, wiki))
    _print_errors([*as_lines(applied.warnings), *applied.bugs])
    raise typer.Exit(_EXIT_FAILED if applied.problems else 0)


def _existing(named: str | None) -> RecordingPath | None:
    (recording,) = paths_of([named]) if named is not None else [None]
    if isinstance(recording, Path) and not recording.exists():
        raise UsageError(f"{recording}: no such file or folder")
    return recording


def _print_errors(lines: Iterable[str]) -> None:
    print_lines((" ".join(line.split()) for line in lines), err=True)
