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
from agent_wiki.engines.answer_faults import faults_of, text_of
from agent_wiki.engines.recorded import ObservedPrompt, RecordedEngine
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.answer_checks import problems_of_several, value_in
from agent_wiki.pipeline.applied import Applied, ArchivedPage, kept_of
from agent_wiki.pipeline.cleaning import Cleaning
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
from agent_wiki.pipeline.report import Failure, Report
from agent_wiki.pipeline.worklist import OpenQuestion, in_order
from agent_wiki.redaction.values import Redacted
from agent_wiki.spending import AGENT
from agent_wiki.stages.order import ALL_STAGES, SESSION_STAGES, SUMMARIZE
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.values import mapping

_ENVELOPE = {"request", "answer", "stage", "model"}


@dataclass(frozen=True, slots=True)
class Choices:
    """What comes with an answer: who gave it, and what to archive once its pages exist."""

    model: str = ""
    archive_covered: bool = True
    archive_members: bool = False


def apply_answer(wiki: Path, wanted: QuestionSelector, text: str, choices: Choices) -> Applied:
    """Check an answer and write its pages.

    In: the question that it answers, and the JSON text; an envelope, `{"request": DIGEST, "answer": {…}}`, names its
    question itself, or with `model` who answered. Raises `RunError`; what is wrong with the answer is in `problems`.
    """
    value, problems = value_in(text)
    if problems:
        return _refused(wanted, problems)
    folder = WikiFolder(wiki)
    try:
        value, redacted = _cleaning(folder).of_value(value)
    except RecursionError:
        return _refused(wanted, [Problem("", "the answer is nested too deeply")])
    if _is_envelope(value):
        value, wanted, choices = _unwrapped(value, wanted, choices)
    with folder.locked(with_runs=True):
        try:
            found = found_question(wiki, wanted)
        except NoSuchQuestion as error:
            return _refused(wanted, [Problem("", str(error))])
        asked = found.asked
        if choices.archive_members and kind_of_question(asked) != "cluster":
            raise UsageError(f"--archive-members: {asked.prompt.stage} makes no cluster")
        checked = problems_of_several if is_of_several(asked.prompt.stage) else faults_of
        problems = checked(value, asked.question)
        if problems:
            return replace(_applied(asked), problems=tuple(problems))
        _keep(wiki, asked, value, choices)
        kept = kept_of(asked, value)
        if wanted.recording is not None:
            KnownRecordings.load(folder).note([wanted.recording], {})
        applied = _written(folder, found, choices)
        return replace(applied, kept=kept, warnings=(*applied.warnings, *map(_warning, redacted)))


def _cleaning(folder: WikiFolder) -> Cleaning:
    """What is replaced in an answer: whoever gave it may have read the recording itself, without stand-ins."""
    return Cleaning(parse_config(folder.text_or_empty(CONFIG)).keeps_personal_data)


def _warning(redacted: Redacted) -> Failure:
    return Failure("secret", "answer", str(replace(redacted, place="")), redacted.place)


def _is_envelope(value: Mapping[str, Any]) -> bool:
    """Whether an answer comes with who gave it, or with its question: no answer has a field `answer` of its own."""
    names_are_texts = all(isinstance(value.get(name, ""), str) for name in ("request", "model"))
    return isinstance(value.get("answer"), dict) and set(value) <= _ENVELOPE and names_are_texts


def _unwrapped(
    envelope: Mapping[str, Any], wanted: QuestionSelector, choices: Choices
) -> tuple[dict[str, Any], QuestionSelector, Choices]:
    """What an envelope holds; the command's own options take precedence."""
    named = wanted if wanted.request else replace(wanted, request=envelope.get("request", ""))
    return envelope["answer"], named, replace(choices, model=choices.model or envelope.get("model", ""))


def _refused(wanted: QuestionSelector, problems: list[Problem]) -> Applied:
    return Applied(wanted.stage, wanted.request, (), problems=tuple(problems))


def _applied(asked: ObservedPrompt) -> Applied:
    return Applied(asked.prompt.stage, asked.prompt.digest, asked.about, question=OpenQuestion.of(asked))


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


def _written(folder: WikiFolder, found: Found, choices: Choices) -> Applied:
    """Run the stages that make pages of the answer. The corpus stages follow, for what they compare has changed."""
    wiki = folder.root
    answered: dict[str, OpenQuestion] = {}
    unanswered: dict[str, OpenQuestion] = {}

    def listen(asked: ObservedPrompt) -> None:
        if asked.is_answered or not is_of_several(asked.prompt.stage):
            (answered if asked.is_answered else unanswered)[asked.prompt.digest] = OpenQuestion.of(asked)

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
    if applied.request not in answered:
        reason = (
            "the answer is in the journal, but its pages could not be made; `wiki ingest --engine recorded` goes on"
        )
        problems = (Problem("", reason), *(Problem(each.unit, each.reason) for each in others))
        return replace(applied, problems=problems)
    is_spanning = stage not in SESSION_STAGES and not is_of_several(stage)
    ordered = in_order(unanswered.values())
    here = [each for each in ordered if (each.spans_sessions if is_spanning else each.about == found.asked.about)]
    return replace(
        applied,
        recording=str(found.recordings[0]) if len(found.recordings) == 1 else None,
        answered=sum(each.part == "segment" and _are_of_one(each, applied) for each in answered.values()),
        written=tuple(sorted(report.written)),
        removed=tuple(sorted(report.removed)),
        archived=tuple(_archived_page(folder, path) for path in sorted(report.archived)),
        opened=tuple(each for each in here if not is_spanning and each.request not in found.opened),
        still_open=tuple(each for each in here if is_spanning or each.request in found.opened),
        spanning=sum(each.spans_sessions for each in unanswered.values()),
        waiting=report.pages_waiting,
        warnings=others,
    )


def _are_of_one(question: OpenQuestion, applied: Applied) -> bool:
    return (question.stage, question.about) == (applied.stage, applied.about)


def _archived_page(folder: WikiFolder, path: str) -> ArchivedPage:
    """An archived page, which itself says why."""
    said = mapping(folder.read_page(path)[1].fields.get("archived"))
    return ArchivedPage(path, str(said.get("reason") or ""), str(said.get("by") or ""))
