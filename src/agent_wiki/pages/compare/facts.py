"""Facts that a summary stores of a trajectory, so that the corpus stages never need the trajectory again.

Comparing the *successful writes* of trials that succeeded with those of trials that failed separates them in most
mixed tasks. Which sessions are trials of the same task is decided by the distinctive terms of the user's request.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import field

from agent_wiki.pages.compare.similarity import NAME, stem, strength, tokens
from agent_wiki.pages.compare.writes import write_of
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call, paired_calls
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.trajectory.unwrapping import unwrapped

MOST_TERMS = 60
MOST_FIRST_TERMS = 120  # of the first request: in a long template, the few words that are not the template's
MOST_WRITES = 20

_MOST_OF_A_TURN = 4_000
_MOST_TURNS = 40
_LATER_TURNS_FADE = 0.35
_FENCE = "```"
_HABIT = 3  # turns that begin with one word: it is the person's way of beginning
_OPEN_TAG = regex(r"<([A-Za-z][\w-]{0,60})>")
_REQUEST_TAG = regex(
    r"pr_description|issue(?:_description)?|problem(?:_statement)?|task(?:_description)?|question|user_query"
    r"|user_request|request|query|command-args",
    re.IGNORECASE,
)
_HARNESS_TAG = regex(
    r".*(?:instruction|context|example|environment|system|caveat|reminder|notification|permission|rules|opened_file"
    r"|selection|stdout|stderr|command-message|command-name|workflow|guideline).*",
    re.IGNORECASE,
)
_REQUEST_LABEL = regex(
    r"^(?:#{1,3} (?:\w+ ){0,2}|(?:ISSUE |PROBLEM )?)"
    r"(?:[Tt]ask|[Ii]ssue|[Pp]roblem|[Qq]uestion|[Rr]equest|[Gg]oal|TASK|ISSUE|STATEMENT|QUESTION|TEXT):?[ \t]*$",
    re.MULTILINE,
)
_NEXT_LABEL = regex(r"^(?:#{1,2} \w.{0,80}|[A-Z][A-Z ]{3,40}:)[ \t]*$", re.MULTILINE)
_FEWEST_WORDS = 5
_DATA = regex(  # not `[BUG] It fails`, `(1) Do this` or `[ ] to do`
    r"^[ \t]*(?:[\]}),{][^\n]*"
    r"|[\[(](?:[ \t\[({]{0,20}[\"'][^\n]*|[-\d.,; \t\[\](){}]{0,2000})"
    r"|\"[^\"\n]{1,80}\"[ \t]*(?::[^\n]*|,?[ \t]*))$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """`request_terms`: at most 60, or 120 of a long first request; those of the first request, then those of later

    turns, each most specific first. `first_terms`: how many the first request has. `writes`: at most 20, in order.
    `tools`: name → calls.
    """

    request_terms: tuple[str, ...] = ()
    first_terms: int = 0
    writes: tuple[str, ...] = ()
    tools: dict[str, int] = field(default_factory=dict)


def session_facts(trajectory: Trajectory) -> SessionFacts:
    """The facts of one trajectory. Deterministic; the terms never include text of the harness or of tools."""
    calls = paired_calls(trajectory)
    requests = _without_habits(
        request_in(message.content)
        for message in trajectory.messages
        if message.role == "user" and message.mark is None and message.content
    )
    first = next(filter(None, (distinctive_terms([request], MOST_FIRST_TERMS) for request in requests)), ())
    known = {stem(term) for term in first}
    later = [term for term in distinctive_terms(requests, MOST_TERMS) if stem(term) not in known]
    terms = (*first, *later[: max(0, MOST_TERMS - len(first))])
    counts = Counter(call.name for call in calls)
    tools = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return SessionFacts(terms, len(first), successful_writes(calls, trajectory.source.cwd), tools)


def _without_habits(requests: Iterable[str]) -> list[str]:
    """The requests without the word that many of them begin with."""
    words = [(tokens(request[:200]) or [""], request) for request in requests]
    begun = Counter(found[0].lower() for found, _ in words)
    return [
        request.replace(found[0], " ", 1) if begun[found[0].lower()] >= _HABIT else request for found, request in words
    ]


def distinctive_terms(requests: list[str], most: int = MOST_TERMS) -> tuple[str, ...]:
    """The terms that say most about the request, most distinctive first, each once regardless of inflection.

    A term's weight is that of its shape (`similarity.strength`) times its frequency. The first turn, which is
    the request itself, counts in full; answers to the agent's questions count less.
    """
    weights: dict[str, float] = defaultdict(float)
    forms: dict[str, str] = {}
    for position, request in enumerate(filter(None, requests)):
        if position == _MOST_TURNS:
            break
        weight = 1.0 if position == 0 else _LATER_TURNS_FADE
        for token, count in Counter(tokens(request)).items():
            said = strength(token)
            if said:
                key = stem(token)
                weights[key] += weight * said * min(count, 3) ** 0.5
                if said > strength(forms.get(key, "a")):
                    forms[key] = token
    kept = sorted(weights, key=lambda key: (-round(weights[key], 6), key))[:most]
    return tuple(forms[key] if strength(forms[key]) >= NAME else forms[key].lower() for key in kept)


def request_in(content: str) -> str:
    """The request in one turn of the user: what a template's markup or labels hold of it, without fenced blocks."""
    text = unwrapped(content[: 4 * _MOST_OF_A_TURN])
    position, asked, rest = 0, [], []
    while match := _OPEN_TAG.search(text, position):
        end = text.find(f"</{match[1]}>", match.end())
        if end < 0 or not (_REQUEST_TAG.fullmatch(match[1]) or _HARNESS_TAG.fullmatch(match[1])):
            rest.append(text[position : match.end()])
            position = match.end()
            continue
        rest.append(text[position : match.start()])
        if _REQUEST_TAG.fullmatch(match[1]):
            asked.append(text[match.end() : end])
        position = end + len(match[1]) + 3
    rest.append(text[position:])
    return _both_ends(_without_data(_labelled_request("".join(asked or rest))).strip())


def _both_ends(text: str) -> str:
    """A text, or both ends of a long one: what a template is about stands in its first or last lines."""
    if len(text) <= _MOST_OF_A_TURN:
        return text
    return f"{text[: _MOST_OF_A_TURN // 2]} {text[-_MOST_OF_A_TURN // 2 :]}"


def _labelled_request(text: str) -> str:
    """The part under a line such as `ISSUE:` or `# Task`, if the prompt has one; else all of it."""
    label = _REQUEST_LABEL.search(text)
    if label is None:
        return text
    end = _NEXT_LABEL.search(text, label.end())
    section = text[label.end() : end.start() if end else None]
    return section if len(section.split()) >= _FEWEST_WORDS else text


def _without_data(text: str) -> str:
    """Text without fenced blocks and lines of JSON: pasted output is not part of a request."""
    return _DATA.sub("", " ".join(text.split(_FENCE)[::2]))


def successful_writes(calls: list[Call], cwd: str | None = None) -> tuple[str, ...]:
    """The calls that changed something and did not fail, in order, without consecutive repeats."""
    writes: list[str] = []
    for call in calls:
        if call.result is None or call.is_error or call.mark is not None:
            continue
        for write in write_of(call, cwd):
            if not writes or writes[-1] != write:
                writes.append(write)
        if len(writes) >= MOST_WRITES:
            break
    return tuple(writes[:MOST_WRITES])
