"""A tool of the harness does not take a call, and the same thing is got otherwise (signals 8 and 12).

With the whole path of a file, or with the lines as they stand in the file. It is the same thing, asked for in another
way, so that nothing else can be the cause; and what a harness refuses is met in every repository. That lines are not
there is worth a page where it came again, or cost a whole patch.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.imperatives import has_length_of_title
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_name, lesson, tag
from agent_wiki.engines.offline.tables import written
from agent_wiki.shell.edited_parts import edited_files, edited_parts
from agent_wiki.shell.files_written import BEGIN_PATCH
from agent_wiki.shell.tools import bare_tool_name, tool_kind
from agent_wiki.shell.verdict import has_failed
from agent_wiki.stages.call_effects import KEPT_BACK
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

_WITHIN_CALLS = 12
_MOST_HEAD = 600
_NO_FILE = regex(r"[Ff]ile not found|[Ff]ailed to read file to update|[Nn]o such file|does not exist")
_NOT_THERE = written("not_there")
_EXPECTED = regex(r"Failed to find expected lines in [^\n]{1,400}:\n(.{1,4000})", re.DOTALL)
_NUMBER = regex(r"^\s*\d{1,6}[\s:|→-]")
_FIRST_SENTENCE = regex(r"^(?:\w+: )?(.{8,90}?)(?:[.:;] .*|[.:;])?$")
_START = "the folder that the session began in"
_SHORTER = f"a shorter one is looked up in {_START}, wherever the work is"
_ELSEWHERE = f"Files have to be edited elsewhere than in {_START}"
_COPY = "where one line differs, the whole edit is refused"
_UNSEEN = "A text has to be replaced that was not looked at just before"
_SHORTEST_LINE = 4  # characters
_FEWEST_REFUSED = 3  # what the refusal says itself is done at once; a patch is refused as a whole, which costs more


_WENT = {
    "whole-path": "with the longer path",
    "copied-lines": "with lines that a look at the file had shown",
}

_Words = tuple[str, str, str, str]  # a title, what to do, why, and before what it has to be known


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each call that a tool refused."""
    found: list[Lesson] = []
    refused = [(call, line) for call in session.calls if (line := _refusal(call))]
    said = Counter((call.name, _name(line, session)) for call, line in refused)
    for failed, line in refused:
        is_costly = said[failed.name, _name(line, session)] >= _FEWEST_REFUSED or _tool(failed) == "apply_patch"
        if tool_kind(failed) == "edit" or failed.command() is not None:
            found += _copied(session, failed, line) if is_costly and _NOT_THERE.search(line) else []
            found += _whole_path(session, failed, line) if _NO_FILE.search(line) else []
    return found


def _refusal(call: Call) -> str:
    """The line in which a tool that is no shell refuses a call; empty for others, and where the user did."""
    is_shell = call.command() is not None and _tool(call) != "apply_patch"
    head = re.sub(r"</?\w+>", "", (call.result or "")[:_MOST_HEAD])
    if is_shell or call.mark is not None or not (has_failed(call) or KEPT_BACK.search(head)):
        return ""
    lines = [line.strip() for line in head.splitlines() if len(re.findall(r"[A-Za-z]{2,}", line)) >= 2]
    return next((line for line in lines if _NOT_THERE.search(line) or _NO_FILE.search(line)), next(iter(lines), ""))


def _tool(call: Call) -> str:
    """The tool's own name; of a patch that a shell was given, the program that takes it."""
    return "apply_patch" if BEGIN_PATCH in (call.command() or "") else bare_tool_name(call.name)


def _name(line: str, session: MinedSession) -> str:
    """What a refusal says in every session: its known words, else its first sentence."""
    known = _NOT_THERE.search(line) or _NO_FILE.search(line)
    general = error_name(line, session) or ""
    sentence = _FIRST_SENTENCE.match(general)
    return known[0] if known else sentence[1] if sentence else general


def _later(session: MinedSession, failed: Call) -> Iterator[Call]:
    """The calls made once the refusal was seen, as far as they went through."""
    seen = failed.result_turn or failed.turn
    for call in session.calls[failed.position + 1 : failed.position + 1 + _WITHIN_CALLS]:
        is_done = call.mark is None and call.result is not None and not has_failed(call)
        if call.turn >= seen and is_done and not KEPT_BACK.search((call.result or "")[:_MOST_HEAD]):
            yield call


def _whole_path(session: MinedSession, failed: Call, line: str) -> list[Lesson]:
    """The same edit is taken with a longer path of the same file."""
    for later in _later(session, failed):
        begin = _begin_of_path(failed, later) if later.name == failed.name else ""
        before = session.calls[: failed.position]
        if begin and any(begin.rstrip("/") in each.raw_arguments for each in before):  # the work was there
            is_absolute = begin.startswith(("/", "~")) or begin[1:2] == ":"
            kind = "absolute paths" if is_absolute else "paths from the start folder"
            what = "the absolute path of a file" if is_absolute else f"the path of a file from {_START}"
            words = (f"Give {_tool(failed)} {kind}", f"Give `{_tool(failed)}` {what}", _SHORTER, _ELSEWHERE)
            return _lesson(session, (failed, later), line, "whole-path", words)
    return []


def _begin_of_path(failed: Call, later: Call) -> str:
    """The folders with which a path begins in a call that is otherwise the same; empty where more is different."""
    begins = set()
    for name, value in failed.arguments.items():
        other = later.arguments.get(name)
        if not isinstance(value, str) or not isinstance(other, str) or value == other:
            continue
        at = next((n for n, (one, two) in enumerate(zip(value, other, strict=False)) if one != two), len(value))
        begin = other[at : at + len(other) - len(value)]
        is_put_in = other == value[:at] + begin + value[at:] and re.fullmatch(r"[^\s'\"]{1,200}/", begin)
        begins.add(begin if is_put_in else "")
    return begins.pop() if len(begins) == 1 and set(later.arguments) == set(failed.arguments) else ""


def _copied(session: MinedSession, failed: Call, line: str) -> list[Lesson]:
    """The lines that an edit looked for are not there; after a look at the file, nearly the same edit is taken.

    Where all of them had been shown since the file was changed last, they were copied, and something else was wrong.
    """
    files, seen = edited_files([failed]), ""
    sought = {each.strip() for each in _sought(failed)} - {""}
    if all(each in _shown_before(session, failed, files) for each in sought):
        return []
    for later in session.calls[failed.position + 1 : failed.position + 1 + _WITHIN_CALLS]:
        is_again = later.name == failed.name and bool(edited_files([later]) & files)
        if later not in _later(session, failed):
            if is_again and seen:
                return []  # the look was not what helped
            continue
        if not is_again:
            is_of_file = any(re.split(r"[/\\]", file)[-1] in later.raw_arguments for file in files)
            seen += (later.result or "") if is_of_file and tool_kind(later) != "edit" else ""
            continue
        found = {each.strip() for each in _sought(later)}
        if (_missed(failed) or sought) <= {form for each in seen.splitlines() for form in _as_lines(each)}:
            return []  # the lines were there: out of order, or an earlier part had changed them
        fresh = [each for each in found - sought if len(each) >= _SHORTEST_LINE and each in seen]
        if not fresh or not (found & sought or any(get_close_matches(each, sought) for each in fresh)):
            return []
        what = f"Copy what `{_tool(failed)}` is to find from a fresh look at the file"
        words = (f"Copy the lines {_tool(failed)} looks for", what, _COPY, _UNSEEN)
        return _lesson(session, (failed, later), line, "copied-lines", words)
    return []


def _missed(failed: Call) -> set[str]:
    """The lines that a refused patch says are not in the file."""
    named = _EXPECTED.search(failed.result or "")
    return {each.strip() for each in named[1].splitlines()} - {""} if named else set()


def _as_lines(shown: str) -> tuple[str, str]:
    """The line that a look shows, without and with what may be its number."""
    return _NUMBER.sub("", shown).strip(), shown.strip()


def _shown_before(session: MinedSession, failed: Call, files: set[str]) -> str:
    """What was shown of the files since they were changed last."""
    names = {re.split(r"[/\\]", file)[-1] for file in files}
    shown: list[str] = []
    for each in reversed(session.calls[: failed.position]):
        if any(name in each.raw_arguments for name in names):
            if tool_kind(each) == "edit" and not has_failed(each):
                break
            shown.append(each.result or "")
    return "\n".join(reversed(shown))


def _sought(call: Call) -> set[str]:
    """The lines that an edit is to find in the file: of a patch those that stay, too."""
    texts = [value for value in (*call.arguments.values(), call.command()) if isinstance(value, str)]
    patch = next((text for text in texts if BEGIN_PATCH in text), "")
    found = {line[1:] for line in patch.splitlines() if line[:1] in (" ", "-")}
    return found or {line for _, before, _ in edited_parts(call) for line in before.splitlines()}


def _lesson(session: MinedSession, pair: tuple[Call, Call], line: str, name: str, words: _Words) -> list[Lesson]:
    """In: the refused call and the one that was taken; the line of the refusal; the rule's name."""
    (failed, taken), (title, what, why, before) = pair, words
    tool, error = _tool(failed), _name(line, session)
    if not error or not has_length_of_title(title):
        return []
    answers = f"`{tool}` answers `{error}`"
    wording = Wording(
        f"refusals/{name}",
        title,
        f"{what} when {answers}{f': {why}' if why else ''}.",
        f"{before}, or {answers}." if before else f"{answers}.",
        (tag(tool, "tool", most=40), "harness", "tool-arguments"),
    )
    shown = next((each for each in (failed.result or "").splitlines() if line[:20] in each), failed.result or "")
    evidence = [session.quote(failed.result_turn, shown), session.quote(taken.turn, taken.raw_arguments)]
    rationale = f"`{tool}` answered `{plain_line(line, 160)}`; `{_tool(taken)}` went through {_WENT[name]}."
    return lesson(wording, rationale, evidence, {failed.turn}, 62, remedy=taken.turn, confirmed=taken.turn)
