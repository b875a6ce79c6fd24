"""JSON Schemas of what commands print with `--json`, made from the values themselves."""

from __future__ import annotations

from typing import Any

from agent_wiki.errors import UsageError
from agent_wiki.harness.json_forms import forms
from agent_wiki.harness.json_shapes import schema_of
from agent_wiki.pipeline.report import SCHEMA_VERSION
from agent_wiki.stages.order import ASKING_STAGES, CATALOG

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_RUN = ("report", "estimate")
_OWN_FORM = (
    "normalize", "keep", "restore", "reject", "release", "worklist", "prompt", "apply", "cost", "models", "status",
    "doctor", "consult", "dump", "review", "site", "save", "check", "secrets", "why", "rules", "plugin", "config show",
    "config check", "skills install", "eval metrics", "eval compare",
)  # fmt: skip
FORMS_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("ingest", *ASKING_STAGES, "join"), _RUN),
    **dict.fromkeys((CATALOG, "init", "forget", "redact", "config set", "config patch"), ("report",)),
    **{command: (command.replace(" ", "-"),) for command in _OWN_FORM},
    "report": ("changes",),
    "connect": ("connect", "connect-list"),
}
"""Command → the forms of what it prints with `--json`: a second one is that of `--estimate`, or of `--list`."""


def schema_named(name: str = "") -> dict[str, Any]:
    """The schema of one form by its name, or of what a command prints; without a name of all, below `$defs`.

    `report` is the report of a run; what `wiki report` prints is `changes`. Raises `UsageError` for another name.
    """
    found = forms()
    if not name:
        schemas = {form: schema_of(shape) for form, shape in found.items()}
        commands = {command: list(names) for command, names in sorted(FORMS_OF.items())}
        return {"$schema": _DRAFT, "version": SCHEMA_VERSION, "commands": commands, "$defs": schemas}
    form = name if name in found else FORMS_OF.get(name, (name.replace(" ", "-"),))[0]
    if form not in found:
        raise UsageError(f"schema: {name}: there is {', '.join(found)}, and each command that takes --json")
    return {"$schema": _DRAFT, **schema_of(found[form])}
