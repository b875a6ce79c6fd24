"""An owner's exceptions from the gate: what looks like a secret in a finished wiki and is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from agent_wiki.errors import UsageError
from agent_wiki.pipeline import audit
from agent_wiki.pipeline.find_secrets import FoundSecret
from agent_wiki.pipeline.leaks import files_that_leave, in_file
from agent_wiki.pipeline.newer_wiki import refuse_newer_wiki
from agent_wiki.pipeline.second_detector import Detector
from agent_wiki.redaction.redact import redact_text
from agent_wiki.wiki.config import AllowedSecret
from agent_wiki.wiki.config_edits import edit_allowed_secrets
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import plain_line

_MOST_WHY = 500


def allow_secrets(wiki: Path, places: Sequence[str], why: str, detector: Detector | None = None) -> None:
    """Put what stands at these places under `allowed_secrets:` by its digest, with the reason, and into the audit log.

    In: places as `wiki secrets --wiki` prints them, `FILE:LINE:COLUMN`, or `FILE:LINE` where it is alone on its line.
    Raises `UsageError` for a place where nothing, or more than one thing, was found, and then nothing is written.
    """
    if not (wiki / CONFIG).is_file():
        raise UsageError(f"{wiki}: no wiki ({CONFIG} is missing)")
    reason = redact_text(plain_line(why, _MOST_WHY))[0]
    if not reason:
        raise UsageError("--allow needs --why: say why it is no secret")
    folder = WikiFolder(wiki)
    with folder.locked():
        refuse_newer_wiki(folder)
        found = [each for path in files_that_leave(wiki) for each in in_file(wiki, path, detector)]
        chosen = dict(_named(found, place) for place in places)
        text = folder.read_text(CONFIG) or ""
        allowed = {digest: AllowedSecret(kind, reason) for digest, kind in chosen.items()}
        folder.write_text(CONFIG, edit_allowed_secrets(text, allowed))
        audit.AuditLog(folder).add(audit.allowed(chosen, reason))


def _named(found: Iterable[tuple[FoundSecret, str]], place: str) -> tuple[str, str]:
    """The digest and the kind of what stands at a place."""
    here = {digest: each for each, digest in found if place in _places_of(each)}
    if not here:
        raise UsageError(
            f"{redact_text(place)[0]}: nothing that looks like a secret; `wiki secrets --wiki` lists places"
        )
    if len(here) > 1:
        columns = ", ".join(str(each.column) for each in here.values())
        raise UsageError(f"{place}: {len(here)} are there, at the columns {columns}: add one, as {place}:COLUMN")
    ((digest, each),) = here.items()
    return digest, each.kind


def _places_of(found: FoundSecret) -> tuple[str, ...]:
    if found.line is None:
        return (found.file,)
    return f"{found.file}:{found.line}", f"{found.file}:{found.line}:{found.column}"
