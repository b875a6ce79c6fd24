"""What a user decided when an agent asked: by a tool, whose result has the answers, or by a list in its reply."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.json_text import value_or
from agent_wiki.trajectory.lazily import regex

_MOST_READ, _MOST_OF_MARK = 20_000, 40  # characters of a result; of the mark at the end of an answer
_RECOMMENDED = regex(
    r" {0,2}[(（](?:recommended|recomendad[oa]|recommandée?|empfohlen|推荐|推薦|推奨|권장)[)）]\s{0,4}\Z", re.IGNORECASE
)
_NUMBERED = regex(r"^\d{1,2}\. +(?=\S)", re.MULTILINE)
_END = ". You can now continue"
_GIVEN = regex(r'"(?P<answer>.*?)"(?: (?:user )?notes: (?P<notes>.*)| selected .*)?\Z', re.DOTALL)
_ONLY_NOTES = regex(r"\(no option selected\) notes: (?P<notes>.*)\Z", re.DOTALL)
_ONE = regex(r"\AUser (?:selected|wrote|responded|answered): ")
_NO_ANSWER = regex(
    r"(?:the )?user (?:is not available|skipped|did not|dismissed|declined|cancelled)|unanswered\W*\Z"
    r"|no (?:response|answer)\b",
    re.IGNORECASE,
)
_NOTE = "user_note: "
_CHOICE = regex(r"\W{0,3}(?:(?:option|choice|answer) )?(?P<mark>[A-H]|[1-9１-９])\W{0,3}", re.IGNORECASE)
_AS_RECOMMENDED = regex(r"\W{0,3}(?:yes|y|recommended|the recommended one|推奨|推荐|추천)\W{0,3}", re.IGNORECASE)
_RECOMMENDS = regex(r"Recommended\W{1,8}Option (?P<mark>[A-H])\b")
_OFFERED = regex(
    r"^[ \t#>]*(?:[-*|][ \t]*)?\**(?P<named>Option )?\(?(?P<mark>[A-H]|[1-9])\b\**[ \t]*[.):|：—–-]+(?!\d)\**[ \t]*"
    r"(?P<text>\S[^\n]*)$",
    re.MULTILINE,
)
_ASKS_NUMBER = regex(
    r"\b(?:how (?:many|much|long|often|old|big)|number of|which port|what port)\b"
    r"|\b(?:cu[aá]nt[oa]s?|quant[oi]|combien|wie ?viele?)\b|多少|几个|何個|いくつ",
    re.IGNORECASE,
)
_OPTIONS = regex(r"^\|[^\n]*\n\|[-:| ]+\r?\n\|[ *]*A[ *]*\|", re.MULTILINE)
_ASKS_BACK = regex(r"[?？]|\b(?:reply|respond|answer) with\b|\bRecommended\b", re.IGNORECASE)
_ENDING, _LONGEST_CHOICE = 6_000, 30  # characters: of a reply whose list is the last thing; of an answer
_ASKS_WHICH = regex(
    r"\b(?:which|prefer|choose|pick)\b|\bwhat (?:do|would) you\b[^\n]{0,200}\?|哪|どれ|どちら|어느", re.IGNORECASE
)
_FEWEST_OPTIONS, _AROUND_OPTIONS = 2, 400  # characters of a reply that comes to its options at once
_ENDS = (".", "!", "。", "！")


def decisions(call: Call) -> list[tuple[str, str]]:
    """The subject and the answer of each question of a call, in order; of several answers to one, each.

    In: a call of a tool that asks the user. Out: the question's heading, or itself where it has none, and the user's
    answer as the result has it, without the mark of the agent's recommendation; empty where nobody answered. The
    wordings are those of Claude Code, Codex, OpenCode, Copilot, Gemini CLI, pi and Conductor.
    """
    result = (call.result or "")[:_MOST_READ].strip()
    questions = _questions(call)
    if call.is_error or not result or not questions:
        return []
    if result.startswith("{"):
        answers = _of_json(result, questions)
    elif (one := _ONE.match(result)) is not None:
        answers = iter([(0, result[one.end() :])])
    elif result.startswith("User responses:"):
        parts = _NUMBERED.split(result)[1:]
        answers = iter(list(enumerate(parts)) if len(parts) == len(questions) else [])
    else:
        answers = _quoted(result, [str(each["question"]) for each in questions])
    pairs = [(_subject(questions[at]), _without_mark(answer.strip())) for at, answer in answers]
    # In JSON an answer may be written with escapes; what is given back has to stand in the recording.
    return [
        (subject, answer) for subject, answer in pairs if answer in result and answer and not _NO_ANSWER.match(answer)
    ]


def choices(trajectory: Trajectory, first_turn: int, last_turn: int) -> list[tuple[int, str]]:
    """The options that the user chose in these turns, both ends included: `(turn of the user, option)`."""
    found, reply = [], ""
    for turn, message in trajectory.turns():
        is_answer = message.role == "user" and message.mark is None and first_turn <= turn <= last_turn
        if option := _chosen(reply, message.content or "") if is_answer and reply else "":
            found.append((turn, option))
        if message.role in ("user", "assistant"):
            reply = (message.content or "") if message.role == "assistant" else ""
    return found


def chosen_number(reply: str, answer: str) -> str:
    """The step or offer that a user took by its number, which an agent then carries out; empty for a letter, too."""
    return _chosen(reply, answer) if any(map(str.isdigit, answer[:_LONGEST_CHOICE])) else ""


def offers_options(reply: str) -> bool:
    """Whether a reply is a question with a table of options, as of Spec Kit, or little but a list of options A and B.

    What it holds is no report. In: the whole reply, for a head that most replies have is left out elsewhere.
    """
    ending = reply[-_ENDING:]
    return _is_lettered(reply) or (_OPTIONS.search(ending) is not None and _ASKS_BACK.search(ending) is not None)


def _is_lettered(reply: str) -> bool:
    """Little else than lines A, B …, one below the other, and a question before or behind them."""
    found = [match for match in _OFFERED.finditer(reply[:_ENDING]) if match["mark"].isalpha()]
    if [match["mark"] for match in found] != list("ABCDEFGH")[: len(found)] or len(found) < _FEWEST_OPTIONS:
        return False
    between = "".join(reply[one.end() : two.start()] for one, two in pairwise(found))
    before, behind = reply[: found[0].start()], reply[found[-1].end() :]
    is_short = len(before) <= _AROUND_OPTIONS and len(behind) <= _AROUND_OPTIONS
    asks = before.rstrip(" *_:\n").endswith(("?", "？")) or _ASKS_WHICH.search(behind) is not None
    return is_short and not between.strip() and asks


def _chosen(reply: str, answer: str) -> str:
    """The option of the last list in an agent's reply that a user took by its letter or number; empty for none.

    In: the reply, and the whole of what the user wrote next ("B", "option 2", "recommended"). Out: the option's text as
    it stands in the reply, the first cell of a table's row.
    """
    ending, said = reply[-_ENDING:], answer.strip()[:_LONGEST_CHOICE]
    picked = _CHOICE.fullmatch(said)
    if picked is None and _AS_RECOMMENDED.fullmatch(said):
        picked = next(reversed(list(_RECOMMENDS.finditer(ending))), None)
    offered = list(_OFFERED.finditer(ending)) if picked else []
    if "option" in answer.lower():
        offered = [each for each in offered if each["named"]] or offered
    mark = unicodedata.normalize("NFKC", picked["mark"]).upper() if picked else ""
    options: dict[str, str] = {}
    for each in offered:
        if each["mark"].isdigit() != mark.isdigit():
            continue
        if each["mark"] in ("A", "1"):
            options = {}  # another list begins
        options.setdefault(each["mark"], each["text"].partition(" | ")[0].replace("**", "").strip(" |*"))
    option = options.get(mark, "") if len(options) > 1 and options.keys() & {"A", "1"} else ""
    is_quantity = mark.isdigit() and option and _ASKS_NUMBER.search(ending[offered[-1].end() :])
    is_option = any(map(str.isalpha, option)) and not option.endswith("?")  # no number, no question of several
    return option if is_option and not is_quantity else ""


def _without_mark(answer: str) -> str:
    return answer[:-_MOST_OF_MARK] + _RECOMMENDED.sub("", answer[-_MOST_OF_MARK:])


def _questions(call: Call) -> list[dict[str, object]]:
    """Objects that hold a `question`; a question to another program (`repoName`) is none to the user."""
    several = call.arguments.get("questions")
    questions = several if isinstance(several, list) else [call.arguments] if "repoName" not in call.arguments else []
    return [each for each in questions if isinstance(each, dict) and isinstance(each.get("question"), str)]


def _subject(question: dict[str, object]) -> str:
    header = question.get("header")
    return header if isinstance(header, str) and header.strip() else str(question["question"])


def _of_json(result: str, questions: list[dict[str, object]]) -> Iterator[tuple[int, str]]:
    """The answers of `{"answers": {id or position: text or {"answers": [text]}}}`, each with its question's place."""
    whole = value_or(result, None)
    given = whole.get("answers") if isinstance(whole, dict) else None
    if not isinstance(given, dict):
        return
    for at, each in enumerate(questions):
        answer = given.get(str(each.get("id"))) or given.get(str(at)) or given.get(str(each["question"]))
        several = answer.get("answers") if isinstance(answer, dict) else [answer]
        texts = [text for text in several if isinstance(text, str)] if isinstance(several, list) else []
        notes = [text.removeprefix(_NOTE) for text in texts if text.startswith(_NOTE)]
        for text in notes or texts:
            first = text.strip().partition("\n")[0].rstrip()
            if first == text.strip() or first.endswith(_ENDS):  # else the first line of several breaks off
                yield at, first


def _quoted(result: str, questions: list[str]) -> Iterator[tuple[int, str]]:
    """The answers of `"question"="answer"`, with what the user noted beside one, each with its question's place."""
    starts = [result.find(f'"{question}"=') for question in questions]
    for at, start in enumerate(starts):
        if start < 0:
            continue
        later = min((other for other in starts if other > start), default=len(result))
        given = result[start + len(questions[at]) + 3 : later].partition(_END)[0].rstrip(" ,.\n")
        match = _GIVEN.match(given) or _ONLY_NOTES.match(given)
        for text in match.groupdict().values() if match else ():
            if text:
                yield at, text
