"""What only a forgotten session said stands nowhere: not on pages, in records, journals, kept texts or batches."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.asking.journal import journal_folder, records
from agent_wiki.asking.options import AskingOptions
from agent_wiki.commands import main
from agent_wiki.pipeline.own_strings import LENGTH, OwnStrings, found_in, texts_in
from agent_wiki.pipeline.worklist import worklist
from agent_wiki.wiki.templates import shipped_folder
from agent_wiki_testing import MessagesServer
from tests.engines.answering import says
from tests.pipeline.forgetting import ONE, forget_sessions
from tests.wikis import Script, changed, chat, ingest, record, rule, tree

EXAMPLE = Path(__file__).resolve().parents[2] / "wiki-example"
TRACES = EXAMPLE / "traces"


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


@pytest.mark.long
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
    forgotten = forget_sessions(wiki, *(name for name, file in _recordings(wiki).items() if file in wanted))
    assert (forgotten.remaining, forgotten.exit_code) == ([], 0)
    assert forgotten.recordings == sorted(map(str, own))
    assert found_in(wiki, strings) == []
    assert changed(tree(tmp_path / "alone"), tree(wiki)) == []
    names = [path.stem for path in own] + list(set(_recordings(example / "wiki")) - set(_recordings(wiki)))
    for path in wiki.rglob("*"):
        if path.is_file():
            assert not [name for name in names if name.encode() in path.read_bytes()], path


@pytest.mark.long
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
    forgotten = forget_sessions(wiki, session)
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


@pytest.mark.long
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
        forgotten = forget_sessions(wiki, "alder")
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
    assert forget_sessions(wiki, "alder").cut[".wiki/journal/r.jsonl"] == 5
    left = list(records(folder, []))
    assert [each["kind"] for each in left] == ["run", "batch-begun", "batch"]
    assert [each["requests"] for each in left[1:]] == [heads[1:], heads[1:]]
    assert not (folder / "s.jsonl").exists()


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


def test_what_is_remembered_of_pages_is_searched_without_its_syntax(tmp_path: Path) -> None:
    shared = "Always run the tests with `make test`"
    strings = OwnStrings([f'The user said "{shared}", and nothing else about them.'])
    strings.discard(shared)
    remembered = tmp_path / ".wiki" / "pages.txt"
    remembered.parent.mkdir()
    for title, found in ((shared, []), ("It said nothing else about them.", [".wiki/pages.txt"])):
        row = json.dumps({"kind": "guideline", "title": title, "tags": []})
        remembered.write_text(f"head\nguidelines/a.md\t10 1 1\tdigest\t2026-01-01\t{row}\n", encoding="utf-8")
        assert found_in(tmp_path, strings) == found
