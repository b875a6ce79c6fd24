"""The user's request as one line, without the text that harnesses add."""

from __future__ import annotations

import re
from functools import lru_cache

from agent_wiki.engines.offline.clauses import clause
from agent_wiki.engines.offline.requests import ASKS, UserRequest
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.text import plain_line

MOST_CHARACTERS = 200
_SHORT = 16  # a request like this says nothing alone ("/init")

_ISSUE_TAGS = (
    "pr_description",
    "issue",
    "problem_statement",
    "issue_description",
    "task",
    "instruction",
    "question",
    "user_query",
    "query",
)
_ISSUE_WORDS = regex(r"^(?:ISSUE|TASK|PROBLEM STATEMENT|ISSUE TEXT):[ \t]*$", re.MULTILINE)
_LABEL = regex(
    r"^(?:#{1,6}[ \t]*(?:[\w.]+ ){0,3})?(?:your |the |my |actual |current )?(?P<word>task|goal|objective|question|"
    r"problem|mission|assignment|request)\b[^\n:.]{0,30}"
    r"(?::[ \t]*(?P<same>\S[^\n]*)$|:?[ \t]*\n)",
    re.MULTILINE | re.IGNORECASE,
)
_LEAD_LINES = regex(
    r"^(?:consider the following (?:pr description|issue)[^\n]*|here(?:'s| is) the issue(?: text)?:?|"
    r"description|task requirements:?|"
    r"context:?|(?:original |user )?prompt:?|\(last modified by[^\n]*|"
    r"#+\s*(?:context|background|overview|description)\s*)$",
    re.IGNORECASE,
)
_PLAN = regex(
    r"^(?P<ask>(?:please )?(?:implement|execute|carry out|follow) the following plan)\s*:?\s*\n+\s*#+\s*(?P<titl"
    r"e>[^\n]{3,200})",
    re.IGNORECASE,
)
_GREETING = regex(
    r"^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings)(?: there| all| claude| team)?|"
    r"ok(?:ay)?|so|well|hmm+|oh|gah|alright|right now|great|thanks|thank you|please note)"
    r"(?:[,!.…]+\s*|\s+[-–—]\s+)|^(?:gah|ugh|argh|hmm+|oh|hey|ah|uh|oops)\s+(?=\w)",
    re.IGNORECASE,
)
_SENTENCE_END = regex(r"(?<=[.!?])[\"')\]]{0,3}\s+(?=[\"'(\[]{0,3}[A-Z0-9`/])")
_PARAGRAPH_END = regex(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*]|\d+[.)])[ \t])|\n(?=#)")
_STATE_OF_HARNESS = regex(
    r"^(?:current (?:terminal|working|screen|directory)|\(?open file|\(?current directory)", re.IGNORECASE
)
_POINTS_ON = regex(r"\b(?:following|below)\b|^you are\b", re.IGNORECASE)
_WORD = regex(r"[^\W\d_]{2}")
_HASH = regex(r"\b[0-9a-f]{12,64}\b")
_STORY_OF_ROLE = regex(r"^you (?:are|will|have)\b", re.IGNORECASE)
_ROLE_TASK = regex(
    r"^you are (?:an?|the) [^.\n]{0,80}?(?:tasked with|asked to|whose task is to|that will)\s+",
    re.IGNORECASE,
)
_GERUND = regex(
    r"^(?P<first>diagnos|fix|solv|writ|implement|creat|mak|review|test|resolv|debug|analyz|analys|build|mov|updat)ing\b"
    r"(?: and (?P<second>diagnos|fix|solv|writ|implement|creat|mak|review|test|resolv|debug|updat)ing\b)?",
    re.IGNORECASE,
)
_WITH_E = frozenset({"diagnos", "solv", "writ", "creat", "mak", "resolv", "analyz", "analys", "mov", "updat"})
_ASKS_KINDLY = regex(r"\bplease\b|^(?:can|could|would) you\b|\bconsider \w+ing\b", re.IGNORECASE)
_CAUTION = regex(r"^(?:treat|do not|don'?t|never|ignore|remember)\b", re.IGNORECASE)  # how to go about it
_LOG_LINE = regex(
    r"^(?:\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|Traceback \(most|\w*(?:Error|Exception)\b[^\n]{0,40}: |error[:\[]|fatal: "
    r"|npm ERR|\$ |panic: |FAIL(?:ED)?\b|\S{1,80}:\d+:\d+: )",
    re.IGNORECASE,
)


def goal_of(requests: list[UserRequest], title: str | None, deed: UserRequest | None = None) -> str:
    """The goal of a stretch of a session: the first request of the person in it, one line of at most 200 characters.

    In: the user's turns of the stretch; `title`, one that the harness recorded; `deed`: the request that
    was worked on, where the first one only asks something. A nudge ("hi", "continue") does not
    count when there is another request. Out: never empty; says so when no request is recorded.
    """
    line, later = opening_and_next(requests, title)
    if deed is not None and not later:
        later = request_line(deed.text)
    return plain_line(f"{line}, then: {later}", MOST_CHARACTERS) if later else line


def opening_and_next(requests: list[UserRequest], title: str | None) -> tuple[str, str]:
    """The first request as a line, and where that says nothing alone ("/init") the next one; else empty."""
    real = [request for request in requests if request.kind in ("request", "objection")]
    commands = [request for request in requests if request.kind == "command"]
    chosen = next(iter(real), None)
    if commands and (chosen is None or commands[0].turn < chosen.turn):
        chosen = commands[0]
    if chosen is None:
        chosen = next((request for request in requests if request.kind != "nudge"), None)
    line = _line_of(chosen) if chosen else ""
    later = [request for request in real if chosen and request.turn > chosen.turn]
    is_short = len(line) < _SHORT or (chosen is not None and chosen.kind == "command" and " " not in line)
    if line and is_short and later:
        return line, request_line(later[0].text)
    if not line and title:
        line = plain_line(title, MOST_CHARACTERS)
    if not line and requests:
        line = plain_line(requests[0].text, MOST_CHARACTERS)
    return line or "(no request recorded)", ""


def _line_of(request: UserRequest) -> str:
    return _command_line(request.text) if request.kind == "command" else request_line(request.text)


def _command_line(text: str) -> str:
    """Slash commands and what was typed after them: `/review: the commits of this branch`."""
    words = text.split(None, 6)
    names = [word for word in words[:6] if word.startswith("/")]
    rest = text[text.rfind(names[-1], 0, 400) + len(names[-1]) :].strip() if names else text
    asked = request_line(rest, MOST_CHARACTERS - 60) if rest else ""
    asked = asked[:1].lower() + asked[1:] if asked[1:2].islower() else asked
    line = f"{' '.join(names)}{':' if len(names) > 1 and asked else ''} {asked}".strip()
    return plain_line(line or text, MOST_CHARACTERS)


@lru_cache(maxsize=256)
def request_line(text: str, most: int = MOST_CHARACTERS) -> str:
    """The sentence of `text` in which the person asks for something, as one plain line."""
    plan = _PLAN.match(text)
    if plan:
        return plain_line(f"{plan['ask']}: {plan['title'].removeprefix('Plan:').strip()}", most)
    paragraphs = _paragraphs_of_task(text)
    if not paragraphs:
        return ""
    first, last = paragraphs[0], paragraphs[-1]
    asking = next((at for at, sentence in enumerate(first[:12]) if _asks(sentence)), None)
    if asking is None and len(paragraphs) > 1 and not _is_title(first[0]) and ASKS.search(last[-1]):
        return _upper_first(clause(last[-1], most))  # a paste with the request at its end
    if asking is None and len(paragraphs) > 1:
        if first[-1].endswith(":") and (asked := _asked_below(paragraphs[1:])):
            return _upper_first(clause(f"{first[-1]} {asked}", most))  # words of someone else, with a request in them
        if _LOG_LINE.match(text) and ASKS.search(last[-1]):
            error = text.strip().split("\n", 1)[0]
            return _upper_first(clause(f"{last[-1].rstrip('.:!?')}: {error}", most))
    asking = asking or 0
    start = 0 if sum(map(len, first[: asking + 1])) + asking <= most else asking
    following = first[start + 1 :]
    if len(paragraphs) > 1 and _needs_next(first[-1], text):
        following = [*following, paragraphs[1][0]]
    return _upper_first(clause(_filled(first[start], following, most), most))


def _asks(sentence: str) -> bool:
    return ASKS.search(sentence) is not None and _CAUTION.match(sentence) is None


def _asked_below(paragraphs: list[list[str]]) -> str:
    sentences = [sentence for each in paragraphs[:6] for sentence in each][:12]
    return next((sentence for sentence in sentences if _ASKS_KINDLY.search(sentence)), "")


def _needs_next(sentence: str, text: str) -> bool:
    """The sentence needs the next paragraph: it ends in a colon, says "the following", or only gives a role."""
    is_role = _STORY_OF_ROLE.match(text) is not None and len(sentence) < 100
    return sentence.endswith(":") or is_role or _POINTS_ON.search(sentence) is not None


def _filled(line: str, following: list[str], most: int) -> str:
    """A short first sentence and what comes after it, as long as that fits."""
    for sentence in following:
        is_too_much = len(line) > most // 2 or len(line) + len(sentence) >= most + 60
        is_open = line.endswith(":") or _POINTS_ON.search(line) is not None
        if (
            _HASH.search(sentence)
            or _STATE_OF_HARNESS.match(sentence)
            or (is_too_much and len(line) >= 60 and not is_open)
        ):
            break
        line = f"{line} {sentence}"
    return line


def _task_part(text: str) -> str:
    """The part of a long prompt that states the task: what an issue tag or a heading encloses."""
    for tag in _ISSUE_TAGS:
        start = text.find(f"<{tag}>")
        if start >= 0:
            end = text.find(f"</{tag}>", start)
            return text[start + len(tag) + 2 : end if end > 0 else None].strip()
    words = _ISSUE_WORDS.search(text)
    if words:
        return text[words.end() :].strip()
    return _labelled(text) or text


def _labelled(text: str) -> str:
    """The text after `Task:` or under a heading with that word, where the request is there."""
    has_role = _STORY_OF_ROLE.match(text) is not None
    for label in _LABEL.finditer(text, 0, 12_000):
        same = label.group("same")
        is_marked = label.start() == 0 or has_role
        if same and (is_marked or label.group("word").lower() == "task") and len(same.split()) >= 3:
            return text[label.start("same") :]
        if not same and is_marked and text[label.end() :].strip():
            return text[label.end() :].strip()
    return ""


@lru_cache(maxsize=64)  # of one request several lines are made, of different lengths
def _paragraphs_of_task(text: str) -> list[list[str]]:
    return _paragraphs(_task_part(text))


def _paragraphs(text: str) -> list[list[str]]:
    """The sentences of the first paragraphs, code and lead lines left out, greetings cut off."""
    text = re.sub(r"```.*?(?:```|\Z)", "\n\n", text[:4_000], flags=re.DOTALL)
    lines = ["" if _LEAD_LINES.match(line.strip()) else line for line in text.split("\n")]
    found = []
    for part in _PARAGRAPH_END.split("\n".join(_with_title_apart(lines))):
        sentences = [sentence for each in _SENTENCE_END.split(part) if (sentence := _without_greeting(each))]
        if sentences:
            found.append(sentences)
    return found


def _without_greeting(sentence: str) -> str:
    """The sentence on one line; empty when only a greeting or a sign is left."""
    sentence = " ".join(sentence.split())
    if _ROLE_TASK.match(sentence):
        sentence = _GERUND.sub(_imperative, _ROLE_TASK.sub("", sentence))
    while match := _GREETING.match(sentence):
        sentence = sentence[match.end() :]
    return sentence if _WORD.search(sentence) else ""


def _imperative(match: re.Match[str]) -> str:
    """`diagnosing and fixing` → `diagnose and fix`."""
    stems = [stem for stem in match.group("first", "second") if stem]
    return " and ".join(stem + "e" if stem.lower() in _WITH_E else stem for stem in stems)


def _with_title_apart(lines: list[str]) -> list[str]:
    """The lines with a full stop after an issue's title, so that it does not run into the next line."""
    for at, line in enumerate(lines):
        if line.strip():
            rest = "".join(lines[at + 1 : at + 2]).strip()
            if _is_title(line.strip()) and (not rest or not rest[0].islower()):
                return [*lines[: at + 1], "", *lines[at + 1 :]]
            break
    return lines


def _is_title(line: str) -> bool:
    return len(line) <= 150 and not line.endswith((",", ";", ":"))


def _upper_first(line: str) -> str:
    """The line with a capital, unless it begins with a name from code."""
    return line[:1].upper() + line[1:] if re.match(r"[a-z]+(?:'[a-z]+)?(?:[ ,:!?]|\.\s)", line) else line
