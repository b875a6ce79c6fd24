"""What sessions of real clients read in a wiki and what came of it, against the scenario that their model played."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.engines.offline.summarize import answer
from agent_wiki.readers.detect import read
from agent_wiki.readers.recording import Recording
from agent_wiki.recall.own_calls import own_turns
from agent_wiki.recall.reads import WikiRead, wiki_reads
from agent_wiki.stages.summarize import SummarizeQuestion, with_reads
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import paired_calls
from agent_wiki.wiki.layout import page_id

CLIENTS = Path(__file__).parent.parent / "data" / "clients"
RULE = "efd56607a9cb"
LISTED, READ, RUN = "listed", "read", "run"

# Recording → what was read of which page, and the status of each page that was shown.
CLAUDE_CODE = {
    "wiki-use/1ac23b7b": ([(LISTED, RULE), (READ, RULE)], [(RULE, "followed")]),  # consult, cat, make test
    "wiki-use/5b7aa318": ([], []),  # no wiki
    "wiki-use/5bccf960": ([], []),
    "wiki-use/5f270692": ([(READ, RULE)], [(RULE, "followed")]),  # consult --read, make test
    "wiki-use/800b21aa": ([(READ, RULE)], [(RULE, "ignored")]),  # consult and make test were not approved
    "wiki-use/95a2a1b8": ([(LISTED, RULE)], []),  # consult alone
    "wiki-use/af6f8c94": ([], []),  # nothing was approved
    "wiki-use/b34faee7": ([(READ, RULE)], [(RULE, "followed")]),  # the tool Read
    "wiki-use/bb341377": ([], []),
    "wiki-use/c89d5c54": ([(LISTED, RULE), (READ, RULE)], [(RULE, "ignored")]),  # make test was not approved
    "wiki-use/fb4dc61f": ([(LISTED, RULE), (READ, RULE)], [(RULE, "followed")]),  # the server's tools
    "mined-skills/356f6273": ([(READ, "skill:sum-csv-column")], [("skill:sum-csv-column", "ignored")]),  # a usage error
    "mined-skills/607ba62c": (
        [(READ, "skill:sum-csv-column"), (RUN, "skill:sum-csv-column")],
        [("skill:sum-csv-column", "followed")],
    ),
    "mined-skills/9886c882": (  # loaded from .claude/skills
        [(READ, "skill:jsonl-to-csv"), (RUN, "skill:jsonl-to-csv")],
        [("skill:jsonl-to-csv", "followed")],
    ),
    "mined-skills/99d7af14": ([(READ, "skill:sum-csv-column")], [("skill:sum-csv-column", "ignored")]),  # not needed
    "mined-skills/eadf2f90": (  # the script by `cd` into the skill's folder
        [(READ, "skill:sum-csv-column"), (RUN, "skill:sum-csv-column")],
        [("skill:sum-csv-column", "followed")],
    ),
}
CODEX = {
    "05-58-21": ([], []),  # no `wiki` on the path, no page there
    "05-59-09": ([(LISTED, RULE), (READ, RULE)], [(RULE, "followed")]),
    "05-59-15": ([(LISTED, RULE), (READ, RULE)], [(RULE, "followed")]),
    "06-01-31": ([], []),  # the server's tools were not offered
    "06-01-35": ([(LISTED, RULE), (READ, RULE)], [(RULE, "followed")]),
    "06-14-57": ([], []),  # no command ran
}


def trajectory(client: str, pattern: str) -> Trajectory:
    (path,) = (CLIENTS / client).glob(pattern)
    (found,) = read(Recording(path, path.name))
    return found


def kind(found: WikiRead) -> str:
    return LISTED if found.is_listed else RUN if found.script else READ


def found_in(session: Trajectory) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    reads = wiki_reads(session)
    checked, dropped = with_reads(answer(SummarizeQuestion(session)), reads)
    assert dropped == []
    statuses = [(page_id(each.page), str(each.status)) for arc in checked.arcs for each in arc.recalled]
    return [(kind(each), page_id(each.page)) for each in reads], statuses


@pytest.mark.parametrize("name", CLAUDE_CODE)
def test_claude_code(name: str) -> None:
    assert found_in(trajectory("claude-code", f"{name}*.jsonl")) == CLAUDE_CODE[name]


@pytest.mark.parametrize("name", CODEX)
def test_codex(name: str) -> None:
    assert found_in(trajectory("codex", f"rollouts/*T{name}-*.jsonl")) == CODEX[name]


def test_every_use_of_the_wiki_is_known_as_one_and_nothing_else() -> None:
    sessions = [trajectory("claude-code", f"{name}*.jsonl") for name in CLAUDE_CODE]
    sessions += [trajectory("codex", f"rollouts/*T{name}-*.jsonl") for name in CODEX]
    for session in sessions:
        own = own_turns(session)
        for call in paired_calls(session):
            is_ours = any(mark in call.raw_arguments + call.name for mark in ("wiki consult", "wiki/guid", "mcp__wiki"))
            is_skill = call.name == "Skill" and "wiki-consult" in call.raw_arguments
            is_page = call.name == "Skill" and "csv" in call.raw_arguments
            assert (call.turn in own) is (is_ours or is_skill or is_page), (session.session_id, call.raw_arguments)
