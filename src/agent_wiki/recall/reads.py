"""Which pages of an agent wiki a session read, with whatever tool.

A wiki is recognized by its file names (`guidelines/<slug>__<12 hex>.md`, `_index.jsonl`, …; the layout is an
interface), never by its location. Names that other projects use too (`AGENTS.md`, `skills/<x>/SKILL.md`) count
only in a folder that is known to be a wiki or is named like one. Counting reads from recordings is an idea of
the agent-wiki of AgentToolkit/altk-evolve (`wiki_consulted`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from agent_wiki.recall.shown_pages import MOST_SEARCHED, consulted_pages, part_of, printed_pages
from agent_wiki.shell.simple_commands import SimpleCommand, simple_commands
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call, paired_calls
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.layout import page_id

_MOST_ROOT = 300
_PAGE = regex(
    r"(?<![\w.-])(?:"
    r"(?P<strong>(?:guidelines|_archived)/[a-z0-9][a-z0-9-]{0,60}__(?:[0-9a-f]{12}|cluster)\.md"
    r"|tasks/[a-z0-9][a-z0-9-]{0,60}__(?:task|subtask)\.md|_index\.jsonl)"
    r"|(?P<weak>skills/[a-z0-9][a-z0-9-]{0,60}/(?:SKILL\.md|scripts/[\w.-]{1,80})|summaries/[\w.-]{1,150}\.md"
    r"|(?:guidelines|skills|tasks|summaries)/(?:index\.md|_id_index\.json)|AGENTS\.md|_config\.yaml|_audit\.log|index\.md)"
    r")(?![\w-])"
)
_MARKS = (
    "_index",
    "guidelines",
    "_archived",
    "AGENTS.md",
    "SKILL.md",
    "skills/",
    "tasks/",
    "summaries",
    "wiki",
    "index.md",
    "_config.yaml",
)
_OWN_MARKS = ("guidelines/", "_archived/", "_index.jsonl", "__task.md", "__subtask.md")
_INDEX_NAMES = frozenset({"AGENTS.md", "index.md", "_index.jsonl", "_config.yaml", "_id_index.json", "_audit.log"})
_NAMED_WIKI = regex(r"(?:^|[-_.])wiki(?:[-_.]|$)", re.IGNORECASE)
_ROOT_END = frozenset(" \t\n\r\"'`=:,;|&<>()[]{}$\\")
_READING_TOOLS = regex(
    r"^(?:read|view|open|cat|grep|search|get_file|fetch|load|str_replace_(?:based_edit_tool|editor))"
    r"|(?:read|view|open)_?(?:file|text|page|many)|_read$"
)
_CONSULT_TOOLS = regex(r"(?:^|_)(?:consult|wiki_consult|wiki_search|search_wiki|query_wiki)(?:_|$)")
_PAGE_TOOLS = regex(r"(?:^|_)(?:read_page|wiki_read|read_wiki|get_page|wiki_page)(?:_|$)")
_WIKI_SERVER = regex(r"(?:^|_)wiki_")
_NO_READING = frozenset({"provenance", "report_use", "save", "why", "list_pages"})
_SHOWING_COMMANDS = frozenset({"show", "read", "why"})
_READERS = frozenset(
    {"cat", "less", "more", "head", "tail", "sed", "grep", "egrep", "fgrep", "rg", "ag", "awk", "jq", "bat", "nl",
     "strings", "python", "python3", "node", "ruby", "perl", "view", "yq", "cut", "tac"}
)  # fmt: skip
_SEARCHERS = frozenset({"grep", "egrep", "fgrep", "rg", "ag"})
_SKILL_FOLDER = regex(r"Base directory for this skill:\s*(\S{1,300})")
_NAME_SEPARATORS = regex(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class WikiRead:
    """One page that the session was shown. `page` is relative to the wiki's folder; `text` is what was shown of it.

    If one result shows several pages, each gets its own part of the text where the parts can be separated.
    `is_index`: a page for finding other pages (AGENTS.md, indexes); reading it is consulting, not recalling.
    """

    page: str
    turn: int
    result_turn: int | None
    text: str
    is_index: bool


@dataclass(frozen=True, slots=True)
class _Mention:
    folder: str  # the name of the folder with the wiki's files, empty when unknown
    page: str
    is_strong: bool


def wiki_reads(trajectory: Trajectory) -> list[WikiRead]:
    """Every read of a wiki page in recorded order; a page is listed once per call that read it.

    Writing, listing or deleting pages does not count as reading, nor does a read that failed. Worked out once and kept
    with the trajectory.
    """
    kept = trajectory.derived.get("wiki reads")
    if kept is None or kept[0] is not trajectory.messages or kept[1] != len(trajectory.messages):
        kept = (trajectory.messages, len(trajectory.messages), _wiki_reads(trajectory))
        trajectory.derived["wiki reads"] = kept
    return list(kept[2])


def _wiki_reads(trajectory: Trajectory) -> list[WikiRead]:
    calls = [call for call in paired_calls(trajectory) if _may_touch_a_wiki(call)]
    if not any(_may_show_a_wiki(call, trajectory.source.cwd or "") for call in calls):
        return []
    home = PurePosixPath(trajectory.source.cwd or "").name
    wikis = _known_wikis(calls, home)
    pages_by_id = _pages_by_id(calls)
    reads: list[WikiRead] = []
    for call in calls:
        if call.result is None or call.is_error or call.mark is not None:
            continue
        pages = [each.page for each in _read_pages(call, trajectory, home) if _is_of_wiki(each, wikis)]
        if pages or _reads_a_folder(call):
            known = [pages_by_id.get(page_id(page), page) for page in printed_pages(call.result)]
            pages += known if _reads_a_folder(call) else [page for page in known if page in pages_by_id.values()]
        pages = list(dict.fromkeys(pages))
        turn, text = _shown(call, trajectory)
        reads += [WikiRead(page, call.turn, turn, part_of(page, text, pages), _is_index(page)) for page in pages]
    return reads


def _is_index(page: str) -> bool:
    return page.rpartition("/")[2] in _INDEX_NAMES


def _shown(call: Call, trajectory: Trajectory) -> tuple[int | None, str]:
    """The turn and the text in which a call showed its pages; for a Skill call, the text the harness added after it."""
    if call.name.lower() == "skill":
        for turn in range(call.turn + 1, min(call.turn + 5, len(trajectory.messages) + 1)):
            content = trajectory.messages[turn - 1].content or ""
            if _SKILL_FOLDER.search(content[:2_000]):
                return turn, content
    return call.result_turn, call.result or ""


def _tool_name(call: Call) -> str:
    """A tool's name with its server's, spelled uniformly: `mcp__agent-wiki__read_page` → `mcp_agent_wiki_read_page`."""
    return _NAME_SEPARATORS.sub("_", call.name.lower())


def _is_consulting(name: str) -> bool:
    return bool(_CONSULT_TOOLS.search(name)) or (
        bool(_WIKI_SERVER.search(name)) and not any(name.endswith(f"_{each}") for each in _NO_READING)
    )


def _may_touch_a_wiki(call: Call) -> bool:
    name = _tool_name(call)
    is_wiki_tool = name == "skill" or _is_consulting(name) or bool(_PAGE_TOOLS.search(name))
    return is_wiki_tool or any(mark in call.raw_arguments for mark in _MARKS)


def _may_show_a_wiki(call: Call, cwd: str) -> bool:
    """A cheap check for what every accepted read has: a file name that only wikis use, or a folder named like one."""
    name = _tool_name(call)
    if "wiki" in call.raw_arguments.lower() or "wiki" in cwd.lower() or name == "skill" or _is_consulting(name):
        return True
    return any(mark in text for text in (call.raw_arguments, call.result or "") for mark in _OWN_MARKS)


def _known_wikis(calls: list[Call], home: str) -> frozenset[str]:
    """Names of the folders in which the session used a file that only a wiki has."""
    found = set()
    for call in calls:
        for mention in _mentions_in_arguments(call, home):
            if mention.is_strong:
                found.add(mention.folder)
        if call.result is not None:
            found.update(
                each.folder for each in _mentions(call.result[:MOST_SEARCHED], "") if each.is_strong and each.folder
            )
    return frozenset(found)


def _is_of_wiki(mention: _Mention, wikis: frozenset[str]) -> bool:
    is_own_name = mention.is_strong and mention.page != "_index.jsonl"
    return is_own_name or mention.folder in wikis or bool(_NAMED_WIKI.search(mention.folder))


def _pages_by_id(calls: list[Call]) -> dict[str, str]:
    """Guideline id → page, from every listing and index row that the session saw."""
    found: dict[str, str] = {}
    for call in calls:
        for text in (call.raw_arguments, call.result or ""):
            for mention in _mentions(text[:MOST_SEARCHED], ""):
                match = re.search(r"__([0-9a-f]{12})\.md$", mention.page)
                if match:
                    found.setdefault(match.group(1), mention.page)
    return found


def _read_pages(call: Call, trajectory: Trajectory, home: str) -> Iterator[_Mention]:
    """The pages that one call showed."""
    name = call.name.lower().rpartition("__")[2]
    if call.arguments.get("command") in ("create", "str_replace", "insert", "undo_edit"):
        return  # this tool both reads and writes
    if name == "skill":
        yield from _skill_pages(call, trajectory)
    elif call.command() is not None:
        yield from _shell_pages(call, _folder_of(call, home))
    elif _PAGE_TOOLS.search(_tool_name(call)):
        yield from _named_pages(call.raw_arguments)
    elif _is_consulting(_tool_name(call)):
        yield from (_Mention("wiki", page, True) for page in consulted_pages(call.result or ""))
    elif _READING_TOOLS.search(name):
        yield from _mentions_in_arguments(call, home)
        yield from _matched_lines(call)


def _named_pages(text: str) -> Iterator[_Mention]:
    """Pages named to a tool or command of the wiki itself, which takes no other files."""
    yield from (_Mention("wiki", each.page, True) for each in _mentions(text[:MOST_SEARCHED], "wiki"))


def _mentions_in_arguments(call: Call, home: str) -> Iterator[_Mention]:
    folder = _folder_of(call, home)
    texts = [value for value in call.arguments.values() if isinstance(value, str)]
    lists = [value for value in call.arguments.values() if isinstance(value, list)]
    texts += [each for value in lists for each in value if isinstance(each, str)]
    for text in texts:
        yield from _mentions(text[:MOST_SEARCHED], folder)


def _folder_of(call: Call, home: str) -> str:
    """The name of the folder that the call's relative paths start from."""
    workdir = call.arguments.get("workdir")
    if isinstance(workdir, str):
        home = PurePosixPath(workdir).name
    command = call.command() or ""
    match = re.match(r"\s*cd\s+[\"']?([^\s\"';&|]{1,300})[\"']?\s*(?:&&|;|\n)", command)
    return PurePosixPath(match.group(1)).name if match else home


def _mentions(text: str, folder: str) -> Iterator[_Mention]:
    """Pages named in `text`; `folder` is the folder of relative ones."""
    for match in _PAGE.finditer(text):
        start = floor = max(match.start() - _MOST_ROOT, 0)
        for position in range(match.start() - 1, floor - 1, -1):
            if text[position] in _ROOT_END:
                start = position + 1
                break
        root = text[start : match.start()].rstrip("/")
        name = folder if root in ("", ".") else PurePosixPath(root).name
        page = match.group()
        if page.startswith("skills/") and "/scripts/" in page:
            page = page.partition("/scripts/")[0] + "/SKILL.md"
        yield _Mention(name, page, match.lastgroup == "strong")


def _shell_pages(call: Call, folder: str) -> Iterator[_Mention]:
    """Pages that a command line printed, and skills whose script it ran."""
    for command in simple_commands(call.command() or ""):
        words = _wiki_words(command)
        if words[:1] == ("consult",):
            yield from (_Mention("wiki", page, True) for page in consulted_pages(call.result or ""))
        elif words and words[0] in _SHOWING_COMMANDS:
            yield from _named_pages(" ".join(words[1:]))
        elif _is_reading(command):
            yield from _mentions(" ".join(command.words[1:]) + "\n" + command.body, folder)
            if command.program in _SEARCHERS:
                yield from _matched_lines(call)
        elif any("/scripts/" in word for word in command.words):
            yield from (each for each in _mentions(command.text(), folder) if each.page.endswith("/SKILL.md"))


def _wiki_words(command: SimpleCommand) -> tuple[str, ...]:
    """The words after `wiki`, however it was started; empty for another program."""
    words = command.words
    if command.program in ("uvx", "pipx"):
        words = tuple(word for word in words[1:] if word not in ("run", "--from", "agent-wiki"))
    elif command.program.startswith("python") and words[1:3] == ("-m", "agent_wiki"):
        words = words[2:]
    return words[1:] if words and words[0].rpartition("/")[2] in ("wiki", "agent_wiki") else ()


def _is_reading(command: SimpleCommand) -> bool:
    is_in_place = command.program in ("sed", "perl") and any(word.startswith("-i") for word in command.words[1:4])
    is_writing = "open(" in command.body and ("'w'" in command.body or '"w"' in command.body)
    loops = command.program in ("for", "xargs")
    return (command.program in _READERS and not is_in_place and not is_writing) or loops


def _reads_a_folder(call: Call) -> bool:
    return any(_is_reading(each) and "*" in each.text() for each in simple_commands(call.command() or ""))


def _matched_lines(call: Call) -> Iterator[_Mention]:
    """Pages of which a search showed a line: `path:line…` in its output, not just names."""
    text = (call.result or "")[:MOST_SEARCHED]
    for match in _PAGE.finditer(text):
        if text[match.end() : match.end() + 1] in (":", "-"):
            line = text.rfind("\n", max(match.start() - _MOST_ROOT, 0), match.start()) + 1
            yield from _mentions(text[line or max(match.start() - _MOST_ROOT, 0) : match.end()], "")


def _skill_pages(call: Call, trajectory: Trajectory) -> Iterator[_Mention]:
    """The skill page behind a Skill call, if the harness said where the skill is."""
    for message in trajectory.messages[call.turn : call.turn + 4]:
        match = _SKILL_FOLDER.search((message.content or "")[:2_000])
        if match:
            yield from _mentions(f"{match.group(1).rstrip('/')}/SKILL.md", "")
            return
