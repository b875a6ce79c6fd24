"""What the agent did: each call of a trajectory with what it was for and what came of it.

The view that the parts of a summary share. Tools differ from harness to harness; what they are for does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_wiki.engines.offline.commands import is_inline_script, script_of, shell_kind
from agent_wiki.engines.offline.tools import Kind, tool_kind
from agent_wiki.engines.offline.verdicts import Verdict, check_verdict, diagnostics_verdict, last_line
from agent_wiki.shell.simple_commands import ShellKind, SimpleCommand, simple_commands
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call, paired_calls

_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,300})$", re.MULTILINE)
_STILL_RUNNING = re.compile(r"Process running with session ID (\d+)")
_RANK: tuple[ShellKind, ...] = ("ship", "revert", "check", "edit", "delete", "run", "look")
_PREPARING = frozenset({"cd", "echo", "for", "pwd", "export", "set", "sleep"})
_CHAIN_TAIL = frozenset(
    {"tail", "head", "grep", "tee", "cat", "echo", "true", "wc", "sort", "sleep", "cd"}
)  # fmt: skip


@dataclass(slots=True)
class Act:
    """One call. `edits`: files it changed, as the call names them; `commands`: of a shell call.

    `verdict` stands on checks and probes (a script of the session's own, run to see).
    """

    call: Call
    kind: Kind
    edits: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    commands: tuple[SimpleCommand, ...] = ()
    kinds: tuple[ShellKind, ...] = ()  # of the commands
    verdict: Verdict | None = None

    @property
    def turn(self) -> int:
        """The turn of the call."""
        return self.call.turn

    @property
    def end(self) -> int:
        """The turn of the result, or of the call when there is no result."""
        return self.call.result_turn or self.call.turn

    @property
    def was_refused(self) -> bool:
        """The user did not let it happen."""
        return self.call.mark == "rejected"

    @property
    def has_worked(self) -> bool:
        """It has a result, and neither the recording nor a check's text says that it failed."""
        is_fine = self.call.result is not None and self.call.mark is None and not self.call.is_error
        return is_fine and (self.verdict is None or self.verdict.passed is not False)

    @property
    def has_failed(self) -> bool:
        """It failed by its own fault: not refused, not called off."""
        return self.call.has_failed() or (self.verdict is not None and self.verdict.passed is False)


def acts_of(trajectory: Trajectory) -> list[Act]:
    """Every call of `trajectory` in recorded order, told apart by what it was for."""
    written: set[str] = set()
    failed_probes: dict[str, frozenset[str]] = {}
    running: dict[str, Act] = {}
    acts: list[Act] = []
    for call in paired_calls(trajectory):
        act = _act(call)
        started = running.get(str(call.arguments.get("session_id")))
        if started is not None and call.name == "write_stdin":
            # The rest of a command that was still running.
            act = Act(call, started.kind, commands=started.commands, kinds=started.kinds)
        written.update(bare_name(path) for path in act.edits)
        if act.kind in ("run", "edit") and _runs_own_script(act, written):
            act.kind = "probe"
        if act.kind in ("check", "probe") and call.result is not None and call.mark is None:
            act.verdict = _verdict(act, failed_probes)
        session = _STILL_RUNNING.search((call.result or "")[:400])
        if session is not None:
            running[session.group(1)] = act
        acts.append(act)
    return acts


def _verdict(act: Act, failed_probes: dict[str, frozenset[str]]) -> Verdict:
    """A check's verdict. A script of the session's own shows success only after it had shown the failure."""
    command, result = act.call.command(), act.call.result or ""
    if not act.commands and act.kind == "check":
        return diagnostics_verdict(result, act.call.is_error)
    prints_code = command is not None and ("$?" in command or "PIPESTATUS" in command)
    verdict = check_verdict(result, act.call.is_error, prints_code=prints_code)
    if act.kind == "check":
        return verdict
    is_inline = any(is_inline_script(each) for each in act.commands)
    if verdict.passed is False:
        failed_probes[check_key(act)] = _code_lines(act) if is_inline else frozenset()
        return Verdict(None) if is_inline else verdict
    if not _had_failed(act, failed_probes):
        return Verdict(None)
    return Verdict(verdict.passed, last_line(result) or verdict.line) if verdict.passed else verdict


def _had_failed(act: Act, failed_probes: dict[str, frozenset[str]]) -> bool:
    """The same script had failed before, or an inline one that shares half of its lines with this one."""
    if check_key(act) in failed_probes:
        return True
    lines = _code_lines(act)
    return any(old and 2 * len(old & lines) >= len(old) and len(old & lines) > 2 for old in failed_probes.values())


def _code_lines(act: Act) -> frozenset[str]:
    """The lines of inline code that say something."""
    code = "\n".join(each.body or each.text() for each in act.commands if is_inline_script(each))
    return frozenset(line.strip() for line in code[:8_000].splitlines() if len(line.strip()) > 8)


def _act(call: Call) -> Act:
    command = call.command()
    if command is not None:
        return _shell_act(call, command)
    kind = tool_kind(call)
    if kind != "edit":
        return Act(call, kind)
    path = call.path()
    edits = (path,) if path else tuple(_PATCHED.findall(_patch_text(call)))
    return Act(call, kind, edits=edits if call.mark is None and not call.is_error else ())


def bare_name(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rpartition("/")[2]


def _patch_text(call: Call) -> str:
    return next((value for value in call.arguments.values() if isinstance(value, str)), "")[:200_000]


def _shell_act(call: Call, command: str) -> Act:
    commands = tuple(simple_commands(command))
    kinds = tuple(shell_kind(each) for each in commands)
    kind: Kind = next((rank for rank in _RANK if rank in kinds), "look")
    if kind == "revert" and "stash pop" in command:
        kind = "run"  # put aside for a look at the base and taken back: nothing is undone, no check of the work
    did_happen = call.mark is None and not call.is_error
    pairs = list(zip(commands, kinds, strict=True))
    edits = [path for each, of in pairs if of in ("edit", "check", "run") for path in _edited(each)]
    if "*** Begin Patch" in command:
        edits += _PATCHED.findall(command)
        kind = "edit" if kind in ("look", "run") else kind
    deletes = [word for each, of in pairs if of == "delete" for word in each.words[1:] if not word.startswith("-")]
    return Act(call, kind, tuple(edits) if did_happen else (), tuple(deletes) if did_happen else (), commands, kinds)


def _edited(command: SimpleCommand) -> list[str]:
    """The files a shell command changed, as far as its words tell."""
    files = [path for path in command.writes if not path.startswith(("/dev/", "$"))]
    words = [word for word in command.words[1:] if not word.startswith("-")]
    if command.program in ("sed", "perl") and len(words) > 1 and shell_kind(command) == "edit":
        files += words[1:]
    elif command.program in ("tee", "touch"):
        files += words
    elif command.program in ("mv", "cp", "install") and len(words) > 1:
        files.append(words[-1])
    return [path for path in files if path not in (".", "..") and "\n" not in path and not path.startswith("$")]


def _runs_own_script(act: Act, written: set[str]) -> bool:
    if any(bare_name(script) in written for each in act.commands if (script := script_of(each))):
        return True
    return act.kind == "run" and any(is_inline_script(each) for each in act.commands)


def main_command(act: Act) -> SimpleCommand | None:
    """The command of a shell call that it was made for."""
    wanted = {"probe": "run"}.get(act.kind, act.kind)
    fitting = [each for each, kind in zip(act.commands, act.kinds, strict=True) if kind == wanted and each.words]
    if not fitting:
        fitting = [each for each in act.commands if each.words and each.program != "for"]
    if act.kind == "look":
        return next((each for each in fitting if each.program not in _PREPARING), fitting[0] if fitting else None)
    return fitting[-1] if act.kind == "ship" and fitting else next(iter(fitting), None)


def check_key(act: Act) -> str:
    """What makes two checks the same check: their commands without pipes to shorten the output."""
    parts = [each.text() + each.body for each in act.commands if each.program not in _CHAIN_TAIL and each.words]
    return " && ".join(parts)[:2_000] if parts else act.call.name


def distinct(names: Sequence[str]) -> list[str]:
    """Names in first-seen order, each once, empty ones left out."""
    return [name for name in dict.fromkeys(names) if name]
