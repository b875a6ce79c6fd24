"""What an agent program reads in a project: the file for the pointer, its hooks, its permissions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from agent_wiki.trajectory.lazily import dataclass

AnswerForm = Literal["text", "hookSpecificOutput", "additionalContext", "additional_context"]
TranscriptFinder = Callable[[str, Mapping[str, str]], Path | None]


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook: the agent's name of the event, the subcommand of `wiki hook`, and the seconds it may take."""

    event: str
    subcommand: Literal["start", "stop"]
    seconds: int


@dataclass(frozen=True, slots=True)
class HookFile:
    """The JSON file with an agent's hooks, and the form of a hook in it.

    In most files an event has groups, each with a list of hooks; where `is_flat`, it has the hooks themselves.
    `other_members` are what a new file needs besides `hooks`.
    """

    name: str
    hooks: tuple[Hook, ...]
    is_flat: bool = False
    has_type: bool = True
    command_key: str = "command"
    timeout_key: str = "timeout"
    units_per_second: int = 1
    other_members: Mapping[str, Any] = field(default_factory=dict)

    def entry(self, hook: Hook, command: str) -> dict[str, Any]:
        """What an event's list gets for one hook that runs `command`."""
        kind = {"type": "command"} if self.has_type else {}
        found = {**kind, self.command_key: command, self.timeout_key: hook.seconds * self.units_per_second}
        return found if self.is_flat else {"hooks": [found]}


@dataclass(frozen=True, slots=True)
class Permissions:
    """The settings that let an agent run `wiki consult` unasked: rules for the list at `path` of a JSON file.

    `note` is what a person must do for them to count.
    """

    file: str
    path: tuple[str, ...]
    rules: tuple[str, ...]
    note: str = ""

    @property
    def added_file(self) -> str:
        """The file beside the settings that names the rules which `wiki connect` added: others are a person's."""
        return str(PurePosixPath(self.file).with_name("agent-wiki-rules.json"))


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is the wiki's alone: its name and the template it is made from."""

    name: str
    template: str


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent program as `wiki connect` knows it.

    `pointer` gives the Markdown file it reads in a folder, `new_pointer` what such a file begins with if it is made
    here, `former_pointers` the files that it read if the folder has changed since. `signs` are files and folders whose
    presence says that a project is worked on with this agent. `notes` gives what a person must know or do, for a folder
    and the path of the wiki. `transcript_of` finds the recording of a session where the agent's hooks name only the
    session.
    """

    name: str
    title: str
    pointer: Callable[[Path], str]
    signs: tuple[str, ...]
    program: str = ""
    new_pointer: str = ""
    former_pointers: tuple[str, ...] = ()
    hook_file: HookFile | None = None
    own_file: OwnFile | None = None
    permissions: Permissions | None = None
    answer_form: AnswerForm = "text"
    notes: Callable[[Path, str], Sequence[str]] | None = None
    transcript_of: TranscriptFinder | None = None


def saying(*notes: str) -> Callable[[Path, str], list[str]]:
    """Notes that are the same for every folder and wiki."""
    return lambda _folder, _wiki: list(notes)


def always(name: str) -> Callable[[Path], str]:
    """A pointer that is in the same file in every folder."""
    return lambda _: name
