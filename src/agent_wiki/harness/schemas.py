"""JSON Schemas of what commands print with `--json`, made from the values themselves."""

from __future__ import annotations

import types
from collections import Counter
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from agent_wiki.errors import UsageError
from agent_wiki.harness.doctor import Checkup
from agent_wiki.harness.status import WikiStatus
from agent_wiki.report import HIDDEN_FIELDS, SCHEMA_VERSION, Report

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_VERSION = {"const": SCHEMA_VERSION}
_CODE = {"type": "integer"}


def schema_named(name: str = "") -> dict[str, Any]:
    """The schema of one command's JSON, or of all below `$defs`. Raises `UsageError` for a name that there is not."""
    found = {
        "report": _object(Report, schema_version=_VERSION, exit_code=_CODE),
        "status": _object(WikiStatus, command={"const": "status"}, schema_version=_VERSION),
        "doctor": _keys(
            command={"const": "doctor"}, schema_version=_VERSION, checks=_list(_object(Checkup)), exit_code=_CODE
        ),
        "config-check": _keys(
            command={"const": "config check"}, schema_version=_VERSION, problems=_list(_of(str)), exit_code=_CODE
        ),
    }
    if name and name not in found:
        raise UsageError(f"schema: {name}: there is {', '.join(found)}")
    if name:
        return {"$schema": _DRAFT, **found[name]}
    return {"$schema": _DRAFT, "version": SCHEMA_VERSION, "$defs": found}


def _object(kind: type, **more: Any) -> dict[str, Any]:
    """The schema of a dataclass."""
    hints = get_type_hints(kind)
    return _keys(
        **more, **{each.name: _of(hints[each.name]) for each in fields(kind) if each.name not in HIDDEN_FIELDS}
    )


def _keys(**properties: Any) -> dict[str, Any]:
    """An object whose keys are always there. Others may come within a version, so readers are not to refuse them."""
    return {"type": "object", "properties": properties, "required": sorted(properties)}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _of(hint: Any) -> dict[str, Any]:
    """The schema of a type as JSON has it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if is_dataclass(hint) and isinstance(hint, type):
        return _object(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of(each) for each in arguments]}
    if origin in (list, tuple):
        return _list(_of(arguments[0]))
    if origin is Counter:
        return {"type": "object", "additionalProperties": {"type": "integer"}}
    return {"type": "object"} if origin is dict else {}
