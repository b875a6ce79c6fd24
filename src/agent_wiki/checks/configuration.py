"""Whether `_config.yaml` can be read, and what it names is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

from agent_wiki.checks.check import Check, Needs, Spot
from agent_wiki.checks.subject import CheckedWiki, line_of, line_with
from agent_wiki.engines.offline.rules import RULES
from agent_wiki.wiki.config import VERSION, version_of_config
from agent_wiki.wiki.config_keys import problems_in
from agent_wiki.wiki.form_versions import is_newer, newer
from agent_wiki.wiki.layout import CONFIG, SIDECAR, page_id, slug
from agent_wiki.wiki.values import mapping, texts_of
from agent_wiki.wiki.yaml_syntax import compose_yaml, load_yaml


def _unreadable(wiki: CheckedWiki) -> Iterator[Spot]:
    if wiki.records_elsewhere is not None:
        what = f"the records lie in the sidecar ({wiki.records_elsewhere}) and not here"
        yield Spot(SIDECAR, what, fix="wiki catalog fetches them and renders the summaries")
    elif wiki.why_not_loaded:
        place, _, reason = wiki.why_not_loaded.removeprefix(f"{CONFIG}:").partition(": ")
        has_line = place.isdigit()
        yield Spot(CONFIG, reason if has_line else wiki.why_not_loaded, int(place) if has_line else None)


def _newer(wiki: CheckedWiki) -> Iterator[Spot]:
    version = version_of_config(wiki.text(CONFIG))
    if is_newer(version, VERSION):
        line = line_with(wiki.text(CONFIG), "schema_version:")
        yield Spot(CONFIG, newer(version, VERSION), line, fix="no command writes before")


def _root(wiki: CheckedWiki) -> yaml.MappingNode | None:
    try:
        node = compose_yaml(wiki.text(CONFIG))
    except (yaml.YAMLError, RecursionError):
        return None
    return node if isinstance(node, yaml.MappingNode) else None


def _mappings(node: yaml.MappingNode, name: str = "") -> Iterator[tuple[str, yaml.MappingNode]]:
    """The mapping and those below it down to the entries of sections, each with its name."""
    yield name, node
    for key, value in node.value if name.count(".") < 2 else ():
        if isinstance(value, yaml.MappingNode):
            yield from _mappings(value, f"{name}.{key.value}".lstrip("."))


def _keys_twice(wiki: CheckedWiki) -> Iterator[Spot]:
    root = _root(wiki)
    for name, node in _mappings(root) if root is not None else ():
        counts = Counter(str(key.value) for key, _ in node.value)
        for key, _ in node.value:
            if counts[str(key.value)] > 1:
                counts[str(key.value)] = 0  # once for all of them
                where = f" in {name}" if name else ""
                what = f"{key.value} is written twice{where}; the last one counts"
                yield Spot(CONFIG, what, key.start_mark.line + 1)


def _keys_unknown(wiki: CheckedWiki) -> Iterator[Spot]:
    for problem in problems_in(_values(wiki)):
        what = problem.removeprefix(f"{CONFIG}: ")
        yield Spot(CONFIG, what, line_with(wiki.text(CONFIG), f"{what.partition(':')[0].rpartition('.')[2]}:"))


def _values(wiki: CheckedWiki) -> Mapping[str, Any]:
    try:
        return mapping(load_yaml(wiki.text(CONFIG)))
    except (yaml.YAMLError, RecursionError):
        return {}


def _released(wiki: CheckedWiki) -> Iterator[Spot]:
    known = {*wiki.view.guidelines, *wiki.view.withheld, *map(page_id, wiki.page_paths)}
    for name in wiki.config.released:
        if name not in known:
            yield Spot(CONFIG, f"{name} is released, and there is no such page", _line(wiki, name))


def _slugs(wiki: CheckedWiki) -> Iterator[Spot]:
    for kind, entries in (("cluster", wiki.config.clusters), ("task", wiki.config.tasks)):
        for name in entries:
            if name != slug(name):
                yield Spot(CONFIG, f"the {kind} {name} is no slug: write {slug(name)}", _line(wiki, name))


def _members(wiki: CheckedWiki) -> Iterator[Spot]:
    known = {*wiki.view.guidelines, *wiki.view.foreign_guidelines, *wiki.config.rejected, *wiki.view.rejected}
    for name, entry in wiki.config.clusters.items():
        for member in texts_of(entry.get("members")):
            if member not in known:
                what = f"the cluster {name} has a member {member}, which is no guideline here"
                yield Spot(CONFIG, what, _line(wiki, member))


def _tags(wiki: CheckedWiki) -> Iterator[Spot]:
    known = {*wiki.view.guidelines, *wiki.view.foreign_guidelines, *wiki.view.rejected}
    for name in wiki.config.tags:
        if name not in known:
            yield Spot(CONFIG, f"tags of {name}, which is no guideline here", _line(wiki, name))


def _overrides(wiki: CheckedWiki) -> Iterator[Spot]:
    for name in wiki.config.overrides:
        if name not in wiki.view.sessions:
            yield Spot(CONFIG, f"an override of the session {name}, which is not here", _line(wiki, name))


def _kept(wiki: CheckedWiki) -> Iterator[Spot]:
    for path in wiki.config.kept:
        if path not in wiki.files:
            yield Spot(CONFIG, f"{path} is kept, and there is no such file", _line(wiki, path))


def _rules(wiki: CheckedWiki) -> Iterator[Spot]:
    known = {rule.id for rule in RULES}
    for name in wiki.config.ignored_rules:
        if name not in known:
            yield Spot(CONFIG, f"there is no rule {name}", _line(wiki, name))


def _empty(wiki: CheckedWiki) -> Iterator[Spot]:
    """Clusters and tasks that make no page, as `wiki catalog` warns."""
    for warning in wiki.rendering.warnings:
        kind, _, rest = warning.partition(" ")
        name, _, what = rest.partition(": ")
        if kind in ("cluster", "task") and what:
            yield Spot(CONFIG, f"the {kind} {name} makes no page: {what}", _line(wiki, name))


def _line(wiki: CheckedWiki, name: str) -> int | None:
    """The line on which a name stands as a key or an item."""
    text = wiki.text(CONFIG)
    position = text.find(f"\n  {name}:")
    return line_of(text, position + 1) if position >= 0 else line_with(text, name)


def _check(
    name: str, summary: str, find: Callable[[CheckedWiki], Iterator[Spot]], fix: str, needs: Needs = "records"
) -> Check:
    return Check(f"config/{name}", summary, fix, find, needs)


_TAKE_OUT = "correct the name, or take the line out"

CONFIGURATION = (
    _check("unreadable", "The wiki cannot be loaded.", _unreadable, "correct it; no run continues before", "files"),
    _check(
        "newer",
        "A newer version of agent-wiki wrote it.",
        _newer,
        "upgrade agent-wiki: until then no command writes",
        "files",
    ),
    _check("key-twice", "A name is written twice in one mapping.", _keys_twice, "make one of the two", "files"),
    _check("key-unknown", "A key is unknown, or has a value of another type.", _keys_unknown, _TAKE_OUT, "files"),
    _check("bad-slug", "A cluster or task has a name that is no slug.", _slugs, "rename it"),
    _check("no-such-member", "A cluster has a member that is no guideline here.", _members, _TAKE_OUT),
    _check("no-such-guideline", "Tags are given to what is no guideline here.", _tags, _TAKE_OUT),
    _check("no-such-session", "An override is for a session that is not here.", _overrides, _TAKE_OUT),
    _check("kept-gone", "A page that is kept does not exist.", _kept, _TAKE_OUT),
    _check("released-gone", "A page that is released does not exist.", _released, _TAKE_OUT),
    _check("no-such-rule", "A rule that is ignored does not exist.", _rules, "wiki rules lists them"),
    _check("no-page", "A cluster or task makes no page.", _empty, "give it members or sessions, or take it out"),
)
