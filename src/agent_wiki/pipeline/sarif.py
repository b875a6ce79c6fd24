"""What was found in files as SARIF 2.1.0, which code hosts and editors show at its lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agent_wiki import __version__
from agent_wiki.pipeline.find_secrets import FoundSecret, SecretsReport
from agent_wiki.trajectory.lazily import dataclass

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


@dataclass(frozen=True, slots=True)
class SarifResult:
    """One result: the id of its rule, what is said, the file, and where in it; columns only where they are known."""

    rule: str
    message: str
    file: str
    line: int | None = None
    columns: tuple[int, int] | None = None


def sarif_of(report: SecretsReport) -> dict[str, Any]:
    """The SARIF log of a search for secrets: a rule for each kind, a result for each secret."""
    rules = {each.kind: f"A live-looking secret: {each.kind}" for each in report.found}
    return sarif_log(rules, [_result_of(each) for each in report.found], map(str, report.failures))


def _result_of(found: FoundSecret) -> SarifResult:
    columns = None if found.column is None else (found.column, found.column + found.length)
    line = None if columns is None else found.line
    return SarifResult(found.kind, f"A live-looking secret: {found}", found.file, line, columns)


def sarif_log(rules: Mapping[str, str], results: Sequence[SarifResult], failures: Iterable[str] = ()) -> dict[str, Any]:
    """The SARIF log of one run. In: what each rule finds, by id; the results; what could not be looked at."""
    ids = sorted(rules)
    notifications = [{"level": "error", "message": {"text": each}} for each in failures]
    listed = [{"id": each, "shortDescription": {"text": rules[each]}} for each in ids]
    run = {
        "tool": {"driver": {"name": "agent-wiki", "version": __version__, "rules": listed}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not notifications, "toolExecutionNotifications": notifications}],
        "results": [_result(each, ids) for each in results],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(result: SarifResult, ids: Sequence[str]) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(result.file)}}
    if result.line is not None:
        place["region"] = {"startLine": result.line}
        if result.columns is not None:
            place["region"] |= {"startColumn": result.columns[0], "endColumn": result.columns[1]}
    return {
        "ruleId": result.rule,
        "ruleIndex": ids.index(result.rule),
        "level": "error",
        "message": {"text": result.message},
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str) -> str:
    if "://" in file:
        return file
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
