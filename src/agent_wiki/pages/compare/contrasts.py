"""What one side of a family did and the other did not: tool names first, then arguments.

A difference counts when nearly all of one side and nearly none of the other show it, and when at least two sessions
do: any single session has values that no other has. Where all ended alike, what all of them did, or left alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from agent_wiki.pages.compare.courses import MOST_LOOK_UPS, call_and_line
from agent_wiki.pages.compare.facts import MOST_WRITES
from agent_wiki.pages.compare.views import KeyTurn, KeyTurnKind, SessionView
from agent_wiki.pages.compare.writes import arguments_of, tool_of
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.text import plain_line, some_of

_FEWEST = 2
_APART = 2 / 3  # how far the shares of the two sides lie apart
_MOST_NAMES = 4
_MOST_ARGUMENTS = 3
_LONGEST_ID = 24
_INTERPRETERS = frozenset({"python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl"})
_NAMES_FILE = regex(r"shell: >|\w+: [^\s]*[./]")  # `shell: > reports/a.txt`, `Edit: src/a.py`
_REASON = regex(r"\b(?:since|because|due to|so that)\b", re.IGNORECASE)
_HANDS_OVER = regex(r"transfer|escalat|hand_?(?:over|off)", re.IGNORECASE)
_ASIDE = frozenset({"think", "calculate", "write_stdin"})  # no look-ups of anything


@dataclass(frozen=True, slots=True)
class Side:
    """Some sessions of a family, and what they have in common in words that follow "where" or "that"."""

    label: str
    sessions: Sequence[SessionView]


_ByTool = Sequence[Mapping[str, list[str]]]
"""Of each session the name of a tool → its calls."""


def write_contrasts(won: Side, lost: Side) -> list[str]:
    """Sentences with counts on the writes that separate two sides; empty when none do or none are recorded."""
    left, right = ([_by_tool(session.writes) for session in side.sessions] for side in (won, lost))
    apart = _apart(left, right, MOST_WRITES)
    separated = {tool for tools in apart.values() for tool in tools}
    common = sorted(set().union(*left, *right) - separated)
    found = _sentences_of_names(apart, left, right, won, lost, "done")
    return found + _argument_contrasts(common, left, right, won, lost)


def look_up_contrasts(won: Side, lost: Side) -> list[str]:
    """The same for what only looks: what one side looked up and the other did not, by the names of tools."""
    left, right = ([_by_tool(session.look_ups) for session in side.sessions] for side in (won, lost))
    apart = _apart(left, right, MOST_LOOK_UPS)
    return _sentences_of_names(apart, left, right, won, lost, "looked up")[:1]


def failure_contrasts(won: Side, lost: Side) -> list[str]:
    """The refusal or failure that separates the sides most; empty when none does."""
    left, right = ([set(_failures(session)) for session in side.sessions] for side in (won, lost))
    counts = {each: _counts(each, left, right) for each in set().union(*left, *right)}
    telling = sorted(each for each in counts if _is_informative(counts[each], len(left), len(right)))
    return [f"{each}: {_counted(counts[each], won, lost)}." for each in telling][:1]


def in_common(sessions: Sequence[SessionView], *, have_won: bool, others: int = 0) -> list[str]:
    """What all of some sessions did that ended alike, or that none changed anything; with what one of them said.

    `have_won`: whether all of them succeeded, or none; `others`: sessions of the family whose outcome is not known.
    That nothing was changed is said where the outcomes were recorded.
    """
    if len(sessions) < _FEWEST:
        return []
    number = f"{len(sessions)} with a known outcome" if others else str(len(sessions))
    changes = [_by_tool(write for write in each.writes if not _HANDS_OVER.search(tool_of(write))) for each in sessions]
    ending = "all succeeded" if have_won else "none succeeded"
    shared = sorted(filter(_is_telling, set.intersection(*map(set, changes))))
    named = [shape.text for tool in shared if (shape := _shape(tool, changes)).has_arguments or have_won]
    found = [f"{some_of(named, _MOST_NAMES)}: done in all {number}, and {ending}."] if named else []
    is_recorded = all(session.reward is not None for session in sessions)
    if not found and not have_won:
        found = _done_by_most(changes, number, ending)
    if not any(changes) and is_recorded:
        found.append(_unchanged(sessions, number, ending))
    idle = sum(not session.look_ups for session in sessions)
    if not have_won and is_recorded and len(sessions) // 2 <= idle < len(sessions):
        found.append(f"{idle} of the {number} looked nothing up, and {ending}.")
    failed = sorted(set.intersection(*(set(_failures(session)) for session in sessions)))
    found += [f"{each}: in all {number}, and {ending}." for each in failed[:1]]
    names = [tool.removeprefix("shell: ") for tool in shared]
    decisive = [note for note in _notes(sessions, "change") if have_won and any(name in note for name in names)]
    found += [f"What one of them did {note}." for note in _reasoned(decisive)[:1]]
    causes = _notes(sessions, "cause") if decisive else []
    return found + [f"What one of them found {note}." for note in causes[:1]]


def _done_by_most(changes: _ByTool, number: str, ending: str) -> list[str]:
    """The change that most of those made that did not succeed, with what was the same about it."""
    counts = Counter(tool for each in changes for tool in each if _is_telling(tool))
    most = [tool for tool in sorted(counts) if max(_FEWEST, _APART * len(changes)) <= counts[tool]]
    return [
        f"{shape.text}: done in {counts[tool]} of the {number}, and {ending}."
        for tool in most
        if (shape := _shape(tool, changes)).has_arguments
    ]


def _unchanged(sessions: Sequence[SessionView], number: str, ending: str) -> str:
    """That no session changed anything, how many handed over, and what one said that it could not do."""
    handed = sum(any(_HANDS_OVER.search(tool_of(write)) for write in each.writes) for each in sessions)
    text = f"None of the {number} changed anything, and {ending}"
    if handed:
        text += f"; {'all' if handed == len(sessions) else handed} handed over to a person"
    refused = [session for session in sessions if any(each.kind == "refusal" for each in session.notes)]
    if refused and 2 * len(refused) >= len(sessions):
        who = "all" if len(refused) == len(sessions) else len(refused)
        text += f"; {who} told the user what could not be done, one of them {_reasoned(_notes(refused, 'refusal'))[0]}"
    return f"{text}."


def _notes(sessions: Sequence[SessionView], kind: KeyTurnKind) -> list[str]:
    """Key turns of a kind, each `(T7 in 0a1b): what it says`; of what an agent said or found its words alone."""
    return [
        f"(T{note.turn} in {session.session_id[:_LONGEST_ID].rstrip('-')}): {_in_words(note).rstrip('.')}"
        for session in sessions
        for note in session.notes
        if note.kind == kind
    ]


def _in_words(note: KeyTurn) -> str:
    """`The agent answers: “…”` without the words before the quotation, which the sentence around it says."""
    label, _, words = note.text.partition(": ")
    return words if note.kind != "change" and words.startswith("“") and label.startswith("The agent") else note.text


def _reasoned(notes: Sequence[str]) -> list[str]:
    """First the notes that give a reason."""
    return sorted(notes, key=lambda note: _REASON.search(note) is None)


def _failures(session: SessionView) -> Iterator[str]:
    """Each thing that failed and the line that says so: of a tool its name, of a shell the whole command."""
    for failure in session.failures:
        call, line = call_and_line(failure)
        if line:
            yield f"{_code(tool_of(call))} failed with {_code(line)}"


def _is_telling(tool: str) -> bool:
    """A bare interpreter says nothing of what was run, and a file's name nothing of another session's."""
    return not _is_bare_interpreter(tool) and not _NAMES_FILE.match(tool)


def _is_bare_interpreter(tool: str) -> bool:
    return tool.rpartition(" ")[2] in _INTERPRETERS


def _by_tool(calls: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for call in calls:
        found[tool_of(call)].append(call)
    return dict(found)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A tool as code, with the arguments, if any, that all of the sessions gave it that called it."""

    text: str
    has_arguments: bool


def _shape(tool: str, sides: _ByTool) -> _Shape:
    called = [_values(each[tool]) for each in sides if tool in each]
    shared = set.intersection(*called)
    first = next(each[tool] for each in sides if tool in each)
    by_name: dict[str, dict[str, None]] = defaultdict(dict)
    for name, value in (pair for call in first for pair in arguments_of(call).items() if pair in shared):
        by_name[name][value] = None
    if len(by_name) > 1 and any(len(values) > 1 for values in by_name.values()):
        by_name.clear()  # which values belong together would not show
    inner = "; ".join(f"{name}={', '.join(values)}" for name, values in by_name.items())
    return _Shape(_code(f"{tool}({inner})" if inner else tool, 200), bool(inner))


def _apart(left: _ByTool, right: _ByTool, most: int) -> dict[tuple[int, int], list[str]]:
    """(winners with it, losers with it) → tool names whose shares lie far apart.

    A session whose list is full, of `most` calls, may have done what is not in it: it shows nothing about names.
    """
    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    for tool in sorted(set().union(*left, *right)):
        if any(tool not in each and sum(map(len, each.values())) >= most for each in (*left, *right)):
            continue
        counts = _counts(tool, left, right)
        is_own = _NAMES_FILE.match(tool) is not None and max(counts) < _FEWEST  # each session writes its own files
        if (
            not is_own
            and tool not in _ASIDE
            and not _is_bare_interpreter(tool)
            and _is_informative_name(counts, len(left), len(right))
        ):
            found[counts].append(tool)
    return found


def _counts(item: object, left: Iterable[Container[object]], right: Iterable[Container[object]]) -> tuple[int, int]:
    """How many sessions of each side have it."""
    return sum(item in each for each in left), sum(item in each for each in right)


def _is_informative_name(counts: tuple[int, int], won: int, lost: int) -> bool:
    """Names are few, so that one session against two others says something."""
    return won + lost > _FEWEST and abs(counts[0] / won - counts[1] / lost) >= _APART


def _is_informative(counts: tuple[int, int], won: int, lost: int) -> bool:
    return max(counts) >= _FEWEST and abs(counts[0] / won - counts[1] / lost) >= _APART


def _sentences_of_names(
    apart: Mapping[tuple[int, int], list[str]], left: _ByTool, right: _ByTool, won: Side, lost: Side, verb: str
) -> list[str]:
    """First what the successful sessions did, then what they did not."""
    found = []
    for counts, tools in sorted(apart.items(), key=lambda item: (item[0][1] - item[0][0], item[1])):
        shapes = some_of([_shape(tool, [*left, *right]).text for tool in tools], _MOST_NAMES)
        found.append(f"{shapes}: {verb} in {_counted(counts, won, lost)}.")
    return found


def _counted(counts: tuple[int, int], won: Side, lost: Side) -> str:
    return (
        f"{counts[0]} of the {len(won.sessions)} that {won.label} and "
        f"{counts[1]} of the {len(lost.sessions)} that {lost.label}"
    )


def _argument_contrasts(
    tools: Sequence[str], won: _ByTool, lost: _ByTool, won_side: Side, lost_side: Side
) -> list[str]:
    """Arguments of the tools that both sides used, whose values separate them."""
    found: list[tuple[float, str]] = []
    for tool in tools:
        left = [_values(each.get(tool, ())) for each in won]
        right = [_values(each.get(tool, ())) for each in lost]
        for name, value in sorted(set().union(*left, *right)):
            counts = _counts((name, value), left, right)
            if _is_informative(counts, len(left), len(right)):
                gap = abs(counts[0] / len(left) - counts[1] / len(right))
                sentence = f"{_code(tool)} with {_code(f'{name}={value}')}: {_counted(counts, won_side, lost_side)}"
                found.append((-gap, f"{sentence}{_instead(name, counts, left, won_side)}."))
    return [sentence for _, sentence in sorted(found)[:_MOST_ARGUMENTS]]


def _instead(name: str, counts: tuple[int, int], won: Sequence[set[tuple[str, str]]], side: Side) -> str:
    """What the only session that succeeded gave where the others gave a value that separates them."""
    others = sorted(value for of, value in won[0] if of == name) if len(won) == 1 and not counts[0] else []
    return f", where the one that {side.label} had {_code(f'{name}={others[0]}')}" if len(others) == 1 else ""


def _values(writes: Sequence[str]) -> set[tuple[str, str]]:
    return {(name, value) for write in writes for name, value in arguments_of(write).items()}


def _code(text: str, most: int = 120) -> str:
    return f"`{plain_line(text, most).replace('`', '')}`"
