"""What linters say, and what a finding names to use instead.

One module knows the shapes of findings: `file:line:col: message (rule)` of golangci-lint, `F401 message` of ruff
and flake8, `error: message  [code]` of mypy, `error TS2322: message` of tsc, `error  message  rule` of eslint (whose
message may run over many lines, the rule at the end of the last),
`file:line error MD040/name message` of markdownlint, `message [code]` of commitlint, and findings of several lines,
those of ruff, biome and clippy.
"""

from __future__ import annotations

import re

from agent_wiki.engines.offline.tables import table
from agent_wiki.trajectory.lazily import dataclass, regex

_SHAPES = tuple(regex(written) for written in table("linters")["shapes"])
_REPLACE = tuple(regex(written) for written in table("linters")["replace"])
_OPENED = regex(r"^\s{1,6}\d+:\d+\s{1,4}error\s{1,4}(?:Error: )?(?P<message>.{4,300}?)\s*$")
_CLOSED = regex(r"^[^\n]{0,300}?\s{2}(?P<rule>[@a-z][\w@-]{1,40}/[\w-]{3,50})$")
_BELOW = tuple((regex(first), regex(second)) for first, second in table("linters")["below"])
_MOST_BELOW = 14  # lines between the two
_MOST_LINES = 40  # of one message
_LONGEST_LINE = 600


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
    lines = output.splitlines()[:3000]
    for at, raw in enumerate(lines):
        line = re.sub(r"^\[[\w:.-]{1,30}\] ", "", raw.rstrip())
        if len(line) > _LONGEST_LINE:
            continue
        match = next((match for shape in _SHAPES if (match := shape.match(line))), None)
        if match:
            found.append(Finding(match["rule"], match["message"], raw.strip(), _replacement(match["message"])))
        elif (opened := _OPENED.match(line)) and (rule := _rule_below(lines[at + 1 : at + _MOST_LINES])):
            found.append(Finding(rule, opened["message"], raw.strip(), _replacement(opened["message"])))
        elif both := _in_two_lines(line, lines[at + 1 : at + _MOST_BELOW]):
            found.append(Finding(both["rule"], both["message"], raw.strip(), _replacement(both["message"])))
    return found[:200]


def _in_two_lines(line: str, below: list[str]) -> dict[str, str]:
    """The rule and the message of a finding that gives them on two lines; empty where it is none."""
    for first, second in _BELOW:
        head = first.match(line)
        tail = next(filter(None, map(second.match, below)), None) if head else None
        if head and tail:
            return {**head.groupdict(), **tail.groupdict()}
    return {}


def _rule_below(lines: list[str]) -> str:
    """The rule at the end of a message of many lines; empty where another finding begins first."""
    for line in lines:
        if len(line) > _LONGEST_LINE:
            continue
        if _OPENED.match(line):
            return ""
        if match := _CLOSED.match(line):
            return match["rule"]
    return ""


def _replacement(message: str) -> tuple[str, str] | None:
    for pattern in _REPLACE:
        match = pattern.search(message)
        if match and match["old"] != match["new"]:
            return match["old"].rstrip("."), match["new"].rstrip(".")
    return None
