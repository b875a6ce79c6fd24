"""JSON schemas as structured output takes them: what is refused, and the smallest value that fits.

The limits are those of the service's documents (read, not measured): objects closed, no bounds, no recursion, at most
24 optional properties and 16 unions in one schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from agent_wiki_testing.protocol import invalid

MOST_OPTIONAL = 24
MOST_UNIONS = 16
_PLACE = "output_config.format.schema"
_UNSUPPORTED = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems",
    "uniqueItems", "patternProperties", "oneOf", "not", "if",
)  # fmt: skip
_MIN_ITEMS = re.compile(r"\bminItems: (\d{1,3})")
_MOST_DEPTH = 24
_MOST_LINES = 5_000
_BY_FORMAT = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "00:00:00Z",
    "duration": "PT1S",
    "email": "a@example.org",
    "hostname": "example.org",
    "uri": "https://example.org/",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_BY_TYPE: dict[str, Any] = {"integer": 1, "number": 1, "boolean": False, "null": None}


class _Node(BaseModel):
    """A JSON schema, as far as this module looks into one; checked once, so that all that follows may rely on it."""

    type: str | list[str] | None = None
    properties: dict[str, _Node] | None = None
    required: list[str] | None = None
    items: _Node | None = None
    any_of: list[_Node] | None = Field(default=None, alias="anyOf", min_length=1)
    all_of: list[_Node] | None = Field(default=None, alias="allOf", min_length=1)
    enum: list[Any] | None = Field(default=None, min_length=1)
    reference: str | None = Field(default=None, alias="$ref")
    defined: dict[str, _Node] | None = Field(default=None, alias="$defs")
    fewest_items: int = Field(default=0, alias="minItems", ge=0, le=1_000)


def check_schema(schema: Any, place: str = _PLACE) -> None:
    """Refuse what is no JSON schema."""
    try:
        _Node.model_validate(schema, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(each) for each in first["loc"])
        raise invalid(f"{place}: JSON schema is invalid: {name}: {first['msg']}") from error


def check_native_schema(schema: Any) -> None:
    """Refuse, as the service does, a schema that its structured output does not take."""
    _check_native_text(json.dumps(schema))


@lru_cache(maxsize=64)
def _check_native_text(text: str) -> None:
    """By its text, for a client sends the same few schemas again and again; what is refused is looked at each time."""
    schema = json.loads(text)
    check_schema(schema)
    if not isinstance(schema, dict) or (schema.get("type") != "object" and not {"$ref", "anyOf"} & schema.keys()):
        raise invalid(f"{_PLACE}: the schema of an object is required")
    nodes = list(_nodes(schema))
    for node in nodes:
        _check_node(node)
    _check_recursion(schema)
    optional = sum(len(set(node.get("properties") or ()) - set(node.get("required") or ())) for node in nodes)
    unions = sum("anyOf" in node or isinstance(node.get("type"), list) for node in nodes)
    if optional > MOST_OPTIONAL or unions > MOST_UNIONS:
        raise invalid(
            f"{_PLACE}: Schema is too complex for compilation: {optional} optional properties and {unions} unions, "
            f"of at most {MOST_OPTIONAL} and {MOST_UNIONS}"
        )


def _check_node(node: dict[str, Any]) -> None:
    if node.get("type") == "object" and node.get("additionalProperties") is not False:
        raise invalid(f"{_PLACE}: For 'object' type, 'additionalProperties' must be explicitly set to false")
    named = [name for name in _UNSUPPORTED if name in node]
    if node.get("minItems", 0) not in {0, 1}:
        named.append("minItems")
    if named:
        raise invalid(f"{_PLACE}: For '{node.get('type')}' type, '{named[0]}' is not supported")


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and every schema inside of it; never the names and values that it speaks of."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict):
            continue
        yield node
        for name in ("properties", "$defs"):
            waiting += (node.get(name) or {}).values()
        waiting += [*(node.get("anyOf") or ()), *(node.get("allOf") or ()), node.get("items")]


def _check_recursion(schema: dict[str, Any]) -> None:
    refers = {
        name: {node["$ref"].rpartition("/")[2] for node in _nodes(each) if node.get("$ref")}
        for name, each in (schema.get("$defs") or {}).items()
    }
    for name in refers:
        reached, waiting = set[str](), sorted(refers[name])
        while waiting:
            found = waiting.pop()
            if found not in reached:
                reached.add(found)
                waiting += sorted(refers.get(found, ()))
        if name in reached:
            raise invalid(f"{_PLACE}: recursive schemas are not supported: {name}")


def smallest_value(schema: dict[str, Any]) -> Any:
    """A value that fits a schema and says as little as can be: null, no items, one letter."""
    return _smallest(schema, schema, 0)


def _smallest(node: dict[str, Any], root: dict[str, Any], depth: int) -> Any:
    if depth > _MOST_DEPTH:
        return None
    if node.get("$ref"):
        return _smallest(_referred(node["$ref"], root), root, depth + 1)
    if "const" in node or node.get("enum"):
        return node["const"] if "const" in node else node["enum"][0]
    if node.get("anyOf"):
        return _smallest(_smallest_variant(node["anyOf"]), root, depth + 1)
    if node.get("allOf"):
        return _smallest(node["allOf"][0], root, depth + 1)
    return _smallest_of_type(node, root, depth)


def _smallest_of_type(node: dict[str, Any], root: dict[str, Any], depth: int) -> Any:
    kind = node.get("type")
    if isinstance(kind, list):
        kind = "null" if "null" in kind or not kind else kind[0]
    if kind == "object":
        properties = node.get("properties") or {}
        wanted = node.get("required") or ()
        return {name: _smallest(properties.get(name, {}), root, depth + 1) for name in wanted}
    if kind == "array":
        return [_smallest(node.get("items") or {}, root, depth + 1) for _ in range(_fewest_items(node))]
    return _BY_TYPE.get(str(kind), _BY_FORMAT.get(str(node.get("format")), "x"))


def _fewest_items(node: dict[str, Any]) -> int:
    """How many items there have to be; the client moves a bound that the service does not take into the description."""
    found = _MIN_ITEMS.search(str(node.get("description", "")))
    return max(int(node.get("minItems", 0)), int(found[1]) if found else 0)


def _smallest_variant(variants: list[dict[str, Any]]) -> dict[str, Any]:
    return next((each for each in variants if each.get("type") == "null"), variants[0])


def _referred(reference: str, root: dict[str, Any]) -> dict[str, Any]:
    name = reference.rpartition("/")[2]
    return dict((root.get("$defs") or {}).get(name, {}))


def schema_in_text(text: str) -> dict[str, Any] | None:
    """The last JSON schema of an object that begins a line of `text`: how a prompt asks where nothing else works."""
    decoder = json.JSONDecoder()
    starts = [match.start() for match in re.finditer(r"^\{", text, re.MULTILINE)][-_MOST_LINES:]
    for start in reversed(starts):
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if _is_object_schema(value):
            return dict(value)
    return None


def _is_object_schema(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("type") != "object" or not value.get("properties"):
        return False
    try:
        _Node.model_validate(value, strict=True)
    except ValidationError:
        return False
    return True
