"""agent-wiki turns recorded agent sessions into a wiki that the next agent reads.

`ingest` builds a wiki, `normalize` reads recordings, `open` reads a wiki; docs/api.md shows each at work. The names are
loaded when first asked for, so that a command or a hook pays only for what it uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_wiki.api import *

__version__ = "0.1.0"

__all__ = [
    "Account", "AgentWikiError", "Answer", "AnswerRejected", "AskingOptions", "BaseEngine", "BudgetReached",
    "Coverage", "Engine", "Failure", "Forgotten", "Hit", "MadeWith", "Message", "NoAnswer", "Note", "Page", "Problem",
    "Prompt", "Question", "Queued", "Recording", "Report", "RunError", "Sample", "ServiceFailed", "SessionRecord",
    "Source", "ToolCall", "Trajectory", "TrajectoryBuilder", "Unanswered", "UnitError", "UnreadablePage",
    "UnreadableRecording", "UnsafePath", "Usage", "UsageError", "Why", "Wiki", "WikiLocked", "__version__", "ingest",
    "normalize", "open", "prompt_of",
]  # fmt: skip

if not TYPE_CHECKING:  # else a type checker would take any name for one of this package

    def __getattr__(name: str) -> object:
        """A public name, loaded now. Raises `AttributeError` for any other."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from agent_wiki import api

        found = globals()[name] = getattr(api, name)
        return found

    def __dir__() -> list[str]:
        """The public names, whether they are loaded or not."""
        return sorted({*globals(), *__all__})
