"""A text as the judge reads it: unified letters, the commands in it, and whether a mention is advice.

"Never commit with `--no-verify`" mentions what "Commit with `--no-verify`" advises. Of a sentence that reports what
happened, only what it orders is advice.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property

from agent_wiki.pages.safety.key_words import words_in
from agent_wiki.shell.simple_commands import SimpleCommand, steps_of
from agent_wiki.trajectory.lazily import regex

# Letters of other scripts that look like Latin ones.
_LIKE_LATIN = "аеорсухіјѕԁһӏАВЕКМНОРСТХαοντικρυ"
_ALIKE = str.maketrans(_LIKE_LATIN, "aeopcyxijsdhlABEKMHOPCTXaovtikpu")
_HAS_ALIKE = regex(f"[{_LIKE_LATIN}]")
_LIKE_I = {ord("ı"): "i", ord("\u0307"): ""}  # what expressions take for it; `İ` in lower case is two characters
_UNSEEN = regex(r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
_CODE = regex(r"```[^\n]*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
_END_OF_SENTENCE = regex(
    r"[.!?;:](?=[\s*_\"'`)]|$)|\n|。|(?-i:(?<=[\u3040-\u9fff\uac00-\ud7af]))[,;:!?]"
    r"|,? (?:but|so|instead) (?!of\b|that\b)|, (?:then |and )?(?:always |just )?"
    r"(?=(?:use|run|do|add|set|call|install|pass|skip|disable|commit|push|execute)\b)",
    re.IGNORECASE,
)
_NEGATION = regex(
    r"\b(?:never|not|n't|don['’]?t|doesn['’]?t|cannot|can['’]?t|mustn['’]?t|shouldn['’]?t|won['’]?t|avoid\w*"
    r"|without(?! (?:hesitat\w+|delay|exception|fail|fuss|further|asking|waiting)\b)"
    r"|instead of|rather than|no longer|stop(?:ped|s)?|refus\w+|forbid\w*|reject\w*|prevent\w*|unlike|against|nor"
    r"|neither|hesitate|forget|omit|neglect|fail to|wrong\w*|resist\w*|replac\w+|remov\w+|catch\w*|detect\w*"
    r"|warn\w*|block\w*|drop(?:ped)?|object(?:s|ed)? to"
    r"|nie|niemals|nicht|kein\w*|ohne|statt|anstatt|vermeide\w*|jamais|pas|sans(?! serif|-)|évite\w*|nunca|jamás"
    r"|mai|senza|não|sem|evit[ae]\w*|non? (?:us|utili[cz]|esegu|ejecut|hag|instal|deb)\w+|nooit|niet"
    r"|geen|zonder|vermijd)\b"
    r"|(?<!\w)нe(?!\w)|不要|不得|切勿|禁止|请勿|請勿|不应|不能|不可|勿|别",
    re.IGNORECASE,
)
_REFUSED_AFTER = regex(
    r"[`'\")\s]*(?:is|are|was|were|gets?|got|has been|have been|will be|would be|must be|should be)?\s*"
    r"(?:(?:always|explicitly|strictly)\s+)?"
    r"(?:(?:forbidden|refused|rejected|disallowed|not allowed|prohibited|denied|blocked|discouraged|unsafe|dangerous)\b"
    r"|(?:(?:ist|sind|wird)\s+)?(?:verboten|untersagt|nicht erlaubt)\b"
    r"|(?:nicht|nie|niemals)\s+(?:ver|be|aus)?(?:wend|nutz|führ)\w*"
    r"|(?:を|は)?[^。\n]{0,8}(?:ないで|しない|わない|禁止)|[^.\n]{0,8}(?:지 마|않|금지)"
    r"|never(?=\s*[.;,]|\s*$)|only\s+(?:against|for|with|on|in)\s+[^.\n]{0,30}\b(?:local|localhost|mock|test|tests)\b)",
    re.IGNORECASE,
)
_CONDITION = regex(
    r"(?:^|[\s(])(?:when|whenever|if|where|because|since|although|whether|once|after|until|unless|while)\s+[^,]*$",
    re.IGNORECASE,
)
_VERBS = (
    r"(?:run|use|execute|call|invoke|install|add|set|pass|pipe|send|post|upload|start|commit|push|download|fetch|skip"
    r"|disable|turn off|switch off|apply|type|paste|enter|evaluate|eval|source|launch|do|try|configure|export|append"
    r"|put|include|repeat|open|read|copy|share|attach|forward|mail|email|bypass|ignore|delete|remove|give|grant|make)"
)
_ORDER = regex(
    rf"(?:^|[,;:(]\s*|\b(?:and|then|always|please|must|should|shall|just|first|instead|simply|you can|have to|need to"
    rf"|now|also|to be safe|in (?:the )?future|next time|from now on)\s+)(?:to\s+)?{_VERBS}\b[^,]*$",
    re.IGNORECASE,
)
_MOST_CONTEXT = 400  # characters before a mention


_TARGET = regex(r"(?:^|\n)[ \t]*[\w./%-]+:[ \t\n]+@(?=\w)")  # of a Makefile


def unified(text: str) -> str:
    """A text in which letters of other scripts that look like Latin ones are these: expressions for `Passage.seen`."""
    return text.translate(_ALIKE) if _HAS_ALIKE.search(text) else text  # most texts have none, which is soon known


def is_negated(text: str) -> bool:
    """Whether a text denies what it says."""
    return len(_NEGATION.findall(text)) % 2 == 1


class Passage:
    """One text. `is_advice`: what it mentions it recommends, unless it says otherwise; else it reports.

    `seen` is the text as a reader sees it, `lower` the same in lower case, `key_words` what of it signs wait for.
    """

    def __init__(self, text: str, *, is_advice: bool = True) -> None:
        self.text = text
        self.is_advice = is_advice
        self.seen = text if text.isascii() else _as_seen(text)
        self.lower = self.seen.lower()
        self.key_words = words_in(self.lower if text.isascii() else self.lower.translate(_LIKE_I))

    @cached_property
    def commands(self) -> tuple[SimpleCommand, ...]:
        """The simple commands in its code that is advised, in order, assignments among them."""
        code = (_TARGET.sub("\n", match[1] or match[2] or "") for match in self.code_spans())
        return tuple(command for each in code for command in steps_of(each))

    def code_spans(self) -> Iterator[re.Match[str]]:
        """Each piece of code that is advised."""
        return (match for match in _CODE.finditer(self.seen) if self.is_advised(match.start(), match.end()))

    def is_advised(self, start: int, end: int) -> bool:
        """Whether what is mentioned at a place is recommended there."""
        lead = self._lead(start)
        if is_negated(lead) or _REFUSED_AFTER.match(self.seen, end):
            return False
        if _ORDER.search(lead):
            return True
        return self.is_advice and not _CONDITION.search(lead)

    def _lead(self, start: int) -> str:
        """The sentence up to a place, code in it left out."""
        before = _CODE.sub("` `", self.seen[max(0, start - _MOST_CONTEXT) : start])
        ends = [match.end() for match in _END_OF_SENTENCE.finditer(before)]
        return before[ends[-1] :] if ends else before


def _as_seen(text: str) -> str:
    """A text without what is invisible, letters that look alike unified."""
    return unified(unicodedata.normalize("NFKC", _UNSEEN.sub("", text)))
