"""A tool refuses to change a file, and changes it once it is read, or by other lines (signals 4 and 8)."""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.engines.offline.attempts import MinedSession, is_edit
from agent_wiki.engines.offline.lessons import Lesson, WordedEntry, lesson
from agent_wiki.engines.offline.tables import AnyOf, entries
from agent_wiki.shell.edited_parts import edit_old_text, edit_text, edited_files
from agent_wiki.shell.files_written import is_same_file
from agent_wiki.shell.judged_steps import called_steps
from agent_wiki.shell.programs import READING
from agent_wiki.shell.result_lines import error_line
from agent_wiki.shell.tools import tool_kind
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_WITHIN_CALLS = 20
_MOST_READ = 6_000  # characters of an answer
_LEAST_SHARED = 0.3  # of the words that a change writes
_WORD = regex(r"\w{3,}")
_SHOWING = READING | {"mv", "cp"}


class RefusedEdit(WordedEntry):
    """One entry of `tables/edits.toml`, which says what each field means."""

    error: AnyOf
    went: str
    seen: bool = False
    garbled: AnyOf | None = None
    cases: int = 1


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson for each refusal of the table that was overcome, as often as the entry wants it."""
    refused = [call for call in session.calls if verdict_of(call).has_failed]
    return [each for entry in entries("edits", RefusedEdit) for each in _lessons(session, refused, entry)]


def _lessons(session: MinedSession, refused: Sequence[Call], entry: RefusedEdit) -> list[Lesson]:
    cases = [(call, *calls) for call in refused if (calls := _overcome(session, call, entry))]
    is_often = len({call.turn for call, _, _ in cases}) >= entry.cases
    return [each for case in cases if is_often for each in _lesson(session, entry, *case)]


def _lesson(session: MinedSession, entry: RefusedEdit, call: Call, remedy: Call, passed: Call) -> list[Lesson]:
    answer = (call.result or "")[:_MOST_READ]
    line = error_line(answer)
    shown = (each for each in answer.splitlines() if entry.garbled and entry.garbled.search(each))
    rationale = f"`{call.name}` answered `{plain_line(line, 200).replace('`', chr(39))}`; {entry.went}."
    cited = [session.quote(call.result_turn, each) for each in (line, next(shown, ""))]
    cited.append(session.quote(remedy.turn, remedy.command() or remedy.raw_arguments))
    weight = 70 if entry.garbled else 60  # its event is the other's, too
    return lesson(entry.wording, rationale, cited, {call.turn}, weight, remedy=remedy.turn, confirmed=passed.turn)


def _overcome(session: MinedSession, call: Call, entry: RefusedEdit) -> tuple[Call, Call] | None:
    """What overcame a refusal, and the change of the same file that passed; None where the entry says otherwise."""
    answer, files = (call.result or "")[:_MOST_READ], edited_files([call])
    if not entry.error.search(answer) or (entry.garbled and not entry.garbled.search(answer)):
        return None
    later = session.calls[call.position + 1 : call.position + 1 + _WITHIN_CALLS]
    changes = (each for each in later if is_edit(each) and edited_files([each]) & files)
    passed = next((each for each in changes if verdict_of(each).has_passed), None)
    if passed is None or not _shares_some(call, passed):
        return None
    if entry.garbled:
        return None if entry.garbled.search(edit_old_text(passed)) else (passed, passed)
    looks = [each for each in later[: later.index(passed)] if _looks_at(each, files)]
    if entry.seen:
        before = session.calls[: call.position]
        if not any(each.command() is not None and _looks_at(each, files) for each in before):
            return None
        looks = [each for each in looks if each.command() is None]
    return (looks[-1], passed) if looks else None


def _shares_some(call: Call, other: Call) -> bool:
    """Whether a change writes some of what another one would have written: it is that one, written again."""
    wanted, written = (set(_WORD.findall(edit_text(each))) for each in (call, other))
    return len(wanted & written) >= _LEAST_SHARED * len(wanted)


def _looks_at(call: Call, files: set[str]) -> bool:
    """Whether a tool or a command opens one of the files, or puts it where it is."""
    if call.command() is None:
        named = [call.path() or ""] if tool_kind(call) == "look" else []
    else:
        named = [word for step in called_steps(call) if step.program in _SHOWING for word in step.words[1:]]
    return any(is_same_file(name, file) for name in named for file in files)
