"""A stretch of a session: one request and all that was done about it. The whole session, or one arc of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import field

from agent_wiki.engines.offline.acts import Act, was_sent_to_change
from agent_wiki.engines.offline.reply_prose import SENTENCE_END
from agent_wiki.engines.offline.requests import UserRequest
from agent_wiki.engines.offline.tables import named, written
from agent_wiki.shell.files_written import OWN_NOTES, bare_name, is_temporary
from agent_wiki.shell.kinds import script_of
from agent_wiki.shell.result_lines import quoted
from agent_wiki.shell.tools import works_on_files
from agent_wiki.trajectory import Message, Trajectory
from agent_wiki.trajectory.harness_text import answers_stop_hook, without_written_call
from agent_wiki.trajectory.json_text import object_in
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.trajectory.stated_task import issue_read_first

_SCRATCH_NAME = written("scratch_name", re.IGNORECASE)
_TAG = regex(r"\s*</?\w[\w-]{0,40}>\s*|\s*")
_REPORTS = named("reports_by_call")
_SHORTEST_LINE = 12  # characters
_FEWEST_REPLIES = 3
HANDED_OVER = regex(r"(?:^|[\s&;|])(?:submit(?:\s|$)|echo ['\"]?COMPLETE_TASK)")
_CALL_IN_WORDS = regex(r"```[^`]{0,400}```\s*\Z")  # some harnesses have it there
_HANDS_OVER, _LEAVES = written("hands_over", re.IGNORECASE), written("leaves", re.IGNORECASE)
_APART = regex(r"(?:telemetry|usage)\.jsonl$|(?:^|[/\\])scratch(?:pad)?[/\\]|[/\\]AppData[/\\]Local[/\\]Temp[/\\]")
_NO_REPLY = "No response requested."  # what a client records where the agent was not asked


def _reported(message: Message) -> str:
    """What an agent says where it ends its work by a call, in it or beside it; empty for other turns."""
    calls = message.tool_calls if message.role == "assistant" else []
    if len(calls) == 1 and HANDED_OVER.search(str((object_in(calls[0].arguments) or {}).get("command"))[:400]):
        words = _CALL_IN_WORDS.sub("", (message.content or "").removeprefix("THOUGHT:")).strip()
        last = SENTENCE_END.split(words)[-1]
        return words.removesuffix(last).rstrip() if _HANDS_OVER.match(last) else words
    for call in calls if len(calls) == 1 and calls[0].name.lower() in _REPORTS else []:
        arguments = object_in(call.arguments) or {}
        given = (arguments.get(name) for name in ("summary", "result", "message", "reason", "answer"))
        return next((words for words in given if isinstance(words, str)), message.content or "")
    return ""


def _lines_of_most_replies(trajectory: Trajectory) -> frozenset[str]:
    """Lines, no headings, that stand in half of a session's replies, and in three."""
    replies = [
        {line.strip() for line in (message.content or "").split("\n")}
        for message in trajectory.messages
        if message.role == "assistant" and not message.tool_calls and message.content
    ]
    counts = Counter(
        line for lines in replies for line in lines if len(line) >= _SHORTEST_LINE and line[0] not in "#*`"
    )
    return frozenset(line for line, count in counts.items() if count >= max(_FEWEST_REPLIES, len(replies) / 2))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Turns `first_turn` to `last_turn` of a trajectory, with the acts and the user's turns in them."""

    trajectory: Trajectory
    first_turn: int
    last_turn: int
    acts: list[Act]
    requests: list[UserRequest]
    followed_by: UserRequest | None = None  # the user's first turn after the stretch
    kept: list[frozenset[str]] = field(default_factory=list, init=False, compare=False, repr=False)  # by `scratch`

    def content(self, turn: int) -> str:
        """The content of a turn, empty when it has none."""
        return self.trajectory.messages[turn - 1].content or ""

    def opening_of(self, turn: int, text: str = "") -> str | None:
        """How a turn begins, or `text`, which is a part of it, as a quote; None where that is not verbatim."""
        lines = (text or self.content(turn)).split("\n", 3)
        return self.verbatim(turn, next((each for each in lines if not _TAG.fullmatch(each)), ""))

    def verbatim(self, turn: int, line: str) -> str | None:
        """A line as a quote; None where the turn does not have it."""
        quote = quoted(line)
        return quote if quote and quote in self.content(turn) else None

    def scratch(self) -> frozenset[str]:
        """Names of files that were only tools of the work: deleted later, run to see, or kept apart."""
        if not self.kept:
            self.kept.append(self._scratch())
        return self.kept[0]

    def _scratch(self) -> frozenset[str]:
        deleted = {bare_name(path) for act in self.acts for path in act.deletes}
        scripts = {script for act in self.acts for each in act.commands if (script := script_of(each))}
        run = {bare_name(script) for script in scripts if _SCRATCH_NAME.search(bare_name(script))}
        edited = [path for act in self.acts for path in act.edits]
        cwd = self.trajectory.source.cwd
        apart = {bare_name(path) for path in edited if path.startswith("~/.") or is_temporary(path, cwd)}
        apart |= {bare_name(path) for path in edited if _APART.search(path) or OWN_NOTES.search(path)}
        return frozenset({bare_name(path) for path in edited} & (deleted | run | apart))

    def is_talk(self) -> bool:
        """Whether it is only conversation and services: nothing was run or edited, and no file looked at.

        A chat without a recorded call whose replies hold code is none: what was done was not saved, or was left to the
        user.
        """
        if not self.acts and any("```" in words for _, words in self.replies()):
            return False
        return not any(act.edits or act.kind == "edit" or works_on_files(act.call) for act in self.acts)

    def kept_edits(self) -> list[Act]:
        """Edits that worked on files that are part of the work, or all edits when there are no such files."""
        scratch = self.scratch()
        edits = [act for act in self.acts if act.has_edited]
        return [act for act in edits if not scratch.issuperset(map(bare_name, act.edits))] or edits

    def product(self) -> dict[str, int]:
        """The files of the work that were changed, with their last turns, and without those that were only tools."""
        scratch = self.scratch()
        edited = ((path, act.turn) for act in self.acts if act.has_edited for path in act.edits)
        return {path: turn for path, turn in edited if bare_name(path) not in scratch}

    def handed_on(self) -> dict[str, int]:
        """By the empty name, as its files are not known, the turn of the last subagent that was sent to change some."""
        turns = [act.turn for act in self.acts if was_sent_to_change(act)] if self.product() else []
        return {"": turns[-1]} if turns else {}

    def interrupts(self) -> list[int]:
        """Turns in which the user stopped the agent, and not what came after it had had its say."""
        messages = self.trajectory.messages
        marks = {turn: messages[turn - 1].mark == "interrupt" for turn in range(self.first_turn, self.last_turn + 1)}
        stops = [turn for turn, is_stop in marks.items() if is_stop and not marks.get(turn - 1)]  # one stop, once
        return [turn for turn in stops if not self._had_ended(turn)]

    def _had_ended(self, turn: int) -> bool:
        """The user had left after a reply without a call ("exit"), or waved a question of the agent away."""
        if any(act.kind == "ask" and act.call.mark and act.end in (turn - 1, turn) for act in self.acts):
            return True
        before = self.trajectory.messages[max(turn - 3, 0) : turn - 1]
        is_said = [each.role for each in before] == ["assistant", "user"] and _LEAVES.match(before[1].content or "")
        return bool(is_said and before[0].content) and not before[0].tool_calls

    def replies(self, until: int | None = None) -> Iterator[tuple[int, str]]:
        """The agent's words without a call, the last before turn `until` first: `(turn, text)`."""
        for turn in range((until or self.last_turn + 1) - 1, self.first_turn - 1, -1):
            message = self.trajectory.messages[turn - 1]
            if message.role == "assistant" and not message.tool_calls and message.content not in ("", None, _NO_REPLY):
                reply = without_written_call(message.content)
                if reply and not answers_stop_hook(self.trajectory.messages, turn):
                    yield turn, self._without_preamble(reply)
            elif words := _reported(message):
                yield turn, words

    def _without_preamble(self, reply: str) -> str:
        """A reply without what an agent has to say in all of them."""
        always = self.trajectory.worked_out(_lines_of_most_replies)
        if not any(line in reply for line in always):
            return reply
        kept = [line for line in reply.split("\n") if line.strip() not in always]
        return "\n".join(kept) if any(map(str.strip, kept)) else reply

    def last_reply(self) -> tuple[int, str] | None:
        """The agent's last words without a call: `(turn, text)`."""
        return next(self.replies(), None)

    def last_reply_turn(self) -> int:
        """The turn of the agent's last words without a call; 0 where there are none."""
        return next(self.replies(), (0, ""))[0]

    def issue_read_first(self) -> tuple[int, str] | None:
        """The turn and the title of the issue that the session began with reading; None in a later stretch."""
        return issue_read_first(self.trajectory) if self.first_turn == 1 else None

    def last_request_turn(self) -> int:
        """The turn in which the user last asked for something or objected; 0 when there is none."""
        wants = [each.turn for each in self.requests if each.kind in ("request", "objection", "command")]
        return wants[-1] if wants else 0


def stretch_of(trajectory: Trajectory, acts: list[Act], requests: list[UserRequest], first: int, last: int) -> Stretch:
    """The part of a session from turn `first` to turn `last`, both included."""
    return Stretch(
        trajectory,
        first,
        last,
        [act for act in acts if first <= act.turn <= last],
        [request for request in requests if first <= request.turn <= last],
        next((request for request in requests if request.turn > last), None),
    )
