"""What one side of a family changed and the other did not: tool names first, then how often, then arguments.

A difference counts when nearly all of one side and nearly none of the other show it, and when at least two sessions
do: any single session has values that no other has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from agent_wiki.compare.facts import MOST_WRITES
from agent_wiki.compare.views import SessionView
from agent_wiki.compare.writes import arguments_of, changes_something, tool_of
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.text import plain_line, some_of

_FEWEST = 2
_APART = 2 / 3  # how far the shares of the two sides lie apart
_MOST_NAMES = 4
_MOST_ARGUMENTS = 3
_LONGEST_ID = 24
_INTERPRETERS = frozenset({"python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl"})
_NAMES_FILE = regex(r"shell: >|\w+: [^\s]*[./]")  # `shell: > reports/a.txt`, `Edit: src/a.py`
_DECISIVE = regex(r"^(?:The agent changes |`[^`]+`.* (?:changes the cluster|works|goes through))")


@dataclass(frozen=True, slots=True)
class Side:
    """Some sessions of a family, and what they have in common in words that follow "where" or "that"."""

    label: str
    sessions: Sequence[SessionView]


def write_contrasts(won: Side, lost: Side) -> list[str]:
    """Sentences with counts on the writes that separate two sides; empty when none do or none are recorded."""
    left, right = ([_by_tool(session) for session in side.sessions] for side in (won, lost))
    apart = _apart(left, right, won, lost)
    separated = {tool for tools in apart.values() for tool in tools}
    common = sorted(set().union(*left, *right) - separated)
    found = [_sentence_of_names(tools, counts, won, lost, "done") for counts, tools in _most_informative(apart)]
    found += [sentence for tool in common if (sentence := _count_contrast(tool, left, right, won, lost))]
    return found + _argument_contrasts(common, left, right, won, lost)


def what_worked(won: Sequence[SessionView], lost: Sequence[SessionView]) -> list[str]:
    """What all successful sessions did, where there are no others, and how one of them made its decisive change."""
    if lost or len(won) < _FEWEST:
        return []
    shared = set.intersection(*(set(_by_tool(session)) for session in won))
    tools = sorted(tool for tool in shared if _is_telling(tool))
    found = [f"{_named(tools)}: done in all {len(won)}, and all succeeded."] if tools else []
    names = [tool.removeprefix("shell: ") for tool in tools]
    notes = [(each, note) for each in won for note in each.key_turns if _DECISIVE.search(note[1])]
    decisive = next(((each, note) for each, note in notes if any(name in note[1] for name in names)), None)
    if decisive is not None:
        session, (turn, text) = decisive
        found.append(f"What one of them did (T{turn} of {session.session_id[:_LONGEST_ID]}): {plain_line(text, 200)}.")
    return found


def _is_telling(tool: str) -> bool:
    """A bare interpreter says nothing of what was run, and a file's name nothing of another session's."""
    return not _is_bare_interpreter(tool) and not _NAMES_FILE.match(tool)


def _is_bare_interpreter(tool: str) -> bool:
    return tool.rpartition(" ")[2] in _INTERPRETERS


def _named(tools: Sequence[str]) -> str:
    return some_of(list(map(_code, tools)), _MOST_NAMES)


def tool_contrasts(won: Side, lost: Side) -> list[str]:
    """The same for tools that only look, by name: what one side looked up and the other did not."""
    if not all(session.tools or session.tool_calls == 0 for session in (*won.sessions, *lost.sessions)):
        return []
    left, right = ([set(session.tools) for session in side.sessions] for side in (won, lost))
    apart: dict[tuple[int, int], list[str]] = defaultdict(list)
    for tool in sorted(tool for tool in set().union(*left, *right) if not changes_something(tool)):
        counts = sum(tool in each for each in left), sum(tool in each for each in right)
        if _is_informative_name(counts, len(left), len(right)):
            apart[counts].append(tool)
    return [_sentence_of_names(tools, counts, won, lost, "called") for counts, tools in _most_informative(apart)][:1]


def _most_informative(apart: Mapping[tuple[int, int], list[str]]) -> list[tuple[tuple[int, int], list[str]]]:
    """First what the successful sessions did, then what they did not."""
    return sorted(apart.items(), key=lambda item: (item[0][1] - item[0][0], item[1]))


def _by_tool(session: SessionView) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for write in session.writes:
        found[tool_of(write)].append(write)
    return dict(found)


def _apart(
    won: Sequence[Mapping[str, list[str]]], lost: Sequence[Mapping[str, list[str]]], won_side: Side, lost_side: Side
) -> dict[tuple[int, int], list[str]]:
    """(winners with it, losers with it) → tool names whose shares lie far apart.

    A session whose list of writes is full may have done what is not in it: it shows nothing about missing names.
    """
    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    for tool in sorted(set().union(*won, *lost)):
        if _is_cut(tool, won, won_side) or _is_cut(tool, lost, lost_side):
            continue
        counts = sum(tool in each for each in won), sum(tool in each for each in lost)
        is_own = _NAMES_FILE.match(tool) is not None and max(counts) < _FEWEST  # each session writes its own files
        if not is_own and not _is_bare_interpreter(tool) and _is_informative_name(counts, len(won), len(lost)):
            found[counts].append(tool)
    return found


def _is_cut(tool: str, by_tool: Sequence[Mapping[str, list[str]]], side: Side) -> bool:
    return any(
        len(session.writes) >= MOST_WRITES and tool not in each
        for session, each in zip(side.sessions, by_tool, strict=True)
    )


def _is_informative_name(counts: tuple[int, int], won: int, lost: int) -> bool:
    """Names are few, so that one session against two others says something."""
    return won + lost > _FEWEST and abs(counts[0] / won - counts[1] / lost) >= _APART


def _is_informative(counts: tuple[int, int], won: int, lost: int) -> bool:
    return max(counts) >= _FEWEST and abs(counts[0] / won - counts[1] / lost) >= _APART


def _sentence_of_names(tools: Sequence[str], counts: tuple[int, int], won: Side, lost: Side, verb: str) -> str:
    return f"{_named(tools)}: {verb} in {_counted(counts, won, lost)}."


def _counted(counts: tuple[int, int], won: Side, lost: Side) -> str:
    return (
        f"{counts[0]} of the {len(won.sessions)} that {won.label} and "
        f"{counts[1]} of the {len(lost.sessions)} that {lost.label}"
    )


def _count_contrast(
    tool: str,
    won: Sequence[Mapping[str, list[str]]],
    lost: Sequence[Mapping[str, list[str]]],
    won_side: Side,
    lost_side: Side,
) -> str | None:
    """How often one tool changed something, where the two sides' numbers do not touch."""
    if any(len(session.writes) >= MOST_WRITES for session in (*won_side.sessions, *lost_side.sessions)):
        return None
    left, right = (sorted(len(each.get(tool, ())) for each in side) for side in (won, lost))
    is_apart = left[0] > right[-1] or right[0] > left[-1]
    if not is_apart or min(left[0], right[0]) == 0 or max(len(left), len(right)) < _FEWEST:
        return None
    return (
        f"{_code(tool)} succeeded {median(left):.4g} times (median of the {len(left)} that {won_side.label}) "
        f"against {median(right):.4g} times (median of the {len(right)} that {lost_side.label})."
    )


def _argument_contrasts(
    tools: Sequence[str],
    won: Sequence[Mapping[str, list[str]]],
    lost: Sequence[Mapping[str, list[str]]],
    won_side: Side,
    lost_side: Side,
) -> list[str]:
    """Arguments of the tools that both sides used, whose values separate them."""
    found: list[tuple[float, str]] = []
    for tool in tools:
        left = [_values(each.get(tool, ())) for each in won]
        right = [_values(each.get(tool, ())) for each in lost]
        for name, value in sorted(set().union(*left, *right)):
            counts = sum((name, value) in each for each in left), sum((name, value) in each for each in right)
            if _is_informative(counts, len(left), len(right)):
                gap = abs(counts[0] / len(left) - counts[1] / len(right))
                sentence = f"{_code(tool)} with {_code(f'{name}={value}')}: {_counted(counts, won_side, lost_side)}."
                found.append((-gap, sentence))
    return [sentence for _, sentence in sorted(found)[:_MOST_ARGUMENTS]]


def _values(writes: Sequence[str]) -> set[tuple[str, str]]:
    return {(name, value) for write in writes for name, value in arguments_of(write).items()}


def _code(text: str) -> str:
    return f"`{plain_line(text, 90).replace('`', '')}`"
