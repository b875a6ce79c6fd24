"""The forms of what commands print with `--json`: name → shape, as `json_shapes` reads it."""

from __future__ import annotations

from typing import Any

from agent_wiki.asking.prices import Price
from agent_wiki.changes.checks import WikiCheck
from agent_wiki.changes.pages import ChangedPage
from agent_wiki.changes.runs import RunFacts
from agent_wiki.changes.sessions import AddedSessions
from agent_wiki.checks.check import Fault
from agent_wiki.engines.offline.rule import Example
from agent_wiki.evaluation.compare import Difference, Interval, Level, Unit
from agent_wiki.evaluation.metrics import MEASURED
from agent_wiki.harness.doctor import Checkup
from agent_wiki.harness.json_shapes import Again, Anchored, ByName, Fixed, OneOf, Shape, keys_of, known_keys_of
from agent_wiki.harness.status import WikiStatus
from agent_wiki.pipeline.applied import ArchivedPage
from agent_wiki.pipeline.estimate import StageEstimate
from agent_wiki.pipeline.find_secrets import FoundSecret
from agent_wiki.pipeline.normalize import TrajectoryStats
from agent_wiki.pipeline.report import HIDDEN_FIELDS, SCHEMA_VERSION, Failure, Note, Report
from agent_wiki.pipeline.token_counts import Density
from agent_wiki.pipeline.worklist import OpenQuestion
from agent_wiki.retrieval.review import EditedPage, Reviewed
from agent_wiki.retrieval.rule_records import Made
from agent_wiki.retrieval.why import CheckedCitation, Citation, SessionPlace
from agent_wiki.site.build import SiteReport
from agent_wiki.spending import TOKEN_KINDS

_TEXTS = list[str]
_COUNTS = dict[str, int]
_VERSIONED: dict[str, Shape] = {"schema_version": Fixed(SCHEMA_VERSION)}
_ENDED: dict[str, Shape] = {**_VERSIONED, "exit_code": int}
_TOTALS: dict[str, Shape] = {
    **dict.fromkeys(("calls", "replayed", *TOKEN_KINDS, "unpriced", "uncounted", "by_agents"), int),
    "cost_usd": float,
}
_FILES_CHANGED: dict[str, Shape] = {"is_dry_run": bool, **dict.fromkeys(("written", "removed", "unchanged"), _TEXTS)}


def forms() -> dict[str, Shape]:
    """Each form's shape by its name. `report` is that of a run, which most commands that build print."""
    report = keys_of(Report, HIDDEN_FIELDS, **_ENDED, files=_COUNTS, failures_unchanged=int)
    return {
        "report": report,
        "estimate": _estimate(),
        **_reports(report),
        **_answers(),
        **_reading(),
        **_state(),
        **_evaluations(report),
        "changes": _changes(),
    }


def _answer(command: str, **keys: Shape) -> dict[str, Shape]:
    return {"command": Fixed(command), **_VERSIONED, **keys}


def _reports(report: dict[str, Shape]) -> dict[str, Shape]:
    """The report of a run with what is special to a command."""
    lists = {"keep": "kept", "restore": "restored", "reject": "rejected", "release": "released"}
    return {
        "normalize": {**report, "trajectories": [TrajectoryStats]},
        **{command: {**report, done: _TEXTS} for command, done in lists.items()},
    }


def _estimate() -> Shape:
    total = keys_of(StageEstimate, ("model",))
    return {
        "command": str,
        "wiki": str,
        **_ENDED,
        "stages": ByName(StageEstimate),
        "total": total,
        **dict.fromkeys(("unpriced_models", "warnings", "notes", "bugs"), _TEXTS),
        "prices_dated": str,
        **dict.fromkeys(("is_batched", "is_exact"), bool),
        **dict.fromkeys(("fits", "most_fits"), bool | None),
        "bytes_per_token": ByName(Density),
        "max_usd": float | None,
        "recordings": int,
        "sessions": _COUNTS,
        "failures": [Failure],
        "left_out": [Note],
    }


def _answers() -> dict[str, Shape]:
    """Answering by hand."""
    problem = {"place": str, "reason": str}
    return {
        "worklist": _answer("worklist", questions=[OpenQuestion], more=int, problems=[Failure]),
        "prompt": _answer(
            "prompt",
            stage=str, request=str, about=_TEXTS, is_answered=bool, system=str, message=str, schema=dict,
            max_tokens=int,
        ),
        "apply": _answer(
            "apply",
            ok=bool, stage=str, request=str, about=_TEXTS, problems=[problem], kept=str, part=str,
            written=_TEXTS, removed=_TEXTS, archived=[ArchivedPage], opened=[OpenQuestion], still_open=[OpenQuestion],
            spanning=int, waiting=int, warnings=[Failure],
        ),
    }  # fmt: skip


def _reading() -> dict[str, Shape]:
    """What a wiki says, and why it may be believed."""
    cited = {**keys_of(Citation), **keys_of(CheckedCitation), "has_failed": bool}
    page = {
        **dict.fromkeys(("path", "id", "kind", "title"), str),
        **dict.fromkeys(("rules", "causes", "notes"), _TEXTS),
        "cited": [cited],
        "pages": [Again("page")],
    }
    rule = {
        **dict.fromkeys(("id", "family", "summary"), str),
        "makes": str | None,
        "is_ignored": bool,
        "example": Example | None,
        "made": [Made],
    }
    ended = {"problems": _TEXTS, "exit_code": int}
    return {
        "consult": [_INDEX_ROW],
        "dump": [dict],
        "review": [_reviewed()],
        "why": _answer("why", pages=[Anchored("page", page)], sessions=[SessionPlace], **ended),
        "rules": _answer("rules", rules=[rule], **ended),
    }


_INDEX_ROW: dict[str, Shape] = {
    **dict.fromkeys(("kind", "link", "why"), str),
    "score": float,
    **dict.fromkeys(("id?", "title?", "trigger?", "summary?", "priority?", "superseded_by?"), str),
    "cluster?": str | None,
    **dict.fromkeys(("family?", "parent_session_id?", "parent_summary?", "trust?", "cause?", "scope?"), str),
    **dict.fromkeys(("verified_at?", "session?"), str),
    "tags?": _TEXTS,
    **dict.fromkeys(("members?", "support?"), Any),
}
"""A row of `_index.jsonl`, which another tool may have written, with what consulting adds."""


def _reviewed() -> Shape:
    against = dict.fromkeys(("session_id", "status", "quote", "summary"), str)
    finding = {"rule": str, "says": str, **dict.fromkeys(("field?", "excerpt?", "source?"), str)}
    held = dict.fromkeys(("link", "id", "kind", "title", "text"), str)
    return OneOf(
        (
            {"reason": Fixed("quarantine"), **held, "findings": [finding], "sessions": _TEXTS},
            {"reason": Fixed("use"), **keys_of(Reviewed, counts=_COUNTS, against=[against])},
            {"reason": Fixed("edited"), **keys_of(EditedPage)},
            {"reason": Fixed("exception"), **dict.fromkeys(("link", "key", "id", "why"), str)},
        )
    )


def _state() -> dict[str, Shape]:
    """What is here, what is wrong, and what commands about files did."""
    return {**_wiki_state(), **_connected()}


def _wiki_state() -> dict[str, Shape]:
    sums = ByName(_TOTALS)
    model = {"model": str, "price": Price | None, "stages": _TEXTS, "calls": int}
    read = {"passed_over": [Failure], "failures": [Failure], "warnings": _TEXTS, "exit_code": int}
    allowed = {**keys_of(FoundSecret), "why": str}
    found = {"findings": [Fault], "checks": _COUNTS, "mended": _TEXTS, "exceptions": _COUNTS, "left_out": str}
    found["of_others"] = [{"file": str, "trust": str | None}]
    counts = dict.fromkeys(("pages", "sessions", "recordings"), int)
    return {
        "cost": _answer("cost", total=_TOTALS, runs=sums, stages=sums, models=sums),
        "models": _answer("models", dated=str, usd_per_tokens=int, models=[model]),
        "status": _answer("status", **keys_of(WikiStatus)),
        "doctor": _answer("doctor", checks=[Checkup], exit_code=int),
        "config-show": Any,
        "config-check": _answer("config check", problems=_TEXTS, exit_code=int),
        "check": _answer("check", wiki=str, is_dry_run=bool, **found, **counts, exit_code=int),
        "secrets": _answer("secrets", secrets=[FoundSecret], allowed=[allowed], kinds=_COUNTS, files=_TEXTS, **read),
        "site": _answer("site", **keys_of(SiteReport, out=str), exit_code=int),
    }


def _connected() -> dict[str, Shape]:
    saved = {"path": str, "session_id": str, "messages": int}
    changed = {**_FILES_CHANGED, "exit_code": int}
    installed = {"pointer": bool, "hooks": _TEXTS, "own_file": bool, "permissions": _TEXTS}
    agent = {
        **dict.fromkeys(("agent", "title", "pointer"), str),
        **dict.fromkeys(("hook_file", "own_file", "sign", "problem"), str | None),
        **dict.fromkeys(("hooks", "permissions"), _TEXTS),
        "is_on_path": bool,
        "installed": installed,
    }
    plugin = {"wiki": str, "left_alone": _TEXTS, "install": dict[str, str], "notes": _TEXTS}
    skills = {"folder": str, "left_alone": _TEXTS, "superseded": _TEXTS}
    pointed = {"agent": str | None, "folder": str, "notes": _TEXTS, "signs?": dict[str, str]}
    return {
        "save": _answer("save", saved=[saved], warnings=_TEXTS, refused=str | None, exit_code=int),
        "connect": _answer("connect", **changed, **pointed),
        "connect-list": [agent],
        "plugin": _answer("plugin", **changed, **plugin),
        "skills-install": _answer("skills install", **changed, **skills),
    }


def _evaluations(report: dict[str, Shape]) -> dict[str, Shape]:
    """Rows have the labels that a person gave besides."""
    row = {f"{name}?": Any for name in sorted(MEASURED)}
    renamed = {**keys_of(Difference, ("is_significant",)), "is_told": bool}  # as programs have always read it
    figure = {
        "arm": str, "known": int, "unknown": int, "value": float | None, "interval": Interval | None,
        "delta": OneOf((renamed, type(None))),
    }  # fmt: skip
    measure = {"measure": str, "unit": Unit, "statistic": str, "arms": [figure]}
    scope = {"level": Level, "name": str, "trials": list[int], "measures": [measure]}
    method = {
        "seed": int, "resamples": int, "confidence": float, "fewest_trials": int, "figures": str, "rule": str,
    }  # fmt: skip
    lists = dict.fromkeys(("warnings", "problems", "notes"), _TEXTS)
    arms = {"arms": [{"name": str, "trials": int}], "compared_with": str, "scopes": [scope]}
    return {
        "eval-metrics": {**report, "rows": [row]},
        "eval-compare": _answer("eval compare", **arms, method=method, **lists, exit_code=int),
    }


def _changes() -> Shape:
    """What `wiki report` prints: a wiki against a revision of it."""
    pages: dict[str, Shape] = {name: [known_keys_of(ChangedPage)] for name in ("new", "changed", "retired")}
    measured = ByName({"sum": float, "sessions": int})
    run = keys_of(RunFacts, ("failures_tried",), failed_earlier=int, asked=OneOf((_TOTALS, type(None))))
    return _answer(
        "report",
        news=bool, title=str, wiki=str, base={"name": str, "commit": str | None},
        seen=str | None,
        files=dict.fromkeys(("new", "changed", "gone"), int), pages={**pages, "minor": int},
        sessions=keys_of(AddedSessions, measured=measured), run=OneOf((run, type(None))),
        edited=_TEXTS, kept=_TEXTS, quarantined=_TEXTS, waiting=[dict.fromkeys(("kind", "id", "title"), str)],
        checks=[keys_of(WikiCheck, passed=bool)], secrets_removed=int,
    )  # fmt: skip
