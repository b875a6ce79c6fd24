"""What linters say, and the rule behind a finding, worded as a recommendation.

One module knows the shapes of findings: `file:line:col: message (rule)` of golangci-lint, `F401 message` of ruff
and flake8, `error: message  [code]` of mypy, `error TS2322: message` of tsc, `error  message  rule` of eslint.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SHAPES = (
    re.compile(r"^\S{1,200}:\d+:\d+: (?P<message>.{4,300}) \((?P<rule>[a-z][\w-]{2,30})\)$"),
    re.compile(r"^\S{1,200}:\d+:\d+: (?P<rule>[A-Z]{1,5}\d{2,4}) (?P<message>.{4,300})$"),
    re.compile(r"^\S{1,200}:\d+: error: (?P<message>.{4,300}?)\s{1,4}\[(?P<rule>[a-z-]{3,40})\]$"),
    re.compile(r"^\S{1,200}\(\d+,\d+\): error (?P<rule>TS\d{4,5}): (?P<message>.{4,300})$"),
    re.compile(r"^\s{1,6}\d+:\d+\s{1,4}error\s{1,4}(?P<message>.{4,300}?)\s{2,40}(?P<rule>[@a-z][\w@/-]{3,50})$"),
    re.compile(r"^(?:In )?\S{1,200}:? .{0,80}(?P<rule>SC\d{4}) \(\w+\): (?P<message>.{4,300})$"),
)
_REPLACE = (
    re.compile(
        r"[`'\"]?(?P<old>[\w.]{2,60})(?:\(\))?[`'\"]? (?:could|can|should) be"
        r" replaced (?:by|with) [`'\"]?(?P<new>[\w.]{2,60})"
    ),
    re.compile(r"[Uu]se [`'\"](?P<new>[\w.]{2,60})(?:\(.{0,40}\))?[`'\"] instead of [`'\"](?P<old>[\w.]{2,60})"),
    re.compile(r"should use (?P<new>[\w.]{3,60}).{0,40} instead of (?P<old>[\w.]{3,60})"),
    re.compile(r"(?P<old>[\w.]{3,60}) (?:is|has been) deprecated.{0,80}?[Uu]se (?P<new>[\w.]{3,60})"),
)

# Rules that say how this team wants code, with the words a reader needs. Findings of other rules, and those that
# only name a slip in one file (unused, undefined, syntax), are no lesson.
RULES: dict[str, tuple[str, str, str]] = {
    "errcheck": (
        "Check every returned error",
        "Check every error that a Go call returns, in tests and in deferred calls too.",
        "go",
    ),
    "wrapcheck": (
        "Wrap errors of other packages",
        'Wrap errors that come from other packages with `fmt.Errorf("…: %w", err)`.',
        "go",
    ),
    "errorlint": (
        "Compare errors with errors.Is",
        "Compare errors with `errors.Is` and `errors.As`, so that wrapped ones match.",
        "go",
    ),
    "err113": (
        "Define sentinel errors for comparison",
        "Return sentinel or wrapped errors instead of new dynamic ones.",
        "go",
    ),
    "noctx": (
        "Pass a context to requests",
        "Use the calls that take a context (`exec.CommandContext`, `http.NewRequestWithContext`).",
        "go",
    ),
    "paralleltest": ("Call t.Parallel in Go tests", "Begin Go tests and their subtests with `t.Parallel()`.", "go"),
    "tparallel": ("Call t.Parallel in Go tests", "Begin Go tests and their subtests with `t.Parallel()`.", "go"),
    "thelper": ("Mark Go test helpers", "Begin functions that take a `*testing.T` with `t.Helper()`.", "go"),
    "perfsprint": (
        "Format single values with strconv",
        "Turn one value into text with `strconv` or concatenation, not with `fmt.Sprintf`.",
        "go",
    ),
    "ireturn": (
        "Return concrete types in Go",
        "Return concrete types from Go functions; where an interface is wanted, say so with `//nolint:ireturn`.",
        "go",
    ),
    "nilerr": ("Return the error that was found", "Return the error that was checked, instead of nil.", "go"),
    "contextcheck": (
        "Pass the context on",
        "Pass the context of the caller on instead of starting from a new one.",
        "go",
    ),
    "bodyclose": ("Close response bodies", "Close the body of every HTTP response.", "go"),
    "no-untyped-def": (
        "Annotate every Python function",
        "Give every function type annotations, tests included: mypy runs in strict mode.",
        "python",
    ),
    "no-any-return": (
        "Narrow Any before returning it",
        "Narrow or cast a value of type `Any` before returning it: mypy runs in strict mode.",
        "python",
    ),
    "type-arg": (
        "Give generic types their parameters",
        "Write the parameters of generic types (`dict[str, int]`): mypy runs in strict mode.",
        "python",
    ),
    "PLW1514": ("Name the encoding when opening", 'Pass `encoding="utf-8"` whenever a text file is opened.', "python"),
    "BLE001": ("Catch named exceptions only", "Catch the exceptions that are meant by name.", "python"),
    "B904": ("Chain exceptions with from", "Raise inside `except` with `raise … from error`.", "python"),
    "DTZ005": ("Pass a time zone to now", "Pass a time zone to `datetime.now`.", "python"),
    "S603": ("Check subprocess input", "Call subprocesses with a list of checked words.", "python"),
    "@typescript-eslint/no-explicit-any": (
        "Write types instead of any",
        "Write the type, or `unknown` with a check, in place of `any`.",
        "typescript",
    ),
    "@typescript-eslint/no-floating-promises": (
        "Await every promise",
        "Await every promise, or mark it with `void` on purpose.",
        "typescript",
    ),
    "react-hooks/exhaustive-deps": (
        "List every hook dependency",
        "List every value that an effect or callback uses in its dependencies.",
        "react",
    ),
    "no-console": (
        "Log through the project's logger",
        "Log through the project's logger in place of `console`.",
        "javascript",
    ),
    "SC2086": ("Quote variables in shell scripts", "Put double quotes around variables in shell scripts.", "shell"),
}


def linter_rule_id(code: str) -> str:
    """The id under which this engine knows a linter's rule: `linters/sc2086`, `linters/no-explicit-any`."""
    return f"linters/{code.rpartition('/')[2].lower()}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: the rule's code, the message, and `(old, new)` when the message names a replacement."""

    rule: str
    message: str
    line: str
    replacement: tuple[str, str] | None


def findings(output: str) -> list[Finding]:
    """The findings in a linter's output, in order, at most 200."""
    found: list[Finding] = []
    for raw in output.splitlines()[:3000]:
        line = re.sub(r"^\[[\w:.-]{1,30}\] ", "", raw.rstrip())
        if len(line) > 600:
            continue
        match = next((match for shape in _SHAPES if (match := shape.match(line))), None)
        if match:
            found.append(Finding(match["rule"], match["message"], raw.strip(), _replacement(match["message"])))
    return found[:200]


def _replacement(message: str) -> tuple[str, str] | None:
    for pattern in _REPLACE:
        match = pattern.search(message)
        if match and match["old"] != match["new"]:
            return match["old"].rstrip("."), match["new"].rstrip(".")
    return None
