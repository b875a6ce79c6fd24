"""What all page models share: which of their fields stand in the frontmatter, and how a page becomes text."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, cast

from agent_wiki.wiki.generated import signed
from agent_wiki.wiki.yaml_syntax import dump_any_yaml, dump_yaml

BODY = {"body": True}
"""Metadata of a field of a page model that its template shows, and not its frontmatter."""


@lru_cache(maxsize=32)
def field_names(model: Any, *, in_body: bool) -> tuple[str, ...]:
    """The fields of a page model that stand in its frontmatter, or in its body alone, in their order."""
    return tuple(each.name for each in fields(model) if bool(each.metadata.get("body")) is in_body)


def front_matter(page: Any) -> dict[str, Any]:
    """The frontmatter of a page model: its fields in their order, those that are None left out."""
    named = ((name, getattr(page, name)) for name in field_names(cast("Hashable", type(page)), in_body=False))
    return {name: value for name, value in named if value is not None}


def page_text(front: Mapping[str, Any], body: str) -> str:
    """The text of a generated page, with the digest of itself as the last field."""
    return signed(f"---\n{dump_yaml(dict(front))}", f"---\n\n{body}{'' if body.endswith(chr(10)) else chr(10)}")


def skill_text(front: Mapping[str, Any], metadata: Mapping[str, str], body: str) -> str:
    """The same for a `SKILL.md`: what the specification of Agent Skills does not name stands under `metadata`."""
    lines = "".join(_indented(dump_any_yaml({name: value})) for name, value in metadata.items())
    tail = f"---\n\n{body}{'' if body.endswith(chr(10)) else chr(10)}"
    return signed(f"---\n{dump_yaml(dict(front))}metadata:\n{lines}", tail, indent="  ")


def _indented(text: str) -> str:
    return "".join(f"  {line}" for line in text.splitlines(keepends=True))


def skill_fields(fields_on_page: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a `SKILL.md`, those under `metadata` beside the others."""
    for name, value in fields_on_page.items():
        if name == "metadata" and isinstance(value, dict):
            yield from value.items()
        else:
            yield name, value
