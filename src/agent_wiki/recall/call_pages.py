"""The wiki pages that one call asks for: what it names, before anything is said of whether it got them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_wiki.recall.page_mentions import Mention, matched_lines, mentions
from agent_wiki.recall.shown_pages import MOST_SEARCHED, consulted_pages
from agent_wiki.recall.wiki_tools import is_consulting, is_page_tool, is_skill_tool, skill_named, tool_name, wiki_words
from agent_wiki.shell.kinds import script_of
from agent_wiki.shell.simple_commands import SimpleCommand, steps_of
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.layout import skill_path

_READING_TOOLS = regex(
    r"^(?:read|view|open|cat|grep|search|get_file|fetch|load|str_replace_(?:based_edit_tool|editor))"
    r"|(?:read|view|open)_?(?:file|text|page|many)|_read$"
)
_SHOWING_COMMANDS = frozenset({"show", "read", "why"})
_READERS = frozenset(
    {"cat", "less", "more", "head", "tail", "sed", "grep", "egrep", "fgrep", "rg", "ag", "awk", "jq", "bat", "nl",
     "strings", "python", "python3", "node", "ruby", "perl", "view", "yq", "cut", "tac"}
)  # fmt: skip
_SEARCHERS = frozenset({"grep", "egrep", "fgrep", "rg", "ag"})
_SKILL_FOLDER = regex(r"Base directory for this skill:\s*([^\n]{1,300})")
_SLUG = regex(r"(?:[\w-]{1,80}:)?([a-z0-9][a-z0-9-]{0,60})")
_AFTER_SKILL = 4  # messages in which a harness puts a skill's text


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call runs: the folder of relative paths, and that of each step of a shell's command line."""

    folder: str
    steps: Sequence[str] = ()

    def of_step(self, at: int) -> str:
        """The folder of a step."""
        return self.steps[at] if at < len(self.steps) else self.folder

    @property
    def last(self) -> str:
        """The folder of the last step."""
        return self.steps[-1] if self.steps else self.folder


def asked_pages(call: Call, trajectory: Trajectory, place: Place) -> Iterator[Mention]:
    """The pages that a call asks for or, where it searches, shows. Writing is not asking."""
    name = call.name.lower().rpartition("__")[2]
    if call.arguments.get("command") in ("create", "str_replace", "insert", "undo_edit"):
        return  # this tool both reads and writes
    if is_skill_tool(call):
        yield from _skill_pages(call, trajectory)
    elif call.command() is not None:
        yield from _shell_pages(call, place)
    elif is_page_tool(tool_name(call)):
        yield from _named_pages(call.raw_arguments)
    elif is_consulting(tool_name(call)):
        yield from (Mention("wiki", page, True) for page in consulted_pages(call.result or ""))
    elif _READING_TOOLS.search(name):
        yield from mentions_in_arguments(call, place.folder)
        yield from matched_lines((call.result or "")[:MOST_SEARCHED])


def consults(call: Call) -> bool:
    """Whether a call searches the wiki by the wiki's own means."""
    command = call.command()
    if command is None:
        return is_consulting(tool_name(call)) and not is_page_tool(tool_name(call))
    return any(wiki_words(step)[1:2] == ("consult",) for step in steps_of(command))


def mentions_in_arguments(call: Call, folder: str) -> Iterator[Mention]:
    """Every page that the arguments of a call name."""
    texts = [value for value in call.arguments.values() if isinstance(value, str)]
    lists = [value for value in call.arguments.values() if isinstance(value, list)]
    texts += [each for value in lists for each in value if isinstance(each, str)]
    for text in texts:
        yield from mentions(text[:MOST_SEARCHED], folder)


def is_reading(step: SimpleCommand) -> bool:
    """Whether a command shows files."""
    is_in_place = step.program in ("sed", "perl") and any(word.startswith("-i") for word in step.words[1:4])
    is_writing = "open(" in step.body and ("'w'" in step.body or '"w"' in step.body)
    return (step.program in _READERS and not is_in_place and not is_writing) or step.program in ("for", "xargs")


def reads_a_folder(call: Call) -> bool:
    """Whether a command line shows files by a pattern, so that only the output says which."""
    return any(is_reading(each) and "*" in each.text() for each in steps_of(call.command() or ""))


def skill_text(call: Call, trajectory: Trajectory) -> tuple[int | None, str]:
    """The turn and the text in which the harness showed the skill that a call loads."""
    for turn in range(call.turn + 1, min(call.turn + 1 + _AFTER_SKILL, len(trajectory.messages) + 1)):
        content = trajectory.messages[turn - 1].content or ""
        if _SKILL_FOLDER.search(content[:2_000]):
            return turn, content
    return call.result_turn, call.result or ""


def _named_pages(text: str) -> Iterator[Mention]:
    """Pages named to a tool or command of the wiki itself, which takes no other files."""
    yield from (Mention("wiki", each.page, True) for each in mentions(text[:MOST_SEARCHED], "wiki"))


def _shell_pages(call: Call, place: Place) -> Iterator[Mention]:
    """Pages that a command line printed, and skills whose script it ran."""
    for at, step in enumerate(steps_of(call.command() or "")):
        words, folder = wiki_words(step), place.of_step(at)
        if words[1:2] == ("consult",):
            yield from (Mention("wiki", page, True) for page in consulted_pages(call.result or ""))
        elif words[1:] and words[1] in _SHOWING_COMMANDS:
            yield from _named_pages(" ".join(words[2:]))
        elif script := script_of(step):
            path = script if script.startswith(("/", "~")) else f"{folder.rstrip('/')}/{script.removeprefix('./')}"
            yield from (each for each in mentions(path, folder) if each.script)
        elif is_reading(step):
            for text in (*step.words[1:], step.body):
                yield from mentions(text, folder)
            if step.program in _SEARCHERS:
                yield from matched_lines((call.result or "")[:MOST_SEARCHED])


def _skill_pages(call: Call, trajectory: Trajectory) -> Iterator[Mention]:
    """The page behind a call that loads a skill: by the folder that the harness says, else by the skill's name."""
    match = _SKILL_FOLDER.search(skill_text(call, trajectory)[1][:2_000])
    if match:
        yield from mentions(f"{match[1].strip().rstrip('/')}/SKILL.md", "")
    elif slug := _SLUG.fullmatch(skill_named(call)):
        yield Mention("", skill_path(slug[1]), False)
