"""`wiki worklist`, `wiki prompt` and `wiki apply`: a wiki built by an agent that answers the questions itself."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_wiki.commands.stages import ArchiveCovered, Wiki
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.errors import UsageError

if TYPE_CHECKING:
    from agent_wiki.pipeline.open_questions import Found, OpenQuestion

_STAGE = "A stage (summarize, …), or what it produces: summary, guidelines, skill, cluster, task or subtask."

Recordings = Annotated[
    list[Path] | None, typer.Argument(help="Recordings, or folders of them; by default those the wiki knows.")
]
Trajectory = Annotated[Path | None, typer.Argument(help="The recording that the question is about.")]
Session = Annotated[str, typer.Option("--session", help="The session, where a recording holds several.")]
Request = Annotated[str, typer.Option("--request", help="The question by its digest, as a worklist has it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]

_EXIT_FAILED = 1


def worklist(recordings: Recordings = None, wiki: Wiki = None, as_json: AsJson = False) -> None:
    """List the open questions: stage, request, session and recording, one line each."""
    from agent_wiki.pipeline import open_questions
    from agent_wiki.report import as_lines, as_values

    found = open_questions.worklist(wiki_folder(wiki), recordings or ())
    if as_json:
        listed = {"questions": [each.to_json() for each in found.questions], "problems": as_values(found.problems)}
        _print(json.dumps(listed, ensure_ascii=False, indent=2))
    else:
        for each in found.questions:
            _print(_line(each))
        if not found.questions:
            _print("no open questions")
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
    _print(_as_json(found) if as_json else _as_text(found))


def _as_json(found: Found) -> str:
    asked = found.asked
    values: dict[str, Any] = {
        "stage": asked.prompt.stage,
        "request": asked.prompt.digest,
        "about": list(asked.about),
        "is_answered": asked.is_answered,
        "system": asked.prompt.system,
        "message": asked.prompt.text,
        "schema": asked.prompt.schema,
        "max_tokens": asked.prompt.max_tokens,
    }
    return json.dumps(values, ensure_ascii=False, indent=2)


def _as_text(found: Found) -> str:
    """The parts under headings that nobody who wrote into a recording could have predicted."""
    asked = found.asked
    mark = asked.prompt.digest.removeprefix("sha256:")[:12]
    about = " ".join(", ".join(asked.about).split())
    lines = [
        f"# {asked.prompt.stage}: {about}",
        f"# request {asked.prompt.digest}" + (" (answered)" if asked.is_answered else ""),
        f"===== system {mark} =====",
        asked.prompt.system,
        f"===== message {mark} =====",
        asked.prompt.text,
        f"===== JSON schema of the answer {mark} =====",
        json.dumps(asked.prompt.schema, ensure_ascii=False, indent=2),
    ]
    return "\n".join(lines)


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
    applied = apply_answer(wiki_folder(wiki), wanted, _answer_text(answer), choices)
    if as_json:
        _print(json.dumps(applied.to_json(), ensure_ascii=False, indent=2))
    elif applied.problems:
        _print_errors([str(each) for each in applied.problems])
    else:
        counts = f"{len(applied.written)} files written, {len(applied.removed)} removed"
        _print(f"{applied.stage}: {', '.join(applied.about)}: {counts}")
        for path in applied.written:
            _print(f"  {path}")
    _print_errors([*as_lines(applied.warnings), *applied.bugs])
    raise typer.Exit(_EXIT_FAILED if applied.problems else 0)


def _existing(recording: Path | None) -> Path | None:
    if recording is not None and not recording.exists():
        raise UsageError(f"{recording}: no such file or folder")
    return recording


def _answer_text(file: Path | None) -> str:
    place = str(file) if file is not None else "standard input"
    try:
        raw = sys.stdin.buffer.read() if file is None else file.read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        raise UsageError(f"{place}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{place}: not UTF-8 text") from error


def _print(text: str) -> None:
    """Print to standard output in UTF-8, regardless of the terminal's encoding: prompts must not change."""
    typer.echo(text.encode("utf-8", "replace"))


def _print_errors(lines: Sequence[str]) -> None:
    for line in lines:
        typer.echo(" ".join(line.split()), err=True)
