"""The user's own turns: cleaned of what harnesses wrap around them, and classified by what they do.

A task prompt, a paste, a slash command and "yes" are all recorded alike; a summary needs the words of
the person. Ideas: the signals of objection and rejection in the project's notes on mining.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from agent_wiki.engines.offline.command_prompts import asked_in_command_prompt
from agent_wiki.stages.user_reactions import reaction_of
from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.trajectory.unwrapping import unwrapped

RequestKind = Literal["request", "answer", "objection", "acceptance", "nudge", "command"]

_MOST_READ = 20_000
_LEAST_PART = 200  # characters
_COMMAND_NAME = regex(r"<command-name>\s*/?([\w:.-]{1,80})\s*</command-name>")
_SKILL = regex(r"\s*<skill name=\"(?P<name>[\w:.-]{1,80})\"")  # with its text; what the user adds comes after it
_SKILL_TEXT = regex(  # the text of a skill, and below it what the user wants of it
    r"^Base directory for this skill: \S{0,300}/(?P<name>[\w.-]{1,80})\nRelative paths in this skill[^\n]{0,200}\n"
    r"(?P<own>.*)\Z",
    re.DOTALL | re.MULTILINE,
    needs=("Base directory for this skill: ",),
)
_COMMAND_ARGS = regex(r"<command-args>([^<]{1,4000})")
_HOUSEKEEPING = frozenset(
    {"exit", "quit", "clear", "compact", "model", "login", "logout", "config", "help", "status", "cost", "resume",
     "mcp", "reload-plugins", "plugin", "hooks", "ide", "doctor", "memory", "permissions", "vim", "theme", "usage",
     "context", "export", "agents", "bug", "release-notes", "terminal-setup", "fast", "effort", "rename",
     "stats", "cd", "add-dir", "rewind", "output-style", "statusline", "todos", "upgrade", "feedback", "new"}
)  # fmt: skip
_TYPED_COMMAND = regex(r"/([a-z][\w:-]{1,60})(?=\s|$)")
# Harnesses without a turn of their own for tools record results as the user's turns.
_ENVIRONMENT = regex(r"(?:Output:\s*```|OBSERVATION:|Observation:|<returncode>|\[?Tool (?:result|output))")
_TEAM = regex(r"<teammate-message\b[^<>]{0,200}>(?P<own>.{1,20000}?)</teammate-message>", re.DOTALL)
_NUDGES = regex(
    r"^(?:ok(?:ay)?|yes|yep|yeah|yup|sure|y|no|n|go(?: ahead| on| for it)?|continue|proceed|next|do it|"
    r"please do|please|done|exit|quit|"
    r"keep going|carry on|resume|retry|try again|again|hi|hello|hey|test|stop|\d{1,2}|[a-d]|k|fine|start|"
    r"sounds good|thank you|thanks|ping|begin)\b(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_ACCEPTED = regex(
    r"^(?:(?:ok(?:ay)?|yes|yep|great|cool|awesome)[,.! ]+)?(?:that )?(?:works?\b(?! on| with)|it works|"
    r"works? (?:now|great|fine|well)|perfect|great\b|awesome|"
    r"excellent|lgtm|looks? (?:good|great|right|correct)|nice\b|that(?:'s| is) (?:it|right|correct|great|"
    r"perfect|better|good|exactly)|"
    r"(?:that|this) (?:works|fixed|did it|solved)|exactly|well done|good job|brilliant|amazing|thank(?:s|"
    r" you)\b|ship it|merge it|love it|wonderful)",
    re.IGNORECASE,
)
_ACCEPTED_INSIDE = regex(
    r"\b(?:(?:it|that|this) (?:all )?(?:works|worked) (?:now|great|well|perfectly|fine)|(?:looks?|sounds?) (?:go"
    r"od|great|perfect)\b|"
    r"all (?:good|set)\b|works like a charm|(?:it's|is|are) (?:pretty |really )?(?:good|great|perfect)\b)",
    re.IGNORECASE,
)
_OBJECTED = regex(
    r"^(?:no\b(?! problem| worries| rush|,? (?:then )?(?:that|it)(?:'?s| is| will be|'ll be) (?:ok|fine|good|all|it)"
    r"|[,.]? (?:thanks?|nothing (?:else|more))\b)|nope|wait\b(?! we\b| for\b| until\b)|stop\b|but (?:you|i)\b|"
    r"hmm+\W+(?:no|but|why|what is|that|this|it)\b|really\?|huh|"
    r"why (?:(?:did|do|are|would) you|(?:is|was|does|did) (?:it|this|that)|not)\b|"
    r"actually,? (?:no|i (?:do not|don'?t|meant?|want(?:ed)?|asked|said)|"
    r"we (?:do not|don'?t|need|should)|don't)\b|not (?:what|like|quite|that|yet)|wrong\b|undo\b|revert\b|don'?t\b|"
    r"do not\b|never\b|that(?:'s| is) (?:not|wrong)|this (?:is|does)(?:n't| not)|it (?:still|does not|doesn't|didn't)|"
    r"still (?:too|not|no|fail|broken|see|get|does)|instead\b|what is going on|"
    r"you (?:forgot|missed|broke|didn't|should))",
    re.IGNORECASE,
)
_OBJECTED_INSIDE = regex(
    r"\b(?:but you|that(?:'s| is) (?:not|wrong)|not what i|already (?:said|told|asked)|add (?:it|them|that) back|"
    r"put (?:it|them) back|(?:is|are) (?:still )?(?:failing|broken|blowing up)|"
    r"still (?:fails?|failing|broken|see|not|doesn't|get)|does(?:n't| not) work|didn't work|"
    r"i (?:asked|said|meant)|i wanted(?! to\b)|i did ?n['’]?o?t (?:want|ask)|there(?:'s| is) (?:still )?a bug|"
    r"until it (?:actually )?works|(?:feels?|seems?) off\b|(?:are|['’]re) not (?:yet )?done|why (?:did|are|do) you|"
    r"[.!?] why not|i never (?:want|asked)|should(?:n't| not) (?:have|be)|"
    r"(?<!what's )(?<!what’s )(?<!the )(?<!sorry )wrong\b|fix this:|no need to|"
    r"(?:can'?t|cannot) (?:we|you) just|(?<!maybe )instead of|(?:neither|none) of (?:those|these))",
    re.IGNORECASE,
)
# A question that proposes or asks to know; one that names a fault is an objection all the same.
_OPEN_QUESTION = regex(
    r"^(?:wait\b[ ,.!]*)+(?!.{0,200}\b(?:you|why)\b).{0,200}\?\s*$|^(?:so |and |ok(?:ay)?,? |also |"
    r"(?:wait\b[ ,.!]*)+)?(?:(?:is|are) there\b|should (?:we|i)\b|do we\b|does (?!not\b)\w|which\b|who\b|when\b|"
    r"where\b|how (?:do|does|can|is|are)\b|what (?:is|are|does|do|would|if|about|kind|types?)\b(?! going on))",
    re.IGNORECASE,
)
FAULT = regex(
    r"n't\b|\b(?:still|again|wrong|broken?|fail(?:s|ed|ing)?|errors?|cannot|hangs?|not found|not work\w*"
    r"|i (?:said|asked|meant|wanted))\b",
    re.IGNORECASE,
)

ASKS = regex(
    r"(?!\B\w)(?:"  # none begins within a word: most places are passed over at once
    r"(?:^|[,;:—-]\s*|\b(?:and|then) )(?:please |now |also |first |actually |let'?s |let us |just )*"
    r"(?:take a look|add|address|analy[sz]e|assess|audit|"
    r"apply|book|bring|build|bump|calculate|cancel|change|check|clean|commit|complete|"
    r"configure|continue|convert|create|debug|delete|deploy|describe|design|diagnose|do|document|draft|ensure|"
    r"estimate|evaluate|execute|explain|extract|find|finish|fix|generate|get|give|help|"
    r"adapt|adjust|compare|disable|enable|extend|reduce|reproduce|rerun|wire|"
    r"implement|improve|install|integrate|investigate|list|look|make|merge|migrate|modify|move|open|optimi[sz]e|"
    r"perform|plan|port|print|produce|provide|publish|push|read|rebase|"
    r"refactor|release|remove|rename|repair|replace|report|research|resolve|restore|return|revert|review|rework|rewrite|"
    r"run|search|send|set|ship|show|simplify|"
    r"solve|spawn|split|start|summari[sz]e|support|switch|test|tell|translate|transfer|try|turn|"
    r"update|upgrade|use|verify|walk|write)\b(?![-/])"
    r"|\b(?:(?:can|could|would|will) (?:you|we|i)|i(?:'d| would) (?:like|love|prefer)"
    r"|i(?:'m| am) (?:looking|trying|hoping)|(?:i|we) (?:really |still |just |also |do )?(?:need|want)"
    r"|what i'?m trying|let's|(?:so|and|ok|okay|but),? lets|please|(?:we|you)(?:'ll| will) need|we should"
    r"|we(?:'re| are) going to)\b|(?:^|[.!]\s*)lets\b|\?\s*$)",
    re.IGNORECASE,
)
# The turn before was meant for somebody else.
_RETRACTS = regex(
    r"\W*(?:sorry\W+|oops\W+)?(?:wrong (?:chat|window|session)\W+)?"
    r"(?:please )?(?:ignore|disregard) (?:my |the |that )?(?:last|previous) mes+a?ge?s?\b\W*",
    re.IGNORECASE,
)
_ASKED = regex(
    r"\?|\b(?:please|could you|can you) (?:provide|confirm|share|specify|choose|tell)|\blet me know\b", re.IGNORECASE
)
_ANSWERS = regex(r"(?:yes|yep|yeah|sure|ok(?:ay)?|no|nope)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UserRequest:
    """One turn of the user. `text` is what the person wrote, wrappers gone, line breaks kept."""

    turn: int
    text: str
    kind: RequestKind


def requests_of(trajectory: Trajectory) -> list[UserRequest]:
    """The user's own turns in order: no injected text, no compaction summary, no interrupt line.

    A slash command counts when it started work; commands that only manage the harness do not.
    """
    found: list[UserRequest] = []
    last_said = ""
    for turn, message in trajectory.turns():
        if message.role == "assistant" and message.content:
            last_said = message.content
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
        found.append(request)
    return found


def _is_known(text: str, found: list[UserRequest]) -> bool:
    """Said right before, or a long part of the first prompt, which some clients record again at the end."""
    return text == found[-1].text or (len(text) > _LEAST_PART and text in found[0].text)


def _is_answer(text: str) -> bool:
    """After a question of the agent: a short text that asks for nothing, or a yes or no with something added."""
    return (len(text) < 200 and _ANSWERS.match(text) is not None) or (len(text) < 400 and ASKS.search(text) is None)


def _request(turn: int, message: Message, *, has_started: bool) -> UserRequest | None:
    content = (message.content or "")[:_MOST_READ]
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
    text = asked_in_command_prompt(text) or text
    typed = _TYPED_COMMAND.match(text)
    if typed is not None:
        return None if typed.group(1) in _HOUSEKEEPING else UserRequest(turn, text, "command")
    return UserRequest(turn, text, _kind(text) if has_started else _first_kind(text))


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


def says_no(request: UserRequest) -> bool:
    """An objection in so many words to what the agent did; no report, no proposal."""
    return request.kind == "objection" and reaction_of(request.text) == "objection"


def _first_kind(text: str) -> RequestKind:
    return "nudge" if is_nudge(text) else "request"


def _kind(text: str) -> RequestKind:
    is_short = len(text) <= 400
    head = text[: 400 if is_short else 120]
    is_open_question = _OPEN_QUESTION.match(head) is not None and FAULT.search(head) is None
    objects = _OBJECTED.search(head) or (is_short and _OBJECTED_INSIDE.search(head))  # a long list of faults is work
    if not is_open_question and objects:
        return "nudge" if is_nudge(text) else "objection"
    accepted = _ACCEPTED.search(head) or _ACCEPTED_INSIDE.search(head)
    if len(text) < 300 and accepted and not ASKS.search(text[accepted.end() :].lstrip(" ,.!;:-")):
        return "acceptance"
    return "nudge" if is_nudge(text) else "request"


def is_nudge(text: str) -> bool:
    """A turn that only makes the agent continue or answers its question: no request of its own."""
    match = _NUDGES.match(text.strip())
    if match is None:
        return not any(character.isalpha() for character in text)
    rest: str = match.group("rest")
    return sum(map(str.isalnum, rest)) <= 3
