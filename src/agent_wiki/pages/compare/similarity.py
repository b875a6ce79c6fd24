"""Text as sparse vectors: tokens, a light stemmer, the weight of a word's shape, TF-IDF. Standard library only.

The weighting is Spärck Jones's inverse document frequency, smoothed so that a corpus of four sessions of one
task does not give its shared words a weight of zero. A word's shape counts too: `mia_li_3668`, `HAT136`
or `SEA` name one particular thing, `flight` does not.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from agent_wiki.trajectory.lazily import regex

Vector = dict[str, float]

_THOUSANDS = regex(r"(?<=\d),(?=\d{3}(?!\d))")
_TOKEN = regex(r"\w+(?:[-.']\w+)*")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DATE = regex(
    r"\b(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
    r"|\b\d{4}-(?P<number>\d{2})-(?P<second>\d{2})\b",
    re.IGNORECASE,
)
# In folded text, where there is a date; several times as fast, for most texts have none.
_LIKE_A_DATE = regex(rf"(?:{'|'.join(_MONTHS)})\S{{0,13}} \d|\d-\d\d-\d")
_LONGEST_TOKEN = 80
_LARGEST_IDF = 3.0
_LONGEST_CODE = 4  # SEA, JSON; longer words in capitals are just emphasis
_CONTRACTIONS = ("'ll", "'re", "'ve", "'d", "'m", "n't")
_NOUN_ENDINGS = (("ations", ""), ("ation", ""), ("ies", "y"), ("sses", "ss"), ("s", ""))

_STOP_WORDS_TEXT = """
    a about above after again all already also although always am an and another any anyone anything are as at
    away back be because been before being below between both but by can can't cannot could couldn't did
    didn't do does doesn't doing don't done down during each either else enough etc even ever every everything
    few for from further get gets getting give given go goes going gone got had has hasn't have haven't having
    he help helping her here him his how however i i'd i'll i'm i've if in instead into is isn't it it's its
    just keep know last least less let let's like likely look looking made make makes making many may maybe me
    might mine more most much must my need needed needs never next no none nor not nothing now of off ok okay
    on once one only onto or other our out over own per perhaps please possible proceed put quite rather
    really right same say see seems she should shouldn't since so some someone something soon still such sure
    take tell than thank thanks that that's the their them then there there's these they thing things think
    this those through thus to too toward try trying two under until up upon us use used using very via want
    wanted wants was wasn't way we we'd we'll we're we've well were what when where whether which while who
    whole whom whose why will with within without won't work works would wouldn't yes yet you you'd you'll
    you're you've your yours hello hi hey great good nice sorry assist able ahead appreciate bye confirm day
    everything fine happy hear here's however understand understood welcome whatever whenever today currently
    actually unfortunately additional additionally first second third id ids pr http https www com description
    following follow consider include including user
    dont lets cant im ive doesnt didnt isnt wasnt wont thats whats theres gonna wanna kinda idk cuz pls plz
"""
STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())

ENTITY = 1.5
NAME = 1.25
WORD = 1.0
NOTHING = 0.0


def tokens(text: str) -> list[str]:
    """The words of `text` in their own case, dates as `may 20`; identifiers with `_`, `-` and `.` are not split."""
    dates: list[str] = []
    if _LIKE_A_DATE.search(text.casefold()):
        dates = [_date(match) for match in _DATE.finditer(text)]
        text = _DATE.sub(" ", text)
    if "," in text:
        text = _THOUSANDS.sub("", text)
    found = _TOKEN.findall(text.replace("’", "'"))
    if "_" in text:
        found = [token.strip("_") for token in found]
    return dates + [token for token in found if 0 < len(token) <= _LONGEST_TOKEN]


def _date(match: re.Match[str]) -> str:
    if match["month"]:
        return f"{match['month'].lower()} {int(match['day'])}"
    month = int(match["number"])
    return f"{_MONTHS[month - 1]} {int(match['second'])}" if 1 <= month <= 12 else match[0]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """`word` in lower case without common English endings, so that plurals and tenses coincide.

    Lighter than Porter's: it never changes a word with a digit or a sign in it.
    """
    word = word.lower().removesuffix("'s")
    if not word.isalpha() or len(word) < 4:
        return word
    for ending, put in _NOUN_ENDINGS:
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= (3 if ending == "s" else 4)
            and not word.endswith(("ss", "us", "is"))
        ):
            word = word.removesuffix(ending) + put
            break
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sz":
        word = word[:-1]
    return word.removesuffix("e")


@lru_cache(maxsize=1 << 16)
def strength(token: str) -> float:
    """How distinctive a token's shape is: 0 for stop words and small numbers, highest for identifiers."""
    lower = token.lower()
    if len(token) < 2 or lower in STOP_WORDS or lower.endswith(_CONTRACTIONS):
        return NOTHING
    if token.replace(".", "").replace("-", "").isdecimal():
        return NOTHING if len(token) < 3 else NAME
    if any(character.isdigit() for character in token) or "_" in token:
        return ENTITY
    is_code = token.isupper() and len(token) <= _LONGEST_CODE
    is_mixed = not (token.islower() or token.isupper() or token.replace("'", "").istitle())
    return NAME if is_code or is_mixed or "." in token else WORD


def inverse_document_frequency(documents: Iterable[Iterable[str]]) -> dict[str, float]:
    """Word → smoothed idf over documents given as their words; a word counts once per document.

    Capped, so that in a large corpus a word of a few hundred similar documents still counts like a rare one.
    """
    number = 0
    frequency: Counter[str] = Counter()
    for words in documents:
        number += 1
        frequency.update(set(words))
    return {word: min(math.log((number + 6) / (count + 1)), _LARGEST_IDF) for word, count in frequency.items()}


def unit(vector: Mapping[str, float]) -> Vector:
    """`vector` scaled to length 1; empty when it has no length."""
    length = math.sqrt(math.fsum(value * value for value in vector.values()))
    return {word: value / length for word, value in vector.items()} if length else {}


def dot(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """Inner product; the cosine when both are unit vectors."""
    if len(left) > len(right):
        left, right = right, left
    total = 0.0
    for word, value in left.items():
        if word in right:
            total += value * right[word]
    return total
