"""What `wiki doctor` looks at: one function a check, each gives what it found and the line that mends it."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from agent_wiki import __version__
from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.engines import GROUP as ENGINES_GROUP
from agent_wiki.engines.at_hand import engines_at_hand
from agent_wiki.errors import RunError, UsageError
from agent_wiki.harness.connections import Connection, connections
from agent_wiki.readers.extensions import extensions, origin
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki import holder
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.config_keys import problems_in
from agent_wiki.wiki.layout import CONFIG, INDEX, MACHINERY
from agent_wiki.wiki.text import counted
from agent_wiki.wiki.yaml_syntax import load_yaml

State = Literal["ok", "note", "problem"]
_EXTRAS = {
    "bedrock": "boto3", "bucket": "obstore", "mcp": "mcp", "parquet": "pyarrow", "plot": "PIL", "ray": "ray",
    "secrets": "kingfisher_sdk", "vertex": "google.auth",
}  # fmt: skip
_SERVICE = "https://api.anthropic.com"
_ONLINE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Checkup:
    """One thing that was looked at. `cure` is the line that mends it, or that brings what is not there."""

    name: str
    state: State
    found: str
    cure: str = ""

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    def lines(self) -> list[str]:
        """A line, and the cure below it."""
        mark = "PROBLEM" if self.state == "problem" else self.state
        return [f"{mark:7}  {self.name:12} {self.found}", *([f"{'':22}→ {self.cure}"] if self.cure else [])]


def checkups(
    wiki: Path, project: Path, environment: Mapping[str, str], *, is_online: bool = False, base_url: str = ""
) -> list[Checkup]:
    """All checks, in the order in which they are shown. Nothing is written; the network is asked if `is_online`."""
    found = [_python(), _command(environment), _extras(), *_wiki(wiki), *_agents(project), _engines(environment)]
    address = base_url or environment.get("ANTHROPIC_BASE_URL") or _SERVICE
    return [*found, _endpoint(address)] if is_online else found


def _python() -> Checkup:
    version = ".".join(map(str, sys.version_info[:3]))
    return Checkup("Python", "ok", f"{version}, agent-wiki {__version__}")


def _command(environment: Mapping[str, str]) -> Checkup:
    found = shutil.which("wiki", path=environment.get("PATH"))
    if found:
        return Checkup("command", "ok", f"`wiki` is {found}")
    folder = Path(sys.executable).parent
    return Checkup("command", "note", "`wiki` is not on the path", f'export PATH="{folder}:$PATH"')


def _extras() -> Checkup:
    there = {extra: _is_installed(module) for extra, module in _EXTRAS.items()}
    names = ", ".join(extra for extra, is_there in there.items() if is_there) or "none"
    missing = ", ".join(extra for extra, is_there in there.items() if not is_there)
    cure = f"pip install 'agent-wiki[EXTRA]' for one of {missing}" if missing else ""
    return Checkup("extras", "ok", f"installed: {names}", cure)


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _wiki(wiki: Path) -> Iterator[Checkup]:
    if not (wiki / INDEX).is_file():
        yield Checkup("wiki", "problem", f"{wiki}: no such wiki", "wiki ingest ~/.claude/projects")
        return
    if os.access(wiki, os.W_OK):
        yield Checkup("wiki", "ok", str(wiki))
    else:
        yield Checkup("wiki", "problem", f"{wiki}: you may not write here", f"chmod -R u+w {_quoted(wiki)}")
    yield _configuration(wiki)
    yield _lock(wiki)
    yield _journal(wiki)


def _configuration(wiki: Path) -> Checkup:
    try:
        text = (wiki / CONFIG).read_text(encoding="utf-8")
        parse_config(text)
        problems = problems_in(load_yaml(text) or {})
    except (OSError, UnicodeDecodeError, RunError) as error:
        problems = [str(error)]
    if problems:
        return Checkup("config", "problem", problems[0], f"edit {_quoted(wiki / CONFIG)}, then: wiki config check")
    return Checkup("config", "ok", "every key is known")


def _lock(wiki: Path) -> Checkup:
    lock = wiki / MACHINERY / "lock"
    by = holder.described(str(lock)) if lock.exists() else ""
    if by:
        return Checkup("lock", "note", f"held by {by}", "wait until it has ended, or end that process")
    return Checkup("lock", "ok", "nobody writes this wiki")


def _journal(wiki: Path) -> Checkup:
    warnings: list[str] = []
    try:
        answers = sum(record.get("kind") == "answer" for record in records(journal_folder(wiki), warnings))
    except OSError as error:
        cure = f"chmod -R u+rw {_quoted(wiki / MACHINERY)}"
        return Checkup("journal", "problem", f"{error.filename}: {error.strerror}", cure)
    if warnings:
        cure = "nothing to do: what a killed run left is skipped, and asked again where it is needed"
        return Checkup("journal", "note", f"{warnings[0]} ({counted(len(warnings), 'line')})", cure)
    return Checkup("journal", "ok", f"{counted(answers, 'answer')} of models")


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _agents(project: Path) -> Iterator[Checkup]:
    """Of each agent that is connected, or that the project shows signs of: hooks, permissions."""
    shown = [each for each in connections(project) if each.is_connected or each.sign or each.problem]
    if not shown:
        yield Checkup("agents", "note", "no agent is connected to this project", "wiki connect --list")
    yield from map(_agent, shown)


def _agent(found: Connection) -> Checkup:
    agent = found.agent
    connect = f"wiki connect {agent.name}"
    if found.problem:
        return Checkup(agent.name, "problem", found.problem, f"mend that file, then: {connect}")
    if not found.is_connected:
        return Checkup(agent.name, "note", f"{found.sign} is here, but the agent is not connected", connect)
    hooks = [hook.event for hook in agent.hook_file.hooks] if agent.hook_file else []
    missing = [event for event in hooks if event not in found.events]
    if missing:
        return Checkup(agent.name, "problem", f"no hook for {', '.join(missing)}", connect)
    if agent.permissions is not None and len(found.rules) < len(agent.permissions.rules):
        return Checkup(agent.name, "note", "connected; it asks before it consults the wiki", f"{connect} --allow")
    return Checkup(agent.name, "ok", f"connected{', hooks installed' if hooks else ''}")


def _engines(environment: Mapping[str, str]) -> Checkup:
    try:
        of_packages = {name: f"of {origin(entry)}" for name, entry in extensions(ENGINES_GROUP).items()}
    except UsageError as error:
        return Checkup("engines", "problem", str(error), "pip uninstall one of the two packages")
    found = engines_at_hand(environment) | of_packages
    if not found:
        return Checkup("engines", "ok", "offline (rules, no key); no model is at hand", "export ANTHROPIC_API_KEY=…")
    return Checkup("engines", "ok", f"offline, and {', '.join(f'{name} ({why})' for name, why in found.items())}")


def _endpoint(address: str) -> Checkup:
    """Whether a server answers at all: any HTTP status will do. Neither key nor text is sent."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    if not address.startswith(("http://", "https://")):
        return Checkup("endpoint", "problem", f"{address}: not an address", "wiki doctor --online --base-url URL")
    try:
        with urlopen(Request(address, method="HEAD"), timeout=_ONLINE_SECONDS):
            return Checkup("endpoint", "ok", f"{address} answers")
    except HTTPError as error:
        return Checkup("endpoint", "ok", f"{address} answers (status {error.code})")
    except (OSError, ValueError) as error:
        cure = "check the network and ANTHROPIC_BASE_URL, or name another by --base-url"
        return Checkup("endpoint", "problem", f"{address}: {getattr(error, 'reason', error)}", cure)
