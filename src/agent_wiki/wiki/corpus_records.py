"""`_corpus/<request digest>.json`: an answer over several pages, with what it is about and what made it.

Like a session's record, it is never asked for again; unlike one, it is used only as long as its question is asked.
It is added and deleted whole, never changed in place. Below the JSON there are blank lines, more bytes than it has
itself and no line of which two files share: else git takes an answer that replaced a similar one for a rename, and
stops a merge where both branches replaced it.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any, ClassVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from agent_wiki.errors import UnreadablePage
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.form_versions import check_version
from agent_wiki.wiki.layout import SESSIONS
from agent_wiki.wiki.records import VERSION, MadeBy, conflict_sides, record_text

FOLDER = "_corpus"
RECORD_FOLDERS = (f"{SESSIONS}/", f"{FOLDER}/")
"""Where records of sessions and answers over several pages lie."""
_SHORTEST_DIGEST = 16
_BLANKS = str.maketrans("01", " \t")
_BLANK_LINE = 63  # git compares lines, and long ones in pieces of 64 bytes


@dataclass(frozen=True, slots=True)
class CorpusRecord:
    """One answer. `about` are the ids of the guidelines or sessions it compares; `answer` is as the engine gave it.

    `archive_members`: the engine wants the members of the cluster archived.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    kind: str
    about: tuple[str, ...]
    made_by: MadeBy
    answer: Any = None
    archive_members: bool = False
    version: int = VERSION


def corpus_path(request: str) -> str:
    """The path of the answer to a request, relative to the wiki."""
    return f"{FOLDER}/{request.removeprefix('sha256:')[: 2 * _SHORTEST_DIGEST]}.json"


def corpus_text(path: str, record: CorpusRecord) -> str:
    """An answer as its file holds it: the JSON, and blank lines that no other path has."""
    text = record_text(record)
    bits = len(text.encode("utf-8", "replace")) * 3 // 2
    digest = hashlib.shake_256(path.encode()).digest(bits // 8 + 1)
    blanks = "".join(f"{byte:08b}" for byte in digest).translate(_BLANKS)
    return text + "".join(f"{blanks[at : at + _BLANK_LINE]}\n" for at in range(0, len(blanks), _BLANK_LINE))


def is_without_blanks(content: bytes) -> bool:
    """Whether a file's blank lines are missing: a former version wrote it, or an editor took them away."""
    return content.rstrip(b"\r\n").endswith(b"}")


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[CorpusRecord]:
    return TypeAdapter(CorpusRecord)


def parse_corpus_record(content: bytes, name: str) -> CorpusRecord:
    """An answer from its file; of two versions between conflict markers the first. Raises `UnreadablePage`."""
    try:
        values: Any = from_json(content)
    except ValueError as error:
        values = from_json(conflict_sides(content, name, error)[0])
    check_version(values, name, VERSION)
    try:
        return _adapter().validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise UnreadablePage(name, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
