"""Which pages of a wiki a session read, detected from its calls alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.recall.reads import wiki_reads
from agent_wiki.trajectory import Source, Trajectory
from tests.hangs import no_hang

PAGE = "guidelines/list-zip-entries__0123456789ab.md"


def session(*calls: tuple[str, dict[str, Any], str], cwd: str | None = None, failed: bool = False) -> Trajectory:
    builder = TrajectoryBuilder()
    builder.user("Count the entries of a.zip.")
    for position, (name, arguments, result) in enumerate(calls):
        builder.assistant(calls=[(f"c{position}", name, arguments)])
        builder.tool(f"c{position}", result, is_error=failed)
    return builder.finish("s", Source("claude-code", cwd=cwd))


def pages(*calls: tuple[str, dict[str, Any], str], cwd: str | None = None, failed: bool = False) -> list[str]:
    return [read.page for read in wiki_reads(session(*calls, cwd=cwd, failed=failed))]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Read", {"file_path": f"/repo/wiki/{PAGE}"}),
        ("read_file", {"path": f"wiki/{PAGE}"}),
        ("read_many_files", {"paths": [f"wiki/{PAGE}"]}),
        ("str_replace_editor", {"command": "view", "path": f"/repo/wiki/{PAGE}"}),
        ("Bash", {"command": f"cat wiki/{PAGE} | head -40"}),
        ("Bash", {"command": f"cd /repo/wiki && sed -n '1,20p' {PAGE}"}),
        ("shell", {"command": ["bash", "-lc", f"less 'wiki/{PAGE}'"]}),
        ("exec_command", {"cmd": f"grep -n rule {PAGE}", "workdir": "/repo/wiki"}),
        ("Bash", {"command": f"for page in wiki/{PAGE}; do cat $page; done"}),
        ("mcp__agent-wiki__read_page", {"page": PAGE}),
        ("agent-wiki.read_page", {"link": PAGE}),
        ("read_page", {"link": f"/repo/notes/{PAGE}"}),
        ("Bash", {"command": f"jq -R . wiki/{PAGE}"}),
        ("Bash", {"command": f"wiki why {PAGE} --wiki wiki"}),
    ],
)
def test_a_page_is_read_whatever_the_tool(name: str, arguments: dict[str, Any]) -> None:
    assert pages((name, arguments, "# List zip entries")) == [PAGE]


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("Write", {"file_path": f"/repo/wiki/{PAGE}", "content": "x"}, "written"),
        ("Bash", {"command": f"echo x > wiki/{PAGE}"}, ""),
        ("Bash", {"command": f"rm wiki/{PAGE}"}, ""),
        ("Bash", {"command": "ls wiki/guidelines"}, PAGE),
        ("Bash", {"command": f"sed -i s/a/b/ wiki/{PAGE}"}, ""),
        ("Read", {"file_path": "/repo/AGENTS.md"}, "# How to work here"),
        ("Read", {"file_path": "/home/me/.claude/skills/deploy/SKILL.md"}, "# Deploy"),
        ("Bash", {"command": "cat site/_config.yaml"}, "title: a site"),
        ("Skill", {"skill": "deploy"}, "Launching skill: deploy"),
        ("mcp__wiki__report_use", {"id": "0123456789ab", "status": "followed"}, f"noted: {PAGE}"),
        ("mcp__wiki__provenance", {"id": "0123456789ab"}, f"{PAGE}: session s, turn 4"),
        ("Bash", {"command": f"wiki consult 'what says {PAGE}'"}, ""),
        ("Bash", {"command": f"git log -- wiki/{PAGE}"}, f"wiki/{PAGE}"),
    ],
)
def test_writing_listing_and_other_peoples_files_are_no_reads(
    name: str, arguments: dict[str, Any], result: str
) -> None:
    assert pages((name, arguments, result)) == []


def test_a_read_that_failed_is_no_read() -> None:
    assert pages(("Read", {"file_path": f"wiki/{PAGE}"}, "File does not exist."), failed=True) == []


def test_agents_md_counts_in_a_folder_that_is_known_as_a_wiki() -> None:
    index = ("Bash", {"command": "cat /repo/notes/AGENTS.md /repo/notes/_index.jsonl"}, "{}")
    assert pages(index) == ["AGENTS.md", "_index.jsonl"]
    assert pages(("Read", {"file_path": "/repo/team-wiki/AGENTS.md"}, "x")) == ["AGENTS.md"]
    assert all(read.is_index for read in wiki_reads(session(index)))


def test_a_relative_page_belongs_to_the_folder_the_session_runs_in() -> None:
    call = ("Bash", {"command": "cat AGENTS.md"}, "x")
    assert pages(call, cwd="/repo/wiki") == ["AGENTS.md"]
    assert pages(call, cwd="/repo") == []


def test_a_search_reads_the_pages_whose_lines_it_shows() -> None:
    search = ("Bash", {"command": "rg zip wiki/guidelines"}, f"wiki/{PAGE}:12:Use unzip -Z1.\n")
    assert pages(search) == [PAGE]
    names_only = ("Grep", {"pattern": "zip", "path": "wiki/guidelines"}, f"Found 1 file\nwiki/{PAGE}\n")
    assert pages(names_only) == []


def test_pages_printed_by_a_glob_are_known_by_their_ids() -> None:
    listing = ("Bash", {"command": "ls wiki/guidelines"}, PAGE)
    printed = ("Bash", {"command": "cat wiki/guidelines/*.md"}, "---\ntype: guideline\nid: 0123456789ab\n---\n")
    assert pages(listing, printed) == [PAGE]


OTHER = "skills/count-entries/SKILL.md"
LISTED = f"""1. List zip entries [guideline, 0.71]
   why: title: zip, entries; meaning 0.80
   /repo/wiki/{PAGE} (2 sessions (2 success, 0 failure), trust tool)
2. Count entries [skill, 0.44]
   why: meaning 0.61
   /repo/wiki/{OTHER} (1 session, trust tool)
"""
SHOWN = f"""--- {PAGE} [guideline] 2 sessions, trust tool

# List zip entries

Use `unzip -Z1 <file>`; see guidelines/something-else__ba9876543210.md.

--- {OTHER} [skill] 1 session, trust tool

# Count entries

Run `wc -l <list>`.

Not shown for want of room: guidelines/too-long__ffffffffffff.md
"""
ROWS = [{"kind": "guideline", "link": PAGE, "summary": "Use unzip"}, {"kind": "skill", "link": OTHER, "summary": "wc"}]


@pytest.mark.parametrize("printed", [LISTED, SHOWN, json.dumps(ROWS, indent=2), json.dumps({"result": LISTED})])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Bash", {"command": "wiki consult 'zip entries' --wiki wiki"}),
        ("Bash", {"command": "cd /repo && .venv/bin/wiki consult --read 'zip entries' | head -50"}),
        ("shell", {"command": ["bash", "-lc", "python3 -m agent_wiki consult zip"]}),
        ("exec_command", {"cmd": "uvx --from agent-wiki wiki consult zip"}),
        ("mcp__wiki__consult", {"task": "zip entries"}),
        ("consult", {"task": "zip entries"}),
        ("team.consult", {"task": "zip entries"}),
    ],
)
def test_what_consult_shows_is_read_and_what_it_names_besides_is_not(
    name: str, arguments: dict[str, Any], printed: str
) -> None:
    assert pages((name, arguments, printed)) == [PAGE, OTHER]


def test_each_page_of_one_result_has_its_own_words() -> None:
    call = ("Bash", {"command": "wiki consult --read zip"}, SHOWN)
    first, second = wiki_reads(session(call))
    assert ("unzip -Z1" in first.text, "wc -l" in first.text) == (True, False)
    assert ("unzip -Z1" in second.text, "wc -l" in second.text) == (False, True)
    printed = "".join(
        f"---\nid: {name}\ntype: {kind}\n---\n# Title {name[-3:]}\n\nRun `{command}`.\n"
        for name, kind, command in (
            ("0123456789ab", "guideline", "unzip -Z1"),
            ("skill:count-entries", "skill", "wc -l"),
        )
    )
    both = ("Bash", {"command": f"cat wiki/{PAGE} wiki/{OTHER}"}, printed)
    assert [("unzip" in read.text, "wc" in read.text) for read in wiki_reads(session(both))] == [
        (True, False), (False, True),
    ]  # fmt: skip


def test_a_glob_names_its_pages_by_their_frontmatter_alone() -> None:
    page = "---\nid: 0123456789ab\ntype: guideline\n---\n# List zip entries\n"
    cluster = "---\nid: cluster:archives\ntype: cluster\n---\n# Archives\n"
    printed = ("Bash", {"command": "head -20 wiki/guidelines/*.md"}, page + cluster)
    assert pages(printed) == [PAGE, "guidelines/archives__cluster.md"]
    strange = ("Bash", {"command": "cat content/*.md"}, "---\nid: 0123456789ab\ntype: post\n---\n# A post\n")
    assert pages(strange) == []


def test_an_archived_page_is_read_as_the_rule_it_is() -> None:
    archived = "_archived/list-zip-entries__0123456789ab.md"
    assert pages(("Read", {"file_path": f"/repo/wiki/{archived}"}, "# List zip entries")) == [archived]


def test_a_skill_call_reads_the_skill_page_of_a_wiki() -> None:
    builder = TrajectoryBuilder()
    builder.user("Count the entries.")
    builder.assistant(calls=[("c", "Skill", {"skill": "list-zip"})])
    builder.tool("c", "Launching skill: list-zip")
    builder.user("Base directory for this skill: /repo/wiki/skills/list-zip\n\n# List zip", "injected")
    (read,) = wiki_reads(builder.finish("s", Source("claude-code")))
    assert (read.page, read.result_turn) == ("skills/list-zip/SKILL.md", 4)
    assert "# List zip" in read.text, "what the harness put in is what the session saw"


def test_running_a_skills_script_reads_the_skill() -> None:
    run = ("Bash", {"command": "bash wiki/skills/list-zip/scripts/count.sh a.zip"}, "3")
    assert pages(run) == ["skills/list-zip/SKILL.md"]


@pytest.mark.long
def test_a_hostile_text_is_searched_in_time() -> None:
    for unit in (
        "id: 0123456789ab\n",
        "---\n",
        '{"link": "',
        "--- guidelines/",
        "1. a\n   ",
        "guidelines/",
        "a/",
        "wiki/guidelines/a__0123456789ab.md:",
        "-" * 7,
    ):
        text = unit * (70_000 // len(unit))
        with no_hang():
            wiki_reads(session(("Bash", {"command": f"rg x wiki {text}"}, text)))
            wiki_reads(session(("consult", {"task": "x"}, text), ("Bash", {"command": "cat wiki/guidelines/*"}, text)))
