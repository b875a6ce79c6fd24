"""The tables of this engine: TOML files beside the code, each read once, when first asked for.

A table that does not fit its form is a bug of the package, so pydantic's error is raised unchanged.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from agent_wiki.trajectory.lazily import regex
from agent_wiki.trajectory.literals import needed_words

_FOLDER = Path(__file__).parent / "tables"
_APOSTROPHE = regex(r"(?P<signs>\[(?:\\.|[^\]\\])*\])|'")  # in a class of characters, or outside any
_UNBOUNDED = regex(r"(?<!\\)\.[*+]")


class Pattern:
    """A regular expression of a table, compiled when it is first looked for."""

    def __init__(self, source: str) -> None:
        self.source = source

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.source)

    @cached_property
    def _needs(self) -> tuple[str, ...]:
        return needed_words(self.source)

    def search(self, text: str) -> re.Match[str] | None:
        """The first place in `text` that it matches."""
        return self._compiled.search(text) if not self._needs or any(word in text for word in self._needs) else None


def pattern(written: str | list[str] | Pattern) -> Pattern:
    """One pattern of a table, or a list of which one must match. Raises `ValueError` where one is unbounded."""
    if isinstance(written, Pattern):
        return written
    source = written if isinstance(written, str) else "|".join(written)
    if unbounded := _UNBOUNDED.search(source):
        raise ValueError(f"{unbounded[0]} may run over a whole recording: say how far, as in .{{0,80}}")
    return Pattern(source)


AnyOf = Annotated[Pattern, BeforeValidator(pattern)]
"""One pattern, or a list of which one must match."""


class Entry(BaseModel):
    """One entry of a table; `id` is the table's name and its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    id: str


Form = TypeVar("Form", bound=Entry)


@cache
def entries(name: str, form: type[Form]) -> tuple[Form, ...]:
    """The entries of `tables/<name>.toml` in their order."""
    return tuple(form(id=f"{name}/{key}", **values) for key, values in table(name).items())


@cache
def table(name: str) -> Mapping[str, Any]:
    """`tables/<name>.toml` as it is written."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def named(name: str) -> frozenset[str]:
    """The words of a list of `tables/names.toml`."""
    return frozenset(table("names")[name].split())


def written(name: str, flags: re.RegexFlag = re.NOFLAG, *, needs: tuple[str, ...] = ()) -> re.Pattern[str]:
    """An expression of `tables/words.toml`, compiled when first used; `needs` as in `regex`, else `<name>_needs`.

    An apostrophe in it is also one as typographers set it: "I'd" and "I’d".
    """
    words = table("words")
    needed = needs or tuple(words.get(f"{name}_needs", ()))
    plain = "".join(words[name]).replace("['’]", "'")
    source = _APOSTROPHE.sub(lambda found: found["signs"].replace("'", "'’") if found["signs"] else "['’]", plain)
    return regex(source, flags, needs=tuple(dict.fromkeys((*needed, *(each.replace("'", "’") for each in needed)))))
