"""Sessions whose ids differ by case alone: no two files of a wiki do, in whatever order they come."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.engine import no_progress
from agent_wiki.pages.summary_names import file_stems, summary_name
from agent_wiki.pipeline.ingest import Options
from agent_wiki.pipeline.join_wikis import join_wikis
from agent_wiki.pipeline.report import Report
from agent_wiki.wiki.layout import caseless_file_stem, hashed_file_stem
from agent_wiki.wiki.records import former_record_path, record_path
from agent_wiki.wiki.store import WikiFolder
from tests.wikis import Script, arc, changed, ingest, record, rule, tree

IDS = ("abc", "ABC", "Abc", "abc__X", "Index", "lower", "Solo")
ARCS = [arc(slug="x", last=2), arc("Sum the cart", first=3, slug="y")]


@pytest.fixture(autouse=True)
def _no_file_is_written_beside_one_of_its_name_in_other_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a file system that keeps both as one would have it: there the other file were lost."""
    write_text = WikiFolder.write_text

    def checked(folder: WikiFolder, path: str, text: str) -> bool:
        place = (folder.root / path).parent
        own = path.rpartition("/")[2]
        others = {each.name for each in place.iterdir()} - {own} if place.is_dir() else set()
        assert own.lower() not in {name.lower() for name in others}
        return write_text(folder, path, text)

    monkeypatch.setattr(WikiFolder, "write_text", checked)


@pytest.fixture
def script(tmp_path: Path) -> Script:
    script = Script(tmp_path)
    for name in IDS:
        script.says(name, rules=[rule(f"Set option {name.encode().hex()} first.")])
    for name in ("abc", "ABC"):
        script.says(name, arcs=ARCS)
    return script


def _recordings(tmp_path: Path) -> dict[str, Path]:
    return {name: record(tmp_path / "t", name, name=f"r{number}.json") for number, name in enumerate(IDS)}


def _differ_by_case(paths: Iterable[str]) -> list[list[str]]:
    alike = itertools.groupby(sorted(paths, key=lambda path: (path.lower(), path)), key=str.lower)
    return [found for _, group in alike if len(found := list(group)) > 1]


def _wiki(folder: Path, *trusted: str) -> Path:
    folder.mkdir()
    (folder / "_config.yaml").write_text(f"trust: [{', '.join(trusted)}]\n", encoding="utf-8")
    return folder


def test_no_two_files_differ_by_case_alone_and_no_order_matters(tmp_path: Path, script: Script) -> None:
    recordings = list(_recordings(tmp_path).values())
    whole = _wiki(tmp_path / "whole", "one", "two")
    assert ingest(recordings, whole, script.engine).exit_code == 0
    assert _differ_by_case(tree(whole)) == []
    names = {path.rpartition("/")[2].removesuffix(".md") for path in tree(whole) if path.startswith("summaries/")}
    assert names >= {"index", "lower", "Solo", "abc__y", "abc__X", f"{hashed_file_stem('ABC')}__x"}
    assert names >= {hashed_file_stem("Abc"), hashed_file_stem("Index")}
    batches, joined = _wiki(tmp_path / "batches", "one", "two"), _wiki(tmp_path / "joined", "one", "two")
    for batch in (recordings[4:], recordings[1:4], recordings[:1]):
        ingest(batch, batches, script.engine)
    assert changed(tree(batches), tree(whole)) == []
    for number, name in enumerate(("one", "two")):
        ingest(recordings[number::2], tmp_path / name, script.engine)
        join_wikis([tmp_path / name], Options(joined), Report("join", "wiki"), no_progress)
    assert changed(tree(joined), tree(whole)) == []


def test_a_wiki_of_an_earlier_version_is_converted_by_its_next_run(
    tmp_path: Path, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = tmp_path / "wiki"
    recordings = _recordings(tmp_path)
    ingest([recordings[name] for name in ("Solo", "Abc", "lower")], wiki, script.engine)
    made = tree(wiki)
    (wiki / record_path("Solo")).rename(wiki / former_record_path("Solo"))
    (wiki / former_record_path("Abc")).write_bytes((wiki / record_path("Abc")).read_bytes())  # as after a kill
    assert main(["check", "--wiki", str(wiki)]) == 1
    assert capsys.readouterr().out.count("(wiki catalog gives it its name)") == 2
    assert main(["why", "Solo", "--wiki", str(wiki)]) == 0
    assert main(["catalog", "--wiki", str(wiki)]) == 0
    assert changed(tree(wiki), made) == []
    assert {f"summaries/{name}.md" for name in ("Solo", "Abc", "lower")} <= made.keys()


def test_an_edited_page_moves_with_the_name_of_its_session_and_back(
    tmp_path: Path, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki, recordings = tmp_path / "wiki", _recordings(tmp_path)
    ingest([recordings["Abc"], recordings["lower"]], wiki, script.engine)
    page, moved = wiki / "summaries/Abc.md", wiki / f"summaries/{hashed_file_stem('Abc')}.md"
    page.write_text(page.read_text(encoding="utf-8") + "\nMine.\n", encoding="utf-8")
    assert main(["keep", "summaries/Abc.md", "--wiki", str(wiki)]) == 0
    before = tree(wiki)
    ingest([recordings["abc"]], wiki, script.engine)
    assert _differ_by_case(tree(wiki)) == []
    assert (page.exists(), moved.read_text(encoding="utf-8")[-6:]) == (False, "Mine.\n")
    links = [path for path, text in tree(wiki).items() if f"{moved.stem}.md".encode() in text]
    assert {path.partition("/")[0] for path in links} >= {"_config.yaml", "guidelines"}
    capsys.readouterr()
    assert main(["why", "Abc", "--wiki", str(wiki)]) == 0
    assert f"summaries/{moved.name}" in capsys.readouterr().out
    assert main(["forget", "abc", "--wiki", str(wiki)]) == 0
    assert changed(tree(wiki), before) == []


def test_names_depend_on_the_set_of_ids_and_never_differ_by_case_alone() -> None:
    looks_hashed = hashed_file_stem("Aa").upper()
    alike = ["aa", "AA", "Aa", "index", "Index", "a b", "A b", "aa-00000000ab", "aa-00000000AB", looks_hashed]
    for ids in itertools.combinations(alike, 4):
        _check_names(ids)


def _check_names(ids: Sequence[str]) -> None:
    stems = file_stems(ids, ["AA"])
    assert stems == file_stems(ids[::-1], ["AA"])
    assert {stem for stem in stems.values() if stem.lower() in ("index", "aa")} <= {"AA"}
    for name_of in (stems.__getitem__, caseless_file_stem):
        assert len({name_of(each).lower() for each in ids}) == len(ids)


def test_a_release_of_a_summary_holds_under_each_of_its_names() -> None:
    hashed = hashed_file_stem("Abc")
    paths = ["summaries/Abc__x.md", f"_quarantine/summaries/{hashed}__x.md", f"summaries/abc__{hashed}__x.md"]
    assert [summary_name(path, "Abc") for path in paths] == ["Abc__x", "Abc__x", "abc__Abc__x"]
