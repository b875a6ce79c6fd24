"""`_config.yaml`: the durable taxonomy that people and stages both write.

The one module that knows its syntax. What a person wrote, comments included, survives: an edit touches only
the lines of the entries it sets or removes, found by the marks of the real parser. Entries that a stage
adds are one line each, carry `made_by` (but for tags) and are in sorted order, so that two branches merge
line by line.
"""

from __future__ import annotations

import bisect
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from itertools import accumulate
from typing import Any

import yaml

from agent_wiki.errors import RunError
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config_names import check_page_names
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.tag_lines import STAND_IN, TagLines, tag_lines
from agent_wiki.wiki.values import texts_of
from agent_wiki.wiki.yaml_syntax import OneLine, compose_yaml, dump_yaml, load_yaml, node_value, why_not_yaml

Section = tuple[str, ...]

TAGS: Section = ("tags", "guideline")
CLUSTERS: Section = ("clusters",)
TASKS: Section = ("tasks",)
OVERRIDES: Section = ("session_family_overrides",)
RULES: Section = ("rules",)
REJECTED: Section = ("rejected",)
RELEASED: Section = ("released",)
IN_GIT = "pages"

_SECTIONS: tuple[Section, ...] = (TAGS, CLUSTERS, TASKS, OVERRIDES, REJECTED, RELEASED)


@dataclass(frozen=True, slots=True)
class Release:
    """What a person let through of a page that was held back: the digests of its `texts`, and `why`."""

    texts: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """The parsed configuration. Values are as written; a missing section is empty.

    Clusters and tasks that `rejected` names are left out, whoever wrote them.
    """

    tags: dict[str, list[str]] = field(default_factory=dict)
    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    overrides: dict[str, dict[str, Any]] = field(default_factory=dict)
    ignored_rules: tuple[str, ...] = ()  # ids of rules of the embedded engine that the owner switched off
    rejected: dict[str, str] = field(default_factory=dict)  # id of a page that a person retired for good → why
    released: dict[str, Release] = field(default_factory=dict)  # by id of a page
    kept: tuple[str, ...] = ()  # paths of pages that a person edited and keeps
    are_summaries_titled: bool = False  # their file names begin with their titles
    keeps_personal_data: bool = False  # no stand-ins for user names, mail addresses and customers' names
    trusted: tuple[str, ...] = ()  # names of wikis whose records, and paths of pages whose own words, the owner trusts
    sidecar: str = ""  # where records lie that are not in git


def parse_config(text: str) -> Config:
    """Parse `_config.yaml`. Raises `RunError` naming line and reason: a run must not overwrite what it cannot read."""
    try:
        root = _loaded(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise RunError(f"{why_not_yaml(error, CONFIG)}; correct it and run again") from error
    if root is None:
        root = {}
    if not isinstance(root, dict):
        raise RunError(f"{CONFIG}:1: not a mapping; correct it and run again")
    tags, clusters, tasks, overrides, rejected, released = (_mapping_at(root, section) for section in _SECTIONS)
    check_page_names(text, CLUSTERS[0], (name for name, value in clusters.items() if isinstance(value, dict)))
    check_page_names(text, TASKS[0], (name for name, value in tasks.items() if isinstance(value, dict)))
    return Config(
        tags={name: [str(tag) for tag in value] for name, value in tags.items() if isinstance(value, list)},
        clusters=_entries_but(clusters, "cluster", rejected),
        tasks=_entries_but(tasks, "task", rejected),
        overrides={name: value for name, value in overrides.items() if isinstance(value, dict)},
        ignored_rules=_ignored_rules(root),
        rejected={name: "" if value is None else str(value) for name, value in rejected.items()},
        released={name: _release(value) for name, value in released.items() if isinstance(value, dict)},
        kept=tuple(texts_of(root.get("kept"))),
        are_summaries_titled=_are_titled(root.get("summary_names")),
        keeps_personal_data=_keeps_personal_data(root.get("pii")),
        trusted=_listed(root, "trust"),
        sidecar=_sidecar(root.get("summaries")),
    )


def _release(value: Mapping[str, Any]) -> Release:
    return Release(tuple(texts_of(value.get("texts"))), str(value.get("why") or ""))


def _loaded(text: str) -> Any:
    """What the text holds."""
    found = _tag_lines(text)
    if found is None:
        return load_yaml(text)
    lines, root = found
    root["tags"]["guideline"] = lines.tags()
    return root


def _tag_lines(text: str) -> tuple[TagLines, dict[str, Any]] | None:
    """The lines of tags, and what the rest of the text holds; None where only the general parser can tell them."""
    lines = tag_lines(text)
    if lines is None:
        return None
    try:
        root = load_yaml(lines.rest)
    except (yaml.YAMLError, RecursionError):
        return None
    tags = root.get("tags") if isinstance(root, dict) else None
    return (lines, root) if isinstance(tags, dict) and tags.get("guideline") == STAND_IN else None


def without_tag_lines(text: str) -> str:
    """The text without the lines of guidelines' tags; the whole where they are not in the form of a stage's."""
    lines = tag_lines(text)
    return text if lines is None else lines.rest


def _listed(root: dict[str, Any], section: str) -> tuple[str, ...]:
    """The names in a list. Raises `RunError` for anything else: whom the owner trusts is not guessed."""
    listed = root.get(section) or []
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise RunError(f"{CONFIG}: {section} is not a list of names; correct it and run again")
    return tuple(listed)


def _ignored_rules(root: dict[str, Any]) -> tuple[str, ...]:
    ignored = _mapping_at(root, RULES).get("ignore")
    if ignored is None:
        return ()
    if not isinstance(ignored, list) or not all(isinstance(each, str) for each in ignored):
        raise RunError(f"{CONFIG}: rules.ignore is not a list of ids; correct it and run again")
    return tuple(sorted(set(ignored)))


def _keeps_personal_data(pii: Any) -> bool:
    """Whether `pii` says so. Raises `RunError`: a word that nobody knows must not keep what was to be replaced."""
    if pii in (None, "replace", "keep"):
        return bool(pii == "keep")
    raise RunError(f"{CONFIG}: pii: write replace, or keep; correct it and run again")


def _sidecar(summaries: Any) -> str:
    """The place of `summaries: sidecar:PLACE`; empty where summaries and records are files of the wiki's git."""
    kind, _, place = str(summaries or IN_GIT).partition(":")
    if kind == IN_GIT or (kind == "sidecar" and place.strip()):
        return place.strip()
    raise RunError(f"{CONFIG}: summaries: write {IN_GIT}, or sidecar:PLACE with a folder or an address in a bucket")


def _are_titled(names: Any) -> bool:
    """Whether `summary_names` asks for titles in the file names of summaries."""
    if names in (None, "session", "title"):
        return bool(names == "title")
    raise RunError(f"{CONFIG}: summary_names: write session, or title")


def _entries_but(entries: Mapping[str, Any], kind: str, rejected: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        name: value for name, value in entries.items() if isinstance(value, dict) and f"{kind}:{name}" not in rejected
    }


def _mapping_at(root: dict[str, Any], section: Section) -> dict[str, Any]:
    value: Any = root
    for name in section:
        value = value.get(name) if isinstance(value, dict) else None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RunError(f"{CONFIG}: {'.'.join(section)} is not a mapping; correct it and run again")
    return value


def signed(entry: dict[str, Any], stage: str, engine: str, **more: Any) -> dict[str, Any]:
    """`entry` with `made_by`, whose digest shows later whether a person changed it since."""
    made_by = {"stage": stage, "engine": engine, **more, "digest": _digest(entry)}
    return {**entry, "made_by": made_by}


def is_stage_made(entry: Mapping[str, Any]) -> bool:
    """True for an entry that a stage wrote and nobody has changed since: only these may be replaced."""
    made_by = entry.get("made_by")
    if not isinstance(made_by, dict):
        return False
    return made_by.get("digest") == _digest({name: value for name, value in entry.items() if name != "made_by"})


def _names_its_maker(entry: Any) -> bool:
    return isinstance(entry, dict) and "made_by" in entry


def _digest(entry: Mapping[str, Any]) -> str:
    text = json.dumps(entry, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def edit_config(text: str, section: Section, entries: Mapping[str, Any]) -> str:
    """`text` with the entries of one section set; a value of None removes an entry. All else keeps its bytes.

    Of a name that occurs several times one entry is left.
    """
    if not entries:
        return text
    entries = {name: OneLine(each) if _names_its_maker(each) else each for name, each in entries.items()}
    found = _tag_lines(text)
    edited = None
    if found is not None:
        lines, _ = found
        edited = lines.edited(entries) if section == TAGS else lines.text(_edited(lines.rest, section, entries))
    return _edited(text, section, entries) if edited is None else edited


def _edited(text: str, section: Section, entries: Mapping[str, Any]) -> str:
    text = _in_block_style(text)
    root = compose_yaml(text)
    if root is None or not isinstance(root, yaml.MappingNode):
        kept = {name: value for name, value in entries.items() if value is not None}
        if not kept:
            return text
        return _with_final_newline(text) + dump_yaml(_nested(section, kept))
    edited = _edit(text, root, section, entries)
    return _emptied(edited, section) if None in entries.values() else edited


def patched(text: str, patch: Mapping[str, Any]) -> str:
    """`text` with a mapping merged into it at every depth: null removes a key, a list or scalar replaces (RFC 7396).

    All else keeps its bytes, comments included. Raises `RunError` when the result is not a configuration, or when
    the text is written in a way that an edit by lines cannot follow.
    """
    before = _root_value(text)
    wanted = _merged(before, patch)
    edited = text
    for section, entries in _edits((), before, patch):
        edited = edit_config(edited, section, entries) if section else _edit_root(edited, entries)
    parse_config(edited)
    if _root_value(edited) != wanted:
        raise RunError(f"{CONFIG}: it is written in a way that only a person can edit; nothing was changed")
    return edited


def edit_rejected(text: str, reasons: Mapping[str, str]) -> str:
    """`text` with pages put under `rejected:`, one a line: id → why. All else keeps its bytes."""
    return edit_config(_with_section_of(text, REJECTED[0]), REJECTED, reasons)


def edit_released(text: str, releases: Mapping[str, Release]) -> str:
    """`text` with pages put under `released:`, one a line. All else keeps its bytes."""
    entries = {name: OneLine(texts=list(each.texts), why=each.why) for name, each in releases.items()}
    return edit_config(_with_section_of(text, RELEASED[0]), RELEASED, entries)


def _with_section_of(text: str, name: str) -> str:
    """The text with an empty section of that name at its end, where it has none."""
    root = compose_yaml(text)
    names = {key.value for key, _ in root.value} if isinstance(root, yaml.MappingNode) else set()
    return text if name in names else _with_final_newline(_in_block_style(text)) + f"{name}: {{}}\n"


def edit_kept(text: str, add: Collection[str] = (), take_out: Collection[str] = ()) -> str:
    """`text` with pages put on the list `kept:`, which is sorted, and others taken off it. All else keeps its bytes.

    The list has one line an item, so that git merges what two branches keep, unless a person wrote it on one line.
    """
    root = compose_yaml(text)
    entries = root.value if isinstance(root, yaml.MappingNode) else []
    node = next((value for key, value in entries if key.value == "kept"), None)
    listed = set() if node is None else set(texts_of(node_value(node)))
    wanted = (listed | set(add)) - set(take_out)
    if wanted == listed:
        return text
    if not wanted or (isinstance(node, yaml.SequenceNode) and node.flow_style and node.value):
        return patched(text, {"kept": sorted(wanted)})
    if isinstance(node, yaml.SequenceNode) and node.value:
        return _edit_items(text, node, set(add) - listed, take_out)
    lines = [f"  - {_scalar(name)}\n" for name in sorted(wanted)]
    if node is None:
        return "".join([_with_final_newline(_in_block_style(text)), "kept:\n", *lines])
    before, after = text[: node.start_mark.index].rstrip(" "), text[node.end_mark.index :]
    rest, newline, below = after.partition("\n")
    return "".join([before, rest, "\n", *lines, below if newline else ""])


def _edit_items(text: str, items: yaml.SequenceNode, add: Collection[str], take_out: Collection[str]) -> str:
    """Put items into a block list before the first that is greater, and take items out, by whole lines."""
    lines = _with_final_newline(text).splitlines(keepends=True)
    margin = " " * items.start_mark.column
    places = [(str(node_value(item)), item.start_mark.line) for item in items.value]
    inserted: dict[int, list[str]] = {}
    for name in sorted(add):
        after = next((line for other, line in places if other > name), None)
        at = places[-1][1] + 1 if after is None else _above_comments(lines, after, items.start_mark.column)
        inserted.setdefault(at, []).append(f"{margin}- {_scalar(name)}\n")
    replaced = {line: (line, "") for name, line in places if name in take_out}
    return _assemble(lines, inserted, replaced)


def _scalar(text: str) -> str:
    """A text as YAML on a line of its own."""
    return dump_yaml({"a": text}).partition(": ")[2].rstrip("\n")


def _root_value(text: str) -> dict[str, Any]:
    parse_config(text)  # which says what cannot be read
    return load_yaml(text) or {}


def _merged(value: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(value) if isinstance(value, Mapping) else {}
    for name, each in patch.items():
        if each is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), each)
    return merged


def _edits(
    section: Section, present: Mapping[str, Any], patch: Mapping[str, Any]
) -> Iterator[tuple[Section, dict[str, Any]]]:
    """What `edit_config` has to do for a patch: section by section, the entries that differ."""
    entries: dict[str, Any] = {}
    for name, each in patch.items():
        before = present.get(name)
        is_section = isinstance(before, Mapping) or (before is None and name in present)
        if isinstance(each, Mapping) and each and is_section:
            yield from _edits((*section, name), before or {}, each)
        elif each is None:
            entries |= {name: None} if name in present else {}
        elif _merged(before, each) != before:
            entries[name] = _merged(None, each)
    if entries:
        yield section, entries


def _edit_root(text: str, entries: Mapping[str, Any]) -> str:
    """Set and remove whole sections; new ones come after the others."""
    text = _in_block_style(text)
    root = compose_yaml(text)
    names = {key.value for key, _ in root.value} if isinstance(root, yaml.MappingNode) else set()
    if isinstance(root, yaml.MappingNode) and names:
        text = _edit_block(text, root, {name: value for name, value in entries.items() if name in names})
    new = {name: value for name, value in sorted(entries.items()) if name not in names and value is not None}
    return _with_final_newline(text) + dump_yaml(new) if new else text


def _in_block_style(text: str) -> str:
    """The text with a flow mapping `{a: …}` rewritten as lines, for only lines can be edited."""
    root = compose_yaml(text)
    if not isinstance(root, yaml.MappingNode) or not root.flow_style:
        return text
    value = node_value(root)
    lines = text.splitlines(keepends=True)
    before, after = lines[: root.start_mark.line], lines[root.end_mark.line + 1 :]
    return "".join([*before, dump_yaml(value) if value else "", *after])


def _edit(text: str, parent: yaml.MappingNode, section: Section, entries: Mapping[str, Any]) -> str:
    """Walk down to the section's mapping, making what is missing on the way."""
    name, rest = section[0], section[1:]
    found = next(((key, value) for key, value in parent.value if key.value == name), None)
    if found is None:
        kept = {key: value for key, value in entries.items() if value is not None}
        return _edit_block(text, parent, {name: _nested(rest, kept)}) if kept else text
    key, value = found
    is_block = isinstance(value, yaml.MappingNode) and not value.flow_style and value.value
    if rest and isinstance(value, yaml.MappingNode) and is_block:
        return _edit(text, value, rest, entries)
    if not rest and isinstance(value, yaml.MappingNode) and is_block:
        return _edit_block(text, value, entries)
    before = _flow_entries(value, rest)
    wanted = {**before, **entries}
    kept = {each: wanted[each] for each in sorted(wanted) if wanted[each] is not None}
    if not kept and not before:
        return text
    return _replace_value(text, key, value, _with_section(node_value(value), rest, kept))


def _with_section(value: Any, section: Section, entries: dict[str, Any]) -> dict[str, Any]:
    """A mapping with these entries as its section; its other entries are kept."""
    if not section:
        return entries
    whole = value if isinstance(value, dict) else {}
    name, rest = section[0], section[1:]
    return {**whole, name: _with_section(whole.get(name), rest, entries)}


def _flow_entries(value: yaml.Node, rest: Section) -> dict[str, Any]:
    current = node_value(value)
    for name in rest:
        current = current.get(name) if isinstance(current, dict) else None
    return current if isinstance(current, dict) else {}


def _nested(section: Section, entries: dict[str, Any]) -> dict[str, Any]:
    for name in reversed(section):
        entries = {name: entries}
    return entries


def _edit_block(text: str, block: yaml.MappingNode, entries: Mapping[str, Any]) -> str:
    """Set and remove entries of a block mapping by whole lines."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    indent = block.value[0][0].start_mark.column
    spans: dict[str, list[tuple[int, int]]] = {}
    for key, value in block.value:
        spans.setdefault(key.value, []).append((key.start_mark.line, _last_line(value)))
    names = [key.value for key, _ in block.value]
    starts = [key.start_mark.line for key, _ in block.value]
    end = _last_line(block.value[-1][1]) + 1
    highest = list(accumulate(names, max))
    inserted: dict[int, list[str]] = {}
    replaced: dict[int, tuple[int, str]] = {}
    for name in sorted(entries):
        made = "" if entries[name] is None else _indented({name: entries[name]}, indent)
        if name in spans:
            (first, last), *doubles = spans[name]
            replaced[first] = (last, made)
            replaced |= {line: (end, "") for line, end in doubles}
        elif made:
            at = bisect.bisect_right(highest, name)
            line = _above_comments(lines, starts[at], indent) if at < len(names) else end
            inserted.setdefault(line, []).append(made)
    return _assemble(lines, inserted, replaced)


def _assemble(lines: list[str], inserted: dict[int, list[str]], replaced: dict[int, tuple[int, str]]) -> str:
    pieces: list[str] = []
    number = 0
    while number <= len(lines):
        pieces.extend(inserted.get(number, ()))
        if number in replaced:
            last, made = replaced[number]
            pieces.append(made)
            for skipped in range(number + 1, last + 1):
                pieces.extend(inserted.get(skipped, ()))
            number = last + 1
            continue
        if number < len(lines):
            pieces.append(lines[number])
        number += 1
    return "".join(pieces)


def _above_comments(lines: list[str], line: int, indent: int) -> int:
    """The line above which a new entry goes so that a comment stays with the entry below it."""
    prefix = " " * indent + "#"
    while line > 0 and lines[line - 1].startswith(prefix):
        line -= 1
    return line


def _last_line(node: yaml.Node) -> int:
    """The last line of a value; a block collection's own end mark is beyond trailing comments."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return _last_line(node.value[-1][1])
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _last_line(node.value[-1])
    end = node.end_mark
    return end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line


def _emptied(text: str, section: Section) -> str:
    """Write `{}` where the last entry of a section was removed."""
    node: yaml.Node | None = compose_yaml(text)
    key: yaml.Node | None = None
    for name in section:
        entries = node.value if isinstance(node, yaml.MappingNode) else []
        key, node = next(((key, value) for key, value in entries if key.value == name), (None, None))
    if key is None or not isinstance(node, yaml.ScalarNode) or node.value:
        return text
    lines = text.splitlines(keepends=True)
    line = lines[key.end_mark.line]
    colon = line.index(":", key.end_mark.column)
    lines[key.end_mark.line] = f"{line[: colon + 1]} {{}}{line[colon + 1 :]}"
    return "".join(lines)


def _replace_value(text: str, key: yaml.Node, value: yaml.Node, made: dict[str, Any]) -> str:
    """Replace an empty or flow value with a block mapping; what follows on the line is kept."""
    lines = text.splitlines(keepends=True)
    start, end = value.start_mark, value.end_mark
    is_written = (start.line, start.column) != (end.line, end.column)
    first = key.end_mark.line
    colon = lines[first].index(":", key.end_mark.column)
    head = lines[first][: colon + 1]
    tail = lines[end.line][end.column :] if is_written else lines[first][colon + 1 :]
    last = end.line if is_written else first
    rest = tail if tail.strip() else "\n"
    if not made:
        return "".join([*lines[:first], f"{head} {{}}{rest}", *lines[last + 1 :]])
    block = _indented(made, key.start_mark.column + 2)
    return "".join([*lines[:first], head + rest, block, *lines[last + 1 :]])


def _indented(entry: dict[str, Any], indent: int) -> str:
    margin = " " * indent
    return "".join(f"{margin}{line}\n" for line in dump_yaml(entry).splitlines())


def _with_final_newline(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
