"""A check fails with a diagnostic, one file is edited, the same check passes (signal 5).

The lesson is the diagnostic with the difference: what was changed in a file of settings, or a named rule of a linter
with what met it. A diagnostic about this session's own code is none.
"""

from __future__ import annotations

import re
from dataclasses import replace

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.attempts import Attempt, MinedSession
from agent_wiki.engines.offline.generalize import generalize
from agent_wiki.engines.offline.imperatives import has_length_of_title
from agent_wiki.engines.offline.lessons import Lesson, Wording, error_name, lesson, quote_line, tag
from agent_wiki.engines.offline.linters import Finding, findings
from agent_wiki.engines.offline.tables import named, written
from agent_wiki.shell.edited_parts import (
    added_names,
    changed_lines,
    edit_text,
    edited_files,
    edited_parts,
    writes_whole_file,
)
from agent_wiki.shell.judged_steps import failed_steps, passed_steps
from agent_wiki.shell.kinds import shell_kind
from agent_wiki.shell.past_failure import gets_past
from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.text import plain_line

_WITHIN_CALLS = 20
_DIAGNOSTIC = regex(r"^(?:\S{1,200}:\d+|error\b|E\s|\w+(?:Error|Exception):)|\berror\b.{0,20}: ")
_QUOTED = written("quoted_name")
_SETTINGS = written("settings_file")
_OF_CONTENT = regex(r"test|fixture|locale|i18n|content|docs?[/\\]|openapi|lock", re.IGNORECASE)
_TELLS = written("tells_what_to_do")
_OWNER = regex(r"^\s*([\w-]{2,60})\s*=\s*\{|^\s*\[[\w.-]{0,40}dependencies\.([\w-]{2,60})\]", re.MULTILINE)
# A comment that makes a linter pass over a line: the rule was not met.
_SUPPRESSED = regex(r"\b(?:nolint|noqa|type: ?ignore|NOSONAR|\w+-(?:disable|ignore)|\w+:\s?disable)|@ts-|#!?\[allow\(")
_NO_RULES = named("no_rules")
_KINDS = {"md": "Markdown", "py": "Python", "go": "Go", "ts": "TypeScript", "tsx": "TypeScript", "js": "JavaScript",
          "rs": "Rust", "sh": "shell", "yml": "YAML", "yaml": "YAML", "css": "CSS", "sql": "SQL"}  # fmt: skip
_PLAIN = regex(r"[A-Z]?[a-z',()-]+[.;]?|[A-Z]{2,5}|\d{1,3}|,")
_OF_CODE = regex(r"(?<!\w)'[a-z][\w.-]*'")  # a name that a message quotes
_SIGN = regex(r"`(?:\W|&#?\w{1,8};)`")  # a character, as itself or as HTML writes it
_WORDS = regex(r"[A-Za-z][\w.@-]{2,40}\w")
_PATHS = regex(r"\S*[/\\]\S*")
_COMMIT = ("git", "commit")  # which its hooks check
_FIXES = regex(r"\s--(?:fix|write|unsafe-fixes|apply)\b|\b(?:lint[:-]fix|format|fmt)\b")
_FIXABLE = regex(r"\bfixable\b|\[\*\]")
_FILE = regex(r"\S{1,200}?\.(\w{1,4})(?=[:(\s])")
_LONGEST_LINE = 60
_MOST_RULES = 2  # that a check names: of many, one does not say what made it pass
_MOST_EDITS = 3  # more are a search for what meets it
_MOST_OUTPUT = 8_000


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
        if failed.verdict == "failed" and (configured := _configured(session, failed)):
            found += configured
            continue
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


def _configured(session: MinedSession, failed: Attempt) -> list[Lesson]:
    """A diagnostic misses a name, an edit puts it into a file of settings; the check passes, or gets past it.

    Where the diagnostic tells what to set, its text is all that one needs.
    """
    wanted = next((step for step in failed_steps(failed.ended) if shell_kind(step) != "look"), None)
    if wanted is None:
        return []
    output = f"{failed.output[:_MOST_OUTPUT]}\n{failed.output[_MOST_OUTPUT:][-_MOST_OUTPUT:]}"
    lines = [line for line in output.splitlines() if len(line) <= 400 and _DIAGNOSTIC.search(line)]
    for later in session.attempts_after(failed, _WITHIN_CALLS):
        steps = [*passed_steps(later.ended), *(failed_steps(later.ended) if gets_past(later.ended, lines) else ())]
        if not any(is_same_check(wanted, step) for step in steps):
            continue
        edits = session.edits_between(failed.position, later.position)
        parts = [(edit, part) for edit in edits for part in edited_parts(edit)]
        for edit, (path, old, new) in parts:
            if _SETTINGS.search(path) and not _OF_CONTENT.search(path):
                mended = _Mended(failed, later, wanted, (edit,))
                part = (re.split(r"[/\\]", path)[-1], old, new)
                missed = [line for line in lines if not _TELLS.search(line)]
                return _named_setting(session, mended, missed, part)
        return []
    return []


def _named_setting(
    session: MinedSession, mended: _Mended, lines: list[str], part: tuple[str, str, str]
) -> list[Lesson]:
    file, old, new = part
    for line in lines:
        for word in sorted((_named(line) | _specific(line)) & added_names(old, new)):
            message = _without_place(line)
            name = error_name(message, session)
            if name is None or len(word) < 4 or generalize(word, session.trajectory) != word:
                continue
            before, after = _line_with(old, new, word)
            what = f"Write `{after}` instead of `{before}` in " if before else f"Add `{word}` to {_owner(new, word)}"
            as_written = f" There it reads `{after}`." if after and not before else ""
            wording = Wording(
                "diagnostics/named-setting",
                f"{'Set' if before else 'Add'} {word} {'in' if before else 'to'} {file}",
                f"{what}`{file}` when `{mended.head}` stops with `{name}`.{as_written}",
                f"`{mended.head}` stops with `{name}`.",
                (tag(word, "name"), tag(file), tag(mended.wanted.program)),
            )
            rationale = f"`{mended.head}` stopped with `{plain_line(message, 160)}`; with `{word}` in `{file}` no more."
            return _lesson(session, mended, wording, rationale, (line.strip(), word), 71)
    return []


def _owner(new: str, word: str) -> str:
    """The library whose features the word joins, as the settings name it."""
    before = new[: new.find(word)]
    owners = _OWNER.findall(before) if "features" in before else []
    return f"the features of `{next(filter(None, owners[-1]))}` in " if owners else ""


def _line_with(old: str, new: str, word: str) -> tuple[str, str]:
    """The line that holds the word, where it is short, and the one in its place before where only a value changed."""
    after = next((each.strip().rstrip(",") for each in new.splitlines() if word in each), "")
    if not 0 < len(after) <= 120 or re.search(r"[/\\`]", after) or after.strip("'\"") == word:
        return "", ""
    key = after.partition(":")[0]
    before = [
        each.strip().rstrip(",") for each in old.splitlines() if ":" in after and each.strip().startswith(f"{key}:")
    ]
    return (before[0] if len(before) == 1 and "[" not in after else ""), after


def _without_place(line: str) -> str:
    """A diagnostic's code and message, without the file and the tool's own marks."""
    bare = re.sub(r"^(?:\S{1,200}?(?::\d+(?::\d+)?|\(\d+,\d+\)):? )?(?:- )?(?:error\[?)?(?:: )?", "", line.strip())
    return bare.replace("`", "'").replace("]:", ":").strip()


def _named(line: str) -> set[str]:
    """The names in a diagnostic, each also without what it is called on."""
    found = {name for match in _QUOTED.findall(line) for name in match if name}
    return found | {name.rpartition(".")[2] for name in found}


def _specific(line: str) -> set[str]:
    """The words of a diagnostic that are no English: with a digit, a sign or a capital letter within."""
    return {
        word for word in _WORDS.findall(_PATHS.sub(" ", line)) if re.search(r"[a-z][A-Z]|[A-Za-z]\d|\w[._-]\w", word)
    }


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
