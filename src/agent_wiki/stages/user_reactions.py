"""What a user's next words say of what an agent did: an objection, an acceptance, or neither."""

from __future__ import annotations

import re

from agent_wiki.trajectory.lazily import regex

_MOST_READ = 400
_MOST_ACCEPTING = 80  # characters: who accepts says so first; further on such words are part of a request
_OBJECTS = regex(
    r"^\W*(?:no\b(?!\s+(?:problem|worries|need)"
    r"|,? that(?:'s| is| will be|'ll be) (?:all|fine|ok)\b|[,.]? (?:thanks?|nothing (?:else|more))\b)"
    r"|nope|wrong|stop|revert|undo|that(?:'s| is) (?:not|wrong)|not what"
    r"|why (?:did|are|would) you|you (?:broke|removed|deleted|forgot)|it(?:'s| is) still"
    r"|still (?:fail|broken|not|wrong|the same))"
    r"|\b(?:does ?n[o']t work|not working|still (?:fails?|failing|broken|see|get)|you broke"
    r"|(?:undo|revert) (?:that|this|it|the))\b",
    re.IGNORECASE,
)
_ACCEPTS = regex(
    r"\b(?:thanks?|thank you|thx|great|good|nice|perfect|excellent|awesome|amazing|cool|love|lgtm|works?|worked|working"
    r"|better|exactly|right|correct|yes|yep|yeah|ok|okay|okk|sure|sounds|approved?|fine|done|agreed?"
    r"|go (?:ahead|for it|on)|proceed|continue|commit|push|merge|ship|deploy|release|implement)\b",
    re.IGNORECASE,
)

_SYMPTOM = regex(
    r"\b(?:not|n[o']t|never|isnt|doesnt|cant|wont|still|why)\b[^.!?\n]{0,40}\b(?:load|show|work|display|appear|render|run|open"
    r"|start|build|compil|connect|respond|visible|there)|\b(?:fail|crash|broken|blank|missing|error|exception|stuck|hangs?)",
    re.IGNORECASE,
)
_WANTS = regex(
    r"\b(?:should|shall|use|must|want|need|instead|please|do ?n[o']t|never|always|only|rather|let'?s|prefer|put|keep"
    r"|remove|revert|undo|make|add|try|stop|ask|first|wrong|said|told)\b",
    re.IGNORECASE,
)


def objects(words: str) -> bool:
    """Whether the words contradict what was done."""
    return _OBJECTS.search(words[:_MOST_READ]) is not None


def accepts(words: str) -> bool:
    """Whether the words take what was done as it is: praise, assent, or leave to hand it on.

    Going on with something else is no acceptance: the user may not have looked.
    """
    return not objects(words) and _ACCEPTS.search(words.strip()[:_MOST_ACCEPTING]) is not None


def only_reports(words: str) -> bool:
    """Whether the words say that something does not work, and nothing of what is wanted instead."""
    return _SYMPTOM.search(words[:_MOST_READ]) is not None and _WANTS.search(words[:_MOST_READ]) is None
