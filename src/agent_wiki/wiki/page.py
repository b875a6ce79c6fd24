"""One markdown page: frontmatter, a title and sections. The one module that knows the page syntax.

A page that this tool wrote is dumped whole. Of a page that others wrote, each field whose value did not
change keeps its very lines, comments and quoting included.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from agent_wiki.errors import UnreadablePage
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.yaml_syntax import compose_yaml, dump_yaml, load_yaml

_HANDLER = YAMLHandler()
_ABSENT = object()
_BLANK_LINE = re.compile(r"[ \t\r]*\n")


@dataclass(frozen=True, slots=True)
class Page:
    """`chunks[0]` is the body up to the first `## ` heading; each further chunk starts with its heading.

    The chunks joined are the body, verbatim. `fields` must not be changed in place.
    """

    fields: dict[str, Any]
    chunks: tuple[str, ...]

    @property
    def body(self) -> str:
        return "".join(self.chunks)

    @property
    def is_blank(self) -> bool:
        """Whether it says nothing at all."""
        return not self.fields and not self.body.strip()

    @property
    def title(self) -> str:
        """The text of the first `# ` line, "" when there is none."""
        for line in self.chunks[0].splitlines() if self.chunks else []:
            if line.startswith("# "):
                return line[2:].strip()
        return ""

    @property
    def lead(self) -> str:
        """The text between the title and the first section."""
        lines = (self.chunks[0] if self.chunks else "").strip().splitlines()
        if lines and lines[0].startswith("# "):
            lines = lines[1:]
        return "\n".join(lines).strip()

    def section(self, heading: str) -> str | None:
        """The text under `## heading`, None when there is no such section."""
        for chunk in self.chunks[1:]:
            first, _, rest = chunk.partition("\n")
            if first[3:].strip() == heading:
                return rest.strip("\r\n")
        return None

    def with_section(self, heading: str, text: str) -> Page:
        """The page with the section replaced, or added at its end."""
        chunks = list(self.chunks) or [""]
        newline = _newline_of(chunks[0])
        made = f"## {heading}\n\n{text.strip()}\n".replace("\n", newline)
        for position, chunk in enumerate(chunks[1:], start=1):
            if chunk.partition("\n")[0][3:].strip() == heading:
                is_last = position == len(chunks) - 1
                chunks[position] = made if is_last else made + newline
                return replace(self, chunks=tuple(chunks))
        chunks[-1] = chunks[-1].rstrip("\r\n") + 2 * newline
        return replace(self, chunks=(*chunks, made))

    def with_fields(self, changes: dict[str, Any]) -> Page:
        """The page with fields set; a value of None removes the field. New fields go last."""
        if all(
            self.fields.get(name, _ABSENT) == (_ABSENT if value is None else value) for name, value in changes.items()
        ):
            return self
        fields = {
            name: value for name, value in self.fields.items() if name not in changes or changes[name] is not None
        }
        fields.update({name: value for name, value in changes.items() if value is not None})
        return replace(self, fields=fields)


def _newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _chunks_without_fences(body: str) -> tuple[str, ...]:
    lead, *sections = f"\n{body}".split("\n## ")
    *whole, last = [f"## {section}" for section in sections]
    return (f"{lead[1:]}\n" if lead else "", *[f"{chunk}\n" for chunk in whole], last)


_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")


def split_body(body: str) -> tuple[str, ...]:
    """Cut a body at its `## ` headings, those inside code fences excepted. Joined again it is the same."""
    if "\n## " not in body and not body.startswith("## "):
        return (body,)
    if "```" not in body and "~~~" not in body:
        return _chunks_without_fences(body)
    chunks: list[str] = []
    current: list[str] = []
    fence = ""
    for line in body.split("\n"):
        fence = _fence_after(line, fence)
        if line.startswith("## ") and not fence:
            chunks.append("".join(current))
            current = []
        current.append(line + "\n")
    chunks.append("".join(current)[:-1])
    return tuple(chunks)


def _fence_after(line: str, fence: str) -> str:
    """The code fence that is open after a line, "" for none; `fence` was open before it."""
    match = _FENCE.match(line[:200])
    if match is None:
        return fence
    mark, rest = match.groups()
    if not fence:
        is_inline = mark[0] == "`" and "`" in rest
        return "" if is_inline else mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip()
    return "" if closes else fence


def parse_page(text: str, name: str) -> Page:
    """Parse a whole page. A page without frontmatter has no fields. Raises `UnreadablePage`."""
    text = text.removeprefix("\ufeff")
    if not _HANDLER.FM_BOUNDARY.match(text):
        return Page({}, split_body(text))
    try:
        _, frontmatter, _, body = _parts(text)
    except ValueError as error:
        raise UnreadablePage(name, "the frontmatter has no closing ---", line=1) from error
    try:
        fields = load_yaml(frontmatter)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else None
        raise UnreadablePage(name, f"frontmatter: {error.problem}", line=line) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise UnreadablePage(name, f"frontmatter: {type(error).__name__}") from error
    if fields is None:
        fields = {}
    if not isinstance(fields, dict):
        raise UnreadablePage(name, "frontmatter: not a mapping", line=1)
    return Page(fields, split_body(body))


def parse_body(text: str) -> tuple[str, ...]:
    """The body of a page that this program wrote, in chunks as `Page` has them; its frontmatter is not parsed."""
    return split_body(_parts(text)[3])


def body_start(text: str) -> int:
    """Where the body of a page begins; 0 without frontmatter, and where nothing closes it."""
    if not _HANDLER.FM_BOUNDARY.match(text):
        return 0
    try:
        return len(text) - len(_parts(text)[3])
    except ValueError:
        return 0


def _parts(text: str) -> tuple[str, str, str, str]:
    """Opening line, frontmatter, what closes it (dashes and at most one blank line) and body. Raises ValueError.

    The handler's own pattern, which the original tool uses too, finds the frontmatter; its `split` is not used, for it
    drops the blank lines that a body begins with.
    """
    boundaries = islice(_HANDLER.FM_BOUNDARY.finditer(text), 2)
    opening, closing = (match.start() for match in boundaries)
    start = text.index("\n", opening) + 1
    end = text.find("\n", closing) + 1 or len(text)
    blank = _BLANK_LINE.match(text, end)
    body = blank.end() if blank else end
    return text[:start], text[start:closing], text[closing:body], text[body:]


def line_of_field(text: str, name: str) -> int:
    """The 1-based line of a page's text that holds a field; 1 when it has no such field."""
    if not _HANDLER.FM_BOUNDARY.match(text):
        return 1
    node = compose_yaml(_parts(text)[1])
    keys = [key for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    return next((key.start_mark.line + 2 for key in keys if key.value == name), 1)


def render_page(page: Page, original: str | None = None) -> str:
    """The page as text. With `original`, the page's former text, unchanged fields keep their lines."""
    mark = "\ufeff" if original and original.startswith("\ufeff") else ""
    original = (original or "").removeprefix("\ufeff")
    body = page.body
    if not _HANDLER.FM_BOUNDARY.match(original):
        end = "" if not body or body.endswith("\n") else "\n"
        return f"{mark}---\n{dump_yaml(page.fields) if page.fields else ''}---\n\n{body}{end}"
    opening, frontmatter, closing, _ = _parts(original)
    newline = _newline_of(original)
    closing += "" if closing.endswith("\n") else newline
    return f"{mark}{opening}{_preserving(page.fields, frontmatter, newline)}{closing}{body}"


def _preserving(fields: dict[str, Any], original: str, newline: str) -> str:
    """Frontmatter in which each field that kept its value keeps its lines, and comments stay."""
    node = compose_yaml(original)
    before = load_yaml(original) or {}
    spans, tail = _spans(node, original) if isinstance(node, yaml.MappingNode) and not node.flow_style else ({}, "")
    pieces: list[str] = []
    for name, value in fields.items():
        comments, lines = spans.get(name, ("", ""))
        is_kept = bool(lines) and before[name] == value
        pieces += [comments, lines if is_kept else dump_yaml({name: value}).replace("\n", newline)]
    text = "".join([*pieces, tail])
    try:
        is_same = (load_yaml(text) or {}) == fields
    except yaml.YAMLError:
        is_same = False  # a removed field was referred to, or its lines are not valid on their own
    return text if is_same else dump_yaml(fields).replace("\n", newline)


def _spans(node: yaml.MappingNode, text: str) -> tuple[dict[str, tuple[str, str]], str]:
    """Field → (comments above it, its lines); and the text below the last field."""
    lines = text.splitlines(keepends=True)
    starts = [key.start_mark.line for key, _ in node.value]
    spans: dict[str, tuple[str, str]] = {}
    above = "".join(lines[: starts[0]]) if starts else text
    for (key, _), start, end in zip(node.value, starts, [*starts[1:], len(lines)], strict=True):
        last = end
        while last > start + 1 and (not lines[last - 1].strip() or lines[last - 1].startswith("#")):
            last -= 1
        spans[key.value] = (above, "".join(lines[start:last]))
        above = "".join(lines[last:end])
    return spans, above
