"""A wiki of the former layout, whose pages were its only memory, loses nothing: the example as it was then."""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.report import Report
from agent_wiki.stages.order import ALL_STAGES, entry_types
from agent_wiki.wiki.layout import kind_of
from agent_wiki.wiki.page import Page, parse_page
from agent_wiki.wiki.records import SessionRecord, parse_record
from tests.archives import unpack
from tests.processes import die_before, exit_codes, started
from tests.wikis import changed, tree

ARCHIVE = Path(__file__).parents[1] / "data" / "former-layout.tar.xz"
EXAMPLE = Path(__file__).parents[2] / "wiki-example"
JOURNAL = EXAMPLE / "answered" / "journal"
WIKIS = ("wiki", "answered/wiki")
MEMORY_ALONE = {"request_terms", "mined", "writes", "lineage", "variants", "stage_tags", "wording"}
OF_SUMMARIES = {"outcome_evidence", "turns"}  # which the body of a summary says in words
INDEX = "_index.jsonl"
ANEW = {
    "AGENTS.md",
    "index.md",
    "guidelines/index.md",
    "guidelines/_id_index.json",
    "summaries/index.md",
    "tasks/index.md",
}  # they say what the program says today
OF_THE_DAY = re.compile(rb"^(?:generated|verified_at): .*\n", re.MULTILINE)


@pytest.fixture(scope="session")
def former(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `wiki-example` with both wikis in the former layout."""
    folder = tmp_path_factory.mktemp("former")
    unpack(ARCHIVE, folder)
    return folder / "wiki-example"


def _copy(former: Path, name: str, to: Path) -> Path:
    return shutil.copytree(former / name, to)


def _catalog(wiki: Path) -> Report:
    return run([], Options(wiki, ("catalog",)), Report("catalog", str(wiki)), lambda _what, _done, _of: None)


def _page(content: bytes, path: str) -> tuple[Page, dict[str, Any]]:
    page = parse_page(content.decode(), path)
    under = page.fields.get("metadata")
    return page, {**page.fields, **(under if isinstance(under, dict) else {})}


def _without_partial(value: Any) -> Any:
    """Support as it was counted before sessions that ended partly well were."""
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if name != "partial"}
    return value.replace(", partial: 0", "") if isinstance(value, str) else value


def _as_text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {count}" for name, count in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _own(body: str) -> str:
    """What a page says itself, without the sections that name other pages: by their titles today.

    A quote within a sentence has no full stop of its own any more.
    """
    named = r"^## (?:Lessons|Members|Parent summary|Sources|Used by)\n.*?(?=^## |\Z)"
    return re.sub(named, "", body, flags=re.M | re.S).replace(".”.\n", "”.\n")


def _records(wiki: Path) -> dict[str, SessionRecord]:
    read = (
        parse_record(path.read_bytes(), path.name, entry_types()) for path in sorted((wiki / "_sessions").iterdir())
    )
    return {record.session_id: record for record in read}


def _but_for_the_day(text: bytes) -> bytes:
    return OF_THE_DAY.sub(b"", text).lower()  # names such as CSV are in capitals today


@pytest.mark.parametrize("name", WIKIS)
def test_every_page_script_and_index_is_what_it_was(tmp_path: Path, former: Path, name: str) -> None:
    before = tree(former / name)
    wiki = _copy(former, name, tmp_path / "wiki")
    report = _catalog(wiki)
    assert (report.failures, report.warnings, report.edited) == ([], [], [])
    after = tree(wiki)
    back = {path: f"guidelines/{path.rpartition('/')[2]}" for path in report.removed}
    assert all(path.startswith("_archived/") for path in back), "a guideline that no skill states is no longer archived"
    assert {back.get(path, path) for path in before} <= after.keys()
    pages = {path for path in before if kind_of(path) is not None}
    others = before.keys() - pages - ANEW
    assert {path for path in others if _but_for_the_day(after[path]) != _but_for_the_day(before[path])} == {INDEX}
    for path in sorted(pages):
        page, fields = _page(before[path].replace(b"../_archived/", b""), path)
        made, now = _page(after[back.get(path, path)], path)
        if kind_of(path) == "task":  # its tables are others today
            found = page.section("Findings")
            nothing = found is not None and found.startswith("_(no measured difference")  # left out today
            assert (made.lead, made.section("Findings")) == (page.lead, None if nothing else found), path
        else:
            assert _own(made.body).lower() == _own(page.body).lower(), path  # titles have CSV in capitals today
        gone = fields.keys() - now.keys()
        empty = {name for name in gone if fields[name] == []}
        by_kind = {"skill": {"evidence"}, "summary": OF_SUMMARIES | empty}
        assert gone <= MEMORY_ALONE | by_kind.get(kind_of(path) or "", {"archived"}), path
        if kind_of(path) == "summary":  # families that a stage found are in the indexes alone
            fields["tags"] = [
                tag for tag in fields["tags"] if tag in now["tags"] or f"tasks/{tag}__task.md" not in after
            ]
        for field in fields.keys() - gone - {"made_by", "trust"}:
            assert _without_partial(now[field]) in (fields[field], _as_text(fields[field])), (path, field)
    rows, rows_now = ({row["id"]: row for row in map(json.loads, each[INDEX].splitlines())} for each in (before, after))
    episodes = {name for name, row in rows_now.items() if row["kind"] == "episode"}  # had no rows
    assert rows_now.keys() - rows.keys() - episodes == {path[-15:-3] for path in back}
    for row in rows:
        same = {name: _without_partial(value) for name, value in rows_now[row].items()}
        was = {**rows[row], "trust": same.get("trust"), "title": same["title"]}
        assert same == was or "trust" not in same, row
        assert str(same["title"]).lower() == rows[row]["title"].lower(), row
    assert _catalog(wiki).written == []


@pytest.mark.parametrize("name", WIKIS)
def test_what_only_the_memory_of_a_page_held_is_in_the_records(tmp_path: Path, former: Path, name: str) -> None:
    wiki = _copy(former, name, tmp_path / "wiki")
    _catalog(wiki)
    records = _records(wiki)
    evidence: Counter[tuple[str, str, int, str, str]] = Counter()
    for path, content in tree(former / name).items():
        kind, fields = kind_of(path), _page(content, path)[1] if path.endswith(".md") else {}
        if kind == "summary":
            record = records[fields["session_id"]]
            assert list(record.request_terms) == fields.get("request_terms", [])
            assert list(record.writes) == fields.get("writes", [])
            assert record.lineage == fields.get("lineage")
            requests = {each["stage"]: each["request"] for each in [fields["made_by"], *fields["mined"]]}
            assert {stage: each.made_by.request for stage, each in record.stages.items()} == requests
        if kind in ("guideline", "skill"):
            page = fields["id"].removeprefix("skill:")
            evidence.update(
                (page, each["session_id"], each["turn"], each["quote"], each["trust"]) for each in fields["evidence"]
            )
    stages = {"extract-guidelines": "id", "synthesize-skill": "name"}
    assert evidence == Counter(
        (getattr(entry, key), record.session_id, cited.turn, cited.quote, cited.trust)
        for record in records.values()
        for stage, key in stages.items()
        for entry in record.answer(stage) or ()
        for cited in entry.evidence
    )


def test_nothing_is_asked_again_of_sessions_that_the_same_engine_answered(tmp_path: Path, former: Path) -> None:
    wiki = _copy(former, "answered/wiki", tmp_path / "wiki")
    _as_if_prompts_were_todays(wiki)
    _catalog(wiki)
    before, files = _records(wiki), tree(wiki / "_sessions")
    report = Report("ingest", str(wiki))
    options = Options(wiki, ALL_STAGES, engine=f"recorded:{JOURNAL}")
    run([EXAMPLE / "traces"], options, report, lambda _what, _done, _of: None)
    of_sessions = [each for each in report.failures if each.stage != "discover-tasks"]
    assert (of_sessions, report.waiting) == ([], []), "families show look-ups and failures, which nobody kept then"
    assert set(report.sessions) == {"unchanged"}
    after = _records(wiki)
    assert {name: each.stages for name, each in after.items()} == {name: each.stages for name, each in before.items()}
    recorded_anew = {name for name in before if after[name].recording.sha256 != before[name].recording.sha256}
    assert len(recorded_anew) == 3, "the example's recordings that have changed since"
    assert {path.removesuffix(".json") for path in changed(tree(wiki / "_sessions"), files)} == recorded_anew


def _as_if_prompts_were_todays(wiki: Path) -> None:
    """Put today's prompts and requests into the pages, for a changed prompt is a question of its own."""
    today = {
        session_id: {stage: each.made_by for stage, each in record.stages.items()}
        for session_id, record in _records(EXAMPLE / "answered" / "wiki").items()
    }
    for path in (wiki / "summaries").glob("*-*.md"):
        content = path.read_bytes()
        fields = _page(content, f"summaries/{path.name}")[1]
        for each in [fields["made_by"], *fields["mined"]]:
            now = today[fields["session_id"]][each["stage"]]
            former = f"prompt_version: {each['prompt_version']}, request: '{each['request']}'"
            assert former.encode() in content
            content = content.replace(
                former.encode(), f"prompt_version: {now.prompt_version}, request: '{now.request}'".encode()
            )
        path.write_bytes(content)


def _convert_and_die(at: int, wiki: Path) -> None:
    die_before(at, "os.link", "os.replace", "pathlib.Path.unlink")
    _catalog(wiki)


@pytest.mark.long
def test_a_conversion_that_was_killed_goes_on_to_the_same_bytes(tmp_path: Path, former: Path) -> None:
    whole = _copy(former, "answered/wiki", tmp_path / "whole")
    _catalog(whole)
    killed = 0
    for at in (1, 4, 12, 27, 45, 70):
        wiki = _copy(former, "answered/wiki", tmp_path / f"wiki-{at}")
        (ended,) = exit_codes(started(_convert_and_die, at, wiki))
        killed += ended == -signal.SIGKILL
        _catalog(wiki)
        assert changed(tree(wiki), tree(whole)) == [], at
    assert killed == 6
