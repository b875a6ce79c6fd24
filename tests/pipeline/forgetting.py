"""Sessions forgotten, as `wiki forget` does it."""

from __future__ import annotations

from pathlib import Path

from agent_wiki.pipeline.forget import forget
from agent_wiki.pipeline.report import Report
from agent_wiki.pipeline.taken_out import Forgotten

ONE, TWO = "Run `make check` before each change of the cart.", "Read the log of the failed check to its very end."


def forget_sessions(wiki: Path, *sessions: str, dry_run: bool = False, for_good: bool = False) -> Forgotten:
    report = Report("forget", str(wiki), is_dry_run=dry_run)
    return forget(wiki, sessions, report, lambda _what, _done, _of: None, for_good=for_good)
