"""The wiki's own tools as a session calls them: the command `wiki`, and the tools of its MCP server.

A client names the server as it likes and joins its name to the tool's in its own way (`mcp__wiki__consult`,
`mcp_wiki_consult`, `wiki.consult`, `wiki-consult`).
"""

from __future__ import annotations

from functools import lru_cache

from agent_wiki.recall.wiki_commands import COMMANDS
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

TOOLS = frozenset({"consult", "read_page", "provenance", "report_use"})
"""What our MCP server offers."""
SKILL_TOOLS = frozenset({"skill", "activate_skill", "use_skill", "load_skill"})

_NAME_SEPARATORS = regex(r"[^a-z0-9]+")
_CONSULT_TOOLS = regex(r"(?:^|_)(?:consult|wiki_consult|wiki_search|search_wiki|query_wiki)(?:_|$)")
_PAGE_TOOLS = regex(r"(?:^|_)(?:read_page|wiki_read|read_wiki|get_page|wiki_page)(?:_|$)")
_WIKI_SERVER = regex(r"(?:^|_)wiki_")
_NO_READING = frozenset({"provenance", "report_use", "save", "why", "list_pages"})
_PROGRAMS = frozenset({"wiki", "agent_wiki", "agent-wiki"})
_RUNNERS = frozenset({"uv", "uvx", "pipx"})
_PACKAGE_OPTIONS = frozenset({"--from", "--with", "--spec", "--package", "--project", "--directory"})
_MOST_RUNNER_WORDS = 10
_OWN_TOOL = regex(rf"^(?:(?P<server>.+)_)?(?:{'|'.join(sorted(TOOLS))})$")
_OWN_SKILL = regex(r"^(?:[\w-]+:)?wiki-(?:catalog|consult|ingest|summarize|extract|synthesize|consolidate|discover)")


def tool_name(call: Call) -> str:
    """A tool's name with its server's, spelled uniformly: `mcp__agent-wiki__read_page` → `mcp_agent_wiki_read_page`."""
    return _uniform(call.name)


@lru_cache(maxsize=256)  # a session has many calls of few tools
def _uniform(name: str) -> str:
    return _NAME_SEPARATORS.sub("_", name.lower())


def is_skill_tool(call: Call) -> bool:
    """Whether a call loads an Agent Skill."""
    return call.name.lower() in SKILL_TOOLS


def skill_named(call: Call) -> str:
    """The name that such a call gives, with its plugin's where it has one."""
    named = (call.arguments.get(key) for key in ("skill", "name", "skill_name"))
    return next((name for name in named if isinstance(name, str)), "")


def is_own_skill(call: Call) -> bool:
    """Whether a call loads one of the skills that this package ships, which are about the wiki itself."""
    return is_skill_tool(call) and _OWN_SKILL.match(skill_named(call)) is not None


@lru_cache(maxsize=256)
def is_page_tool(name: str) -> bool:
    """Whether the tool of a wiki's server shows a page; `name` as `tool_name` spells it."""
    return _PAGE_TOOLS.search(name) is not None


@lru_cache(maxsize=256)
def is_consulting(name: str) -> bool:
    """Whether the tool of a wiki's server searches it; `name` as `tool_name` spells it."""
    return bool(_CONSULT_TOOLS.search(name)) or (
        bool(_WIKI_SERVER.search(name)) and not any(name.endswith(f"_{each}") for each in _NO_READING)
    )


def server_of(call: Call) -> str | None:
    """The server of a tool that is called as one of ours, as `tool_name` spells it; None for another tool.

    Empty where a client says only the tool's name.
    """
    return _server_of(tool_name(call))


@lru_cache(maxsize=256)
def _server_of(name: str) -> str | None:
    match = _OWN_TOOL.match(name)
    return None if match is None else match["server"] or ""


def wiki_words(step: SimpleCommand) -> tuple[str, ...]:
    """The words from `wiki` on, however it was started; empty for another program."""
    words = step.words
    if words and words[0].rpartition("/")[2] in _PROGRAMS:
        return words
    if step.program.startswith("python") and words[1:3] == ("-m", "agent_wiki"):
        return words[2:]
    if step.called[:1] and step.called[0] in _RUNNERS:
        return _behind_runner(step.called)
    return ()


def _behind_runner(words: tuple[str, ...]) -> tuple[str, ...]:
    """`uvx --from agent-wiki wiki consult` → `wiki consult`, wherever the runner's options end."""
    for at in range(min(len(words), _MOST_RUNNER_WORDS) - 1, 0, -1):
        if words[at] in _PROGRAMS and words[at - 1] not in _PACKAGE_OPTIONS:
            return words[at:]
    return ()


def runs_wiki(step: SimpleCommand) -> bool:
    """Whether a command runs our `wiki`: with one of its commands, or started by this package's name.

    Another project's program of that name has other commands.
    """
    words = wiki_words(step)
    is_package = bool(words) and bool({"agent_wiki", "agent-wiki"} & {words[0], *step.called[:_MOST_RUNNER_WORDS]})
    return is_package or (len(words) > 1 and words[1] in COMMANDS)
