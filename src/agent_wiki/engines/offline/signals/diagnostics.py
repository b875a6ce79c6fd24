"""A check fails with a diagnostic, one file is edited, the same check passes (signal 5).

The lesson is a named rule of a linter with what met it. A diagnostic about this session's own code is none.
"""

from __future__ import annotations

import re
from dataclasses import replace

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.imperatives import has_length_of_title
from agent_wiki.engines.offline.lessons import Lesson, Wording, lesson, quote_line, tag
from agent_wiki.engines.offline.linters import Finding, findings
from agent_wiki.engines.offline.tables import named
from agent_wiki.shell.edited_parts import changed_lines, edit_text, edited_files, edited_parts, writes_whole_file
from agent_wiki.shell.judged_steps import failed_steps, passed_steps
from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.text import plain_line

_WITHIN_CALLS = 20
# A comment that makes a linter pass over a line: the rule was not met.
_SUPPRESSED = regex(r"\b(?:nolint|noqa|type: ?ignore|NOSONAR|\w+-(?:disable|ignore)|\w+:\s?disable)|@ts-|#!?\[allow\(")
_NO_RULES = named("no_rules")
_KINDS = {"md": "Markdown", "py": "Python", "go": "Go", "ts": "TypeScript", "tsx": "TypeScript", "js": "JavaScript",
          "rs": "Rust", "sh": "shell", "yml": "YAML", "yaml": "YAML", "css": "CSS", "sql": "SQL"}  # fmt: skip
_PLAIN = regex(r"[A-Z]?[a-z',()-]+[.;]?|[A-Z]{2,5}|\d{1,3}|,")
_OF_CODE = regex(r"(?<!\w)'[a-z][\w.-]*'")  # a name that a message quotes
_SIGN = regex(r"`(?:\W|&#?\w{1,8};)`")  # a character, as itself or as HTML writes it
_COMMIT = ("git", "commit")  # which its hooks check
_FIXES = regex(r"\s--(?:fix|write|unsafe-fixes|apply)\b|\b(?:lint[:-]fix|format|fmt)\b")
_FIXABLE = regex(r"\bfixable\b|\[\*\]")
_FILE = regex(r"\S{1,200}?\.(\w{1,4})(?=[:(\s])")
_LONGEST_LINE = 60
_MOST_RULES = 2  # that a check names: of many, one does not say what made it pass
_MOST_EDITS = 3  # more are a search for what meets it


@dataclass(frozen=True, slots=True)
class _Mended:
    """A check that failed, the edits of one file after it, and its pass."""

    failed: Attempt
    passed: Attempt
    wanted: SimpleCommand
    edits: tuple[Call, ...]

    @property
    def head(self) -> str:
        """What was run, without what it was run on."""
        return shell.Command(self.wanted.called or self.wanted.words, (), "", self.wanted.source).head


def lessons(session: MinedSession) -> list[Lesson]:
    """One lesson at most for each check that failed and was mended by edits of one file."""
    found: list[Lesson] = []
    for failed in session.attempts:
        mended = _mended(session, failed) if failed.verdict == "failed" else None
        if mended is not None:
            found += _named_rule(session, mended)
    return list({each.guideline.title: each for each in found}.values())  # the last: until then it was broken again


def _mended(session: MinedSession, failed: Attempt) -> _Mended | None:
    """What a commit's hooks check every session meets; a check that the agent chose teaches its own code's faults."""
    wanted = next((step for step in failed_steps(failed.ended) if step.words[:2] == _COMMIT), None)
    for later in session.attempts_after(failed, _WITHIN_CALLS) if wanted else ():
        if wanted and any(is_same_check(wanted, step) for step in passed_steps(later.ended)):
            edits = tuple(session.edits_between(failed.position, later.position))
            return _Mended(failed, later, wanted, edits) if edits else None
    return None


def _named_rule(session: MinedSession, mended: _Mended) -> list[Lesson]:
    """A rule with a message that speaks of no name was met; where it is the only one, a short line shows how."""
    named = {(finding.rule, _general_part(finding)): finding for finding in findings(mended.failed.output)}
    finding = next(filter(_explains_itself, named.values()), None)
    is_one_of_many = len({rule for rule, _ in named}) > _MOST_RULES
    if finding is None or is_one_of_many or _is_suppressed(mended) or _mends_itself(session, mended):
        return []
    is_one_file = len(edited_files(mended.edits)) == 1
    own = tuple(each for each in mended.edits if is_one_file or _is_in(finding, each))
    if not 0 < len(own) <= _MOST_EDITS or any(map(writes_whole_file, own)):
        return []  # too many, or of a file that is written as a whole nothing shows what met the rule
    mended, lines = replace(mended, edits=own), list(changed_lines(own))
    message, code = plain_line(_general_part(finding), 140).rstrip("."), _short(finding)
    named_file = _FILE.match(finding.line)
    kind = _KINDS.get(
        (named_file[1] if named_file else next(iter(edited_files(mended.edits)))).rpartition(".")[2].lower()
    )
    place = f"{kind} files" if kind else "what it checks"
    of = f" of `{finding.rule}`" if code not in finding.rule else ""
    named_so = finding.rule if not of else code
    lines = lines if len(named) == len(lines) == 1 else []  # of several, no line is known to be for this rule
    wording = Wording(
        "diagnostics/named-rule",
        f"Keep to {code} before {mended.head}",
        f"Keep to the rule `{named_so}`{of} ({message}) in {place}: `{mended.head}` fails otherwise.{_example(lines)}",
        f"About to write {place} in this repository, or `{mended.head}` stops with `{named_so}`.",
        (tag(finding.rule), tag(mended.wanted.program), "linting"),
    )
    rationale = f"`{mended.head}` stopped with `{finding.rule}` ({message}), and passed once the file was edited."
    return _lesson(session, mended, wording, rationale, (finding.line, lines[0][1] if lines else ""), 64)


def _mends_itself(session: MinedSession, mended: _Mended) -> bool:
    """The linter can do it, and did or offers to: then its option is what one needs, and no rule."""
    between = session.attempts_after(mended.failed, mended.passed.position - mended.failed.position)
    return any(_FIXES.search(each.line) for each in (mended.failed, *between)) or bool(
        _FIXABLE.search(mended.failed.output)
    )


def _is_in(finding: Finding, edit: Call) -> bool:
    """Whether an edit is of the file that a finding names."""
    return any(re.split(r"[/\\]", path)[-1] in finding.line.partition(": ")[0] for path in edited_files([edit]))


def _short(finding: Finding) -> str:
    """`MD040` of `MD040/fenced-code-language`, `set-state-in-effect` of `react-hooks/set-state-in-effect`; of a linter
    that names one of its rules in the message, that name.
    """
    if finding.message.endswith(f": {_general_part(finding)}"):
        return finding.message.partition(": ")[0]
    first, _, last = finding.rule.partition("/")
    return first if first.isupper() or not last else last.rpartition("/")[2]


def _is_suppressed(mended: _Mended) -> bool:
    parts = [part for edit in mended.edits for part in edited_parts(edit)]
    return any(len(_SUPPRESSED.findall(new)) > len(_SUPPRESSED.findall(old)) for _, old, new in parts)


def _general_part(finding: Finding) -> str:
    """The message without the place in the code that it names in the end: "…is unwrapped: sig: func os.ReadFile(…)"."""
    head, _, rest = finding.message.partition(": ")
    is_name = len(head.split()) == 1 and len(rest.split()) >= 4  # of one rule among those of the linter
    return rest if is_name else head if len(head.split()) >= 4 else finding.message


def _explains_itself(finding: Finding) -> bool:
    """The message is plain words: besides signs it names nothing but what the rule has in its name."""
    message = _general_part(finding)
    words = _SIGN.sub("", message).split()  # what stands in backticks is code
    named = finding.rule.replace("-", "")
    is_plain = all(_PLAIN.fullmatch(word) or word.lower() in named for word in words)
    is_of_code = _OF_CODE.search(message) or finding.rule.startswith("TS")  # a compiler's: types of this code
    return is_plain and len(message.split()) >= 4 and finding.rule not in _NO_RULES and not is_of_code


def _example(lines: list[tuple[str, str]]) -> str:
    """The one line that was replaced, where it is short and means something elsewhere; else nothing."""
    for before, after in lines if len(lines) == 1 else ():
        old, new = before.strip(), after.strip()
        is_short = 0 < len(old) <= _LONGEST_LINE and 0 < len(new) <= _LONGEST_LINE and len(old.split()) <= 4
        if is_short and old != new and not re.search(r"[/\\\d`]", old + new):
            return f" For instance `{new}` instead of `{old}`."
    return ""


def _lesson(
    session: MinedSession, mended: _Mended, wording: Wording, rationale: str, quoted: tuple[str, str], weight: int
) -> list[Lesson]:
    if not has_length_of_title(wording.title):
        return []
    edit = next((each for each in mended.edits if quoted[1] in edit_text(each)), mended.edits[-1])
    line = next((each for each in edit_text(edit).splitlines() if quoted[1] in each), "")
    evidence = [
        quote_line(session, mended.failed, quoted[0]),
        session.quote(edit.turn, line) if quoted[1] else None,
        session.quote(mended.passed.turn, mended.passed.line),
    ]
    turns = {"remedy": edit.turn, "confirmed": mended.passed.turn}
    return lesson(wording, rationale, evidence, {mended.failed.turn}, weight, **turns)
