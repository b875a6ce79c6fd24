"""`wiki connect`: adds a pointer to the wiki where an agent reads it, and hooks; shows what is connected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_wiki.commands import completing
from agent_wiki.commands.hook import CallsADay, UsdADay
from agent_wiki.commands.show import print_answer, print_json, print_lines
from agent_wiki.commands.stages import AsJson, DryRun
from agent_wiki.errors import UsageError

if TYPE_CHECKING:
    from agent_wiki.harness.agents import Agent
    from agent_wiki.harness.connecting import ConnectionPlan
    from agent_wiki.harness.connections import Connection

AgentName = Annotated[
    str | None,
    typer.Argument(
        metavar="AGENT",
        help="claude-code, codex, gemini, qwen, opencode, copilot, cursor or agents-md.",
        show_default=False,
        autocompletion=completing.agents,
    ),
]
Folder = Annotated[Path, typer.Option("--dir", help="The project's folder.")]
Wiki = Annotated[
    Path | None,
    typer.Option("--wiki", help="The wiki to point at; it need not exist yet.", show_default="wiki, there or above"),
]
Allow = Annotated[
    bool, typer.Option("--allow", help="Also permit the agent to consult the wiki unasked, where that can be set.")
]
MineWith = Annotated[
    str,
    typer.Option(
        "--mine-with",
        metavar="ENGINE",
        help="Have the hooks ask a model about sessions that have ended: claude-code, codex, gemini or anthropic.",
        show_default="the embedded engine",
    ),
]
Remove = Annotated[bool, typer.Option("--remove", help="Remove all of it; everything else stays byte for byte.")]
All = Annotated[
    bool, typer.Option("--all", help="Every agent that the project shows signs of; with --remove, every agent.")
]
List = Annotated[bool, typer.Option("--list", help="Show what each agent supports and what is installed; no change.")]


def connect(
    agent: AgentName = None,
    folder: Folder = Path(),
    wiki: Wiki = None,
    allow: Allow = False,
    mine_with: MineWith = "",
    calls_a_day: CallsADay = None,
    usd_a_day: UsdADay = None,
    remove: Remove = False,
    every: All = False,
    listed: List = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Tell an agent to consult the wiki, in the files it reads: once, marked, removable.

    An agent gets a pointer in the file with its instructions (CLAUDE.md, AGENTS.md, GEMINI.md and the like) and, if it
    has hooks, hooks that run `wiki hook start` and `wiki hook stop`. agents-md: AGENTS.md alone, for any agent.
    """
    from agent_wiki.harness.connecting import wiki_of
    from agent_wiki.harness.project_files import carry_out
    from agent_wiki.wiki.store import WikiFolder

    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    if listed:
        if agent is not None or every or remove or allow:
            raise UsageError("connect: --list shows all agents; it takes only --dir and --json")
        _show_connections(folder, as_json=as_json)
        return
    if (agent is None) != every:
        needed = "name an agent, or use --all or --list" if agent is None else f"either {agent} or --all, not both"
        raise UsageError(f"connect: {needed}")
    signs = _signs(folder, is_removal=remove) if agent is None else {}
    names = [agent] if agent is not None else list(signs)
    mining = _mining_words(mine_with, calls_a_day, usd_a_day)
    target = wiki_of(folder, wiki)
    if not remove:
        WikiFolder(target).check_place()
    planned = _plan(names, folder, wiki, allow=allow, remove=remove, mining=mining)
    if not dry_run:
        carry_out(planned.changes)
    report: dict[str, Any] = {
        "agent": agent,
        "folder": str(folder),
        "is_dry_run": dry_run,
        "written": planned.names("written"),
        "removed": planned.names("removed"),
        "unchanged": planned.names("unchanged"),
        "notes": planned.notes,
        "exit_code": 0,
    }
    if not remove and not target.is_dir():
        report["notes"].append("there is no wiki yet: the first session that teaches something makes it")
    if as_json:
        print_answer("connect", {**report, "signs": signs} if every else report)
    else:
        print_lines([*(f"{name}: because of {sign}" for name, sign in signs.items() if sign), *_lines(report)])


def _signs(folder: Path, *, is_removal: bool) -> dict[str, str]:
    """Agent → the sign of it in the project; for a removal every agent. Raises `UsageError` if there is no sign."""
    from agent_wiki.harness.agents import AGENTS
    from agent_wiki.harness.connections import sign_of

    found = {each.name: sign_of(each, folder) for each in AGENTS}
    if is_removal:
        return found
    signs = {name: sign for name, sign in found.items() if sign}
    if not signs:
        raise UsageError(f"connect: nothing in {folder} shows which agent is used; name one of {', '.join(found)}")
    return signs


def _mining_words(engine: str, calls_a_day: int | None, usd_a_day: float | None) -> list[str]:
    """The words by which `wiki hook stop` mines with an engine; none without one. Raises `UsageError`."""
    from agent_wiki.harness.background import ENGINES

    if not engine:
        if calls_a_day is not None or usd_a_day is not None:
            raise UsageError("connect: --calls-a-day and --usd-a-day cap what --mine-with asks; name an engine")
        return []
    if engine not in ENGINES:
        raise UsageError(f"connect: --mine-with {engine}: one of {', '.join(ENGINES)}")
    words = ["--engine", engine]
    words += [] if calls_a_day is None else ["--calls-a-day", str(calls_a_day)]
    return words + ([] if usd_a_day is None else ["--usd-a-day", f"{usd_a_day:g}"])


def _plan(
    names: list[str], folder: Path, wiki: Path | None, *, allow: bool, remove: bool, mining: list[str]
) -> ConnectionPlan:
    from agent_wiki.harness.connecting import ConnectionPlan, agent_named, plan, plan_removal

    planned = ConnectionPlan()
    leaving: list[Agent] = [agent_named(name) for name in names]
    for each in leaving:
        if remove:
            planned.add(plan_removal(each, folder, leaving))
        else:
            planned.add(plan(each, folder, wiki, is_allowed=allow, mining=mining))
    return planned


def _lines(report: dict[str, Any]) -> list[str]:
    would = "would be " if report["is_dry_run"] else ""
    states = {"written": f"{would}written", "removed": f"{would}removed", "unchanged": "unchanged"}
    lines = [f"{name}: {says}" for state, says in states.items() for name in report[state]]
    lines = lines or [f"nothing of `wiki connect` is in {report['folder']}"]
    return lines + [f"note: {note}" for note in report["notes"]]


def _show_connections(folder: Path, *, as_json: bool) -> None:
    from agent_wiki.harness.connections import connections

    found = connections(folder)
    if as_json:
        print_json([each.to_json() for each in found])
    else:
        print_lines(line for each in found for line in _connection_lines(each))


def _connection_lines(found: Connection) -> list[str]:
    """A line of what an agent supports, and one for each part, with what is installed."""
    agent = found.agent
    seen = [f"sign: {found.sign}"] if found.sign else []
    seen += [f"`{agent.program}` is on the path"] if found.is_on_path else []
    lines = [f"{agent.name} ({agent.title}){': ' if seen else ''}{', '.join(seen)}"]
    lines.append(f"  pointer      {_installed(found.is_pointed)}  {found.pointer}")
    if agent.hook_file is not None:
        names = [hook.event for hook in agent.hook_file.hooks]
        state = _installed(bool(found.events)) if len(found.events) in (0, len(names)) else "in part      "
        missing = [name for name in names if name not in found.events] if found.events else []
        says = f", without {', '.join(missing)}" if missing else f": {', '.join(names)}"
        lines.append(f"  hooks        {state}  {agent.hook_file.name}{says}")
    if agent.own_file is not None:
        lines.append(f"  plugin       {_installed(found.has_own_file)}  {agent.own_file.name}")
    if agent.permissions is not None:
        is_whole = len(found.rules) == len(agent.permissions.rules)
        rules = ", ".join(agent.permissions.rules)
        lines.append(f"  permissions  {_installed(is_whole)}  {agent.permissions.file}: {rules}")
    return [*lines, f"  problem: {found.problem}"] if found.problem else lines


def _installed(is_installed: bool) -> str:
    return "installed    " if is_installed else "not installed"
