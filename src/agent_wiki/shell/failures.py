"""Whether the text of a tool result says that the call failed, for formats that record no flag.

Evidence, the strongest first:

1. an exit code that the harness states on a line of its own, above or below the output;
2. a result that is one JSON object with an outcome field (`success`, `error`, `status`);
3. how the output opens and how it ends: a program prints its error first or last, a quoted one is in between.

Where the command is known, it decides how much the text can show: a program that only prints its input may print
any error, and a search that prints nothing found nothing. Only the first and last `_WINDOW` characters are looked
at, so that a long result costs no more than a short one.
"""

from __future__ import annotations

import re

from agent_wiki.shell.last_step import last_step
from agent_wiki.shell.programs import READERS, SEARCHES
from agent_wiki.trajectory.calls import SENT_TO_BACKGROUND
from agent_wiki.trajectory.json_text import value_or
from agent_wiki.trajectory.lazily import regex

_WINDOW = 2000
_HEADER_LINES = 8  # a harness adds its own text within this many lines of either end
_FOOTER_LINES = 5
_CLOSING_LINES = 4  # a program's verdict is within this many last lines
_LONGEST_JSON = 50_000
_CLOSING_LINES_APART = 2  # fewer where they may be those of an earlier command
_REFUSAL_LINES = 2  # a refusal in plain words is the whole result
_LONGEST_LINE = 400

_STATED_CODE = regex(
    r"""[ \t]*(?:<system>)?[\[<(]?(?:Error:[ ])?
    (?:(?:The[ ])?(?:command|process|script|program)[ ](?:[a-z]{1,20}[ ]){1,3}|exited[ ]with[ ])?
    (?:exit[ _]?code|exit[ ]status|return[ _]?code|(?<=with[ ])code|rc(?==)|(?<=\[)exit(?=[ ]-?\d{1,3}\]))
    [ ]?[:=>]?[ ]?(-?\d{1,10})
    (?:</returncode>)?[.)\]>]{0,2}(?:</system>)?(?:[ ]\([^()\n]{0,60}\))?[ \t\r]*""",
    re.IGNORECASE | re.VERBOSE,
)
_JSON_CODE = regex(r'(?<!\\)"(?:exit_?code|return_?code)"\s?:\s?(-?\d{1,10})', re.IGNORECASE, needs=('code"',))
_HARNESS_LINE = regex(
    r"(?:Chunk ID|Wall time|Original token count|Total output lines|Command|Directory|Signal|Background PIDs"
    r"|Process Group PGID): .*|(?:Process running with session|Script running with cell) ID \d+"
    r"|</?(?:untrusted_context|output)>|Error: \(none\)"
    r"|\(empty\)"
)
_OUTPUT_MARK = regex(r"(?:Output|Code output):[ \t]*")

_SHELL_SPEAKS = (
    r"(?:/\S{1,60}/)?(?:ba|z|da|k)?sh:[ ]|(?:zsh|\(eval\)):(?:cd:)?\d{1,6}:[ ]"
    r"|cd:[ ]no[ ]such[ ]file[ ]or[ ]directory:[ ]"
)
_OPENING = regex(
    rf"""{_SHELL_SPEAKS}
    |<(?:tool_use_)?error>
    |\[?(?:[A-Z][a-z]{{1,20}}){{0,3}}(?:Error|Exception)(?:[ ][\w'"(]\S{{0,60}}){{0,8}}?[ ]?(?::|\]|!|$)
    |(?:error|fatal|panic|ERROR)(?:\[\w{{1,10}}\])?:[ ]
    |E[A-Z]{{4,11}}:[ ]  # errno names as Node prints them: ENOENT, EISDIR
    |Traceback[ ]\(most[ ]recent[ ]call[ ]last\):
    |(?:Request|Command|Tool|Execution)[ ](?:execution[ ])?(?:failed|timed[ ]out|aborted)\b
    |InputValidationError\b|No[ ]such[ ]tool\b|Permission[ ]to[ ]use[ ]\w
    # editors and readers of several harnesses
    |apply_patch[ ]verification[ ]failed|Your[ ]proposed[ ]edit[ ]has[ ]introduced|No[ ]replacement[ ]was[ ]performed
    |String[ ]to[ ]replace[ ]not[ ]found|The[ ]string[ ]to[ ]replace[ ]was[ ]not[ ]found
    |The[ ]model[ ]provided[ ]an[ ]ambiguous[ ]search[ ]string|Could[ ]not[ ]find[ ]file[ ]|Incorrect[ ]tool[ ]arguments
    |Found[ ]\d{{1,6}}[ ]matches[ ]of[ ]the[ ]string
    |File[ ](?:does[ ]not[ ]exist|not[ ]found|has[ ]not[ ]been[ ]read|has[ ]been[ ](?:unexpectedly[ ])?modified[ ]since
        |content[ ]\([^)\n]{{0,40}}\)[ ]exceeds)
    |(?:Path|Directory)[ ]does[ ]not[ ]exist""",
    re.VERBOSE,
)
_REFUSAL = regex(
    r"(?:failed|unable) to\b|(?:cannot|can't|could not|couldn't)\b|invalid\b|unsupported\b|no such \w"
    r"|(?:permission|access) denied|unknown (?:[\w-]{1,40} ){0,2}[\w-]{1,40}:|\w{1,40} requested permissions to\b",
    re.IGNORECASE,
)
_SYSTEM_MESSAGE = regex(
    rf"(?:{_SHELL_SPEAKS}).+|[\w./+-]{{1,80}}: .{{0,300}}(?:No such file or directory|Permission denied"
    r"|Is a directory|Not a directory|command not found|No module named \S{1,80})\.?"
)
_CLOSING = regex(
    r"""(?:error|fatal|Error|ERROR)(?:\[\w{1,10}\])?:[ ]\S.*
    |exit[ ]status[ ][1-9]\d*|Segmentation[ ]fault.*|.*\(core[ ]dumped\)|Killed|Aborted!?
    |Automatic[ ]merge[ ]failed.*|make(?:\[\d+\])?:[ ]\*\*\*.*|npm[ ](?:ERR!|error).*|Node\.js[ ]v\d\S*
    |curl:[ ]\(\d+\)[ ].*
    # test runners, compilers and linters that end on their verdict
    |FAIL(?:[ \t]\S.*)?|FAILED(?:[ ]\(.*\))?|BUILD[ ]FAILED.*|test[ ]result:[ ]FAILED.*|.*\bERROR[ ]task[ ]failed
    |=+[ ].*\b[1-9]\d*[ ](?:failed|errors?)\b.*|Tests?:[ ]{1,8}[1-9]\d*[ ]failed.*|[ ]{0,4}[1-9]\d*[ ]failing
    |(?:Found[ ])?[1-9]\d*[ ](?:errors?|issues)\b.{0,80}|[✖✕×][ ][1-9]\d*[ ]problems?.*|.*\berror[ ]TS\d+:.*""",
    re.VERBOSE,
)
_TRACEBACK = "Traceback (most recent call last):"
_EXCEPTION = regex(r"(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Za-z_]\w{0,60}(?::.*)?")

_NUMBERED_LISTING = regex(r"[ \t]{0,8}\d{1,7}(?:→|\t|\||:)|\[File: |diff --git ")
_RUNNING_TOOL = regex(r"bash|shell|exec|run|terminal|python|command|stdin|cmd|code|computer", re.IGNORECASE)


# What a call gave to a variable; what OpenHands heads with the name of its tool.
_ERROR_HELD = regex(r"(?:# )?\w{1,40} = [\"']Error: |EXECUTION RESULT of \[\w{1,40}\]:\s{0,9}ERROR:\n")
# PowerShell, in any language, of a line that it could not read: nothing of it has run.
_UNREAD = regex(
    r"ParserError\b.{0,400}FullyQualifiedErrorId ?: ?\w+\s*\Z|FullyQualifiedErrorId ?: ?InvalidEndOfLine\b"
    r"|'(?:&&|\|\|)' is not a valid statement separator in this version"
    r"|(?:ParserError|Line \|).{0,1200}Missing file specification after redirection operator",
    re.DOTALL,
    needs=("ParserError", "valid statement separator", "InvalidEndOfLine", "Missing file specification"),
)
# A terminal shows what was typed into it behind its prompt, and the next prompt.
_PROMPT = regex(r"[^\n]{0,200}[%$>#] ?")

# Claude Code numbers the results of its shell, and states the exit code of what failed, and only of that.
_MARKED_RESULT = regex(r"\[(?:rerun: b|result-id: r)\d{1,6}\]$")
# A harness that returns before a long command ends: the outcome is not known yet.
_STILL_RUNS = regex(
    r"(?m)^(?:(?:Process running with session|Script running with cell) ID \d+"
    rf"|{SENT_TO_BACKGROUND})"
)

_COMMITTED = regex(r"\[[^\]\n]{1,100} [0-9a-f]{7,40}\] ")  # what git prints of a commit that it made
# What harnesses write for an output that is empty, of commands that ended with success alone.
_WENT_WELL = regex(
    r"\(Bash completed with no output\)|Your command ran successfully and did not produce any output\.?"
    r"|(?:<system>)?Tool ran without output or errors(?:</system>)?"
)


def unread_by_powershell(output: str) -> re.Match[str] | None:
    """The complaint of PowerShell, at the end of what was printed, of a line that it could not read; else None."""
    return _UNREAD.search(output[-_WINDOW:].rstrip())


def text_failure(content: str, tool_name: str | None = None, command: str | None = None) -> bool | None:
    """Whether a tool result reads as a failure.

    In: the result's text; where known the tool's name and, of a shell, the command line. Out: True when the text
    shows a failure, False when it shows success, None when it shows neither. Raises nothing.
    """
    content = content.rstrip()
    head, tail = content[:_WINDOW].strip(), content[-_WINDOW:].strip()
    if _STILL_RUNS.search(head):
        return None
    stated = _stated_failure(head, tail, has_own_code=command is not None and "$?" in command)
    if stated is not None:
        return stated
    if command is None and _ERROR_HELD.match(head):
        return True
    if command is None and head.startswith("{"):
        return _json_failure(content)
    is_whole = len(content) <= _WINDOW
    first = _output_lines(head)
    last = first if is_whole else _output_lines(tail)
    if command is not None:
        if is_unread(content):
            return True
        shown = _command_failure(first, last, command, is_whole=is_whole)
        return False if shown is None and _MARKED_RESULT.search(tail) else shown
    if not first:
        return None
    if _opens_with_failure(first, is_whole=is_whole):
        return True
    if _NUMBERED_LISTING.match(first[0]) or (tool_name is not None and not _RUNNING_TOOL.search(tool_name)):
        return None
    return True if _closes_with_failure(first, last, _CLOSING_LINES) else None


def is_unread(output: str) -> bool:
    """Whether PowerShell could not read a command line, by the error's name in any language: nothing of it has run."""
    return unread_by_powershell(output) is not None


def _command_failure(first: list[str], last: list[str], command: str, *, is_whole: bool) -> bool | None:
    """The same for a shell, where the program that ran last decides."""
    first, last = (_without_prompts(lines, command) for lines in (first, last))
    step = last_step(command)
    program = step.program if step else ""
    if not first:
        return True if program in SEARCHES and not last else None
    last = last or first  # a long end may be nothing but the harness's own lines
    if program in READERS:
        return True if _complains(program, (first[0], last[-1])) else None
    if program == "git commit" and any(map(_COMMITTED.match, (*first, *last))):
        return False  # whatever the shell said of names in backticks in the message
    closing_lines = _CLOSING_LINES_APART if step and step.is_apart else _CLOSING_LINES
    has_failed = _opens_with_failure(first, is_whole=is_whole) or _closes_with_failure(first, last, closing_lines)
    return True if has_failed else None


def _without_prompts(lines: list[str], command: str) -> list[str]:
    """Lines without those of a terminal that begin with its prompt: the command itself, and nothing."""
    typed = command.strip().partition("\n")[0]
    begins = bool(lines) and len(lines[0]) > len(typed) and lines[0].endswith(typed) and bool(typed)
    lines = lines[1:] if begins and _PROMPT.fullmatch(lines[0].removesuffix(typed)) else lines
    return lines[:-1] if begins and lines and _PROMPT.fullmatch(lines[-1]) else lines


def _output_lines(text: str) -> list[str]:
    """The lines of an output that are not blank and not the harness's own."""
    lines = [line.strip() for line in text.split("\n")]
    if "utput:" in text:  # to look into each line takes long
        lines = [_OUTPUT_MARK.sub("", line) for line in lines]
    return [line for line in lines if line and not _HARNESS_LINE.fullmatch(line)]


def _stated_failure(head: str, tail: str, *, has_own_code: bool) -> bool | None:
    """Whether an exit code on a line of its own says failure; below the output only if no `$?` printed it."""
    if _WENT_WELL.fullmatch(head):
        return False
    for line in head.split("\n", _HEADER_LINES)[:_HEADER_LINES]:
        match = _STATED_CODE.fullmatch(line[:200])
        if match:
            return int(match.group(1)) != 0
        if not _HARNESS_LINE.fullmatch(line):
            break
    for line in [] if has_own_code else reversed(tail.rsplit("\n", _FOOTER_LINES)[-_FOOTER_LINES:]):
        match = _STATED_CODE.fullmatch(line[:200])
        if match:
            return int(match.group(1)) != 0
    if head.startswith("{") and tail.endswith("}"):
        match = _JSON_CODE.search(tail) or _JSON_CODE.search(head)
        if match:
            return int(match.group(1)) != 0
    return None


def _json_failure(content: str) -> bool | None:
    """The outcome field of a result that is one JSON object; a long object is data, not an outcome."""
    if len(content) > _LONGEST_JSON:
        return None
    record = value_or(content, None)
    if not isinstance(record, dict):
        return None
    fields = {str(name).lower(): value for name, value in record.items()}
    for name, failing in (("success", False), ("ok", False), ("is_error", True), ("iserror", True)):
        if isinstance(fields.get(name), bool):
            return bool(fields[name] is failing)
    status = str(fields.get("status")).lower()
    if fields.get("error") or status in ("error", "failed", "failure"):
        return True
    return False if status in ("success", "ok") else None


def _complains(program: str, lines: tuple[str, str]) -> bool:
    """A program that prints files failed if an error message has its name (`cat: x: No such file`)."""
    complaint = re.compile(rf"{_SHELL_SPEAKS}|(?:/\S{{1,60}}/)?{re.escape(program.split()[0])}: |fatal: ")
    return any(complaint.match(line) for line in lines)


def _opens_with_failure(lines: list[str], *, is_whole: bool) -> bool:
    line = lines[0][:_LONGEST_LINE]
    if _OPENING.match(line):
        return True
    is_all = is_whole and len(lines) <= _REFUSAL_LINES
    return is_all and bool(_REFUSAL.match(line) or _SYSTEM_MESSAGE.fullmatch(line))


def _closes_with_failure(first: list[str], last: list[str], closing_lines: int) -> bool:
    if any(_CLOSING.fullmatch(line[:_LONGEST_LINE]) for line in last[-closing_lines:]):
        return True
    line = last[-1][:_LONGEST_LINE]
    had_traceback = _TRACEBACK in first or _TRACEBACK in last
    return bool(_SYSTEM_MESSAGE.fullmatch(line) or (had_traceback and _EXCEPTION.fullmatch(line)))
