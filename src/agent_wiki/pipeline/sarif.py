"""Found secrets as SARIF 2.1.0, which code hosts and editors show at their lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agent_wiki import __version__
from agent_wiki.pipeline.find_secrets import FoundSecret, SecretsReport

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_of(report: SecretsReport) -> dict[str, Any]:
    """The SARIF log of one run: a rule for each kind, a result for each secret, a notification for each failure."""
    kinds = sorted({each.kind for each in report.found})
    notifications = [{"level": "error", "message": {"text": str(each)}} for each in report.failures]
    run = {
        "tool": {"driver": {"name": "agent-wiki", "version": __version__, "rules": [_rule(kind) for kind in kinds]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {"executionSuccessful": not notifications, "toolExecutionNotifications": notifications},
        ],
        "results": [_result(each, kinds) for each in report.found],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(kind: str) -> dict[str, Any]:
    return {"id": kind, "shortDescription": {"text": f"A live-looking secret: {kind}"}}


def _result(found: FoundSecret, kinds: Sequence[str]) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(found.file)}}
    if found.line is not None and found.column is not None:
        end = found.column + found.length
        place["region"] = {"startLine": found.line, "startColumn": found.column, "endColumn": end}
    return {
        "ruleId": found.kind,
        "ruleIndex": kinds.index(found.kind),
        "level": "error",
        "message": {"text": f"A live-looking secret: {found}"},
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str) -> str:
    if "://" in file:
        return file
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
