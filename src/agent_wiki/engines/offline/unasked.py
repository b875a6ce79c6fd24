"""A title for a stretch whose request does not give one: whose session it is, what was done, and to what."""

from __future__ import annotations

import re
from collections import Counter

from agent_wiki.engines.offline.acts import distinct
from agent_wiki.engines.offline.imperatives import sentence_case
from agent_wiki.engines.offline.stretch import Stretch
from agent_wiki.engines.offline.tables import written
from agent_wiki.engines.offline.wording import code, listing, said, shown_path
from agent_wiki.shell.files_written import bare_name
from agent_wiki.stages.summarize import MOST_TITLE_CHARACTERS
from agent_wiki.trajectory.lazily import regex
from agent_wiki.trajectory.repository import repository_of
from agent_wiki.wiki.text import plain_line

_MOST_NAMES = 2
_REDACTED = "REDACTED"
_MOST_FILES = 2 / 3
_PLAIN_FOLDERS = frozenset({"src", "lib", "app", "docs", "test", "tests", "scripts", "components", "pages", "public"})
_MOST_SAID = 60
_OF_ANY_FEATURE = written("of_any_feature", re.IGNORECASE)
_FEATURE = regex(r"\bspecs[/\\]+(\d{3}-[\w-]{3,60})")


def title_without_request(stretch: Stretch) -> str:
    """The title of the issue that it read first, else what was done: `Changed cart.py and tax.py in shop`.

    Of a session without files whose it is, where and when, and how its answer begins.
    """
    if issue := stretch.issue_read_first():
        return plain_line(issue[1], MOST_TITLE_CHARACTERS)
    source = stretch.trajectory.source
    place, date = repository_of(source), (source.ended_at or "")[:10]
    where = f" in {place}" if place else ""
    if files := _files(stretch):
        return plain_line(f"{sentence_case(files)}{where}", MOST_TITLE_CHARACTERS)
    whose = f"{source.format} {'subagent' if source.parent_session_id else 'session'}"
    title, answer = f"{sentence_case(whose)}{where}{f' of {date}' if date else ''}", stretch.last_reply()
    begins = said(answer[1].strip().split("\n", 1)[0], _MOST_SAID) if answer else ""
    return plain_line(f"{title}: {begins}" if begins else title, MOST_TITLE_CHARACTERS)


def place_of(stretch: Stretch) -> str:
    """Where the files of the work lie: the folder that most of them share, else the file with most edits; or empty."""
    cwd = stretch.trajectory.source.cwd
    scratch = stretch.scratch()
    edited = [path for act in stretch.kept_edits() for path in act.edits
              if bare_name(path) not in scratch and _REDACTED not in path]  # fmt: skip
    files = distinct([path.replace("\\", "/") for path in edited])
    folders = Counter(folder for path in files if (folder := path.rpartition("/")[0].rpartition("/")[2]))
    folder, number = folders.most_common(1)[0] if folders else ("", 0)
    if len(files) > 1 and number >= _MOST_FILES * len(files) and folder.lower() not in _PLAIN_FOLDERS:
        return code(folder)
    most = Counter(edited).most_common(1)
    return code(shown_path(most[0][0], cwd)) if most else ""


def feature_of(stretch: Stretch, title: str) -> str:
    """The folder of Spec Kit's feature that was worked on, where the title names a step of any feature."""
    if not _OF_ANY_FEATURE.match(title):
        return ""
    named = Counter(name for act in stretch.acts for name in dict.fromkeys(_FEATURE.findall(act.call.raw_arguments)))
    return code(named.most_common(1)[0][0]) if named else ""


def _files(stretch: Stretch) -> str:
    """What was changed, else what was read; empty for neither."""
    cwd = stretch.trajectory.source.cwd
    if changed := distinct([shown_path(path, cwd) for act in stretch.kept_edits() for path in act.edits]):
        return f"changed {listing(changed, _MOST_NAMES)}"
    looks = [act for act in stretch.acts if act.kind == "look" and act.has_worked]
    read = distinct([shown_path(path, cwd) for act in looks if (path := act.call.path())])
    return f"read {listing(read, _MOST_NAMES)}" if read else ""
