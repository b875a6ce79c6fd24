"""What a prompt says: the part of it that states the task, as paragraphs of sentences."""

from __future__ import annotations

import re
from functools import lru_cache

from agent_wiki.engines.offline.requests import ASKS
from agent_wiki.engines.offline.tables import named, table, written
from agent_wiki.trajectory.lazily import regex

_MOST_READ = 4_000
_LONGEST_TAIL = 600
_ISSUE_TAGS = tuple(table("words")["issue_tags"])
_ISSUE_WORDS = regex(r"^(?:ISSUE|TASK|PROBLEM STATEMENT|ISSUE TEXT|(?:Customer|User) request):[ \t]*$", re.MULTILINE)
# What a long prompt of a program ends with: below it stands what this run is for.
_LAST_SECTION = written("last_section", re.MULTILINE)
_AFTER_ISSUE = regex(r"^(?:INSTRUCTIONS?|RULES|(?:IMPORTANT )?TIPS|NOTES?|RESPONSE FORMAT):?[ \t]*$", re.MULTILINE)
_OF_HARNESS = written("of_harness", re.MULTILINE)
_LABEL = written("prompt_label", re.MULTILINE | re.IGNORECASE)
_ROLE_LABELS = frozenset({"task", "goal", "objective", "mission", "assignment", "request"})
_OF_TASK = frozenset({"task", "topic", "question"})  # wherever they stand, and something comes after them
_LEAD_LINES = written("lead_lines", re.IGNORECASE)
_GREETING = written("greeting", re.IGNORECASE)
_SENTENCE_END = regex(r"(?<=[.!?])(?<![\s.]\d\.)(?<!\A\d\.)(?<!\A\d\d\.)[\"')\]]{0,3}\s+(?=[\"'(\[]{0,3}[A-Z0-9`/])")
_PARAGRAPH_END = regex(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*]|\d+[.)])[ \t])|\n(?=#)")
_LINE_CONTINUES = regex(r"\\[ \t]*$", re.MULTILINE)  # typed where a line was to end
_CODE_LINES = regex(r"(?:^[^\n]{0,400}[(\[{,;)\]}][ \t\r]*(?:\n|\Z)){4,}", re.MULTILINE)
_OF_CODE = regex(r"^[ \t]*(?:[\w.@$]*\w\([^\n]*|[)}\]]+[;,]?)[ \t\r]*$", re.MULTILINE)  # a call, or what closes one
_RULER = regex(r"^[ \t]*[=_*-]{4,}[ \t]*$", re.MULTILINE)
_TERMINAL_GAP = regex(r" {12,}")  # what a prompt fills a line with, before its clock or its battery
_UNFINISHED = regex(r"[a-z0-9]$")
_CONTINUED = regex(r"(?:and|or|but|so|to|with|in|into|for|from|on|as|that|which)\s")
_LONE_PATH = regex(r"(?!\d{1,2}[.)]\s|[*-]\s)[~.]?[\w. -]*/[^\n]{1,200}")
_NUMBER = regex(r"^(?:\d{1,2} ?[-.)]|[-*•●])\s+(?=[\w`(])")
_WORD = regex(r"[^\W\d_]{2}")
STORY_OF_ROLE = regex(r"^you (?:are(?! \w{3,20}ing\b)|will|have)\b", re.IGNORECASE)  # "you are starting …" is a task
_ROLE_TASK = written("role_task", re.IGNORECASE)
_ROLE_ONLY = written("role_only", re.IGNORECASE)
_FIELD = regex(r"^\W{0,4}(?:title|issue|finding)\W{0,3}[:*_—–-]\W{0,3}(?=\w)", re.IGNORECASE)  # of a report
_OF_WORK = regex(r" description| (?:of|for) (?:this|the) \w{3,20}| \([^)\n]{1,30}\)", re.IGNORECASE)
_GERUND = written("gerund", re.IGNORECASE)
_WITH_E = named("with_e")


def _is_alone(label: re.Match[str]) -> bool:
    """A heading of one word that says where the task stands ("Goal:"), not one that has the word in it."""
    rest = label.string[label.end("word") : label.start("same") if label["same"] else label.end()]
    return label["word"].lower() in _ROLE_LABELS and not _OF_WORK.sub("", rest).strip(" \t\n:*")


@lru_cache(maxsize=64)  # of one request several lines are made, of different lengths
def task_paragraphs(text: str) -> list[list[str]]:
    """The sentences of each paragraph of the task that `text` states, greetings and code left out."""
    return _paragraphs(task_part(text))


def is_title(line: str) -> bool:
    """A line that may be a heading, or the title of an issue."""
    return len(line) <= 150 and not line.endswith((",", ";", ":"))


def task_part(text: str) -> str:
    """The part of a long prompt that states the task: what a tag or a heading encloses, no rules of a harness."""
    text = _OF_HARNESS.split(text, maxsplit=1)[0].strip() or text
    for tag in _ISSUE_TAGS:
        start = text.find(f"<{tag}>")
        if start >= 0:
            end = text.find(f"</{tag}>", start)
            return text[start + len(tag) + 2 : end if end > 0 else None].strip()
    words = _ISSUE_WORDS.search(text)
    if words and ASKS.match(text.lstrip()) is None:
        return _AFTER_ISSUE.split(text[words.end() :], maxsplit=1)[0].strip()
    last = _LAST_SECTION.search(text)
    return " ".join(last["own"].strip(' "\n').split()) if last else _labelled(text) or text


def _labelled(text: str) -> str:
    """The text after `Task:` or under a heading with that word, where the request is there."""
    has_role = STORY_OF_ROLE.match(text) is not None
    may_be_below = has_role or (ASKS.match(text.lstrip()) is None and not text.lstrip().startswith("#"))
    for label in _LABEL.finditer(text, 0, 12_000):
        same = label.group("same")
        is_marked = label.start() == 0 or (may_be_below and _is_alone(label))
        if same and (is_marked or label.group("word").lower() in _OF_TASK) and len(same.split()) >= 3:
            return text[label.start("same") :]
        if not same and is_marked and text[label.end() :].strip():
            return text[label.end() :].strip()
    return ""


def _paragraphs(text: str) -> list[list[str]]:
    """The sentences of the first paragraphs, code and lead lines left out, greetings cut off."""
    text = re.sub(r"(?m:^[ \t>]{0,12})```.*?(?:```|\Z)|<!--.*?-->", "\n\n", _ends_of(text), flags=re.DOTALL)
    text = _CODE_LINES.sub(_without_code, _LINE_CONTINUES.sub("", text))
    text = _RULER.sub("\n\n", _TERMINAL_GAP.sub("\n\n", text))
    lines = ["" if _LEAD_LINES.match(line.strip()) else line for line in text.split("\n")]
    found = []
    for part in _whole(_PARAGRAPH_END.split("\n".join(_with_title_apart(lines)))):
        sentences = [sentence for each in _SENTENCE_END.split(part) if (sentence := _without_greeting(each))]
        if sentences:
            found.append(sentences)
    return found


def _without_code(lines: re.Match[str]) -> str:
    return "\n\n" if len(_OF_CODE.findall(lines[0])) * 2 >= lines[0].strip().count("\n") + 1 else lines[0]


def _ends_of(text: str) -> str:
    """A text as it is, of a long one the beginning and the last paragraph: a paste has its request at either end."""
    if len(text) <= _MOST_READ:
        return text
    last = text[-_LONGEST_TAIL:].rstrip().rpartition("\n")[2]
    return f"{text[:_MOST_READ]}…\n\n{last}"


def _whole(parts: list[str]) -> list[str]:
    """The paragraphs, a sentence that continues after a blank line as one: "can we take this", a path, "and …"."""
    found: list[str] = []
    for part in filter(None, map(str.strip, parts)):
        is_open = bool(found) and _UNFINISHED.search(found[-1]) is not None
        if is_open and (_CONTINUED.match(part) or _LONE_PATH.fullmatch(part)):
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
    return found


def _without_greeting(sentence: str) -> str:
    """The sentence on one line; empty when only a greeting or a sign is left."""
    sentence = " ".join(sentence.split())
    if _ROLE_TASK.match(sentence):
        sentence = _GERUND.sub(_imperative, _ROLE_TASK.sub("", sentence))
    while match := _GREETING.match(sentence):
        sentence = sentence[match.end() :]
    sentence = _FIELD.sub("", _NUMBER.sub("", sentence))
    if _ROLE_ONLY.match(sentence):
        return ""
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
            if is_title(line.strip()) and (not rest or not rest[0].islower()):
                return [*lines[: at + 1], "", *lines[at + 1 :]]
            break
    return lines
