"""JSON Schemas from types: dataclasses and pydantic models as they are, mappings of names to types, lists of one."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Schema = dict[str, Any]
Shape = Any
"""A type; a mapping of keys to shapes, where a key that ends in `?` may be absent; a list of one shape; or one of the
classes below."""

_PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Fixed:
    """One value and no other."""

    value: str | int


@dataclass(frozen=True, slots=True)
class OneOf:
    """Any of several shapes."""

    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class ByName:
    """An object whose keys are names from the wiki, each with a value of one shape."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class Anchored:
    """A shape that holds itself: below it `Again(name)` stands for the whole of it."""

    name: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class Again:
    """Another value of the shape that is anchored under a name."""

    name: str


def schema_of(shape: Shape) -> Schema:
    """The JSON Schema of a shape, as draft 2020-12 has it."""
    match shape:
        case Mapping():
            return _keys(shape)
        case list():
            return _list(schema_of(shape[0]))
        case Fixed():
            return {"const": shape.value}
        case OneOf():
            return {"anyOf": [schema_of(each) for each in shape.shapes]}
        case ByName():
            return {"type": "object", "additionalProperties": schema_of(shape.shape)}
        case Anchored():
            return {"$anchor": shape.name, **schema_of(shape.shape)}
        case Again():
            return {"$ref": f"#{shape.name}"}
        case _:
            return _of_type(shape)


def keys_of(kind: type, hidden: tuple[str, ...] = (), /, **instead: Shape) -> dict[str, Shape]:
    """The fields of a dataclass as keys, but those that are hidden; `instead` replaces some, or adds to them."""
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind) if each.name not in hidden} | instead


def known_keys_of(kind: type) -> dict[str, Shape]:
    """The same of a dataclass of which only what is known is printed: what may be None or empty may be absent."""
    return {
        f"{name}?" if _may_be_absent(hint) else name: _without_none(hint) for name, hint in get_type_hints(kind).items()
    }


def _may_be_absent(hint: Any) -> bool:
    return get_origin(hint) is tuple or type(None) in get_args(hint)


def _without_none(hint: Any) -> Any:
    kept = tuple(each for each in get_args(hint) if each is not type(None))
    return hint if len(kept) == len(get_args(hint)) else kept[0]


def _keys(shapes: Mapping[str, Shape]) -> Schema:
    """An object. Keys may be added within a version, so readers are not to refuse others."""
    properties = {name.removesuffix("?"): schema_of(shape) for name, shape in shapes.items()}
    return {"type": "object", "properties": properties, "required": sorted(each for each in shapes if each[-1] != "?")}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _of_type(hint: Any) -> Schema:
    """The schema of a type as JSON has it; of one that may be anything, nothing is said."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of_type(each) for each in arguments]}
    if origin in (list, tuple):
        return _list(_of_type(arguments[0]))
    if origin in (dict, Mapping, Counter):
        return _mapping(origin, arguments)
    return _of_class(hint)


def _mapping(origin: Any, arguments: tuple[Any, ...]) -> Schema:
    values = int if origin is Counter else arguments[1]
    return {"type": "object"} if values is Any else {"type": "object", "additionalProperties": _of_type(values)}


def _of_class(hint: Any) -> Schema:
    if is_dataclass(hint) and isinstance(hint, type):
        return _keys(keys_of(hint))
    model_fields = getattr(hint, "model_fields", None)
    if model_fields is not None:
        return _keys({name: field.annotation for name, field in model_fields.items()})
    return {"type": "object"} if hint is dict else {}
