"""A JSON schema as services take it that promise to keep to it: every field required, bounds as prose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BOUNDS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern", "format", "uniqueItems")
_LEFT_OUT = ("title", "default", *_BOUNDS)


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with all fields required and no other allowed. Bounds are added to descriptions; defaults go.

    What does not keep to the bounds is found when the answer is checked.
    """
    made = {name: _strict(name, value) for name, value in schema.items() if name not in _LEFT_OUT}
    said = [f"{name}: {schema[name]}" for name in _BOUNDS if name in schema]
    if said:
        made["description"] = f"{made.get('description', '')} ({', '.join(said)})".strip()
    if "properties" in made:
        made["required"] = list(made["properties"])
        made["additionalProperties"] = False
    return {"$ref": made["$ref"]} if "$ref" in made else made


def _strict(name: str, value: Any) -> Any:
    """A keyword's value: the schemas in it made strict."""
    if name in ("properties", "$defs"):
        return {each: strict_schema(field) for each, field in value.items()}
    if isinstance(value, list):
        return [strict_schema(each) if isinstance(each, dict) else each for each in value]
    return strict_schema(value) if isinstance(value, dict) else value
