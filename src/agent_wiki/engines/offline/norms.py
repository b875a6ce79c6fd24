"""From what a user says to the rule it states: "don't commit unless I ask" → "Commit only if the user asks".

One sentence gives at most one norm. Sentences with a marker of their own (`always`, `never`, `make sure`, `we use`,
`before …`) are norms wherever a user says them; plain imperatives (`don't add comments`) only where the user corrects.
Questions and sentences about this one piece of work (`this`, `your`, `the second button`) state no norm.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from agent_wiki.engines.offline.imperatives import base, begins_with_verb, gerund, sentence_case
from agent_wiki.engines.offline.tables import named, table, written
from agent_wiki.trajectory.lazily import dataclass, regex

_LONGEST = 220
_MOST_WORDS = 20
_LEAD = written("norm_lead", re.IGNORECASE)
_STANDING = written("standing_norm", re.IGNORECASE)
_FOR_GOOD = regex(r"\b(?:always|never|ever|everywhere|we (?:use|prefer|only))\b", re.IGNORECASE)
ON_SCREEN = written("on_screen", re.IGNORECASE)
"""Of what the product shows: it may be otherwise in the next one."""
_PERSONS = [(regex(person, re.I), words) for person, words in table("words")["persons"]]
_TAG_QUESTION = regex(r",? (?:no|right|correct|isn't it)\?$", re.I)  # it states what it asks
_ONE_THING = regex(r"\b(?:build|create|draft|generate|make|write) (?:an?|another|new) ", re.I)  # the next may be right
_TAIL = written("tail_of_norm", re.I)
_SPECIFIC = written("too_specific", re.IGNORECASE)
_COMMON = named("common")
# A name from the code at hand: a plain "don't" about it is about this piece of work.
_OWN_NAME = regex(r"\b(?!force-push)(?:[a-z0-9]+[-_][a-z0-9]\w*|[a-z]+[A-Z]\w*)\b")
_APPROVAL = regex(r"\b(?:ask|seek|get|request|wait)\b.*\b(?:approval|permission|confirmation|consent|go-ahead)$", re.I)
_TENTATIVE = regex(r"^(?:let['’]s )?try\b|\b(?:maybe|perhaps|possibly|for now|this time)\b", re.I)
_DEFINITE = regex(r"\bthe (?:(?:full|whole|entire) )?([\w'-]+)", re.IGNORECASE)
_OCCASION = regex(r"(?<!only )\b(?:before|after|when|whenever|every time|each time)\b .+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Norm:
    """`rule`: an imperative without a full stop. `deed`: what an agent is about to do when the rule applies.

    `is_lasting`: said in general, not only about the work at hand.
    """

    rule: str
    deed: str
    is_lasting: bool

    @property
    def situation(self) -> str:
        """When the rule applies, recognisable before the event."""
        when = _OCCASION.search(self.rule)
        if when is None and _APPROVAL.search(self.rule):
            return "About to change something that the user has not agreed to"
        return sentence_case(when[0]) if when else f"About to {self.deed}"


def is_standing(sentence: str) -> bool:
    """Whether a sentence says of itself that it is meant for more than the work at hand."""
    return bool(_STANDING.search(sentence) or _FOR_GOOD.search(sentence))


def norm_of(sentence: str, *, is_correction: bool) -> Norm | None:
    """The norm a sentence states, in words that mean something elsewhere; None when it states none."""
    plain = _TAG_QUESTION.sub("", sentence.replace("’", "'").strip()).strip(' .!\t"')
    if len(sentence) > _LONGEST or plain.endswith(("?", ":", "：")) or _TENTATIVE.search(plain):
        return None  # what follows a colon is about the work at hand
    is_marked = bool(_STANDING.search(plain))
    text = _TAIL.sub("", _LEAD.sub("", plain)).strip(" .!,")
    text = _REASON.sub(lambda match: match["rest"] or match["what"], text)  # why, the page quotes
    for shape, is_lasting in _SHAPES:
        norm = shape(_without_persons(text), is_lasting or is_marked)
        if norm is not None:
            is_timed = shape is _required and bool(_TIMED.search(text))
            is_said_for_good = norm.is_lasting or is_timed or (is_correction and not _ONE_THING.search(plain))
            return norm if is_said_for_good and _is_general(norm) else None
    return None


@lru_cache(maxsize=512)
def _without_persons(text: str) -> str:
    """`before you commit` → `before committing`, `unless I ask` → `unless the user asks`."""
    for pattern, words in _PERSONS[:3]:
        text = pattern.sub(words, text)
    text = re.sub(r"\bforce push", "force-push", text)
    return _PERSONS[3][0].sub(_without_subject, text)


def _without_subject(match: re.Match[str]) -> str:
    verb = base(match["verb"])
    return f"{match[1]} {gerund(verb)}" if verb else match[0]


def names_own_things(text: str) -> bool:
    """Whether a text speaks of a thing of the work at hand ("the second button"), and not of any project's."""
    return not all(name.lower() in _COMMON for name in _DEFINITE.findall(text))


def _is_general(norm: Norm) -> bool:
    is_short = 2 <= len(norm.rule.split()) <= _MOST_WORDS
    rule = re.sub(r"\bone\b", "", norm.rule) if " instead of " in norm.rule else norm.rule
    is_of_work = names_own_things(norm.rule) or _OWN_NAME.search(rule) is not None
    return is_short and not _SPECIFIC.search(rule) and (norm.is_lasting or not is_of_work)


def _norm(text: str, is_lasting: bool, deed: str | None = None) -> Norm | None:
    """An imperative as a norm, when it begins with a verb."""
    text = " ".join(text.split()).strip(" .,;:")
    if not begins_with_verb(text) or " " not in text:
        return None
    return Norm(sentence_case(text), deed or _deed(text), is_lasting)


def _deed(text: str) -> str:
    """What is about to be done, without the way the rule wants it done."""
    head = _MEANS.split(text, maxsplit=1)[0]
    deed = head if " " in head else text
    return deed[0].lower() + deed[1:]


_ALWAYS = regex(r"^(?:you (?:should |must |need to |have to )?|we )?always (.+)$", re.I)
_NEVER = written("forbidden", re.I)
_UNWANTED = regex(r"^(?:i|we) (?:don['’]t|do not) want(?: to (?:have|see))? ((?!to\b|you\b).+)$", re.I)
_OCCASION_FIRST = written("occasion_first", re.I)
_SURE = regex(r"^(?:you (?:should |must |need to )?)?(?:make sure|be sure|ensure|remember|don['’]t forget|do "
                   r"not forget)"
                   r"(?: to| that you| you)? (.+)$", re.I)  # fmt: skip
_OUGHT = regex(r"^you (?:should|must|need to|have to|ought to)(?: always)? (.+)$", re.I)
_TEAM = written("of_a_team", re.I)
_REASON = regex(r"^(?P<what>.+?),? (?:because|since) .{8,120}$|^given [^,]{5,80}, (?P<rest>.+)$", re.I)
_PREFER = regex(r"^i(?:'d| would)? (?:strongly |much )?prefer (?:to )?(.+)$", re.I)
_CONDITION = regex(r"^(?P<what>.*?),? ?\b(?P<word>unless|until|without) (?P<condition>.+)$", re.I)
_REMEDY = written("remedy_in_norm", re.I)
_MEANS = regex(r",? (?:with|using|via|through|by|in) ", re.I)
_TIMED = regex(r"\b(?:before|after|when|whenever|every time|each time) ", re.I)


def _always(text: str, is_lasting: bool) -> Norm | None:
    match = _ALWAYS.match(text)
    norm = _norm(match[1], is_lasting) if match else None
    return Norm(f"Always {norm.rule[0].lower()}{norm.rule[1:]}", norm.deed, is_lasting=True) if norm else None


def _never(text: str, is_lasting: bool) -> Norm | None:
    """A prohibition as a recommendation: its condition, or what the user wants instead."""
    match = _NEVER.match(text)
    verb = base(match["verb"]) if match else None
    if match is None or verb in (None, "do", "try"):  # "stop trying to …" is about what is being tried
        return None
    is_lasting = is_lasting or "never" in text[: match.start("verb")].lower() or text.lower().startswith("we don't")
    what = (match["what"] or "").strip()
    deed = f"{verb} {what}".strip()
    condition = _CONDITION.match(what)
    if condition:
        word = {"unless": "only if", "until": "only once", "without": "only after"}[condition["word"].lower()]
        deed = f"{verb} {condition['what']}".strip()
        return _norm(f"{deed} {word} {condition['condition']}", is_lasting=True, deed=deed)
    remedy = _REMEDY.match(what)
    if remedy and base(remedy["verb"]) == remedy["verb"].lower():
        old = remedy["what"] if verb == remedy["verb"].lower() == "use" else f"{gerund(verb)} {remedy['what']}"
        rule = f"{remedy['verb']} {remedy['new']} instead of {old}"
        return _norm(rule, is_lasting, deed=f"{verb} {remedy['what']}")
    is_clear = "," not in what and (len(what.split()) >= 2 or (what and verb in _CHANGING))
    return _norm(_positive(verb, what), is_lasting, deed) if is_clear else None


_CHANGING = ("change", "touch", "modify", "edit", "delete", "remove", "rename", "move", "rewrite")


def _positive(verb: str, what: str) -> str:
    """What to do instead, where the verb shows it: `add emojis to commits` → `keep commits free of emojis`."""
    where = re.match(r"(?P<thing>[^,]+?) (?:to|in|into|on) (?P<place>(?:the |a |any )?[\w' -]{3,40})$", what)
    if verb in ("add", "put", "include", "leave", "insert", "write"):
        return f"keep {where['place']} free of {where['thing']}" if where else f"leave out {what}"
    if verb in _CHANGING[:4]:
        return f"leave {what} as found"
    return f"do without {what}" if verb in ("use", "create", "introduce") else f"avoid {gerund(verb)} {what}"


def _unwanted(text: str, is_lasting: bool) -> Norm | None:
    match = _UNWANTED.match(text)
    if match and base("".join(match[1].split()[1:2])) and len(match[1].split()[0]) < 3:
        return None  # "I don't want ot commit": no thing, but a mistyped "to"
    return _norm(f"do without {match[1]}", is_lasting, deed=f"add {match[1]}") if match else None


def _required(text: str, is_lasting: bool) -> Norm | None:
    """`make sure to …`, or else `you should …`."""
    found = (_norm(match[1], is_lasting) for each in (_SURE, _OUGHT) if (match := each.match(text)))
    return next(filter(None, found), None)


def _team(text: str, is_lasting: bool) -> Norm | None:
    """`we usually use X`: a custom; without the adverb it may only inform."""
    match = _TEAM.match(text)
    if match is None:
        return None
    is_custom = bool(match["adverb"]) or match["verb"].lower() == "prefer"
    return _norm(f"{match['verb'].lower()} {match['what']}", is_lasting or is_custom)


def _prefer(text: str, _: bool) -> Norm | None:
    match = _PREFER.match(text)
    if match is None:
        return None
    return _norm(match[1], is_lasting=True) or _norm(f"prefer {match[1]}", is_lasting=True)


def _timed(text: str, is_lasting: bool) -> Norm | None:
    """An imperative with its own occasion (`run the linter before committing`), or one that is said in general."""
    first = _OCCASION_FIRST.match(text)
    if first:
        text = f"{first['what']} {first['when'][0].lower()}{first['when'][1:]}"
    is_lasting = is_lasting or (" always " in text.lower() and bool(_TIMED.search(text)))
    return _norm(text, is_lasting) if is_lasting or _TIMED.search(text) else None


_SHAPES: tuple[tuple[Callable[[str, bool], Norm | None], bool], ...] = (
    (_always, True),
    (_unwanted, False),
    (_required, False),
    (_never, False),
    (_team, False),
    (_prefer, True),
    (_timed, False),
)
