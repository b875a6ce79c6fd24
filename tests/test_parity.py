"""What docs/architecture.md says of parity and no other test shows: one small wiki, looked at from outside."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent_wiki.commands import main
from agent_wiki.pages.recalls import Recall, tier
from agent_wiki.wiki.layout import summary_path
from agent_wiki.wiki.page import Page, parse_page
from tests.wikis import COMMAND, Script, arc, chat, ingest, rule, skill

RULE = "Run the check before a change."
OTHER = "Check the cart before it is changed."
RULE_ID = hashlib.sha1(b"run the check before a change.", usedforsecurity=False).hexdigest()[:12]
OTHER_ID = hashlib.sha1(b"check the cart before it is changed.", usedforsecurity=False).hexdigest()[:12]
TITLE = "Run the whole check before any change"
GUIDELINE = f"guidelines/run-the-whole-check-before-any-change__{RULE_ID}.md"
IGNORED = "guidelines/read-the-log-of-checks__0123456789ab.md"
ARCHIVED = "_archived/read-the-log-of-checks__"
CONFIG = f"""\
schema_version: 1
# my own words
tags:
  guideline:
    {OTHER_ID}: [mine]
clusters:
  check-first:
    title: Check first
    description: Two wordings of one rule.
    takeaway: Check before a change.
    members: [{RULE_ID}, {OTHER_ID}]
tasks:
  fix-the-cart:
    title: Fix the cart
    family_match:
      goal_substring: [THE CART]
    intro: The cart does not add up.
    findings: [3 of 3 ran the check.]
session_family_overrides:
  d: {{family: elsewhere}}
  c: {{trial: 9, condition: pinned}}
"""


def _labelled(session_id: str, day: str, trial: str, condition: str) -> dict[str, Any]:
    labels = {"task_id": "cart", "trial": trial, "condition": condition}
    reads = (GUIDELINE, IGNORED) if session_id == "c" else ()
    writes = {"check.sh": "make check\n"} if session_id == "a" else None
    request = f"Please fix the cart of {session_id}."
    envelope: dict[str, Any] = chat(session_id, day, request=request, reads=reads, writes=writes)
    return {**envelope, "agent": "tester", "duration_seconds": 12.5, "metadata": labels}


def _told(folder: Path) -> Script:
    script = Script(folder)
    covered = rule("Read the log.", title="Read the log of checks")
    script.says("a", rules=[rule(RULE, title=TITLE), covered])
    scripts = [{"file": "check.sh", "text": "make check\n"}]
    script.says("a", skill=skill("check-the-cart", overview="Check; read the log; check again.", scripts=scripts))
    script.says("b", rules=[rule(RULE, title=TITLE), rule(OTHER, tags=["logs"], type="workflow")])
    page = {"page": GUIDELINE, "turn": 8, "quote": COMMAND}
    ignored = {"page": IGNORED, "status": "ignored"}
    script.says("c", arcs=[arc(recalled=[{**page, "status": "followed"}, ignored])])
    script.says("d", arcs=[arc("One", 1, 2), arc("Two", 3, 4, outcome="failure")])
    return script


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four sessions, a cluster and a task of the owner's, all stages run."""
    folder = tmp_path_factory.mktemp("parity")
    script = _told(folder)
    traces, made = folder / "traces", folder / "wiki"
    traces.mkdir()
    made.mkdir()
    (made / "_config.yaml").write_text(CONFIG, encoding="utf-8")
    for number, name in enumerate("abcd", start=1):
        envelope = _labelled(name, f"2026-01-0{number}", str(number), "with-wiki" if name == "c" else "alone")
        (traces / f"{name}.json").write_text(json.dumps(envelope), encoding="utf-8")
    report = ingest([traces], made, script.engine)
    assert report.failures == []
    return made


def _page(wiki: Path, path: str) -> Page:
    return parse_page((wiki / path).read_text(encoding="utf-8"), path)


def _rows(wiki: Path) -> list[dict[str, Any]]:
    lines = (wiki / "_index.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _audited(wiki: Path, action: str) -> list[dict[str, Any]]:
    records = map(json.loads, (wiki / "_audit.log").read_text(encoding="utf-8").splitlines())
    return [record for record in records if record["action"] == action]


def test_normalize_takes_label_prompt_trial_and_condition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "with-wiki" / "run-7.json"
    recording.parent.mkdir()
    envelope = chat("s1")
    envelope["messages"] = envelope["messages"][1:]
    recording.write_text(json.dumps(envelope), encoding="utf-8")
    words = ["--label", "mine", "--user-prompt", "Fix it.", "--trial-prefix", "run-", "--condition", "@parent"]
    assert main(["normalize", str(tmp_path), "--out", str(tmp_path / "out"), *words, "--json"]) == 0
    made = tmp_path / "out" / "mine" / "items" / "with-wiki__trial-7__s1.json"
    written = json.loads(made.read_text(encoding="utf-8"))
    assert written["messages"][0] == {"role": "user", "content": "Fix it."}
    assert (written["source"]["condition"], written["source"]["trial"]) == ("with-wiki", "7")
    (told,) = json.loads(capsys.readouterr().out)["trajectories"]
    assert (told["tool_calls"], told["tool_results"], told["top_tools"]) == (1, 1, {"Bash": 1})
    assert {"turns", "errors", "thinking", "usage", "cost_usd", "duration_seconds", "hygiene"} <= told.keys()


def test_the_first_run_makes_folders_agents_md_and_a_commented_configuration(tmp_path: Path) -> None:
    assert main(["init", "--wiki", str(tmp_path / "w")]) == 0
    for section in ("summaries", "guidelines", "tasks", "skills"):
        assert (tmp_path / "w" / section / "index.md").is_file()
    assert "# The durable taxonomy" in (tmp_path / "w" / "_config.yaml").read_text(encoding="utf-8")
    (tmp_path / "w" / "AGENTS.md").write_text("Mine.\n", encoding="utf-8")
    assert main(["catalog", "--wiki", str(tmp_path / "w")]) == 0
    assert (tmp_path / "w" / "AGENTS.md").read_text(encoding="utf-8") == "Mine.\n"


def test_a_summary_without_a_recording_is_a_usage_error(tmp_path: Path) -> None:
    assert main(["summarize", str(tmp_path / "none.json"), "--wiki", str(tmp_path / "w")]) == 2


def test_a_summary_has_its_fields_and_sections(wiki: Path) -> None:
    page = _page(wiki, "summaries/c.md")
    told = {name: page.fields[name] for name in ("agent", "model", "goal", "outcome", "duration_seconds", "tools_used")}
    assert told == {
        "agent": "tester", "model": "m-1", "goal": "Fix the cart", "outcome": "success", "duration_seconds": 12.5,
        "tools_used": ["Bash", "Read"],
    }  # fmt: skip
    assert page.fields["sources"] == ["c.json"]
    assert page.title == "Fix the cart"
    assert None not in [page.section(each) for each in ("Key turns", "Recalled guidelines", "Sources")]
    assert page.fields["tags"] == ["fix-the-cart", "with-wiki", "trial-3", "wiki-consulted"]


def test_a_session_of_two_requests_has_a_page_each_and_they_know_each_other(wiki: Path) -> None:
    one, two = (_page(wiki, f"summaries/d__{name}.md") for name in ("one", "two"))
    assert (one.fields["arc"], one.fields["sibling_summaries"]) == ("one", ["summaries/d__two.md"])
    assert (two.fields["arc"], two.fields["sibling_summaries"]) == ("two", ["summaries/d__one.md"])
    assert "; this page is about T1 to T2, its time, tokens and coverage are of all)" in (one.section("Sources") or "")
    assert "; this page is about T3 to T4)" in (two.section("Sources") or "")


def test_a_recall_is_on_both_pages_and_in_the_audit_log(wiki: Path) -> None:
    followed, ignored = _page(wiki, "summaries/c.md").fields["recalled_guidelines"]
    assert (followed["id"], followed["status"], followed["evidence"]) == (RULE_ID, "followed", COMMAND)
    assert "evidence" not in ignored
    used_by = _page(wiki, GUIDELINE).section("Used by") or ""
    assert "[Fix the cart](../summaries/c.md) | with-wiki | followed | “make check”" in used_by
    assert [record["status"] for record in _audited(wiki, "summary.guideline_use")] == ["followed", "ignored"]


def test_a_guideline_is_named_by_its_title_and_the_digest_of_its_rule(wiki: Path) -> None:
    page = _page(wiki, GUIDELINE)
    assert page.fields["id"] == RULE_ID
    assert (page.fields["type"], page.fields["agent"]) == ("guideline", "tester")
    assert page.fields["related_summary"] == "summaries/a.md"
    assert page.fields["sources"] == ["a.json", "b.json"]
    assert page.fields["support"] == {"sessions": 2, "success": 2, "partial": 0, "failure": 0}
    assert "[Fix the cart](../summaries/b.md) (tester, 2026-01-02): T2 “make check”" in (page.section("Sources") or "")
    assert page.section("Rationale") == "The check told what was wrong."


def test_configured_tags_win_and_are_on_the_page(wiki: Path) -> None:
    (row,) = [row for row in _rows(wiki) if row["id"] == OTHER_ID]
    page = _page(wiki, row["link"])
    assert (row["tags"], page.fields["tags"]) == (["mine"], ["mine"])
    assert page.fields["type"] == "workflow"
    config = (wiki / "_config.yaml").read_text(encoding="utf-8")
    assert "# my own words" in config
    assert yaml.safe_load(config)["tags"]["guideline"][RULE_ID] == ["cart", "checks"]


def test_a_skill_is_a_folder_with_scripts_that_run(wiki: Path) -> None:
    page = _page(wiki, "skills/check-the-cart/SKILL.md")
    assert (page.fields["metadata"]["id"], page.fields["name"]) == ("skill:check-the-cart", "check-the-cart")
    assert None not in [page.section(each) for each in ("Overview", "When To Use", "Workflow", "Sources")]
    script = wiki / "skills" / "check-the-cart" / "scripts" / "check.sh"
    assert script.read_text(encoding="utf-8") == "make check\n"
    assert script.stat().st_mode & 0o111
    ids = json.loads((wiki / "skills" / "_id_index.json").read_text(encoding="utf-8"))
    assert ids == {"skill:check-the-cart": "skills/check-the-cart/SKILL.md"}
    assert [record["scripts"] for record in _audited(wiki, "synthesize_skill")] == [["check.sh"]]


def test_a_covered_guideline_is_moved_and_no_longer_indexed(wiki: Path) -> None:
    moved = sorted(path.name for path in (wiki / "_archived").iterdir())
    records = {record["dst"]: record for record in _audited(wiki, "archive_guideline")}
    assert sorted(records) == [f"_archived/{name}" for name in moved]
    log = next(records[path] for path in records if path.startswith(ARCHIVED))
    assert (log["reason"], log["target"]) == ("covered_by_skill", "skill:check-the-cart")
    assert log["src"] == log["dst"].replace("_archived", "guidelines")
    assert not any(row["link"].startswith("_archived") for row in _rows(wiki))
    ids = json.loads((wiki / "guidelines" / "_id_index.json").read_text(encoding="utf-8"))
    assert log["id"] not in ids


def test_a_cluster_archives_its_members_if_asked_to(tmp_path: Path) -> None:
    script = Script(tmp_path)
    script.says("a", rules=[rule(RULE, title=TITLE)])
    script.says("b", rules=[rule(OTHER, tags=["logs"])])
    made, traces = tmp_path / "w", tmp_path / "t"
    made.mkdir()
    traces.mkdir()
    told = CONFIG.replace("    takeaway:", "    archive_members: true\n    takeaway:")
    (made / "_config.yaml").write_text(told, encoding="utf-8")
    for name in "ab":
        (traces / f"{name}.json").write_text(json.dumps(_labelled(name, "2026-01-01", "1", "x")), encoding="utf-8")
    ingest([traces], made, script.engine)
    members = _page(made, "guidelines/check-first__cluster.md").fields["members"]
    assert [each["link"].startswith("../_archived/") for each in members] == [True, True]
    assert {record["reason"] for record in _audited(made, "archive_guideline")} == {"covered_by_cluster"}


def test_a_cluster_states_what_its_members_share_and_claims_them(wiki: Path) -> None:
    page = _page(wiki, "guidelines/check-first__cluster.md")
    assert page.fields["priority"] == "high"
    assert [each["id"] for each in page.fields["members"]] == [RULE_ID, OTHER_ID]
    assert page.section("Takeaway") == "Check before a change."
    members = page.section("Members") or ""
    assert all(words in members for words in (TITLE, RULE_ID, "before a change", "summaries/b.md", OTHER))
    by_id = {row["id"]: row["link"] for row in _rows(wiki)}
    for member in (RULE_ID, OTHER_ID):
        links = [each["link"] for each in page.fields["members"] if each["id"] == member]
        path = by_id.get(member) or links[0].replace("../", "")
        fields = _page(wiki, path).fields
        assert (fields["cluster"], fields["superseded_by"]) == ("check-first", "check-first__cluster.md")


def test_a_task_compares_its_sessions_as_the_owner_pinned_them(wiki: Path) -> None:
    page = _page(wiki, "tasks/fix-the-cart__task.md")
    assert page.fields["sessions"] == ["a", "b", "c"]
    assert page.lead == "The cart does not add up."
    table = page.section("Comparison") or ""
    assert "| 9 | pinned | m-1 | [Fix the cart (c)](../summaries/c.md) | success | 4 | 0 | yes | — |" in table
    assert "| 1 | alone | m-1 | [Fix the cart (a)](../summaries/a.md) | success | 2 |" in table
    assert page.section("Findings") == "- 3 of 3 ran the check."


def test_a_subtask_that_a_person_wrote_is_kept(tmp_path: Path) -> None:
    script = Script(tmp_path)
    page = tmp_path / "w" / "tasks" / "the-detour__subtask.md"
    page.parent.mkdir(parents=True)
    text = "---\ntype: subtask\nparent_session_id: a\nparent_summary: summaries/a.md\n---\n\n# The detour\n\nIt went.\n"
    page.write_text(text, encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps(chat("a")), encoding="utf-8")
    ingest([tmp_path / "a.json"], tmp_path / "w", script.engine)
    assert page.read_text(encoding="utf-8") == text
    (row,) = [row for row in _rows(tmp_path / "w") if row["kind"] == "subtask"]
    assert (row["parent_session_id"], row["parent_summary"]) == ("a", "summaries/a.md")
    assert "### [Fix the cart](../summaries/a.md)" in (tmp_path / "w" / "tasks" / "index.md").read_text(
        encoding="utf-8"
    )


def test_what_a_session_contributed_is_on_the_page_of_its_arc(wiki: Path) -> None:
    fields = _page(wiki, "summaries/a.md").fields
    assert RULE_ID in fields["contributed_guidelines"]
    assert fields["contributed_skills"] == ["check-the-cart"]
    assert RULE_ID in _page(wiki, "summaries/b.md").fields["contributed_guidelines"]
    assert "contributed_guidelines" not in _page(wiki, "summaries/d__one.md").fields


def test_a_dangling_summary_is_repaired_with_a_warning(tmp_path: Path) -> None:
    page = tmp_path / "w" / "guidelines" / "an-old-rule__0123456789ab.md"
    page.parent.mkdir(parents=True)
    head = "---\nid: 0123456789ab\ntype: guideline\nrelated_summary: summaries/d.md\n---\n\n"
    page.write_text(f"{head}# An old rule\n\nDo it.\n\n## Sources\n\n- [s](../summaries/d.md)\n", encoding="utf-8")
    script = _told(tmp_path)
    (tmp_path / "d.json").write_text(json.dumps(chat("d")), encoding="utf-8")
    report = ingest([tmp_path / "d.json"], tmp_path / "w", script.engine)
    assert "guideline 0123456789ab: summaries/d.md does not exist; now summaries/d__one.md" in report.warnings
    assert "related_summary: summaries/d__one.md\n" in page.read_text(encoding="utf-8")
    assert "- [s](../summaries/d__one.md)\n" in page.read_text(encoding="utf-8")


def test_the_index_lists_pages_in_order_of_preference_and_every_link_exists(wiki: Path) -> None:
    rows = _rows(wiki)
    order = ["cluster", "skill", "guideline", "task", "subtask"]
    kinds = [order.index(row["kind"]) for row in rows]
    assert kinds == sorted(kinds)
    assert all((wiki / row["link"]).is_file() for row in rows)
    assert all(len(row["summary"]) <= 240 for row in rows)
    shared = {"kind", "id", "title", "tags", "trigger", "summary", "link"}
    assert all(shared <= row.keys() for row in rows)
    assert rows[0]["members"] == [RULE_ID, OTHER_ID]


def test_the_indexes_for_people_count_group_and_link(wiki: Path) -> None:
    root, summaries, guidelines, skills, tasks = (
        (wiki / name).read_text(encoding="utf-8")
        for name in ("index.md", "summaries/index.md", "guidelines/index.md", "skills/index.md", "tasks/index.md")
    )
    assert "1 cluster " in root
    assert "related_summary → summaries/<session_id>.md" in root
    assert "## [Fix the cart](../tasks/fix-the-cart__task.md) / alone (2)" in summaries
    assert "[One](d__one.md) | tester | 4 | one |" in summaries
    assert guidelines.index("## Clusters") < guidelines.index("## Guidelines, alphabetical")
    assert "[Check the cart](check-the-cart/SKILL.md)" in skills
    assert "[Fix the cart](fix-the-cart__task.md): 3 or 4 sessions" in tasks


def test_the_report_counts_and_the_corpus_can_be_dumped(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "--wiki", str(wiki)]) == 0
    assert "pages: nothing written" in capsys.readouterr().out
    assert main(["dump", "guidelines", "--wiki", str(wiki)]) == 0
    dumped = json.loads(capsys.readouterr().out)
    assert RULE_ID in [each["id"] for each in dumped]
    assert main(["dump", "summaries", "--wiki", str(wiki)]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 5


@pytest.mark.parametrize(
    ("statuses", "sessions", "priority"),
    [
        (["followed", "followed"], 1, "high"),
        (["followed", "harmful"], 3, "disputed"),
        (["ignored", "ignored"], 1, "weak"),
        (["followed"], 1, "normal"),
        ([], 2, "normal"),
        (["contradicted"], 2, "low"),
        (["ignored"], 1, "unvalidated"),
    ],
)
def test_use_and_support_decide_a_pages_priority(statuses: list[str], sessions: int, priority: str) -> None:
    recalls = [Recall("id", "s", "summaries/s.md", "s", "", status, "") for status in statuses]
    assert tier(recalls, sessions) == priority


def test_no_two_session_ids_share_a_file_and_none_leads_out() -> None:
    ids = ["a/b", "a-b", "a:b", "../../etc/passwd", "index", ".", "x" * 300, "x" * 301, "A-0123456789", "é", "ê", ""]
    paths = [summary_path(session_id) for session_id in ids]
    assert len(set(paths)) == len(ids)
    assert paths[1] == "summaries/a-b.md"
    assert all(re.fullmatch(r"summaries/[A-Za-z0-9_][A-Za-z0-9._-]{0,140}\.md", path) for path in paths)
