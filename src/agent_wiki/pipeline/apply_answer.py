"""An agent's answer: checked, written to the journal, and made into pages by the run that all engines' answers use.

The wiki is held from before the question is looked for until its pages are written, so that any number of processes may
apply answers at once and in any order, and end in the same bytes as one `wiki ingest --engine recorded` over them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_wiki.asking.journal import is_of_several
from agent_wiki.engine import Problem, no_progress
from agent_wiki.engines.recorded import ObservedPrompt, RecordedEngine
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.answer_checks import problems_of, problems_of_several, text_of, value_in
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.known_recordings import KnownRecordings
from agent_wiki.pipeline.open_questions import (
    Found,
    NoSuchQuestion,
    QuestionSelector,
    found_question,
    kind_of_question,
    other_failures,
)
from agent_wiki.report import Failure, Report, as_values
from agent_wiki.spending import AGENT
from agent_wiki.stages.order import ALL_STAGES, SESSION_STAGES, SUMMARIZE
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.store import WikiFolder

_ENVELOPE = {"request", "answer", "stage", "model"}


@dataclass(frozen=True, slots=True)
class Choices:
    """What comes with an answer: who gave it, and what to archive once its pages exist."""

    model: str = ""
    archive_covered: bool = True
    archive_members: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of applying an answer. With `problems` it is invalid, and nothing was written.

    `written` and `removed` are files of the wiki. `warnings` are failures of other pages and recordings, `bugs` are
    tracebacks.
    """

    stage: str
    request: str
    about: tuple[str, ...]
    problems: tuple[Problem, ...] = ()
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    warnings: tuple[Failure, ...] = ()
    bugs: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": not self.problems,
            "stage": self.stage,
            "request": self.request,
            "about": list(self.about),
            "problems": [{"place": each.place, "reason": each.reason} for each in self.problems],
            "written": list(self.written),
            "removed": list(self.removed),
            "warnings": as_values(self.warnings),
        }


def apply_answer(wiki: Path, wanted: QuestionSelector, text: str, choices: Choices) -> Applied:
    """Check an answer and write its pages.

    In: the question that it answers, and the JSON text; an envelope, `{"request": DIGEST, "answer": {…}}`, names its
    question itself. Raises `RunError`; all that is wrong with the answer is in `problems`.
    """
    value, problems = value_in(text)
    if problems:
        return _refused(wanted, problems)
    if _is_envelope(value):
        value, wanted, choices = _unwrapped(value, wanted, choices)
    folder = WikiFolder(wiki)
    with folder.locked(with_runs=True):
        try:
            found = found_question(wiki, wanted)
        except NoSuchQuestion as error:
            return _refused(wanted, [Problem("", str(error))])
        asked = found.asked
        if choices.archive_members and kind_of_question(asked) != "cluster":
            raise UsageError(f"--archive-members: {asked.prompt.stage} makes no cluster")
        checked = problems_of_several if is_of_several(asked.prompt.stage) else problems_of
        problems = checked(value, asked.question)
        if problems:
            return replace(_applied(asked), problems=tuple(problems))
        _keep(wiki, asked, value, choices)
        if wanted.recording is not None:
            KnownRecordings.load(folder).note([wanted.recording], {})
        return _written(wiki, found, choices)


def _is_envelope(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("answer"), dict) and isinstance(value.get("request"), str) and set(value) <= _ENVELOPE


def _unwrapped(
    envelope: Mapping[str, Any], wanted: QuestionSelector, choices: Choices
) -> tuple[dict[str, Any], QuestionSelector, Choices]:
    """What an envelope holds; the command's own options take precedence."""
    named = wanted if wanted.request else replace(wanted, request=envelope["request"])
    return envelope["answer"], named, replace(choices, model=choices.model or str(envelope.get("model") or ""))


def _refused(wanted: QuestionSelector, problems: list[Problem]) -> Applied:
    return Applied(wanted.stage, wanted.request, (), problems=tuple(problems))


def _applied(asked: ObservedPrompt) -> Applied:
    return Applied(asked.prompt.stage, asked.prompt.digest, asked.about)


def _keep(wiki: Path, asked: ObservedPrompt, value: Mapping[str, Any], choices: Choices) -> None:
    """Write the answer to the journal, unless it is the newest answer there already."""
    digest = asked.prompt.digest
    record: dict[str, Any] = {
        "kind": "answer",
        "request": digest,
        "prompt": digest,
        "stage": asked.prompt.stage,
        "about": list(asked.about),
        "answered_by": AGENT,
        "answer": text_of(value),
        "stop_reason": "end_turn",
        "usage": {},
    }
    record |= {"model": choices.model} if choices.model else {}
    record |= {"archive_members": True} if choices.archive_members else {}
    engine = RecordedEngine(wiki, is_kept=True)
    try:
        newest = next(iter(engine.journal.answers_to(digest)), None)
        if newest != record:
            engine.journal.append(record)
    finally:
        engine.close()


def _written(wiki: Path, found: Found, choices: Choices) -> Applied:
    """Run the stages that make pages of the answer. The corpus stages follow, for what they compare has changed."""
    heard: set[str] = set()

    def listen(asked: ObservedPrompt) -> None:
        if asked.is_answered:
            heard.add(asked.prompt.digest)

    stage = found.asked.prompt.stage
    is_later = found.is_rewrite and stage in SESSION_STAGES and stage != SUMMARIZE
    stages = ALL_STAGES[ALL_STAGES.index(stage) :] if is_later else ALL_STAGES
    only_session = found.session if found.is_rewrite else ""
    engine = RecordedEngine(wiki, is_kept=True, listener=listen, hears_together=True, only_session=only_session)
    report = Report("apply", str(wiki))
    options = Options(
        wiki,
        stages=stages,
        engine=engine,
        rewrite=found.is_rewrite,
        archive_covered=choices.archive_covered,
        new_pages="unlisted",
    )
    try:
        run(found.recordings, options, report, no_progress)
    finally:
        engine.close()
    others = tuple(other_failures(report))
    applied = replace(_applied(found.asked), bugs=tuple(report.bugs))
    if applied.request not in heard:
        reason = (
            "the answer is in the journal, but its pages could not be made; `wiki ingest --engine recorded` goes on"
        )
        problems = (Problem("", reason), *(Problem(each.unit, each.reason) for each in others))
        return replace(applied, problems=problems)
    return replace(
        applied,
        written=tuple(sorted(report.written)),
        removed=tuple(sorted(report.removed)),
        warnings=others,
    )
