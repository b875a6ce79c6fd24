"""Texts as vectors of 256 numbers that are close when the texts have similar meanings. Standard library only.

The table (one int8 vector per word piece) was distilled with model2vec from all-MiniLM-L6-v2. A text's vector is the
sum of its pieces' vectors; rare words have longer vectors. Whole vectors are added at once, as 256 lanes of 32
bits in one Python integer: fast enough, without a dependency of 60 MB.
"""

from __future__ import annotations

import json
import math
import struct
from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from operator import mul
from pathlib import Path

from agent_wiki.errors import RunError
from agent_wiki.retrieval.pieces import pieces

DIMENSIONS = 256
MOST_CHARACTERS = 4_000
_FOLDER = Path(__file__).parent / "model"
_OFFSET = 128  # makes an int8 non-negative, so that lanes never borrow from each other
_LEVELS = 127
_COMMON = 1  # the first principal component is common to all such texts; without it unrelated ones are further apart
_USUAL_LENGTH = 150.0  # length of the vector of a word of average frequency

_SIGN_OF_BYTE = bytes(ord("1") if 0 < each < 128 else ord("0") for each in range(256))

Vector = bytes  # 256 int8, scaled so that the largest is 127; empty for a text without known words


class VectorTable:
    """The word-piece vectors, read from disk on demand."""

    def __init__(self, folder: Path) -> None:
        """Raises `RunError` if the table does not have the expected format."""
        listed = (folder / "vocabulary.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
        self._vocabulary = {piece: row for row, piece in enumerate(listed)}
        content = (folder / "model.safetensors").read_bytes()
        (length,) = struct.unpack_from("<Q", content)
        entry = json.loads(content[8 : 8 + length])["embeddings"]
        if entry["dtype"] != "I8" or entry["shape"] != [len(self._vocabulary), DIMENSIONS]:
            raise RunError(f"{folder}: {entry['dtype']} {entry['shape']} is not a table of int8 vectors")
        self._rows = memoryview(content)[8 + length + entry["data_offsets"][0] :]
        self._lanes: dict[int, int] = {}
        self._rarities: dict[str, float] = {}

    def vector(self, text: str) -> Vector:
        """The vector of a text; only its first 4,000 characters count."""
        values = self._sum(text[:MOST_CHARACTERS])
        values[:_COMMON] = [0] * _COMMON
        largest = max(max(values), -min(values))
        if not largest:
            return b""
        return array("b", [round(each * _LEVELS / largest) for each in values]).tobytes()

    def rarity(self, word: str) -> float:
        """The rarity of a word in English: about 1 for average words, lower for frequent ones.

        The length of a vector grows with the rarity of its piece (smooth inverse frequency). Words not in the table
        count as average.
        """
        known = self._rarities.get(word)
        if known is None:
            length = math.sqrt(sum(each * each for each in self._sum(word[:MOST_CHARACTERS])))
            known = self._rarities[word] = length / _USUAL_LENGTH if length else 1.0
        return known

    def _sum(self, text: str) -> list[int]:
        total = count = 0
        for piece in pieces(text, self._vocabulary):
            total += self._lanes.get(piece) or self._lane(piece)
            count += 1
        shift = _OFFSET * count
        return [each - shift for each in array("I", total.to_bytes(4 * DIMENSIONS, "little"))]

    def _lane(self, piece: int) -> int:
        row = self._rows[piece * DIMENSIONS : (piece + 1) * DIMENSIONS].cast("b")
        made = int.from_bytes(array("I", [each + _OFFSET for each in row]).tobytes(), "little")
        self._lanes[piece] = made
        return made


@lru_cache(maxsize=1)
def table() -> VectorTable:
    """The table that ships with the package."""
    return VectorTable(_FOLDER)


def signs(vector: Vector) -> int:
    """A vector's 256 signs as one integer: close vectors differ in few of them."""
    return int(vector.translate(_SIGN_OF_BYTE), 2) if vector else 0


def length(vector: Vector) -> float:
    """The Euclidean length of a vector; 0 when it is empty."""
    values = array("b", vector)
    return math.sqrt(sum(map(mul, values, values)))


class Query:
    """A vector that many others are compared with."""

    def __init__(self, vector: Vector) -> None:
        self._values = array("b", vector)
        self._length = length(vector)
        self._signs = signs(vector)

    def cosine(self, vector: Vector, its_length: float) -> float:
        """The cosine of the angle to another vector, -1 to 1; 0 when one of them is empty."""
        both = self._length * its_length
        return sum(map(mul, self._values, array("b", vector))) / both if both else 0.0

    def nearest(self, signs_of_rows: Sequence[int], most: int) -> list[int]:
        """The positions of the `most` rows whose signs differ least, as a first filter before `cosine`."""
        if not self._length:
            return []
        wanted = self._signs
        distances = [(wanted ^ each).bit_count() for each in signs_of_rows]
        if len(distances) <= most:
            return list(range(len(distances)))
        farthest = sorted(distances)[most]
        nearer = [position for position, distance in enumerate(distances) if distance < farthest]
        ties = (position for position, distance in enumerate(distances) if distance == farthest)
        return [*nearer, *islice(ties, most - len(nearer))]
