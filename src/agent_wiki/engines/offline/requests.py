"""The user's own turns: cleaned of what harnesses wrap around them, and classified by what they do.

A task prompt, a paste, a slash command and "yes" are all recorded alike; a summary needs the words of
the person. Ideas: the signals of objection and rejection in the project's notes on mining.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from agent_wiki.engines.offline.command_prompts import asked_in_command_prompt, has_no_words_of_user
from agent_wiki.engines.offline.tables import table, written
from agent_wiki.stages.user_reactions import praise_elsewhere, reaction_of
from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.asked import chosen_number
from agent_wiki.trajectory.language import is_english
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.trajectory.templates import without_templates
from agent_wiki.trajectory.unwrapping import PLACEHOLDER, unwrapped

RequestKind = Literal["request", "answer", "objection", "acceptance", "nudge", "command"]

_MOST_READ = 20_000
_LEAST_PART, _LAST_PART = 200, 1_000  # characters
_END, SPELT = 60, regex(r"[^\W_]+")
_WRAPPED = regex(r"^(?:claude|codex|gemini|opencode)(?: (?:-p|exec|run))? [\"'](?=\w)")  # a command of a shell, pasted
_SLASH_WORDS = regex(r"\A(?:/[a-z][\w:-]{1,40}[ \t]*){2,8}\n")
_SHORT_ANSWER, _SHORT_SPELT = 12, 40  # characters, where no word of a wish is known; in letters, not in signs
_SIGN = regex(r"[^\W\d_a-zA-Z\u0400-\u04ff\u00c0-\u024f\u0370-\u03ff]")  # of a script with a sign a word
_WORD_SIGN = regex(r"[\u4e00-\u9fff]")
_MORE = regex(
    r"(?i)(?:yes|please|go (?:on|ahead)|continue|do it|again|there|was+up|what'?s up"
    r"|(?:from )?where (?:you|we) (?:(?:had )?left off|stopped|were (?:stopped|interrupted)))(?:[ ,]+please)?"
)
_SHORT_WORD = 6  # characters: alone, a greeting or an assent in any language
_COMMAND_NAME = regex(r"<command-name>\s*/?([\w:.-]{1,80})\s*</command-name>")
_SKILL = regex(r"\s*<skill name=\"(?P<name>[\w:.-]{1,80})\"")  # with its text; what the user adds comes after it
_SKILL_TEXT = written("skill_text", re.DOTALL | re.MULTILINE)
_COMMAND_ARGS = regex(r"<command-args>([^<]{1,4000})")
_HOUSEKEEPING = frozenset(table("words")["housekeeping"])
_MODES, _FEW_WORDS = frozenset({"ask", "code", "architect"}), 3  # how aider is to answer what stands after it
_TYPED_COMMAND = regex(r"(?:/|\*(?=[\w-]{2,40}\s*\Z))([a-z][a-zA-Z0-9_:-]{1,60})(?=\s|$)")
# Harnesses without a turn of their own for tools record results as the user's turns.
_ENVIRONMENT = written("of_environment")
_TEAM = regex(r"<teammate-message\b[^<>]{0,200}>(?P<own>.{1,20000}?)</teammate-message>", re.DOTALL)
_NUDGES = written("nudges", re.IGNORECASE | re.DOTALL)
_ACCEPTED = written("accepts", re.IGNORECASE)
_ACCEPTED_INSIDE = written("accepts_within", re.IGNORECASE)
_OBJECTED = written("objects", re.IGNORECASE)
_OBJECTED_INSIDE = written("objects_within", re.IGNORECASE)
_OPEN_QUESTION = written("open_question", re.IGNORECASE)
FAULT = written("fault", re.IGNORECASE)
ASKS = written("asks", re.IGNORECASE)
_RETRACTS = written("retracts", re.IGNORECASE)
_ASKED = written("asked", re.IGNORECASE)
_NUMBERED = regex(r"\s*(?:q|a)?1\s*[.):,]\s*[^\n;]{1,300}(?:\s|;)\s*(?:q|a)?2\s*[.):,]", re.IGNORECASE)
# Another of what the agent had offered.
_CHOOSES = regex(r"no,? (?:let['’]?s|i['’]d|please|we)\b|(?:non|nein|não|нет)\b", re.IGNORECASE)
_ANSWERS = regex(r"(?:yes|yep|yeah|sure|ok(?:ay)?|no|nope)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UserRequest:
    """One turn of the user. `text` is what the person wrote, wrappers gone, line breaks kept.

    `is_said`: it stands in the turn; else it only says what the prompt of a command is for.
    """

    turn: int
    text: str
    kind: RequestKind
    is_said: bool = True


def requests_of(trajectory: Trajectory) -> list[UserRequest]:
    """The user's own turns in order: no injected text, no compaction summary, no interrupt line.

    A slash command counts when it started work; commands that only manage the harness do not.
    """
    found: list[UserRequest] = []
    heard: dict[str, int] = {}  # where it was last said
    last_said, last_call = "", 0
    for turn, message in trajectory.turns():
        if message.role == "assistant":
            last_said, last_call = message.content or last_said, turn if message.tool_calls else last_call
        if message.role != "user":
            continue
        request = _request(turn, message, has_started=bool(found))
        if request is None or (found and _is_known(request.text, found)):
            continue
        if found and (retracted := _RETRACTS.match(request.text[:_LEAST_PART])):
            found.pop()
            request = replace(request, text=request.text[retracted.end() :].strip() or request.text)
        is_reply = found and request.kind == "request" and _ASKED.search(last_said[-600:])
        if is_reply and _is_answer(request.text):
            request = replace(request, kind="answer")
        if request.kind == "objection" and _CHOOSES.match(request.text) and _ASKED.search(last_said[-600:]):
            request = replace(request, kind="request")
        if found and (option := chosen_number(last_said, request.text)):
            request = replace(request, text=option, kind="answer", is_said=False)
        is_again = request.kind == "request" and request.text in heard and request.is_said and len(request.text) < _END
        if is_again and ("?" in request.text or heard[request.text] >= last_call or not ASKS.search(request.text)):
            request = replace(request, kind="nudge")  # else what was done since stands under it
        found.append(request)
        heard[request.text] = turn
    texts = without_templates([each.text for each in found])
    return [replace(each, text=text) for each, text in zip(found, texts, strict=True)]


def _is_known(text: str, found: list[UserRequest]) -> bool:
    """Said right before, or a long part of the first prompt, which some clients record again at the end."""
    return text == found[-1].text or (len(text) > _LEAST_PART and text in found[0].text)


def _is_answer(text: str) -> bool:
    """After a question of the agent: a short text that asks for nothing, a yes or no with something added, or answers
    with the numbers of several questions.
    """
    if (len(text) < 200 and _ANSWERS.match(text) is not None) or _NUMBERED.match(text) is not None:
        return True
    most = 400 if is_english(text) else _SHORT_ANSWER if _SIGN.search(text) else _SHORT_SPELT
    return len(text) < most and not asks(text)


def _request(turn: int, message: Message, *, has_started: bool) -> UserRequest | None:
    content = _begin_and_end(message.content or "")
    if message.mark in ("compaction", "interrupt"):
        return None
    command = _COMMAND_NAME.search(content) if "<command-name>" in content else None
    if command is not None:
        return _slash_command(turn, command.group(1), content)
    if (skill := _SKILL.match(content)) is not None:
        return UserRequest(turn, f"/{skill['name']} {content.rpartition('</skill>')[2].strip()}".strip(), "command")
    if message.mark is None and (skill := _SKILL_TEXT.search(content)) is not None:
        own = skill["own"].strip()
        return UserRequest(turn, f"/{skill['name']} {own}".strip(), "request" if own else "command")
    if message.mark is not None:
        return None if has_started else _assignment(turn, content)
    text = unwrapped(content)
    if not text or _ENVIRONMENT.match(text):
        return None
    if (wrapped := _WRAPPED.match(text)) is not None:
        text = text[wrapped.end() :].rstrip("\"' \n")
    text = asked_in_command_prompt(text) or text
    if len(text) > 2 * _LEAST_PART and (lead := _SLASH_WORDS.match(text)):  # modes of a prompt, which stands below
        text = text[lead.end() :].strip() or text
    text = _without_mode(text)
    typed = _TYPED_COMMAND.match(text)
    if typed is not None:
        return None if typed.group(1) in _HOUSEKEEPING else UserRequest(turn, text, "command")
    return UserRequest(
        turn,
        text,
        _kind(text) if has_started else "nudge" if is_nudge(text) else "request",
        is_said=letters_of(text[-_END:]) in letters_of(content) and not has_no_words_of_user(content),
    )


def _begin_and_end(text: str) -> str:
    """A text without the middle of a long one: what is asked may stand below all that was pasted."""
    if len(text) <= _MOST_READ:
        return text
    return f"{text[: _MOST_READ - _LAST_PART]}\n{text[-_LAST_PART:].partition(chr(10))[2]}"


@lru_cache(maxsize=64)
def letters_of(text: str) -> str:
    """Only what is spelt: line breaks, marks of Markdown and dots where a line was cut do not count."""
    return "".join(SPELT.findall(text))


def _without_mode(text: str) -> str:
    """What is asked behind the word that says how aider is to answer."""
    typed = _TYPED_COMMAND.match(text)
    is_mode = typed is not None and typed.group(1) in _MODES and len(text.split()) > _FEW_WORDS
    return text[typed.end() :].strip() if typed is not None and is_mode else text


def _assignment(turn: int, content: str) -> UserRequest | None:
    """What the lead of a team asked an agent to do, where nobody else asks for anything."""
    messages = [match["own"].strip() for match in _TEAM.finditer(content)]
    said = [message.partition("\n\n")[0] for message in messages if not message.startswith("{")]
    return UserRequest(turn, max(said, key=len), "request") if said else None


def _slash_command(turn: int, name: str, content: str) -> UserRequest | None:
    if name in _HOUSEKEEPING:
        return None
    arguments = _COMMAND_ARGS.search(content)
    words = arguments.group(1).strip() if arguments else ""
    return UserRequest(turn, f"/{name} {words}".strip(), "command")


def asked_before(turns: list[int], turn: int) -> int:
    """The last of the user's turns, which are in order, up to a turn; 0 where there is none."""
    at = bisect_right(turns, turn)
    return turns[at - 1] if at else 0


def asks(words: str) -> bool:
    """Whether the words of a turn ask for something, a question or a wish; else they only say it."""
    return "?" in words or ASKS.search(words.strip("“”")) is not None


def says_no(request: UserRequest) -> bool:
    """An objection in so many words to what the agent did; no report, no proposal."""
    return request.kind == "objection" and reaction_of(request.text) == "objection"


def _kind(text: str) -> RequestKind:
    if not is_nudge(text) and reaction_of(text) == "objection":
        return "objection"
    is_short = len(text) <= 400
    head = text[: 400 if is_short else 120]
    is_open_question = _OPEN_QUESTION.match(head) is not None and FAULT.search(head) is None
    objects = _OBJECTED.search(head) or (is_short and _OBJECTED_INSIDE.search(head))  # a long list of faults is work
    if not is_open_question and objects:
        return "nudge" if is_nudge(text) else "objection"
    accepted = _ACCEPTED.search(head) or _ACCEPTED_INSIDE.search(head) or praise_elsewhere(text)
    if len(text) < 300 and accepted and not ASKS.search(text[accepted.end() :].lstrip(" ,.!;:-")):
        return "acceptance"
    return "nudge" if is_nudge(text) else "request"


def is_nudge(text: str) -> bool:
    """A turn that only makes the agent continue, answers its question or shows a picture: no request of its own."""
    text = PLACEHOLDER.sub("", text)
    match = _NUDGES.match(text.strip())
    if match is None:
        length = len(text.strip()) + len(_WORD_SIGN.findall(text[:_END])) // 2
        is_one_word = length <= _SHORT_WORD and len(text.split()) == 1
        return not any(map(str.isalpha, text)) or (is_one_word and not is_english(text))
    rest = match.group("rest").strip(" ,.!")
    return sum(map(str.isalnum, rest)) <= 3 or _MORE.fullmatch(rest) is not None
