"""Every exception this package raises on purpose.

    AgentWikiError
    ├── UnitError                 one unit is bad: it is reported, the run goes on, exit code 1
    │   ├── UnreadableRecording   a recording that cannot be read
    │   ├── UnreadablePage        a wiki page that cannot be parsed
    │   ├── AnswerRejected        an engine's answer that a check refused
    │   │   └── NoAnswer          a model refused, was cut off, or cannot be asked this
    │   ├── ServiceFailed         a service gave no answer this time; the next run asks again
    │   └── Unanswered            a question that nobody has answered yet
    │       └── Queued            one that waits in a batch
    └── RunError                  the run cannot go on: one line that says what to do, exit code 2
        ├── UsageError            the command's words are off
        ├── BudgetReached         the next request could cost more than the run may spend, exit code 3
        ├── WikiLocked            another process holds the wiki
        └── UnsafePath            something tried to leave the wiki folder

Anything else that escapes is a bug and ends in a traceback.
"""

from __future__ import annotations


class AgentWikiError(Exception):
    """Base of all errors that are this package's own."""


class UnitError(AgentWikiError):
    """One unit (a recording, a page, an answer) is bad; the others go on."""


class UnreadableRecording(UnitError):
    """A recording cannot be read.

    `file` is the name as the user gave it, `line` the 1-based line or None where lines mean nothing,
    `reason` one sentence. `is_foreign` says that the file is something else altogether, not a damaged
    recording: found in a folder it is passed over. `str()` gives the one line that is shown.
    """

    def __init__(self, file: str, reason: str, line: int | None = None, *, is_foreign: bool = False) -> None:
        self.file = file
        self.is_foreign = is_foreign
        self.reason = reason
        self.line = line
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {reason}")


class UnreadablePage(UnitError):
    """A wiki page cannot be parsed; `str()` names page, line and reason."""

    def __init__(self, page: str, reason: str, line: int | None = None) -> None:
        self.page = page
        self.reason = reason
        self.line = line
        place = page if line is None else f"{page}:{line}"
        super().__init__(f"{place}: {reason}")


class AnswerRejected(UnitError):
    """An answer failed a check; `str()` names the field and the reason."""


class NoAnswer(AnswerRejected):
    """A model gave no answer to check: it refused, was cut off, or cannot read the request; `str()` says which."""


class ServiceFailed(UnitError):
    """A service could not answer after all retries; nothing was learnt, and the next run asks again."""


class Unanswered(UnitError):
    """A question has no answer yet; what was made of other answers stands."""


class Queued(Unanswered):
    """A question waits for its batch to be sent or to end."""


class RunError(AgentWikiError):
    """The run cannot go on; `str()` is one line that says what to do."""


class UsageError(RunError):
    """The command was called with words that do not fit."""


class BudgetReached(RunError):
    """The run may not spend more. What was paid for is kept; the next run goes on."""


class WikiLocked(RunError):
    """Another process is writing to the wiki."""


class UnsafePath(RunError):
    """A path would leave the wiki folder; nothing was written."""
