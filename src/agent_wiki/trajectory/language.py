"""Whether a person's words are in the language that the tables of words know, which is English."""

from __future__ import annotations

import re
from functools import lru_cache

_MOST_READ = 600
_FEW = 4  # words: too few to tell
_ONE_IN = 7  # words is one of the commonest
# What is joined to other signs is a path, an option or a name.
_WORD = re.compile(r"(?<!\S)[\"'“(«]?([^\W\d_]+(?:['’][^\W\d_]+)?)[\"'”)».,:;!?…]*(?!\S)")
_COMMONEST = frozenset(
    {"the", "a", "an", "to", "and", "of", "in", "is", "it", "you", "for", "on", "this", "that", "with", "we",
     "i", "be", "are", "can", "my", "do", "not", "have", "please", "what", "how", "all", "from", "use", "if",
     "as", "at", "by", "or", "but", "so", "no", "was", "has", "will", "when", "they", "your", "should", "would",
     "could", "there", "which", "want", "need", "make", "fix", "add", "run", "also", "now", "just", "why",
     "does", "did", "don't", "it's", "let's", "i'm", "them", "our", "me", "us", "get", "go", "look", "check",
     "test", "try", "ok", "yes"}
)  # fmt: skip


@lru_cache(maxsize=1024)
def is_english(text: str) -> bool:
    """By its letters and its commonest words. A few words in Latin letters count as English: they are mostly names."""
    words = _WORD.findall(text[:_MOST_READ].lower())
    if sum(map(str.isascii, words)) < len(words) / 2:
        return False
    if not words:  # Thai and Devanagari write vowels as marks, which are no letters
        letters = [sign for sign in text[:_MOST_READ] if sign.isalpha()]
        return 2 * sum(map(str.isascii, letters)) >= len(letters)
    common = sum(word in _COMMONEST for word in words)
    return len(words) < _FEW or common * _ONE_IN >= len(words)
