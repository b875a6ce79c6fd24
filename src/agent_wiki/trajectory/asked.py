"""What a user decided when an agent asked with a tool of its own: the answers stand in the result of the call."""

from __future__ import annotations

import json
import re

from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_MOST_READ = 20_000  # characters of a result
_RECOMMENDED = regex(
    r"\s*[(（](?:recommended|recomendad[oa]|recommandée?|empfohlen|推荐|推薦|推奨|권장)[)）]\s*\Z", re.IGNORECASE
)
_NUMBERED = regex(r"^\d{1,2}\. +(?=\S)", re.MULTILINE)
_ENDS_ANSWER = regex(r'"(?:[,.] "|\. You can now|\s+(?:user notes|selected )|\.?\s*\Z)')
_ONE = regex(r"\AUser (?:selected|wrote|responded|answered): ")
_NOTES = regex(r"\(no option selected\) notes: ")
_AWAY = regex(r"user is not available|no response|timed out|did not answer|dismissed|declined", re.IGNORECASE)


def decisions(call: Call) -> list[tuple[str, str]]:
    """The subject and the answer of each question of a call, in order.

    In: a call of a tool that asks the user. Out: the question's heading, or itself where it has none, and the user's
    answer as the result has it, without the mark of the agent's recommendation; empty where nobody answered. The
    wordings are those of Claude Code, Codex, OpenCode, Copilot, Gemini CLI, pi and Conductor.
    """
    result = (call.result or "")[:_MOST_READ].strip()
    questions = _questions(call)
    if call.is_error or not result or not questions:
        return []
    if result.startswith("{"):
        answers = _listed(result, questions)
    elif (one := _ONE.match(result)) is not None:
        answers = [result[one.end() :]]
    elif result.startswith("User responses:"):
        answers = _NUMBERED.split(result)[1:]
    else:
        answers = [_quoted(result, str(each.get("question") or "")) for each in questions]
    pairs = zip(map(_subject, questions), (_RECOMMENDED.sub("", answer.strip()) for answer in answers), strict=False)
    given = [(subject, answer) for subject, answer in pairs if answer and not _AWAY.search(answer)]
    # In JSON an answer of several lines is written with escapes; what is given back has to stand in the recording.
    lines = [(subject, answer if answer in result else answer.splitlines()[0].strip()) for subject, answer in given]
    return [(subject, answer) for subject, answer in lines if answer in result]


def _questions(call: Call) -> list[dict[str, object]]:
    """Objects that hold a `question`; a question to another program (`repoName`) is none to the user."""
    several = call.arguments.get("questions")
    questions = several if isinstance(several, list) else [call.arguments] if "repoName" not in call.arguments else []
    return [each for each in questions if isinstance(each, dict) and isinstance(each.get("question"), str)]


def _subject(question: dict[str, object]) -> str:
    header = question.get("header")
    return header if isinstance(header, str) and header.strip() else str(question["question"])


def _listed(result: str, questions: list[dict[str, object]]) -> list[str]:
    """The answers of `{"answers": {id or position: text or {"answers": [text]}}}`, by question; empty for none."""
    try:
        given = json.loads(result).get("answers")
    except (ValueError, AttributeError):
        return []
    if not isinstance(given, dict):
        return []
    answers = []
    for at, each in enumerate(questions):
        answer = given.get(str(each.get("id"))) or given.get(str(at)) or given.get(str(each["question"]))
        several = answer.get("answers") if isinstance(answer, dict) else None
        answer = several[0] if isinstance(several, list) and several else answer
        answers.append(answer if isinstance(answer, str) else "")
    return answers


def _quoted(result: str, question: str) -> str:
    """The answer of `"question"="answer"`; empty where it is not there."""
    _, found, after = result.partition(f'"{question}"=')
    if not found:
        return ""
    if after.startswith('"'):
        end = _ENDS_ANSWER.search(after, 1)
        return after[1 : end.start()] if end is not None else ""
    notes = _NOTES.match(after)
    return after[notes.end() :].partition('", "')[0] if notes is not None else ""
