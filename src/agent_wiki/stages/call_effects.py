"""What a call does, and what two calls or steps have in common, as far as the cause of a lesson goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from agent_wiki.shell.files_written import TEMPORARY, bare_name, edits_of
from agent_wiki.shell.judged_steps import called_steps, failed_steps, passed_steps
from agent_wiki.shell.kinds import is_inline_script, script_of, shell_kind
from agent_wiki.shell.programs import LOOKERS
from agent_wiki.shell.result_lines import shows_failure
from agent_wiki.shell.same_check import check_run
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.tools import is_escalated, tool_kind
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

TOKEN = regex(r"[\w@./:=+-]{3,}")
_PLAIN_WORD = regex(r"[A-Za-z]+")
CHANGING = frozenset({"edit", "delete", "revert", "run", "ship"})
MISSING = regex(
    r"not found|No module named|cannot import name|not recognized|No such file|cannot be loaded|unrecognized subcommand"
    r"|Could not find a version that|Unable to locate package|No matching distribution"
    r"|^(?:Error: )?Exit code:? 49$"  # of the stub that stands for Python on Windows
)
_IMPORTED = regex(r"\bfrom [\w.]{1,80} import (\w{1,60})")
_ACTS = regex(
    r"writ|save|open\(|dump|subprocess|system|\bos\.|shutil|pathlib|unlink|remove|delete|mkdir|rename|install|update"
    r"|insert|connect|post\(|put\(|fs\.|exec|spawn|migrate|call_command",
    re.IGNORECASE,
)
_MAKING = frozenset({"mkdir", "chmod"})
"""Programs that change little, and count as a look elsewhere."""
_NUMBERS = regex(r"0x[0-9a-f]+|\d+")
_FEWEST_LINES = 2
_WORD = regex(r"[^\s;&|\"']+")
_LEAST_SHARED, _LONG_OPTION, _MOST_OF_LINE = 0.5, 16, 10_000  # characters: such an option is a text
_VERSION = regex(r"[\d.]+(?:\.exe)?$|\.(?:exe|cmd)$", re.IGNORECASE)
_HIDES = regex(r"(?:2|&)> ?/dev/null|\|\| ?true\b")
_DOES_MORE = regex(
    r"\b(?:(?:uv )?pip3? install|(?:npm|pnpm|yarn|bun) (?:ci|i|install|add)|apt(?:-get)? install|brew install"
    r"|pod install|mise install|cargo install|go (?:get|install)|winget install|choco install|prisma generate"
    r"|git reset --hard|git checkout -- |git restore|rm -rf?|xcode-select -s)(?!\S)"
    r"|\bcurl\b[^\n;&|]{1,200}\| ?(?:ba|z)?sh\b"
)
_BESIDE_THE_JOB = regex(
    r"\bcd [^;&|\n]{1,300}(?:&&|;|$)|\d?>{1,2} ?(?:&\d|/dev/null)|\| ?(?:head|tail)\b[^|;&\n]{0,40}"
)
KEPT_BACK = regex(r"\A[^\n]{0,40}unchanged since (?:the )?last read")
"""The answer of a tool that has what it is asked for, and does not show it."""
_SHOWING = frozenset({"cat", "head", "tail", "sed", "nl", "less", "more", "bat", "strings", "jq", "awk"})
_OF_SKILLS = regex(r"skill", re.IGNORECASE)


def new_words(call: Call) -> set[str]:
    """The words of a call; of an edit those that it put in."""
    edits = list(edits_of(call.arguments))
    if not edits:
        return set(TOKEN.findall(call.raw_arguments[:20_000]))
    gone = {word for old, _, _ in edits for word in TOKEN.findall(old[:20_000])}
    return {word for _, new, _ in edits for word in TOKEN.findall(new[:20_000])} - gone


def asked_in(call: Call) -> Call:
    """The call with the command, of one that only reads on what it prints."""
    return call.continues or call


def has_run(call: Call) -> bool:
    """A check that reports what is wrong is there, and runs."""
    line = verdict_of(call).line
    return verdict_of(call).has_failed and shows_failure(line) and MISSING.search(line) is None


def is_same_job(missing: SimpleCommand, other: SimpleCommand) -> bool:
    """Another program on the same things, in place of one that is not there; for a folder, by its whole path."""
    if missing.words[:1] == ("cd",) == other.words[:1]:
        return other.words[-1].replace("\\", "/").endswith(f"/{missing.words[-1].strip('/')}")
    things, others = (
        {bare_name(word) for word in words if not word.startswith("-")} - {""}
        for words in (missing.words[1:], other.words)
    )
    imported = set(_IMPORTED.findall(missing.text() + missing.body)) & set(_IMPORTED.findall(other.text() + other.body))
    is_check = shell_kind(missing) == "check" == shell_kind(other)
    return bool(things & others or imported) or is_check or _has_same_code(missing.body, other.body)


def _has_same_code(one: str, other: str) -> bool:
    """Most lines of inline code stand in the other code, too."""
    mine, theirs = ({line for line in map(str.strip, code.splitlines()) if line} for code in (one, other))
    return len(mine & theirs) >= max(_FEWEST_LINES, len(mine) / 2)


def shares_most(one: str, other: str) -> bool:
    """Whether half of a line's words after its program are in the other one: it may be that line, written otherwise.

    Where it runs, and how much of it is shown, says nothing of what it does.
    """
    words, others = (_WORD.findall(_BESIDE_THE_JOB.sub(" ", line[:_MOST_OF_LINE])) for line in (one, other))
    given = set(words[1:])
    return bool(given) and len(given & set(others)) >= _LEAST_SHARED * len(given)


def done_besides(line: str, other: str) -> list[str]:
    """What installs something or throws something away in a line, and not in the other: it may be why it works."""
    return [each for each in _DOES_MORE.findall(line) if each not in other]


def is_written_otherwise(one: SimpleCommand, other: SimpleCommand) -> bool:
    """Whether a command is another one in other words: of one program, with half of what the first was given.

    An option is no such thing, unless it is a text; nor is a command one whose errors are hidden.
    """
    if _HIDES.search(other.source) and not _HIDES.search(one.source):
        return False
    names = [_VERSION.sub("", bare_name(each.program).lower()) for each in (one, other)]
    given, others = (
        {
            word
            for word in _WORD.findall(" ".join([*each.words[1:], each.body]))
            if word[:1] != "-" or word[_LONG_OPTION:]
        }
        for each in (one, other)
    )
    is_most = len(given & others) >= _LEAST_SHARED * len(given) if given else one.words[1:] == other.words[1:]
    return names[0] == names[1] and is_most


def wanted_steps(event: Call) -> list[SimpleCommand]:
    """The steps that failed, of a folder that was not there what was to be done in it; where none failed, all."""
    failed = list(failed_steps(event)) or list(called_steps(event))
    behind = [step for step in called_steps(event) if step.program != "cd"]
    return behind if all(step.program == "cd" for step in failed) else failed


def is_same_tool(one: SimpleCommand, other: SimpleCommand) -> bool:
    """The same tool on some of the same things: what failed for its surroundings says nothing of the things."""
    mine, theirs = check_run(one), check_run(other)
    is_tool = mine.family.split()[:2] == theirs.family.split()[:2]
    return is_tool and (not mine.targets or bool(mine.targets & theirs.targets))


def doing(call: Call) -> list[SimpleCommand]:
    """The steps of a call that may change something."""
    return [step for step in called_steps(call) if shell_kind(step) != "look" or step.program in _MAKING]


def changes_something(call: Call) -> bool:
    """Whether a call may have changed what a later check looks at."""
    steps = called_steps(call)
    doing = [step for step in steps if not _only_asks(step)]
    is_change = any(shell_kind(step) in CHANGING or step.program in _MAKING for step in doing)
    return is_change if steps else tool_kind(call) in (*CHANGING, "service")


def only_records(call: Call) -> bool:
    """Whether a call only puts into git what is there: no file of the folder is another one after it."""
    changing = [step for step in called_steps(call) if shell_kind(step) in CHANGING]
    return bool(changing) and all(step.words[:2] in (("git", "add"), ("git", "commit")) for step in changing)


def _only_asks(step: SimpleCommand) -> bool:
    """Inline code that looks something up and prints it."""
    return is_inline_script(step) and not _ACTS.search(step.text() + step.body)


def is_scratch(call: Call, before: Sequence[Call], later: Call) -> bool:
    """Whether a call only writes or runs temporary files that change nothing else, and that `later` does not use.

    In: the calls before it, which may have written what it runs; the call whose pass is in question.
    """
    path = call.path()
    if path is not None and tool_kind(call) == "edit":
        return _is_unused(path, later)
    steps = [step for step in called_steps(call) if shell_kind(step) in CHANGING and not _only_asks(step)]
    return bool(steps) and all(_is_scratch_step(step, before, later) for step in steps)


def _is_scratch_step(step: SimpleCommand, before: Sequence[Call], later: Call) -> bool:
    script = script_of(step)
    if script is None:
        return bool(step.writes) and step.program in LOOKERS and all(_is_unused(path, later) for path in step.writes)
    written = [call.raw_arguments for call in before if script in call.raw_arguments]
    is_known = any(call.path() == script or f"> {script}" in (call.command() or "") for call in before)
    return is_known and _is_unused(script, later) and not any(map(_ACTS.search, written))


def _is_unused(path: str, later: Call) -> bool:
    return path.startswith(TEMPORARY) and path not in later.raw_arguments


def is_specific(token: str) -> bool:
    """A name, a flag, a path: not a word of the language, not a number."""
    return len(token) > 4 and not token.isdigit() and (not _PLAIN_WORD.fullmatch(token) or not token.islower())


def comparable(line: str) -> str:
    """A line without its numbers, which differ from run to run."""
    return _NUMBERS.sub("0", line.strip())


def is_old_form(event: Call, again: Call, confirmed: Sequence[Call]) -> bool:
    """The agent forgot the remedy: it runs by the old name or with the refused word again, or in the sandbox.

    `confirmed` are the calls that are the remedy of `event` and its confirmation at once.
    """
    failed = {step.words[:1] for step in failed_steps(event)}
    names = {step.words[:1] for call in confirmed for step in passed_steps(call)}
    programs = {step.program for step in failed_steps(event)}
    passed = [*chain.from_iterable(map(passed_steps, confirmed))]
    again_run = [step for step in passed if step.program in programs] or passed  # and not what stands beside it
    added = {word for step in again_run for word in (*step.environment, *step.words)}
    added -= {word for step in failed_steps(event) for word in (*step.environment, *step.words)}
    said = {word for step in called_steps(again) for word in (*step.environment, *step.words)}
    if added and not added & said and event.name == again.name:
        return True  # what helped was left out again
    kept = {word for call in confirmed for step in called_steps(call) for word in step.words}
    refused = {word for step in failed_steps(event) for word in step.words} - kept
    if confirmed and refused & said & {word.strip("`'\"“”‘’.,:;()") for word in verdict_of(event).line.split()}:
        return True
    is_old_name = bool(names) and not failed & names and {step.words[:1] for step in failed_steps(again)} <= failed
    return is_old_name or (any(map(is_escalated, confirmed)) and not is_escalated(again))


def is_made_again(called_off: Call, later: Call) -> bool:
    """Whether a call that was called off is made again in a later reply, and works."""
    is_same = called_off.name == later.name and called_off.raw_arguments == later.raw_arguments
    is_later = later.turn > called_off.turn and later.result is not None and later.mark is None
    return is_same and is_later and verdict_of(later).state in ("passed", "unknown")


def asked_thing(call: Call) -> str:
    """The file that a call is to show, or the name of the skill that it is to load; empty for other calls."""
    if tool_kind(call) == "look":
        return call.path() or ""
    names = [value for value in call.arguments.values() if isinstance(value, str)]
    return names[0] if names and _OF_SKILLS.search(call.name) and re.fullmatch(r"[\w.:-]{3,60}", names[0]) else ""


def gives_the_same(refused: Call, later: Call) -> bool:
    """Whether another tool shows what one did not: a file by its path, a skill by a file in the folder of its name."""
    thing = asked_thing(refused)
    if not thing or later.name == refused.name or not (later.result or "").strip():
        return False
    if called_steps(later):
        return any(thing in step.words and step.program in _SHOWING for step in passed_steps(later))
    path = later.path() or ""
    is_of_skill = re.search(rf"[/\\]{re.escape(thing)}[/\\][\w-]{{1,40}}\.\w{{1,5}}$", path) is not None
    return tool_kind(later) == "look" and (path == thing or is_of_skill)
