"""What `wiki worklist` and `wiki apply` print: sizes, parts, what was kept, and what is next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_wiki.asking.journal import is_of_several
from agent_wiki.pipeline.report import SHORT_DIGEST
from agent_wiki.stages.order import SUMMARIZE
from agent_wiki.wiki.layout import is_quarantined, kind_of
from agent_wiki.wiki.text import counted, plain_line

if TYPE_CHECKING:
    from agent_wiki.pipeline.applied import Applied
    from agent_wiki.pipeline.prompt_files import PromptFolder
    from agent_wiki.pipeline.worklist import OpenQuestion

_MOST_SAID = 1_000
_TOGETHER = "or all questions on a recording in one: wiki prompt together RECORDING; wiki apply together RECORDING"
_REASONS = {"covered_by_skill": "covered by", "covered_by_cluster": "replaced by"}


def worklist_lines(questions: Sequence[OpenQuestion], wiki: Path | None, more: int = 0) -> list[str]:
    """The questions under two headings, how many `more` are open, and what to do next; `wiki` as the user named it."""
    if not questions:
        return ["no open questions"]
    on_sessions = [each for each in questions if not each.spans_sessions]
    spanning = [each for each in questions if each.spans_sessions]
    lines = _listed("on sessions", on_sessions)
    last = "across sessions" + (", to be answered last: each new session changes them" if on_sessions else "")
    lines += [*_listed(last, spanning), *([f"more: {counted(more, 'open question')} besides"] if more else [])]
    lines.append(_next(questions[0], wiki))
    is_unread = any(each.stage == SUMMARIZE and each.part != "merge" for each in questions)
    return [*lines, _TOGETHER] if is_unread else lines


def _listed(title: str, questions: Sequence[OpenQuestion]) -> list[str]:
    if not questions:
        return []
    tokens = sum(each.tokens for each in questions)
    return [f"{title}: {counted(len(questions), 'question')}, about {tokens:,} tokens", *map(question_line, questions)]


def question_line(question: OpenQuestion) -> str:
    """One line: stage, request, size, session or what is compared, recording, and which part of a long session."""
    about = ", ".join(question.about)
    parts = [f"{question.kind} of {about}" if question.spans_sessions else about]
    parts += [question.recording] if question.recording is not None else []
    parts += [part_words(question)] if question.part != "whole" else []
    said = "  ".join(plain_line(each, _MOST_SAID) for each in parts)
    return f"  {question.stage:<20}  {question.request[:SHORT_DIGEST]}  {question.tokens:>7,} tokens  {said}"


def part_words(question: OpenQuestion) -> str:
    """Which part of a long session a question asks about."""
    turns = f"turns {question.first_turn} to {question.last_turn}"
    if question.part == "segment":
        return f"segment {question.segment} of {question.segments} ({turns})"
    if question.segment is not None:
        return f"makes the answers on {turns} one"
    return "makes the answers on its segments one"


def _next(question: OpenQuestion, wiki: Path | None) -> str:
    here = f" --wiki {shlex.quote(str(wiki))}" if wiki is not None else ""
    named = f"--request {question.request[:SHORT_DIGEST]}{here}"
    return f"next: wiki prompt {named} > question.txt; then wiki apply {named} --answer answer.json"


def prompt_folder_line(folder: PromptFolder) -> str:
    """What became of the files of `--prompts`."""
    would = "would be " if folder.is_dry_run else ""
    counts = f"{counted(len(folder.written), 'file')} {would}written, {len(folder.unchanged)} unchanged"
    return f"prompts: {folder.folder}: {counts}, {len(folder.removed)} {would}removed"


def applied_lines(applied: Applied, wiki: Path | None) -> list[str]:
    """What was kept of an answer, what was written, archived and opened for it, and what to do next."""
    about = plain_line(", ".join(applied.about), _MOST_SAID)
    lines = [f"{applied.stage} of {about}: kept, {_kept(applied)}"]
    lines += _written(applied.written)
    lines += [f"  removed: {path}" for path in applied.removed]
    lines += [
        f"  archived: {page.path}: {_REASONS.get(page.reason, page.reason)} {page.by}" for page in applied.archived
    ]
    if any(page.reason == "covered_by_skill" for page in applied.archived):
        lines.append("  --keep-covered leaves guidelines that a skill covers where they are")
    if applied.waiting:
        lines.append(f"  {counted(applied.waiting, 'new page')} for a later run to publish")
    lines += _opened(applied)
    return [*lines, _after(applied, wiki)]


def _after(applied: Applied, wiki: Path | None) -> str:
    """What to do next: the other segments in the way the first was answered, then what was opened, then the list."""
    here = f" --wiki {shlex.quote(str(wiki))}" if wiki is not None else ""
    following = [*applied.opened, *applied.still_open]
    if not following:
        return f"next: wiki worklist{here}"
    if is_of_several(applied.stage) and applied.recording is not None and following[0].part == "segment":
        return f"next: wiki prompt together {shlex.quote(applied.recording)}{here} > question.txt"
    return _next(following[0], wiki)


def _kept(applied: Applied) -> str:
    question = applied.question
    if question is None or question.part == "whole":
        return applied.kept
    if question.part == "merge":
        return f"{applied.kept}, for the whole session" if question.segment is None else applied.kept
    counts = f"{applied.kept}; {applied.answered} of {question.segments} segments have an answer"
    has_pages = any(map(kind_of, applied.written))
    return counts if has_pages else f"{counts}; its pages follow when all have one and these are made one"


def _written(paths: Iterable[str]) -> Iterator[str]:
    """The pages, and how many records and indexes."""
    written = list(paths)
    pages = [path for path in written if kind_of(path)]
    held = [path for path in written if is_quarantined(path)]
    yield from (f"  written: {path}" for path in pages)
    yield from (f"  held back: {path}: an agent could be misled by it; wiki review says why" for path in held)
    if number := len(written) - len(pages) - len(held):
        others = counted(number, "other file")
        yield f"  written: {others}: records, indexes, configuration" if pages else f"  written: no page, {others}"


def _opened(applied: Applied) -> Iterator[str]:
    if applied.opened:
        yield "opened:"
        yield from map(question_line, applied.opened)
    if applied.still_open and not applied.still_open[0].spans_sessions:
        yield f"still open on this session: {counted(len(applied.still_open), 'question')}"
    if applied.spanning:
        yield f"open across sessions, to be answered last: {counted(applied.spanning, 'question')}"
