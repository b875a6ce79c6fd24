"""Writes the table of modules in docs/architecture.md from their docstrings: `python docs/generate_modules.py`.

A test makes the same rows and names those that are missing or left over.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

ARCHITECTURE_PAGE = Path(__file__).parent / "architecture.md"
PACKAGE = Path(__file__).parent.parent / "src" / "agent_wiki"
BEGIN, END = "<!-- modules: made by docs/generate_modules.py -->", "<!-- end of modules -->"


@lru_cache(maxsize=1)
def module_rows() -> dict[str, str]:
    """Each module's path below the package → the first sentence of its docstring, in order of paths."""
    return {_place(path): _first_sentence(path) for path in sorted(PACKAGE.rglob("*.py"))}


def module_table() -> str:
    """The rows as a Markdown table for each top-level package; modules of the top level come first."""
    return "\n".join(_lines(module_rows()))


def page_with_table(page: str) -> str:
    """The page with the table between its two marks made again. Raises ValueError when it lacks the marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{ARCHITECTURE_PAGE.name} has no {BEGIN} and {END}")
    return f"{before}{begin}\n{module_table()}\n{end}{after}"


def _lines(rows: dict[str, str]) -> Iterator[str]:
    package = None
    for place, sentence in sorted(rows.items(), key=lambda row: ("/" in row[0], row[0])):
        owner = place.rpartition("/")[0].partition("/")[0]
        if owner != package:
            package = owner
            yield from (
                "",
                f"### `{owner}/`" if owner else "### Top level",
                "",
                "| module | what it does |",
                "|---|---|",
            )
        yield f"| `{place}` | {sentence} |"
    yield ""


def _place(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _docstring(source: str) -> str:
    """What a module begins with. To parse the whole of each takes fifty times as long."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING:
            return str(ast.literal_eval(token.string))
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE):
            break
    return ""


def _first_sentence(path: Path) -> str:
    docstring = _docstring(path.read_text(encoding="utf-8"))
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return re.split(r"(?<=[.?!])\s", paragraph)[0].replace("|", "\\|")


if __name__ == "__main__":
    made = page_with_table(ARCHITECTURE_PAGE.read_text(encoding="utf-8"))
    ARCHITECTURE_PAGE.write_text(made, encoding="utf-8")
