"""Chats of Aider: `.aider.chat.history.md`, several sessions in one file, each below a heading with its start.

What the user typed stands in lines that begin with `####` and, as Aider writes them, end with two blanks; what Aider
printed begins with `>`; the rest is the model's reply. A file that Aider edited or a command that it ran after a reply
becomes a call of that reply. (Read after Aider's `io.py` and public histories; the program did not run here.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.recorded import iso_utc, short_digest
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Source, Trajectory
from agent_wiki.trajectory.lazily import dataclass, regex

FORMAT = "aider"

_START = regex(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_TYPED = regex(r"####(?: (.*?))? {2,3}")
# A formatter of Markdown takes the two blanks away; a command of Aider's without them shows that one was at work.
_TYPED_FORMATTED, _FORMATTED = regex(r"####(?: (.*?))? {0,3}"), regex(r"#### /[a-z-]{2,20}(?: .*)?(?<! )")
_APPLIED = regex(r"Applied edit to (\S.{0,400})")
_MISSED = regex(r"## (SearchReplaceNoExactMatch: .{1,300}? lines in (\S.{0,400}))")
_MISSES = regex(r"# \d+ SEARCH/REPLACE blocks? failed to match!")
_SKIPPED = regex(r"(Skipping edits to (\S.{0,400}?)(?P<is_ignored> that matches gitignore spec)?)\.?")
_RUNNING = regex(r"Running (\S.{0,2000})")
_MODEL = regex(r"(?:Main model|Model): (\S{1,200}) with ")
_VERSION = regex(r"Aider v([\w.]{1,40})")
_COST = regex(r"Cost: .{0,100}?\$([\d.]{1,20}) session")
_CREATES = regex(
    r"Create new file\? \(Y\)es/\(N\)o[^\n]{0,200}: [yYaA]\S{0,20}"
    r"|Allow creation of new file (.{1,400})\? [yY]\S{0,20}"
)
_SAME_WORDS = 200
_STARTED_BY = regex(r"(?:\S*/)?aider(?:\.exe)? .*--message\b")
# The command by which it is started is none of the user's words.
_STARTS = (
    r"aider(?: --?\w[\w-]{0,40}(?:=\S{1,200}| [\w./:][\w./:-]{0,200}"
    r"|[ =]'[^'\n]{0,400}'|[ =]\"[^\"\n]{0,400}\")?){1,20}\s*$"
)
_TALK = regex(rf"(?!/)(?!<blank>$)(?!{_STARTS})|/(?:ask|code|architect|context|help)\s+\S")
_ANSWER = regex(r"[^\n]{0,400}\(Y\)es/\(N\)o[^\n]{0,200}: \S{1,20}")
_THOUGHT = regex(r"<(thinking-content-[0-9a-f]{1,64})>\n")


def claims(sample: Sample) -> bool:
    """A file that begins with the heading of a session."""
    return _START.match(sample.head.partition("\n")[0]) is not None


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every session in which something was said. Raises `UnreadableRecording` when there is none."""
    session: _Session | None = None
    lines = list(recording.text_lines())
    typed = _TYPED_FORMATTED if any(map(_FORMATTED.fullmatch, lines)) else _TYPED
    found = 0
    for line in lines:
        start = _START.fullmatch(line)
        if start is None:
            if session is not None:
                session.take(line)
            continue
        if session is not None and session.is_talk():
            found += 1
            yield session.trajectory()
        session = _Session(start[1], typed)
    if session is not None and session.is_talk():
        found += 1
        yield session.trajectory()
    if not found:
        raise UnreadableRecording(recording.name, "a history of Aider in which nothing was said", is_foreign=True)


@dataclass(frozen=True, slots=True)
class _Missed:
    """A file that was not edited, and what Aider said of it: it asked the user, who refused, or the edit failed."""

    path: str
    reason: str
    is_refused: bool = False


class _Session:
    """Processes the lines of one session in order."""

    def __init__(self, started: str, typed_line: re.Pattern[str]) -> None:
        self.builder = TrajectoryBuilder()
        self.started, self.typed_line = started, typed_line
        self.typed: list[str] = []
        self.said: list[str] = []
        self.printed: list[str] = []
        self.last_reply: list[str] = []  # its words
        self.applied: list[str] = []
        self.created: set[str] = set()  # of the files that edits were applied to
        self.missed: list[_Missed] = []
        self.ran: list[str] = []
        self.is_open = False  # a printed text that runs over several lines
        self.is_command_line = False  # how Aider was started, up to its version
        self.is_miss = False  # edits that failed, with their whole text
        self.model: str | None = None
        self.version: str | None = None
        self.cost_usd: float | None = None

    def is_talk(self) -> bool:
        """Whether the model said something; ends the session."""
        self._close()
        return any(message.role == "assistant" for message in self.builder.messages)

    def take(self, line: str) -> None:
        """Process one line. A printed text of several lines ends with two blanks, or with its paragraph."""
        is_long = self.is_command_line or self.is_miss
        self.is_open = self.is_open and (is_long or bool(line.strip()))
        if self._is_printed(line):
            # Blank lines of the code in a text on failed edits may be indented.
            is_blank_code = self.is_miss and not line.strip()
            is_padded = line.endswith("   ")  # to the width of the longest, the last one apart
            is_whole = line.endswith("  ") and not (is_blank_code or (is_padded and not line.startswith("> ")))
            self._print(line.removeprefix("> "), is_whole=is_whole)
        elif (typed := self.typed_line.fullmatch(line)) is not None:
            self.is_open = False
            if not self.typed:
                self._close()
            self.typed.append((typed[1] or "").rstrip())
        elif line.strip() or self.said:
            if self.typed or self.printed:
                self._close()
            self.said.append(line)
        elif self.typed and self.typed_line is _TYPED:
            self._close()  # a formatter puts an empty line between what was typed in one go

    def _is_printed(self, line: str) -> bool:
        """Whether Aider printed a line; a line of the model's that begins like one does not end with two blanks."""
        if self.is_open:
            return self.typed_line.fullmatch(line) is None
        is_in_reply = bool(self.said) and not (self.printed or self.applied or self.ran)
        return line.startswith("> ") and (line.endswith("  ") or not is_in_reply)

    def _print(self, text: str, *, is_whole: bool) -> None:
        """A line that Aider printed. Only the first of several is marked, only the last ends with two blanks."""
        if self.typed:
            self._close()
        text = text.rstrip()
        self.is_command_line = (self.is_command_line or bool(_STARTED_BY.match(text))) and not _VERSION.match(text)
        self.is_miss = (self.is_miss or bool(_MISSES.match(text))) and not is_whole
        self.is_open = not is_whole or self.is_command_line
        self._notice(text)
        if (applied := _APPLIED.fullmatch(text)) and self.said:
            self.applied.append(applied[1])
        elif (ran := _RUNNING.fullmatch(text)) and self.said:
            self.ran.append(ran[1])
        else:
            if creates := _CREATES.fullmatch(text):
                self.created.add(creates[1] or next(reversed(self.printed), ""))
            self.printed.append(text)
        if self.is_miss and self.said and (missed := _MISSED.fullmatch(text)):
            self.missed.append(_Missed(missed[2], missed[1]))
        elif self.said and (skipped := _SKIPPED.fullmatch(text)):
            self.missed.append(_Missed(skipped[2], skipped[1], is_refused=not skipped["is_ignored"]))

    def _notice(self, text: str) -> None:
        if self.model is None and (model := _MODEL.match(text)):
            self.model = model[1]
        if self.version is None and (version := _VERSION.match(text)):
            self.version = version[1]
        if cost := _COST.search(text):
            self.cost_usd = float(cost[1]) if cost[1].count(".") < 2 and cost[1].strip(".") else self.cost_usd

    def _close(self) -> None:
        """Write down what was gathered: what the user typed, or the reply with its acts, then what was printed."""
        typed = "\n".join(self.typed).strip()
        if typed:
            is_talk = _TALK.match(typed) and not _ANSWER.fullmatch(typed) and not self._is_said_before(typed)
            self.builder.user(typed, None if is_talk else "injected")
        said = "\n".join(self.said).strip()
        if said:
            self._reply(said)
        if printed := "\n".join(self.printed).strip():
            self.builder.user(printed, "injected")
        self.typed, self.said, self.printed = [], [], []
        self.applied, self.created, self.missed, self.ran = [], set(), [], []

    def _is_said_before(self, typed: str) -> bool:
        """The architect's reply, which Aider hands to the editor as if it were typed; or a question after `/ask`."""
        last = self.builder.messages[-1] if self.builder.messages else None
        asked = (last.content or "").split()[1:] if last is not None and last.role == "user" else []
        return typed.split()[:_SAME_WORDS] in (self.last_reply[:_SAME_WORDS], asked[:_SAME_WORDS])

    def _reply(self, said: str) -> None:
        paths = [*self.applied, *(each.path for each in self.missed)]
        names = ("create_file" if path in self.created else "edit" for path in paths)
        edits = [(None, name, {"file_path": path}) for name, path in zip(names, paths, strict=True)]
        runs = [(None, "bash", {"command": command}) for command in self.ran]
        thinking, said = _without_thoughts(said)
        self.last_reply = said.split()
        ids = self.builder.assistant(said, thinking=thinking, calls=[*edits, *runs])
        for call_id, path in zip(ids, self.applied, strict=False):
            self.builder.tool(call_id, f"Applied edit to {path}", is_error=False)
        for call_id, each in zip(ids[len(self.applied) :], self.missed, strict=False):
            mark: MessageMark | None = "rejected" if each.is_refused else None
            self.builder.tool(call_id, each.reason, is_error=None if mark else True, mark=mark)

    def trajectory(self) -> Trajectory:
        """The session; its time is the machine's own, for Aider records no zone."""
        texts = [self.started, *(message.content or "" for message in self.builder.messages[:2])]
        source = Source(format=FORMAT, agent_version=self.version, cost_usd=self.cost_usd)
        name = f"aider-{re.sub(r'[^0-9]', '', self.started)}-{short_digest(texts)}"
        return self.builder.finish(name, source, agent=FORMAT, model=self.model, timestamp=iso_utc(self.started))


def _without_thoughts(said: str) -> tuple[str, str]:
    """A reply's thoughts, which some models begin with, and its words."""
    opening = _THOUGHT.match(said)
    closing = f"</{opening[1]}>" if opening else ""
    if not opening or closing not in said:
        return "", said
    thinking, _, rest = said[opening.end() :].partition(closing)
    return thinking.strip(), rest.strip().removeprefix("► **ANSWER**").strip()
