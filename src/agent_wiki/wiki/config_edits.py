"""Edits of `_config.yaml` by whole lines: what a person wrote, comments included, keeps its bytes.

The lines of an entry are found by the marks of the real parser. Entries that a stage adds are one line each and in
sorted order, so that two branches merge line by line.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterator, Mapping
from itertools import accumulate
from typing import Any

import yaml

from agent_wiki.errors import RunError
from agent_wiki.wiki.config import (
    ALLOWED_SECRETS,
    REJECTED,
    RELEASED,
    TAGS,
    AllowedSecret,
    Release,
    Section,
    parse_config,
    split_tag_lines,
)
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.values import mapping, texts_of
from agent_wiki.wiki.yaml_syntax import OneLine, compose_yaml, dump_yaml, load_yaml, node_value


def _names_its_maker(entry: Any) -> bool:
    return isinstance(entry, dict) and "made_by" in entry


def edit_config(text: str, section: Section, entries: Mapping[str, Any]) -> str:
    """`text` with the entries of one section set; a value of None removes an entry. All else keeps its bytes.

    Of a name that occurs several times one entry is left.
    """
    if not entries:
        return text
    entries = {name: OneLine(each) if _names_its_maker(each) else each for name, each in entries.items()}
    found = split_tag_lines(text)
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
    return _edit_listed(text, REJECTED, reasons)


def edit_released(text: str, releases: Mapping[str, Release]) -> str:
    """`text` with pages put under `released:`, one a line. All else keeps its bytes."""
    entries = {name: OneLine(texts=list(each.texts), why=each.why) for name, each in releases.items()}
    return _edit_listed(text, RELEASED, entries)


def edit_allowed_secrets(text: str, allowed: Mapping[str, AllowedSecret]) -> str:
    """`text` with values put under `allowed_secrets:` by their digests, one a line. All else keeps its bytes."""
    entries = {digest: OneLine(kind=each.kind, why=each.why) for digest, each in allowed.items()}
    return _edit_listed(text, ALLOWED_SECRETS, entries)


def _edit_listed(text: str, section: Section, entries: Mapping[str, Any]) -> str:
    """`edit_config`, with the section at the end where the text has none."""
    return edit_config(_with_section_of(text, section[0]), section, entries)


def _with_section_of(text: str, name: str) -> str:
    """The text with an empty section of that name at its end, where it has none."""
    root = compose_yaml(text)
    names = {key.value for key, _ in root.value} if isinstance(root, yaml.MappingNode) else set()
    return text if name in names else _with_final_newline(_in_block_style(text)) + f"{name}: {{}}\n"


def edit_kept(text: str, add: Collection[str] = (), take_out: Collection[str] = ()) -> str:
    """`text` with pages put on the list `kept:` and others taken off it, as `edit_list` does."""
    return edit_list(text, "kept", add, take_out)


def edit_list(text: str, key: str, add: Collection[str] = (), take_out: Collection[str] = ()) -> str:
    """`text` with items put on a sorted list of texts, and others taken off it. All else keeps its bytes.

    The list has one line an item, so that git merges those of two branches, unless a person wrote it on one line.
    """
    root = compose_yaml(text)
    entries = root.value if isinstance(root, yaml.MappingNode) else []
    node = next((value for name, value in entries if name.value == key), None)
    listed = set() if node is None else set(texts_of(node_value(node)))
    wanted = (listed | set(add)) - set(take_out)
    if wanted == listed:
        return text
    if not wanted or (isinstance(node, yaml.SequenceNode) and node.flow_style and node.value):
        return patched(text, {key: sorted(wanted)})
    if isinstance(node, yaml.SequenceNode) and node.value:
        return _edit_items(text, node, set(add) - listed, take_out)
    lines = [f"  - {_scalar(name)}\n" for name in sorted(wanted)]
    if node is None:
        return "".join([_with_final_newline(_in_block_style(text)), f"{key}:\n", *lines])
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
    whole = mapping(value)
    name, rest = section[0], section[1:]
    return {**whole, name: _with_section(whole.get(name), rest, entries)}


def _flow_entries(value: yaml.Node, rest: Section) -> dict[str, Any]:
    current = node_value(value)
    for name in rest:
        current = current.get(name) if isinstance(current, dict) else None
    return mapping(current)


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
