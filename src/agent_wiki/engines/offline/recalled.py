"""How a session used the wiki pages that it read: followed, contradicted, harmful, or ignored.

A page is `followed` when a later call uses a command of the page that was not used before, and it works; a skill also
when its script is run and works. Reading proves nothing, so the default is `ignored`; a page that a search only listed
is nothing that could be ignored. What the agent says about a page, in its replies or by a server's
`report_use`, counts where it is negative, and where it is positive only if something worked in between. Statuses: the
agent-wiki of AgentToolkit/altk-evolve.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.engines.offline.acts import Act, main_command
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.tables import written
from agent_wiki.recall.reads import WikiRead
from agent_wiki.shell.result_lines import quoted
from agent_wiki.stages.recalled_pages import RecalledPage
from agent_wiki.trajectory import Message
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.layout import page_id

_MOST_PAGE = 40_000
_MOST_PHRASES = 60
_SPAN = regex(r"`([^`\n]{6,160})`")
_FENCE = regex(r"```[\w-]{0,20}\n(.{1,4000}?)```", re.DOTALL)
_WRONG = written("page_was_wrong", re.IGNORECASE)
_FOLLOWING = written("follows_page", re.IGNORECASE)
_REPORT_TOOL = regex(r"(?:^|[_.:/-])report_use$")
_GENERIC = frozenset({"SKILL.md", "AGENTS.md", "README.md", "_index.jsonl", "index.md"})


def recalled_pages(stretch: Stretch, reads: list[WikiRead]) -> list[RecalledPage]:
    """One entry for each page read in the stretch, in the order of the first read; indexes are left out."""
    by_page: dict[str, list[WikiRead]] = {}
    for read in reads:
        if not read.is_index and stretch.first_turn <= read.turn <= stretch.last_turn:
            by_page.setdefault(read.page, []).append(read)
    found = [(of_page, _status(stretch, of_page)) for of_page in by_page.values()]
    return [each for of_page, each in found if each.status != "ignored" or any(read.shows_page for read in of_page)]


def _status(stretch: Stretch, reads: list[WikiRead]) -> RecalledPage:
    """The status of a page: by its first read that showed it, else by the list that named it."""
    read = next((each for each in reads if each.text and each.shows_page), reads[0])
    reported = _reported(stretch, read)
    if reported is not None and reported.status in ("contradicted", "harmful"):
        return reported
    said = _said_wrong(stretch, read)
    used = _uses(stretch, read)
    worked = next(((act, phrase) for act, phrase in used if act.has_worked), None)
    if worked is not None and said is None:
        return RecalledPage(page=read.page, status="followed", turn=worked[0].turn, quote=worked[1])
    ran = _script_run(stretch, reads)
    if ran is not None and said is None:
        return ran
    failed = next(((act, phrase) for act, phrase in used if act.has_failed), None)
    if failed is not None and worked is None:
        return _after_failure(stretch, read, failed[0], failed[1])
    if said is not None:
        return RecalledPage(page=read.page, status="contradicted", turn=said[0], quote=said[1])
    cited = _said_followed(stretch, read)
    if cited is not None:
        return RecalledPage(page=read.page, status="followed", turn=cited[0], quote=cited[1])
    return reported or RecalledPage(page=read.page, status="ignored")


def _script_run(stretch: Stretch, reads: list[WikiRead]) -> RecalledPage | None:
    """The skill's script was run, and worked."""
    runs = {read.turn: read.script for read in reads if read.script}
    for act in stretch.acts:
        name = runs.get(act.turn, "")
        line = next((line for line in (act.call.command() or "").splitlines() if name and name in line), "")
        if line and act.has_worked:
            return RecalledPage(page=reads[0].page, status="followed", turn=act.turn, quote=quoted(line))
    return None


def _reported(stretch: Stretch, read: WikiRead) -> RecalledPage | None:
    """What the agent last reported to the wiki's server about the page; `followed` only where an act supports it."""
    for act in reversed(stretch.acts):
        if act.turn <= read.turn or act.call.is_error or not _REPORT_TOOL.search(act.call.name):
            continue
        status, reported_id = act.call.arguments.get("status"), str(act.call.arguments.get("id") or "")
        if not (reported_id == page_id(read.page) or reported_id.endswith(read.page)):
            continue
        lines = str(act.call.arguments.get("evidence") or "").strip().splitlines()
        quote = quoted(lines[0]) if lines else ""
        if not quote or (status == "followed" and not _has_done_something(stretch, read, act)):
            return None
        if status in ("followed", "contradicted", "harmful"):
            return RecalledPage(page=read.page, status=status, turn=act.turn, quote=quote)
        return None
    return None


def _has_done_something(stretch: Stretch, read: WikiRead, report: Act) -> bool:
    between = (act for act in stretch.acts if read.turn < act.turn < report.turn)
    return any(act.has_worked and act.is_work for act in between)


def _after_failure(stretch: Stretch, read: WikiRead, act: Act, phrase: str) -> RecalledPage:
    """The page's command failed: contradicted when something else then did the same job, harmful when nothing did."""
    program = _program(act)
    for later in stretch.acts:
        is_other_way = later.turn > act.end and later.has_worked and phrase not in later.call.raw_arguments
        if is_other_way and (later.kind == act.kind or (program and program == _program(later))):
            return RecalledPage(page=read.page, status="contradicted", turn=act.turn, quote=phrase)
    return RecalledPage(page=read.page, status="harmful", turn=act.turn, quote=phrase)


def _program(act: Act) -> str:
    command = main_command(act)
    return command.program if command else act.call.name


def _uses(stretch: Stretch, read: WikiRead) -> list[tuple[Act, str]]:
    """Later calls with a phrase of the page that the session had not used before, longest phrase first."""
    before = "\n".join(_texts_before(stretch, read.turn))
    phrases = [phrase for phrase in _phrases(read.text) if phrase not in before]
    found = []
    for act in stretch.acts:
        if act.turn <= read.turn or act.kind in ("plan", "ask"):
            continue
        text = act.call.command() or act.call.raw_arguments
        phrase = next((each for each in phrases if each in text), None)
        if phrase is not None:
            found.append((act, quoted(phrase)))
    return found


def _texts_before(stretch: Stretch, turn: int) -> Iterator[str]:
    for message in stretch.trajectory.messages[: turn - 1]:
        if message.role == "user":
            yield (message.content or "")[:20_000]
        for call in message.tool_calls:
            yield call.arguments[:4_000]


def _phrases(text: str) -> list[str]:
    """Distinctive pieces of a page: commands in code spans and fences, longest first, each a single line."""
    text = text[:_MOST_PAGE]
    lines = [line.strip() for block in _FENCE.findall(text) for line in block.splitlines()]
    found = {phrase for phrase in (*_SPAN.findall(text), *lines) if _is_distinctive(phrase)}
    found |= {_head(phrase) for phrase in found if _is_distinctive(_head(phrase))}
    return sorted(found, key=lambda phrase: (-len(phrase), phrase))[:_MOST_PHRASES]


def _is_distinctive(phrase: str) -> bool:
    """Two words or more with something besides letters: a command with an option, a call, a setting."""
    is_sized = 8 <= len(phrase) <= 160 and phrase not in _GENERIC
    is_page = phrase.endswith(".md") or "__" in phrase or phrase.startswith(("#", "/", "<", "---"))
    return is_sized and not is_page and (" -" in phrase or "(" in phrase or "=" in phrase or phrase.count(" ") >= 1)


def _head(phrase: str) -> str:
    """A command up to its first placeholder: `tar -tvf <path>` is used as `tar -tvf`."""
    return re.split(r"\s*(?:<[\w .-]+>|\{\w+\}|\.\.\.|…|\$\w+)", phrase, maxsplit=1)[0].strip()


def _names(page: str) -> list[str]:
    """What an agent calls a page: its id, its slug, a skill's folder."""
    stem = page.rpartition("/")[2].removesuffix(".md")
    if stem == "SKILL":
        stem = page.split("/")[1]
    parts = stem.split("__")
    return [name for name in (parts[0], parts[-1] if len(parts) > 1 else "") if len(name) >= 8]


def _replies_about(stretch: Stretch, read: WikiRead) -> Iterator[tuple[int, Message, str]]:
    """Sentences in which the agent names the page after reading it."""
    names = _names(read.page)
    for turn in range((read.result_turn or read.turn) + 1, stretch.last_turn + 1):
        message = stretch.trajectory.messages[turn - 1]
        if message.role != "assistant" or not message.content:
            continue
        for line in message.content[:20_000].splitlines():
            if any(name in line for name in names):
                yield turn, message, line


def _said_wrong(stretch: Stretch, read: WikiRead) -> tuple[int, str] | None:
    for turn, _, line in _replies_about(stretch, read):
        if _WRONG.search(line[:1_000]):
            return turn, quoted(line)
    return None


def _said_followed(stretch: Stretch, read: WikiRead) -> tuple[int, str] | None:
    """The agent says that it follows the page, and its next act works."""
    for turn, _, line in _replies_about(stretch, read):
        following = next((act for act in stretch.acts if act.turn >= turn and act.kind != "look"), None)
        if _FOLLOWING.search(line[:1_000]) and following is not None and following.has_worked:
            return turn, quoted(line)
    return None
