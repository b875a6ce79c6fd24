"""A forgotten session: the wiki is that of the others, and nothing that only it contained is left in a file."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.asking.options import AskingOptions
from agent_wiki.commands import main
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.forget import forget
from agent_wiki.pipeline.own_strings import LENGTH, OwnStrings, found_in, texts_in
from agent_wiki.pipeline.owners_pages import keep
from agent_wiki.pipeline.taken_out import Forgotten
from agent_wiki.pipeline.worklist import worklist
from agent_wiki.report import Report
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.corpus_records import CorpusRecord
from agent_wiki.wiki.page import parse_page
from agent_wiki.wiki.records import MadeBy, record_text
from agent_wiki.wiki.templates import shipped_folder
from agent_wiki_testing import MessagesServer
from tests.engines.answering import says
from tests.processes import die_before, exit_codes, started
from tests.wikis import Script, arc, changed, chat, ingest, record, rule, skill, tree

EXAMPLE = Path(__file__).resolve().parents[2] / "wiki-example"
TRACES = EXAMPLE / "traces"
ONE, TWO = "Run `make check` before each change of the cart.", "Read the log of the failed check to its very end."
CATALOG = ("catalog",)


def _forgotten(wiki: Path, *sessions: str, dry_run: bool = False) -> Forgotten:
    report = Report("forget", str(wiki), is_dry_run=dry_run)
    return forget(wiki, sessions, report, lambda _what, _done, _of: None)


def _texts(recordings: Iterable[Path]) -> Iterable[str]:
    """Every text of recordings: the files as they are, and the texts within their JSON."""
    for path in recordings:
        text = path.read_text(encoding="utf-8")
        yield text
        for part in [text, *text.split("\n")]:
            try:
                yield from texts_in(json.loads(part))
            except ValueError:
                continue


def _own_strings(own: Iterable[Path], others: Iterable[Path]) -> OwnStrings:
    """The strings that only some recordings contain; what every wiki contains is nobody's."""
    strings = OwnStrings(_texts(own))
    shipped = [path for kind in ("templates", "prompts") for path in shipped_folder(kind).rglob("*") if path.is_file()]
    for text in [*_texts(others), *(path.read_text(encoding="utf-8") for path in shipped)]:
        strings.discard(text)
    assert len(strings) > 500
    return strings


def _recordings(wiki: Path) -> dict[str, str]:
    """Session id → the name of its recording."""
    found = (json.loads(path.read_text(encoding="utf-8")) for path in (wiki / "_sessions").glob("*.json"))
    return {each["session_id"]: each["recording"]["file"] for each in found}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wiki of all traces of the example."""
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(TRACES, folder / "traces")
    assert ingest([folder / "traces"], folder / "wiki", "offline").exit_code == 0
    return folder


@pytest.mark.parametrize(
    ("wanted", "has_read_the_wiki"),
    [
        (["claude-invoices-by-supplier.jsonl", "claude-old-fixtures.jsonl"], False),
        (["openai-orders-4.json", "openai-orders-1.json"], True),
    ],
)
def test_the_wiki_is_that_of_the_other_sessions_and_holds_no_string_of_the_forgotten(
    wanted: list[str],
    has_read_the_wiki: bool,
    example: Path,
    tmp_path: Path,
) -> None:
    wiki = tmp_path / "wiki"
    shutil.copytree(example / "wiki", wiki)
    own = [path for path in (example / "traces").iterdir() if path.name in wanted]
    others = sorted(set((example / "traces").iterdir()) - set(own))
    assert main(["consult", "sum the orders", "--wiki", str(wiki)]) == 0
    worklist(wiki, [example / "traces"])
    strings = _own_strings(own, others)
    assert found_in(wiki, strings)
    ingest(others, tmp_path / "alone", "offline")
    for text in tree(tmp_path / "alone").values() if has_read_the_wiki else ():
        strings.discard(text.decode())
    forgotten = _forgotten(wiki, *(name for name, file in _recordings(wiki).items() if file in wanted))
    assert (forgotten.remaining, forgotten.exit_code) == ([], 0)
    assert forgotten.recordings == sorted(map(str, own))
    assert found_in(wiki, strings) == []
    assert changed(tree(tmp_path / "alone"), tree(wiki)) == []
    names = [path.stem for path in own] + list(set(_recordings(example / "wiki")) - set(_recordings(wiki)))
    for path in wiki.rglob("*"):
        if path.is_file():
            assert not [name for name in names if name.encode() in path.read_bytes()], path


def test_of_a_wiki_of_answers_in_a_journal_nothing_is_left_either(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    (wiki / ".wiki").mkdir(parents=True)
    shutil.copytree(EXAMPLE / "answered" / "journal", wiki / ".wiki" / "journal")
    assert ingest([TRACES], wiki, "recorded").exit_code == 0
    own = TRACES / "claude-invoices-by-supplier.jsonl"
    strings = _own_strings([own], sorted(set(TRACES.iterdir()) - {own}))
    assert any(path.startswith(".wiki/journal/") for path in found_in(wiki, strings))
    (session,) = (name for name, file in _recordings(wiki).items() if file == own.name)
    for path in (wiki / "_sessions").glob("*.json"):
        if path.stem != session:
            for text in texts_in(json.loads(path.read_text(encoding="utf-8"))):
                strings.discard(text)  # the words of whoever answered
    forgotten = _forgotten(wiki, session)
    assert (forgotten.remaining, found_in(wiki, strings)) == ([], [])
    assert sum(forgotten.cut.values()) > 10
    before = tree(wiki)
    report = ingest([path for path in TRACES.iterdir() if path != own], wiki, "recorded")
    assert report.sessions["failed"] == 0, "what is in a record is not asked again"
    sessions = {path: text for path, text in before.items() if path.startswith("_sessions/")}
    assert changed(sessions, {path: text for path, text in tree(wiki).items() if path.startswith("_sessions/")}) == []


def _long(folder: Path, name: str, day: str) -> Path:
    """A recording with a tool's result that is too long to be shown, all in words of its own."""
    envelope = chat(name, day)
    words = "".join(f"{name} printed line {number} of the log of {day}\n" for number in range(900))
    envelope["messages"][2]["content"] = words
    envelope["messages"][1]["tool_calls"][0]["id"] = f"call-of-the-session-{name}-number-1"
    envelope["messages"][2]["tool_call_id"] = f"call-of-the-session-{name}-number-1"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(envelope), encoding="utf-8")
    return path


def test_a_paid_wiki_loses_the_lines_and_kept_texts_of_the_session_and_no_others(tmp_path: Path) -> None:
    paths = [
        _long(tmp_path / "t", name, day) for name, day in (("alder-0001", "2026-01-01"), ("birch-0002", "2026-02-02"))
    ]
    wiki = tmp_path / "wiki"
    wiki.mkdir()
    limits = "limits:\n  result_characters: 2000\n  turn_characters: 4000\n"
    (wiki / "models.yaml").write_text(limits, encoding="utf-8")
    strings = _own_strings(paths[:1], paths[1:])

    def rules(asked: Any) -> Any:
        name = "alder-0001" if "alder-0001" in asked.text else "birch-0002"
        return {"guidelines": [rule(ONE), rule(f"Of the log of {name} read no more than its last line.")]}

    with MessagesServer(says({"extract-guidelines": rules})) as server:
        asking = AskingOptions(base_url=server.base_url)
        assert ingest(paths, wiki, "anthropic", asking=asking).exit_code == 0
        results = {path.name: path.read_bytes() for path in (wiki / ".wiki" / "tool-results").iterdir()}
        assert len(results) == 2
        answers = [each for each in records(journal_folder(wiki), []) if each["kind"] == "answer"]
        forgotten = _forgotten(wiki, "alder")
        assert (forgotten.sessions, forgotten.remaining, found_in(wiki, strings)) == (["alder-0001"], [], [])
        (left,) = (wiki / ".wiki" / "tool-results").iterdir()
        assert b"birch-0002 printed" in left.read_bytes()
        after = [each for each in records(journal_folder(wiki), []) if each["kind"] == "answer"]
        assert [each for each in answers if each["about"] == ["birch-0002"]] == after
        assert len(after) == 4, "one to all questions, and its parts"
        asked = len(server.bodies())
        assert ingest(paths[1:], wiki, "anthropic", asking=asking, rewrite=True).exit_code == 0
        assert len(server.bodies()) == asked, "answers of the other session are still in the journal"
        ingest(paths[1:], tmp_path / "alone", "anthropic", asking=asking)
    pages = {path for path in tree(tmp_path / "alone") if path.endswith(".md")}
    assert {path for path in tree(wiki) if path.endswith(".md")} == pages


def test_requests_of_the_session_go_from_a_batch_that_is_under_way(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    script = Script(tmp_path)
    ingest([record(tmp_path / "t", "alder"), record(tmp_path / "t", "birch")], wiki, script.engine)
    heads = [{"kind": "answer", "request": f"sha256:{name}", "about": [name]} for name in ("alder", "birch")]
    lines = [
        {"kind": "run", "run": "r", "version": 1},
        {"kind": "batch-begun", "at": "now", "endpoint": "e", "requests": heads},
        {"kind": "batch", "batch": "b", "endpoint": "e", "requests": heads},
        {"kind": "batch", "batch": "c", "endpoint": "e", "requests": heads[:1]},
        {"kind": "answer", "request": "sha256:old", "answer": "of a version that did not say whose it is"},
    ]
    folder = journal_folder(wiki)
    folder.mkdir()
    (folder / "r.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines) + '{"torn', encoding="utf-8")
    (folder / "s.jsonl").write_text(f"{json.dumps(lines[0])}\n{json.dumps(lines[3])}\n", encoding="utf-8")
    assert _forgotten(wiki, "alder").cut[".wiki/journal/r.jsonl"] == 5
    left = list(records(folder, []))
    assert [each["kind"] for each in left] == ["run", "batch-begun", "batch"]
    assert [each["requests"] for each in left[1:]] == [heads[1:], heads[1:]]
    assert not (folder / "s.jsonl").exists()


@pytest.fixture
def script(tmp_path: Path) -> Script:
    said = Script(tmp_path)
    goal = "Make the cart of alder add up to the cent"
    said.says("alder", arcs=[arc(goal)], rules=[rule(ONE), rule(TWO, title="Read logs to the end", tags=["logs"])])
    said.says("alder", skill=skill("check-the-cart"))
    said.says("birch", rules=[rule(ONE)])
    return said


@pytest.fixture
def wiki(tmp_path: Path, script: Script) -> Path:
    paths = [record(tmp_path / "t", "alder"), record(tmp_path / "t", "birch", "2026-02-02")]
    assert ingest(paths, tmp_path / "wiki", script.engine, archive_covered=False).exit_code == 0
    return tmp_path / "wiki"


def _page(wiki: Path, text: str) -> Path:
    pages = [page for folder in ("guidelines", "_archived") for page in (wiki / folder).glob("*__*.md")]
    (path,) = (page for page in pages if parse_page(page.read_text(encoding="utf-8"), "").lead == text)
    return path


def _append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_what_only_the_session_supported_goes_and_the_rest_rests_on_the_others(wiki: Path) -> None:
    two = _page(wiki, TWO)
    _forgotten(wiki, "alder")
    assert not two.exists()
    assert not (wiki / "skills" / "check-the-cart").exists()
    page = parse_page(_page(wiki, ONE).read_text(encoding="utf-8"), "")
    assert (page.fields["support"]["sessions"], page.fields["related_summary"]) == (1, "summaries/birch.md")


def test_an_edited_page_that_only_the_session_supported_goes_and_is_named(wiki: Path) -> None:
    two, skill_page = _page(wiki, TWO), wiki / "skills" / "check-the-cart" / "SKILL.md"
    for page in (two, skill_page, wiki / "summaries" / "alder.md"):
        _append(page, "\nA word of mine.\n")
    forgotten = _forgotten(wiki, "alder")
    edited = sorted(page.relative_to(wiki).as_posix() for page in (two, skill_page, wiki / "summaries" / "alder.md"))
    assert (forgotten.edited, forgotten.exit_code) == (edited, 0)
    assert set(edited) <= set(forgotten.report.removed)
    assert not any((wiki / path).exists() for path in edited)
    assert f"removed, though a person had edited it: {edited[0]}" in forgotten.lines()


def test_what_a_person_wrote_stays_and_is_named_where_it_holds_text_of_the_session(wiki: Path) -> None:
    goal = "Make the cart of alder add up to the cent"
    kept = wiki / "summaries" / "alder.md"
    keep(wiki, ["summaries/alder.md"], Report("keep", str(wiki)))
    _append(_page(wiki, ONE), f"\n{goal}.\n")
    (wiki / "templates").mkdir()
    (wiki / "templates" / "mine.md.j2").write_text(f"{{# {goal} #}}", encoding="utf-8")
    _append(wiki / "_config.yaml", f"# {goal}\n")
    forgotten = _forgotten(wiki, "alder")
    assert forgotten.exit_code == 1
    assert {
        "summaries/alder.md",
        _page_of(wiki, goal),
        "templates/mine.md.j2",
        "_config.yaml",
    } <= set(forgotten.remaining)
    assert kept.exists()
    assert "STILL HOLDS text of a forgotten session: _config.yaml" in forgotten.lines()


def _page_of(wiki: Path, text: str) -> str:
    (path,) = (page for page in (wiki / "guidelines").glob("*__*.md") if text in page.read_text(encoding="utf-8"))
    return path.relative_to(wiki).as_posix()


def test_the_configuration_loses_all_that_names_the_session_and_keeps_what_a_person_wrote(wiki: Path) -> None:
    config, two = wiki / "_config.yaml", _page(wiki, TWO).stem.rpartition("__")[2]
    text = config.read_text(encoding="utf-8")
    text = text.replace(f"{two}: [logs]", f"{two}: [mine]")
    text = text.replace("tasks: {}", "tasks:\n  carts:  # mine\n    title: Carts\n    sessions: [alder, birch]\n")
    text = text.replace("overrides: {}", "overrides:\n  alder: {family: carts}\n  birch: {trial: 1}")
    config.write_text(text, encoding="utf-8")
    ingest([], wiki, "offline", stages=CATALOG)
    assert _forgotten(wiki, "alder").exit_code == 0
    after = config.read_text(encoding="utf-8")
    assert two not in after
    assert "alder" not in after
    assert "  carts:  # mine\n    title: Carts\n    sessions: [birch]\n" in after
    assert parse_config(after).overrides == {"birch": {"trial": 1}}


def test_the_audit_log_names_the_session_no_more_and_says_that_one_was_forgotten(wiki: Path) -> None:
    log = wiki / "_audit.log"
    use = {"action": "summary.guideline_use", "session_id": "alder", "id": "x", "status": "followed"}
    _append(log, json.dumps({**use, "session_id": "birch"}) + "\n" + json.dumps(use) + "\n")
    assert "skill:check-the-cart" in log.read_text(encoding="utf-8")
    _forgotten(wiki, "alder")
    text = log.read_text(encoding="utf-8")
    assert ("alder" in text, "check-the-cart" in text) == (False, False)
    entries = [json.loads(line) for line in text.splitlines()]
    assert [each["action"] for each in entries] == ["summary.guideline_use", "forget"]
    assert set(entries[1]) == {"action", "ts", "id"}


def test_a_dry_run_says_what_would_go_and_writes_nothing(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    every = {path: path.read_bytes() for path in wiki.rglob("*") if path.is_file()}
    assert main(["forget", "alder", "--wiki", str(wiki), "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "would be forgotten: alder\n" in shown
    assert "would be removed: _sessions/alder.json\n" in shown
    assert {path: path.read_bytes() for path in wiki.rglob("*") if path.is_file()} == every
    assert main(["forget", "alder", "--wiki", str(wiki), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["forgotten"], report["remaining"]) == (["alder"], [])
    assert "_sessions/alder.json" in report["removed"]
    assert report["recordings_left"] == [str((wiki.parent / "t" / "alder.json").resolve())]


def test_a_dry_run_names_no_cache_that_the_run_writes_again(tmp_path: Path, script: Script, wiki: Path) -> None:
    session = "0619ab75-c1b2-5696-8a71-1a319b657b2f"  # long enough to be searched for
    ingest([record(tmp_path / "t", session)], wiki, script.engine)
    assert session in (wiki / ".wiki" / "judged.json").read_text(encoding="utf-8")
    assert _forgotten(wiki, session, dry_run=True).remaining == []
    assert _forgotten(wiki, session).remaining == []


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [("oak", "no session"), ("al", "no session"), ("alder-", "2 sessions begin so"), ("../alder", "no session")],
)
def test_a_name_that_is_no_session_or_several_forgets_none(
    wanted: str, reason: str, tmp_path: Path, script: Script, wiki: Path
) -> None:
    ingest([record(tmp_path / "t", "alder-1"), record(tmp_path / "t", "alder-2")], wiki, script.engine)
    before = tree(wiki)
    with pytest.raises(UsageError, match=reason):
        _forgotten(wiki, "birch", wanted)
    assert changed(before, tree(wiki)) == []
    assert _forgotten(wiki, "alder").sessions == ["alder"], "a whole id goes before the beginnings of others"


def test_a_session_is_named_by_its_recording_where_that_holds_no_other(wiki: Path) -> None:
    assert _forgotten(wiki, "birch.json", dry_run=True).sessions == ["birch"]
    known = json.loads((wiki / "_sessions" / "alder.json").read_text(encoding="utf-8"))
    known["recording"]["file"] = "birch.json"
    (wiki / "_sessions" / "alder.json").write_text(json.dumps(known), encoding="utf-8")
    with pytest.raises(UsageError, match=r"birch\.json: 2 sessions are from this recording: alder, birch"):
        _forgotten(wiki, "birch.json", dry_run=True)


def test_its_pages_go_also_where_the_record_of_another_session_cannot_be_read(wiki: Path) -> None:
    (wiki / "_sessions" / "birch.json").write_text("{torn", encoding="utf-8")
    two = _page(wiki, TWO)
    forgotten = _forgotten(wiki, "alder")
    assert forgotten.exit_code == 1
    assert not two.exists()
    assert not (wiki / "summaries" / "alder.md").exists()
    assert (wiki / "summaries" / "birch.md").exists()


def test_a_link_in_the_machinery_is_not_followed(tmp_path: Path, wiki: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x.txt").write_text("mine\n", encoding="utf-8")
    for name in ("retrieval", "tool-results"):
        shutil.rmtree(wiki / ".wiki" / name, ignore_errors=True)
        (wiki / ".wiki" / name).symlink_to(tmp_path / "mine")
    assert main(["forget", "alder", "--wiki", str(wiki)]) == 2
    assert (tmp_path / "mine" / "x.txt").read_text(encoding="utf-8") == "mine\n"


@given(
    own=st.lists(st.text("ab ", max_size=60), max_size=3),
    other=st.text("ab ", max_size=60),
    text=st.text("ab ", max_size=80),
)
def test_own_strings_are_the_windows_of_some_texts_less_those_of_others(own: list[str], other: str, text: str) -> None:
    def windows(each: str) -> set[str]:
        return {each[at : at + LENGTH] for at in range(len(each) - LENGTH + 1)}

    wanted = {window for each in own for window in windows(each)} - windows(f" {other} ")
    strings = OwnStrings(own)
    strings.discard(other)
    assert len(strings) == len(wanted)
    found = strings.first_in(text)
    assert (found in wanted and found in text) if wanted & windows(text) else found is None


def _forget_and_die(wiki: Path, place: str) -> None:
    die_before(0, place)
    _forgotten(wiki, "alder")


@pytest.mark.parametrize(
    "place", ["agent_wiki.pipeline.publish.Publisher.put_corpus_record", "agent_wiki.pipeline.publish.Publisher.forget"]
)
def test_killed_before_the_record_is_gone_the_same_command_finishes(
    place: str, tmp_path: Path, script: Script, wiki: Path
) -> None:
    alone = tmp_path / "alone"
    ingest([tmp_path / "t" / "birch.json"], alone, script.engine, archive_covered=False)
    answer = CorpusRecord(
        "cluster", ("alder",), MadeBy("consolidate-clusters", "scripted", "sha256:0"), {"clusters": []}
    )
    (wiki / "_corpus").mkdir()
    (wiki / "_corpus" / "0.json").write_text(record_text(answer), encoding="utf-8")
    assert exit_codes(started(_forget_and_die, wiki, place)) == [-signal.SIGKILL]
    assert (wiki / "_sessions" / "alder.json").exists()
    assert _forgotten(wiki, "alder").exit_code == 0
    assert changed(tree(alone), tree(wiki)) == []


def test_killed_after_it_the_next_run_renders_the_pages(tmp_path: Path, script: Script, wiki: Path) -> None:
    alone = tmp_path / "alone"
    ingest([tmp_path / "t" / "birch.json"], alone, script.engine, archive_covered=False)
    place = "agent_wiki.pipeline.publish.Publisher.finish"
    assert exit_codes(started(_forget_and_die, wiki, place)) == [-signal.SIGKILL]
    assert not (wiki / "_sessions" / "alder.json").exists()
    ingest([tmp_path / "t" / "birch.json"], wiki, script.engine, archive_covered=False)
    assert changed(tree(alone), tree(wiki)) == []
