"""Which sentence of a user states a rule for later work: "don't commit unless I ask". Its words are kept as they are.

Sentences with a marker of their own (`always`, `never`, `make sure`, `we use`, `before …`) are norms wherever a user
says them; plain orders (`don't add comments`) only where the user corrects. Questions and sentences about this one
piece of work (`this`, `your`, `the second button`) state no norm.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline.imperatives import base, begins_with_verb, sentence_case
from agent_wiki.engines.offline.tables import named, table, written
from agent_wiki.trajectory.lazily import dataclass, regex

_LONGEST = 220
_MOST_WORDS = 20
_LEAD, _TAIL = written("norm_lead", re.IGNORECASE), written("tail_of_norm", re.IGNORECASE)
_STANDING = written("standing_norm", re.IGNORECASE)
_FOR_GOOD = regex(r"\b(?:always|never|ever|everywhere|we (?:use|prefer|only))\b", re.IGNORECASE)
ON_SCREEN = written("on_screen", re.IGNORECASE)
"""Of what the product shows: it may be otherwise in the next one."""
_PERSONS = [(regex(person, re.I), words) for person, words in table("words")["persons"]]
_TAG_QUESTION = regex(r",? (?:no|right|correct|isn't it)\?$", re.I)  # it states what it asks
_ONE_THING = regex(r"\b(?:build|create|draft|generate|make|write) (?:an?|another|new) ", re.I)  # the next may be right
_SPECIFIC = written("too_specific", re.IGNORECASE)
_COMMON = named("common")
# A name from the code at hand: a plain "don't" about it is about this piece of work.
_OWN_NAME = regex(r"\b(?!force-push)(?:[a-z0-9]+[-_][a-z0-9]\w*|[a-z]+[A-Z]\w*)\b")
_TENTATIVE = regex(r"^(?:let['’]s )?try\b|\b(?:maybe|perhaps|possibly|for now|this time)\b", re.I)
_DEFINITE = regex(r"\bthe (?:(?:full|whole|entire) )?([\w'-]+)", re.IGNORECASE)
_OCCASION = regex(r"(?<!only )\b(?:before|after|when|whenever|every time|each time)\b .+$", re.IGNORECASE)
_USES = regex(
    r"(?:use|choose|prefer) (?P<what>(?!.{0,80}\binstead of\b)[^,;]{2,60}?)(?P<rest> (?:for|in|when) .{2,80})?"
)
_ENDS = regex(r"[,;] | - ")
_MEANS = regex(r" (?:with|using|via|through|unless|until|without|because|since) ", re.I)
_TIMED = regex(r"\b(?:before|after|when|whenever|every time|each time) ", re.I)
_ALWAYS, _UNWANTED, _REQUIRED, _NEVER, _TEAM, _PREFER = (
    written(each, re.I) for each in ("always", "unwanted", "required", "forbidden", "of_a_team", "preferred")
)
_OCCASION_FIRST, _REASON = written("occasion_first", re.I), written("reason_of_norm", re.I)
_CONDITION = regex(r"\b(?:unless|without) .+$", re.I)
_NOT_FOR_GOOD = regex(r"\buntil (?!(?:i|we|you)\b)|[\"“”]", re.I)  # "until Kim is back"; somebody else said it
_INSTEAD = regex(r"[, ]*(?:-|;|but|and|just|rather|instead)* ?\b(?P<verb>[a-z-]+) \S", re.I)
_ORDERS, _SAYS_WHO = regex(r"(?:always|never|don't|do not) ", re.I), regex(r"\b(?:i|me|my|you|your|we|us|our)\b", re.I)
_CHANGING = ("change", "touch", "modify", "edit", "delete", "remove", "rename", "move", "rewrite")


@dataclass(frozen=True, slots=True)
class Norm:
    """`words`: as they were said, without a full stop. `deed`: what an agent is about to do when they apply.

    `is_lasting`: said in general, not only about the work at hand.
    """

    words: str
    deed: str
    is_lasting: bool

    @property
    def is_imperative(self) -> bool:
        """Whether the words are an order as they stand, whoever reads them."""
        return _SAYS_WHO.search(self.words) is None and (
            begins_with_verb(self.words) or _ORDERS.match(self.words) is not None
        )

    @property
    def situation(self) -> str:
        """When the norm applies, recognizable before the event."""
        when = _OCCASION.search(self.words)
        if when is not None:
            return sentence_case(when[0].partition(", ")[0])
        is_barred = _NEVER.match(self.words) is not None
        if not is_barred and (used := _USES.fullmatch(self.deed)):
            return f"Choosing between {used['what']} and something else{used['rest'] or ''}"
        deed = _ENDS.split(self.deed, maxsplit=1)[0] if is_barred else self.deed
        return f"About to {_MEANS.split(deed, maxsplit=1)[0]}"


def is_standing(sentence: str) -> bool:
    """Whether a sentence says of itself that it is meant for more than the work at hand."""
    return bool(_STANDING.search(sentence) or _FOR_GOOD.search(sentence))


def norm_of(sentence: str, *, is_correction: bool) -> Norm | None:
    """The norm that a sentence states, where it means something elsewhere; None where it states none."""
    plain = _TAG_QUESTION.sub("", sentence.replace("’", "'").strip()).strip(' .!\t"')
    if len(sentence) > _LONGEST or plain.endswith(("?", ":", "：")) or _TENTATIVE.search(plain):
        return None  # what follows a colon is about the work at hand
    if _NOT_FOR_GOOD.search(plain):
        return None
    words = " ".join(_TAIL.sub("", _LEAD.sub("", plain)).strip(" .!,").split())
    text = _REASON.sub(lambda match: match["rest"] or match["what"], words)  # why it holds says nothing of where
    norm = _shaped(words, text, is_marked=bool(_STANDING.search(plain)))
    is_timed = _REQUIRED.match(text) and _TIMED.search(text)
    is_wanted = is_correction and not _ONE_THING.search(plain)
    return norm if norm and (norm.is_lasting or is_timed or is_wanted) and _is_general(norm) else None


def names_own_things(text: str) -> bool:
    """Whether a text speaks of a thing of the work at hand ("the second button"), and not of any project's."""
    return not all(name.lower() in _COMMON for name in _DEFINITE.findall(text))


def _shaped(words: str, text: str, *, is_marked: bool) -> Norm | None:
    """A sentence in one of the forms of a rule, whatever it is about; `text`: its words without the reason."""
    is_timed = _TIMED.search(text) is not None
    if match := _ALWAYS.match(text):
        return _verbal(words, match["deed"], is_lasting=True)
    if match := _UNWANTED.match(text):
        first, *others = match["what"].split()
        is_typed = len(first) < 3 and others and base(others[0])  # "I don't want ot commit": a mistyped "to"
        return None if is_typed else Norm(words, f"add {match['what']}", is_marked)
    if match := _NEVER.match(text):
        return _forbidding(words, match, is_marked=is_marked or "never" in match[0][: match.start("verb")].lower())
    if match := _REQUIRED.match(text):
        return _verbal(words, match["deed"], is_lasting=is_marked)
    if match := _TEAM.match(text):
        is_custom = bool(match["adverb"]) or match["verb"].lower() == "prefer"
        return _verbal(words, f"{match['verb'].lower()} {match['what']}", is_lasting=is_marked or is_custom)
    if match := _PREFER.match(text):
        return Norm(words, f"choose {match['what']}", is_lasting=True)
    first_said = _OCCASION_FIRST.match(text)
    deed = f"{first_said['what']} {first_said['when'].lower()}" if first_said else text
    is_lasting = is_marked or (" always " in text.lower() and is_timed)
    return _verbal(words, deed, is_lasting) if is_lasting or is_timed else None


def _verbal(words: str, deed: str, is_lasting: bool) -> Norm | None:
    deed = deed.strip(" .,;:")
    return Norm(words, deed, is_lasting) if begins_with_verb(deed) and " " in deed else None


def _forbidding(words: str, match: re.Match[str], *, is_marked: bool) -> Norm | None:
    """A prohibition with a condition, with what is wanted in its place, or of a thing that is named."""
    verb, what = base(match["verb"]), (match["what"] or "").strip()
    if verb in (None, "do", "try"):  # "stop trying to …" is about what is being tried
        return None
    condition, instead = _CONDITION.search(what), _INSTEAD.search(what, max(what.find(","), 0))
    is_named = is_marked or _TIMED.search(what) or not _DEFINITE.search(what)  # no "don't bump the version" of one day
    is_clear = is_named and "," not in what and (len(what.split()) > 1 or (what and verb in _CHANGING))
    is_instead = "," in what and instead and base(instead["verb"]) == instead["verb"].lower()
    is_lasting = is_marked or words.lower().startswith("we don't") or condition is not None
    return Norm(words, f"{verb} {what}".strip(), is_lasting) if condition or is_instead or is_clear else None


def _is_general(norm: Norm) -> bool:
    deed = norm.deed
    for pattern, words in _PERSONS:
        deed = pattern.sub(words, deed)
    if "instead" in deed or ", use " in deed:
        deed = re.sub(r"\bone\b", "", deed)
    is_short = 2 <= len(norm.words.split()) <= _MOST_WORDS
    is_of_work = names_own_things(deed) or _OWN_NAME.search(deed) is not None
    return is_short and not _SPECIFIC.search(deed) and (norm.is_lasting or not is_of_work)
