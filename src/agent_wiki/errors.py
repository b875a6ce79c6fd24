"""Every exception this package raises on purpose.

    AgentWikiError
    ├── UnitError                 one unit is bad: it is reported, the run continues, exit code 1
    │   ├── UnreadableRecording   a recording that cannot be read
    │   │   ├── EmptyRecording    a file with nothing in it
    │   │   ├── BegunRecording    a session in which nothing was said
    │   │   ├── PartOfRecording   what a harness keeps beside a recording
    │   │   └── RecordingUnavailable  a store did not give it this time; the next run asks again
    │   │       └── RecordingChanged  it changed or went between listing and reading
    │   ├── UnreadablePage        a wiki page that cannot be parsed
    │   │   └── NewerVersion      a record that a newer version of this program wrote
    │   ├── AnswerRejected        an engine's answer that a check refused
    │   │   └── NoAnswer          a model refused, was cut off, or cannot be asked this
    │   ├── ServiceFailed         a service gave no answer this time; the next run asks again
    │   └── Unanswered            a question that nobody has answered yet
    │       └── Queued            one that waits in a batch
    └── RunError                  the run cannot go on: one line that says what to do, exit code 2
        ├── UsageError            the command's words are off
        ├── RunStopped            nothing more may be asked in this run; what there is, is kept
        │   ├── BudgetReached     the next request could cost more than the run may spend, exit code 3
        │   └── Interrupted       a signal asked the run to end, exit code 128 and its number
        ├── WikiLocked            another process holds the wiki
        └── UnsafePath            something tried to leave the wiki folder

Anything else that escapes is a bug and ends in a traceback.
"""

from __future__ import annotations


class AgentWikiError(Exception):
    """Base of all errors that are this package's own."""


class UnitError(AgentWikiError):
    """One unit (a recording, a page, an answer) is bad; the others go on.

    `reason` is one sentence. What is known besides: the `stage`, what its question is `about` (ids of sessions or
    guidelines), the `request` (digest of the prompt), and the `place` in the unit, a line or a field. `kind` says what
    failed, in one word. `str()` is one line.
    """

    kind = "stage"

    def __init__(
        self,
        reason: str,
        *,
        stage: str = "",
        about: tuple[str, ...] = (),
        request: str = "",
        place: int | str | None = None,
    ) -> None:
        self.reason, self.stage, self.about, self.request, self.place = reason, stage, about, request, place
        super().__init__(reason)

    def __str__(self) -> str:
        return ": ".join(str(each) for each in (self.stage, self.place, self.reason) if each)


class UnreadableRecording(UnitError):
    """A recording cannot be read.

    `file` is the name as the user gave it, `place` the 1-based line or None where lines mean nothing,
    `reason` one sentence. `is_foreign` says that the file is something else altogether, not a damaged
    recording: found in a folder it is skipped. `str()` gives the one line that is shown.
    """

    kind = "recording"

    def __init__(self, file: str, reason: str, line: int | None = None, *, is_foreign: bool = False) -> None:
        super().__init__(reason, about=(file,), place=line)
        self.file = file
        self.is_foreign = is_foreign

    def __str__(self) -> str:
        return f"{located(self.file, self.place)}: {self.reason}"


class EmptyRecording(UnreadableRecording):
    """A file with nothing in it; found in a folder it is a warning."""

    kind = "empty"

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(file, reason, is_foreign=True)


class BegunRecording(UnreadableRecording):
    """A session that has begun and in which nothing was said: a recording without trajectories, left out."""


class PartOfRecording(UnreadableRecording):
    """A file that a harness keeps beside a recording and that belongs to it; found in a folder it is no news."""

    kind = "part"

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(file, reason, is_foreign=True)


class RecordingUnavailable(UnreadableRecording):
    """A store did not give a recording after all retries: nothing was learnt of it, and the next run reads it."""

    kind = "service"


class RecordingChanged(RecordingUnavailable):
    """A recording changed or went between listing and reading; found in a folder it is a warning."""

    kind = "changed"

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(file, reason, is_foreign=True)


class UnreadablePage(UnitError):
    """A wiki page cannot be parsed; `str()` names page, line and reason."""

    kind = "page"

    def __init__(self, page: str, reason: str, line: int | None = None) -> None:
        super().__init__(reason, about=(page,), place=line)
        self.page = page

    def __str__(self) -> str:
        return f"{located(self.page, self.place)}: {self.reason}"


class NewerVersion(UnreadablePage):
    """A newer version of this program wrote a record: nothing may be written into its wiki."""


def located(unit: str, place: int | str | None) -> str:
    """A unit and the place in it: `notes.json:3` for a line, `session-1: arcs.0` for a field."""
    if place in (None, ""):
        return unit
    return f"{unit}:{place}" if isinstance(place, int) else f"{unit}: {place}"


class AnswerRejected(UnitError):
    """An answer failed a check; `str()` names the field and the reason."""

    kind = "answer"


class NoAnswer(AnswerRejected):
    """A model gave no answer to check: it refused, was cut off, or cannot read the request; `str()` says which."""


class ServiceFailed(UnitError):
    """A service could not answer after all retries; nothing was learnt, and the next run asks again."""

    kind = "service"


class Unanswered(UnitError):
    """A question has no answer yet; what was made of other answers is kept."""

    kind = "question"


class Queued(Unanswered):
    """A question waits for its batch to be sent or to end."""


class RunError(AgentWikiError):
    """The run cannot go on; `str()` is one line that says what to do."""


class UsageError(RunError):
    """The command was called with words that do not fit."""


class RunStopped(RunError):
    """Nothing more may be asked in this run. What was answered is kept; the next run continues."""


class BudgetReached(RunStopped):
    """The run may not spend more."""


class Interrupted(RunStopped):
    """Somebody asked the run to end."""


class WikiLocked(RunError):
    """Another process is writing to the wiki."""


class UnsafePath(RunError):
    """A path would leave the wiki folder; nothing was written."""


def system_reason(error: OSError | MemoryError) -> str:
    """Why the system refused something, in a few words."""
    if isinstance(error, MemoryError):
        return "needs more memory than this process may have"
    return error.strerror or str(error) or type(error).__name__
