"""Whether generated files are what the records render, and which of them a person edited."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agent_wiki.checks.check import Check, Spot
from agent_wiki.checks.subject import CheckedWiki, line_with
from agent_wiki.pages.skill import SYNTHESIZE_SKILL
from agent_wiki.pages.state import paths_of
from agent_wiki.pipeline.catalog_files import GIT_ATTRIBUTES
from agent_wiki.pipeline.owners_pages import EditedFile
from agent_wiki.wiki.corpus_records import FOLDER as CORPUS
from agent_wiki.wiki.generated import without_mark
from agent_wiki.wiki.layout import CONFIG, INDEX, SESSIONS, skill_path

_ELSEWHERE = (INDEX, GIT_ATTRIBUTES)
"""Generated files that have checks of their own."""


def _planned(wiki: CheckedWiki, *, is_there: bool) -> Iterator[tuple[str, str]]:
    """Path and text of what would be written, in the place of a file or where there is none."""
    others = {*_ELSEWHERE, *(each.path for each in wiki.edited), *wiki.pages.merged}
    for path, text in wiki.rendering.planned.items():
        is_record = path.startswith((f"{SESSIONS}/", f"{CORPUS}/"))
        if path not in others and not is_record and (path in wiki.files) is is_there:
            yield path, text


def _outdated(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, text in _planned(wiki, is_there=True):
        what = "it lacks what the records give it" if path == CONFIG else "it is not what the records render"
        yield Spot(path, what, _first_difference(wiki.text(path), text))


def _missing(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, _ in _planned(wiki, is_there=False):
        yield Spot(path, "the records render it, and there is no such file")


def _unsupported(wiki: CheckedWiki) -> Iterator[Spot]:
    for path in sorted(wiki.rendering.removed):
        yield Spot(path, "a generated file that no record supports")


def _damaged(wiki: CheckedWiki) -> Iterator[Spot]:
    for each in wiki.edited:
        if is_damaged(each):
            yield Spot(each.path, "only its digest is wrong: its text is what the records render")


def is_damaged(file: EditedFile) -> bool:
    """Whether nothing but the digest of a file differs from what would be rendered."""
    return file.rendered is not None and without_mark(file.text) == without_mark(file.rendered)


def _edited(wiki: CheckedWiki) -> Iterator[Spot]:
    for each in wiki.edited:
        if not is_damaged(each):
            line = None if each.rendered is None else _first_difference(each.text, each.rendered)
            yield Spot(each.path, "a person edited this generated file", line)


def _without_mark(wiki: CheckedWiki) -> Iterator[Spot]:
    """Files in the place of a generated page that count as another tool's: their line with the digest is gone."""
    records = list(wiki.view.state.records.values())
    ours = paths_of(records)
    ours |= {skill_path(each.name) for record in records for each in record.answer(SYNTHESIZE_SKILL) or ()}
    for path in sorted(ours.intersection(wiki.pages.foreign)):
        yield Spot(path, "it has no digest and lies where the records have a page: nothing renders that")


def _merged(wiki: CheckedWiki) -> Iterator[Spot]:
    for path in sorted(wiki.pages.merged):
        line = line_with(wiki.text(path), "<<<<<<< ")
        yield Spot(path, "git merged this generated file, and no run has rendered it since", line)


def _first_difference(text: str, other: str) -> int | None:
    """The 1-based line of a text that the other has not."""
    lines, others = text.splitlines(), other.splitlines()
    at = next((at for at, pair in enumerate(zip(lines, others, strict=False)) if pair[0] != pair[1]), None)
    return min(len(lines), len(others)) + 1 if at is None else at + 1


def _check(name: str, summary: str, find: Callable[[CheckedWiki], Iterator[Spot]], fix: str = "") -> Check:
    mended = "wiki catalog renders it again"
    return Check(f"rendering/{name}", summary, fix or mended, find, is_mechanical=not fix)


RENDERING = (
    _check("outdated", "A generated file is not what the records and the configuration render.", _outdated),
    _check("missing", "A file that the records render is not there.", _missing),
    Check(
        "rendering/unsupported",
        "A generated file lies here that no record supports.",
        "wiki catalog removes it",
        _unsupported,
        is_mechanical=True,
    ),
    _check("digest", "The digest of a generated file is wrong, and its text is what would be rendered.", _damaged),
    _check("merged", "Git merged a generated file, and no run has rendered it since.", _merged),
    _check(
        "no-digest",
        "A page without a digest lies where the records have a page.",
        _without_mark,
        "delete it, and run wiki catalog; or rename it where somebody wrote it",
    ),
    _check(
        "edited",
        "A person edited a generated file, and has not said that it is to be kept.",
        _edited,
        "keep it with `wiki keep`, or render it again with `wiki restore`",
    ),
)
