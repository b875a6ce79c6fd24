"""`_config.yaml` after git merged two branches of a wiki: what both sides wrote, once, in the order of one wiki.

Git merges lines. Entries of stages are one line each, so they are whole wherever git put them; they are taken
out and put in again in their order. Of an owner's lines none is lost: lists of both sides are joined, and of two
values that exclude each other the second stays as a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from textwrap import dedent
from typing import Any

import yaml

from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import CLUSTERS, TAGS, TASKS, Section, is_stage_made, parse_config
from agent_wiki.wiki.config_edits import edit_config
from agent_wiki.wiki.generated import CONFLICT_MARKERS
from agent_wiki.wiki.yaml_syntax import dump_yaml, load_yaml

TagsOfStages = Mapping[str, Sequence[list[str]]]
"""Guideline id → the tags that its sessions gave it, of the one that speaks for the page first."""

_ENTRY = re.compile(r"( *)(?!-|#)('[^']*'|\"[^\"]*\"|[^\s'\"#][^:]*?):(?:[ \t]+(.*?))?\s*$")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*$")
_GUIDELINE_ID = re.compile(r"[0-9a-f]{12}$")
_STAGES: dict[str, Section] = {"consolidate-clusters": CLUSTERS, "discover-tasks": TASKS}
"""Stage → the section that it writes: a list of sections, each of which is code of its own in `config.py`."""
_TAXONOMY = (CLUSTERS, TASKS)
_EMPTY = ("", "{}", "[]", "null", "~")


def merged_config(text: str, tags_of_stages: TagsOfStages) -> str:
    """The configuration of both sides in one. Raises `RunError` when it cannot be read even so."""
    root = _tree(_lines_of_both(text))
    found: dict[Section, dict[str, list[Any]]] = {TAGS: {}, CLUSTERS: {}, TASKS: {}}
    for section, name, value in list(_taken_out(root, (), tags_of_stages)):
        found[section].setdefault(name, []).append(value)
    _join_doubles(root)
    whole = "".join(root.text())
    config = parse_config(whole)
    owners: dict[Section, Mapping[str, Any]] = {TAGS: config.tags, CLUSTERS: config.clusters, TASKS: config.tasks}
    for section, entries in found.items():
        best = {
            name: _best(values, tags_of_stages.get(name, ()))
            for name, values in entries.items()
            if name not in owners[section]
        }
        whole = edit_config(_with_empty(whole, section), section, best)
    return whole


@dataclass(slots=True)
class _Node:
    """One `key:` line with the comments above it, lines that continue it, and the entries below it."""

    key: str = ""
    value: str = ""
    indent: int = -1
    above: list[str] = field(default_factory=list)
    line: str = ""
    more: list[str] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)
    end: list[str] = field(default_factory=list)  # comments at the end of the file

    def text(self) -> Iterator[str]:
        yield from self.above
        is_filled = self.value == "{}" and (self.children or self.more)
        yield self.line.replace(" {}", "", 1) if is_filled else self.line
        yield from self.more
        for child in self.children:
            yield from child.text()
        yield from self.end


def _lines_of_both(text: str) -> list[str]:
    """The lines without conflict markers, and without what was there before both sides changed it."""
    kept: list[str] = []
    is_base = False
    for line in text.splitlines(keepends=True):
        if line.startswith("||||||| "):
            is_base = True
        elif line.startswith(CONFLICT_MARKERS):
            is_base = False
        elif not is_base:
            kept.append(line if line.endswith("\n") else f"{line}\n")
    return kept


def _tree(lines: Sequence[str]) -> _Node:
    root = _Node()
    path, above = [root], list[str]()
    for line in lines:
        matched = _ENTRY.match(line)
        indent = len(line) - len(line.lstrip(" "))
        if not line.strip() or line.lstrip().startswith("#"):
            above.append(line)
        elif matched is None or (_BLOCK_SCALAR.match(path[-1].value) and indent > path[-1].indent):
            path[-1].more += [*above, line]
            above = []
        else:
            while path[-1].indent >= indent:
                path.pop()
            node = _Node(matched[2].strip("'\""), matched[3] or "", indent, above, line)
            path[-1].children.append(node)
            path.append(node)
            above = []
    root.end = above
    return root


def _taken_out(node: _Node, path: Section, tags_of_stages: TagsOfStages) -> Iterator[tuple[Section, str, Any]]:
    """Take the entries of stages out of the tree, wherever a merge put them. Comments above them stay."""
    kept: list[_Node] = []
    above: list[str] = []
    for child in node.children:
        entry = _stage_entry(child, (*path, child.key), tags_of_stages)
        if entry is None:
            child.above, above = above + child.above, []
            kept.append(child)
        else:
            yield entry
            above += child.above
        if entry is None or child.value:
            yield from _taken_out(child, (*path, child.key), tags_of_stages)
        if entry is not None and child.value:
            kept += child.children  # what a merge put below a line of a stage
    node.children = kept
    if above:
        _last(node).end[:0] = above


def _last(node: _Node) -> _Node:
    while node.children:
        node = node.children[-1]
    return node


def _stage_entry(node: _Node, path: Section, tags_of_stages: TagsOfStages) -> tuple[Section, str, Any] | None:
    value = (
        _value(f"x: {node.value}") if node.value else _value("".join(node.text())) if path[:-1] in _TAXONOMY else None
    )
    if isinstance(value, dict) and is_stage_made(value):
        section = _STAGES.get(str(value["made_by"].get("stage")))
        return None if section is None else (section, node.key, value)
    is_tags = isinstance(value, list) and (_GUIDELINE_ID.match(node.key) or node.key in tags_of_stages)
    is_misplaced = path[:-1] != TAGS
    if is_tags and (is_misplaced or value in tags_of_stages.get(node.key, ())):
        return (TAGS, node.key, value)
    return None


def _value(entry: str) -> Any:
    """The value of one entry by its text; None where that does not parse."""
    try:
        return next(iter(load_yaml(dedent(entry)).values()))
    except (yaml.YAMLError, AttributeError, StopIteration):
        return None


def _join_doubles(node: _Node) -> None:
    """One entry of each name."""
    first: dict[str, _Node] = {}
    for child in node.children:
        other = first.get(child.key)
        if other is None:
            first[child.key] = child
        else:
            _join(other, child)
    node.children = list(first.values())
    for child in node.children:
        _join_doubles(child)


def _join(ours: _Node, theirs: _Node) -> None:
    """Put what `theirs` says into `ours`."""
    comments = [line for line in theirs.above if line.strip() and line not in ours.above]
    ours.above += comments
    _last(ours).end += theirs.end if theirs.end != ours.end else []
    values = _value(f"x: {ours.value}"), _value(f"x: {theirs.value}")
    if isinstance(values[0], list) and isinstance(values[1], list):
        both = values[0] + [each for each in values[1] if each not in values[0]]
        ours.line = f"{' ' * ours.indent}{dump_yaml({ours.key: both})}"
    elif ours.value in _EMPTY:
        ours.line, ours.value = theirs.line, theirs.value
    elif theirs.value not in _EMPTY and values[0] != values[1]:
        ours.above.append(f"{' ' * ours.indent}# {theirs.line.lstrip()}")
    ours.more += [line for line in theirs.more if line not in ours.more]
    ours.children += theirs.children


def _best(values: Sequence[Any], by_stages: Sequence[list[str]]) -> Any:
    """Of what several branches wrote: the speaker's tags, else the entry over the most sessions."""
    for tags in by_stages:
        if tags in values:
            return tags
    return max(values, key=lambda each: (_weight(each), dump_yaml({"x": each})))


def _weight(entry: Any) -> int:
    members = entry.get("members") or entry.get("sessions") if isinstance(entry, dict) else entry
    return len(members) if isinstance(members, list) else 0


def _with_empty(text: str, section: Section) -> str:
    """`{}` behind a section of which nothing is left, as a wiki writes it that never had any."""
    return edit_config(text, section, {"": None})
