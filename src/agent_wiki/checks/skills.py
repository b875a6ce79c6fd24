"""Whether each skill is one by the rules of Agent Skills, and has its scripts.

The rules are those of the reference validator, `skills-ref`; a test holds both against the same folders.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from agent_wiki.checks.check import Check, Spot
from agent_wiki.checks.subject import CheckedWiki, fields_of, line_with
from agent_wiki.wiki.layout import is_script, kind_of, skill_path
from agent_wiki.wiki.page import Page, line_of_field

_FIELDS = ("name", "description", "license", "allowed-tools", "metadata", "compatibility")
_LONGEST = {"name": 64, "description": 1_024, "compatibility": 500}
_FEWEST_LINES = 500


def faults_of_fields(fields: dict[str, Any], folder: str) -> Iterator[tuple[str, str]]:
    """What the rules find wrong with the frontmatter of a `SKILL.md` in a folder of that name: (field, what)."""
    for name in fields:
        if name not in _FIELDS:
            yield str(name), f"the field {name} is none of Agent Skills: put it under metadata"
    for name in ("name", "description"):
        if not isinstance(fields.get(name), str) or not fields[name].strip():
            yield name, f"it has no {name}"
    for name, most in _LONGEST.items():
        value = fields.get(name)
        if isinstance(value, str) and len(value) > most:
            yield name, f"its {name} has {len(value)} characters, more than {most}"
    if not isinstance(fields.get("compatibility", ""), str):
        yield "compatibility", "its compatibility is no text"
    if isinstance(fields.get("name"), str) and fields["name"].strip():
        yield from (("name", what) for what in _faults_of_name(fields["name"], folder))


def _faults_of_name(name: str, folder: str) -> Iterator[str]:
    name = unicodedata.normalize("NFKC", name.strip())
    if name != name.lower():
        yield f"its name {name} has capital letters"
    if name.startswith("-") or name.endswith("-") or "--" in name:
        yield f"its name {name} has a hyphen at an end, or two in a row"
    if not all(letter.isalnum() or letter == "-" for letter in name):
        yield f"its name {name} has more than letters, digits and hyphens"
    if name != unicodedata.normalize("NFKC", folder):
        yield f"its name is {name}, and its folder's {folder}"


def _skills(wiki: CheckedWiki) -> Iterator[tuple[str, Page]]:
    for path in wiki.page_paths:
        page = wiki.page(path) if kind_of(path) == "skill" else None
        if page is not None:
            yield path, page


def _invalid(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, page in _skills(wiki):
        for field, what in faults_of_fields(page.fields, path.split("/")[1]):
            yield Spot(path, what, line_of_field(wiki.text(path), field))


def _long(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, _ in _skills(wiki):
        lines = len(wiki.text(path).splitlines())
        if lines >= _FEWEST_LINES:
            yield Spot(path, f"it has {lines} lines; Agent Skills asks for less than {_FEWEST_LINES}", _FEWEST_LINES)


def _without_page(wiki: CheckedWiki) -> Iterator[Spot]:
    for slug in sorted(
        {path.split("/")[1] for path in wiki.files if path.startswith("skills/") and path.count("/") > 1}
    ):
        if skill_path(slug) not in wiki.files:
            yield Spot(f"skills/{slug}", "a skill's folder without SKILL.md")


def _scripts(path: str, page: Page) -> list[str]:
    """The scripts that a generated page names."""
    fields = fields_of(path, page)
    listed = "" if fields is page.fields else str(fields.get("scripts") or "")
    return [each.strip().rpartition(":")[0] for each in listed.split(",") if ":" in each]


def _scripts_gone(wiki: CheckedWiki) -> Iterator[Spot]:
    for path, page in _skills(wiki):
        for name in _scripts(path, page):
            script = f"{path.rpartition('/')[0]}/scripts/{name}"
            if script not in wiki.files:
                line = line_with(wiki.text(path), "  scripts:")
                yield Spot(path, f"its script {name} is not there", line)


def _scripts_unnamed(wiki: CheckedWiki) -> Iterator[Spot]:
    pages = dict(_skills(wiki))
    for script in filter(is_script, wiki.files):
        _, slug, _, name = script.split("/", 3)
        path = skill_path(slug)
        page = pages.get(path)
        if page is not None and name not in _scripts(path, page) and name not in page.body:
            yield Spot(script, f"{path} does not name it")


def _check(name: str, summary: str, find: Callable[[CheckedWiki], Iterator[Spot]], fix: str) -> Check:
    return Check(f"skills/{name}", summary, fix, find, "files")


SKILLS = (
    _check("invalid", "A skill breaks a rule of Agent Skills: clients may refuse it.", _invalid, "correct it by hand"),
    _check("too-long", "A skill has 500 lines or more.", _long, "move parts of it to files beside it"),
    _check("no-page", "A skill's folder has no `SKILL.md`.", _without_page, "wiki catalog, or delete the folder"),
    _check("script-gone", "A skill names a script that is not there.", _scripts_gone, "wiki restore SKILL"),
    _check("script-unnamed", "A script lies with a skill that does not name it.", _scripts_unnamed, "delete it"),
)
