"""Records that leave git: each state of a wiki finds its own packs, and pages do not depend on where records lie."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from benchmarks.many_sessions import write_sessions

from agent_wiki.checks.running import CheckOptions, check
from agent_wiki.commands import main
from agent_wiki.engine import no_progress
from agent_wiki.errors import RunError
from agent_wiki.pipeline import sidecar
from agent_wiki.pipeline.allowed_secrets import allow_secrets
from agent_wiki.pipeline.forget import forget
from agent_wiki.pipeline.ingest import Options, run
from agent_wiki.pipeline.leaks import leaks
from agent_wiki.pipeline.patch_config import patch_config
from agent_wiki.pipeline.report import Report
from agent_wiki.retrieval import consult
from agent_wiki.retrieval.why import why
from tests.planted import vendor_keys
from tests.wikis import record

_IN_GIT = ("_sessions", "summaries", ".wiki")  # what a clone has not, where there is a sidecar
_KEY = vendor_keys()["github"]
_LESSONS = (25, 26)  # numbers of generated sessions with a lesson


def _build(wiki: Path, numbers: Iterable[int], summaries: str = "") -> Report:
    recordings = wiki.parent / f"recordings-{wiki.name}"
    write_sessions(recordings, numbers)
    report = Report("ingest", str(wiki))
    return run([recordings], Options(wiki, summaries=summaries), report, no_progress)


def _catalog(wiki: Path) -> Report:
    return run([], Options(wiki, ("catalog",)), Report("catalog", str(wiki)), no_progress)


def _files(wiki: Path) -> dict[str, bytes]:
    paths = (path for path in wiki.rglob("*") if path.is_file() and path.name != "_audit.log")
    named = {path.relative_to(wiki).as_posix(): path for path in paths}
    return {name: path.read_bytes() for name, path in named.items() if not name.startswith(".wiki/")}


def _clone(wiki: Path, name: str) -> Path:
    """What git has of a wiki, in a folder beside it."""
    return shutil.copytree(wiki, wiki.parent / name, ignore=shutil.ignore_patterns(*_IN_GIT))


def _packed(place: Path) -> dict[str, str]:
    return {path.name: gzip.decompress(path.read_bytes()).decode() for path in place.iterdir()}


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """A wiki of two sessions whose records lie beside it."""
    _build(tmp_path / "wiki", _LESSONS, "sidecar:../packs")
    return tmp_path / "wiki"


def test_a_clone_without_records_becomes_the_same_wiki(wiki: Path) -> None:
    clone = _clone(wiki, "clone")
    assert (clone / ".gitignore").read_text(encoding="utf-8") == "/_sessions/\n/summaries/\n"
    assert _catalog(clone).exit_code == 0
    assert _files(clone) == _files(wiki)


def test_a_record_that_holds_other_ends_of_lines_is_fetched(wiki: Path) -> None:
    path = next((wiki / "_sessions").iterdir())
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("option ", "option\u2028", 1).replace("the ", "the\x85", 1), encoding="utf-8")
    assert _catalog(wiki).exit_code == 0
    assert any("\u2028" in text and "\x85" in text for text in _packed(wiki.parent / "packs").values())
    clone = _clone(wiki, "clone")
    assert _catalog(clone).exit_code == 0
    assert _files(clone) == _files(wiki)


def test_the_pages_are_those_of_a_wiki_with_its_records_in_git(wiki: Path) -> None:
    _build(wiki.parent / "plain", _LESSONS)
    own = {"_sidecar.jsonl", ".gitignore", "_config.yaml"}
    plain, files = _files(wiki.parent / "plain"), _files(wiki)
    assert {name: files[name] for name in files.keys() - own} == {name: plain[name] for name in plain.keys() - own}
    assert files.keys() - plain.keys() == own - {"_config.yaml"}


def test_records_that_somebody_deleted_are_fetched_again(wiki: Path) -> None:
    before, packs = _files(wiki), _packed(wiki.parent / "packs")
    shutil.rmtree(wiki / "_sessions")
    assert _catalog(wiki).exit_code == 0
    assert _files(wiki) == before
    assert _packed(wiki.parent / "packs") == packs


def test_a_clone_answers_questions_and_says_what_it_cannot_walk_to(wiki: Path) -> None:
    clone = _clone(wiki, "clone")
    (rule,) = list((wiki / "guidelines").glob("give-*.md"))[:1]
    assert [hit.link for hit in consult(clone, rule.read_text(encoding="utf-8").split("trigger: ")[1].splitlines()[0])]
    with pytest.raises(RunError, match=r"records lie in its sidecar \(\.\./packs\); run `wiki catalog` to fetch them"):
        why(clone, rule.name)


def test_a_check_of_a_clone_says_once_that_its_records_are_not_here(wiki: Path) -> None:
    clone = _clone(wiki, "clone")
    report = check(clone, CheckOptions(), no_progress)
    assert "](../summaries/" in "".join(path.read_text(encoding="utf-8") for path in clone.glob("guidelines/*.md"))
    (fault,) = report.faults
    assert (fault.file, fault.fix) == ("_sidecar.jsonl", "wiki catalog fetches them and renders the summaries")
    assert report.lines()[-1] == "not checked any further: the records are not here"
    _catalog(clone)
    index = clone / "index.md"
    index.write_text(f"{index.read_text(encoding='utf-8')}[gone](summaries/gone.md)\n", encoding="utf-8")
    assert "links/leads-nowhere" in [each.check for each in check(clone, CheckOptions(), no_progress).faults]


def test_an_engine_is_not_taken_for_granted_where_no_record_says_who_answered(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = _clone(wiki, "clone")
    assert main(["ingest", str(wiki.parent / "recordings-wiki"), "--wiki", str(clone)]) == 2
    assert "run `wiki catalog` to fetch them, or name the --engine" in capsys.readouterr().err


def test_branches_that_mined_other_sessions_are_merged_to_the_bytes_of_one_run(wiki: Path) -> None:
    one, other = _clone(wiki, "one"), _clone(wiki, "other")
    for branch, number in ((one, 27), (other, 28)):
        _catalog(branch)
        _build(branch, [number])
    merged = _clone(one, "merged")
    for name in ("_sidecar.jsonl", "_config.yaml", "_index.jsonl"):
        sides = [str(folder / name) for folder in (merged, wiki, other)]
        subprocess.run(["git", "merge-file", "--union", *sides], check=True)
    for path in (other / "guidelines").glob("*.md"):
        shutil.copy(path, merged / "guidelines")
    _catalog(merged)
    _build(wiki.parent / "whole", [*_LESSONS, 27, 28], "sidecar:../packs")
    assert _files(merged) == _files(wiki.parent / "whole")


def test_a_branch_that_did_not_fetch_yet_keeps_what_it_mined(wiki: Path) -> None:
    behind = _clone(wiki, "behind")
    _catalog(behind)
    _build(wiki, [27])
    shutil.copy(wiki / "_sidecar.jsonl", behind)
    (behind / "_sessions" / "session-0000028.json").write_bytes(_mined(wiki.parent, 28))
    _catalog(behind)
    _build(wiki.parent / "whole", [*_LESSONS, 27, 28], "sidecar:../packs")
    assert _files(behind) == _files(wiki.parent / "whole")


def _mined(folder: Path, number: int) -> bytes:
    """The record of one session."""
    _build(folder / "alone", [number])
    return (folder / "alone" / "_sessions" / f"session-{number:07d}.json").read_bytes()


def test_nothing_of_a_forgotten_session_stays_in_any_pack_or_clone(wiki: Path) -> None:
    packs, clone = wiki.parent / "packs", _clone(wiki, "clone")
    _catalog(clone)
    _build(wiki, [27])
    assert "session-0000026" in "".join(_packed(packs).values())
    forget(wiki, ["session-0000026"], Report("forget", str(wiki)), no_progress)
    assert "session-0000026" not in "".join(_packed(packs).values())
    for name in ("_sidecar.jsonl", "_config.yaml"):
        shutil.copy(wiki / name, clone)
    _catalog(clone)
    assert _files(clone) == _files(wiki)


def test_a_night_stores_the_packs_of_what_is_new_and_no_other(wiki: Path) -> None:
    packs = wiki.parent / "packs"
    before = {path: path.stat().st_mtime_ns for path in packs.iterdir()}
    _build(wiki, [27])
    after = {path: path.stat().st_mtime_ns for path in packs.iterdir()}
    assert before.items() <= after.items()
    assert ["session-0000027" in text for name, text in _packed(packs).items() if packs / name not in before] == [True]


def test_records_come_back_into_git(wiki: Path) -> None:
    _build(wiki, [], "pages")
    _build(wiki.parent / "plain", _LESSONS)
    assert _files(wiki) == _files(wiki.parent / "plain")


def test_a_record_that_a_newer_version_stored_is_not_lost_to_one_that_was_mined_here(wiki: Path) -> None:
    path = min((wiki / "_sessions").iterdir())
    text = path.read_text(encoding="utf-8")
    newer = text.replace('"version": 1', '"version": 2')
    for versions in ((text, newer), (newer, text)):
        with pytest.raises(RunError, match="of version 2, and this program knows version 1: upgrade agent-wiki"):
            sidecar._joined(f"_sessions/{path.name}", *versions)


def test_what_else_git_ignores_stays_when_records_come_back(wiki: Path) -> None:
    file = wiki / ".gitignore"
    file.write_text("*.swp\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    _build(wiki, [], "pages")
    assert file.read_text(encoding="utf-8") == "*.swp\n"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda pack: pack.unlink(), "this pack of records is not in the sidecar"),
        (lambda pack: pack.write_bytes(pack.read_bytes()[:-9]), "this pack of records is damaged"),
        (lambda pack: pack.write_bytes(gzip.compress(b"[]\n")), "other bytes than its name says"),
    ],
    ids=["missing", "cut", "another"],
)
def test_a_pack_that_cannot_be_read_changes_nothing(wiki: Path, damage: object, said: str) -> None:
    assert callable(damage)
    damage(sorted((wiki.parent / "packs").iterdir())[-1])
    clone = _clone(wiki, "clone")
    before = {name: each for name, each in _files(clone).items() if not name.startswith("_sessions/")}
    with pytest.raises(RunError, match=said):
        _catalog(clone)
    assert before == {name: each for name, each in _files(clone).items() if not name.startswith("_sessions/")}


@pytest.mark.parametrize("value", ["sidecar", "sidecar:", "packs", "pages:packs"])
def test_a_place_that_is_none_is_one_line(tmp_path: Path, value: str) -> None:
    with pytest.raises(RunError, match="summaries: write pages, or sidecar:PLACE"):
        _build(tmp_path / "wiki", _LESSONS, value)
    with pytest.raises(RunError, match="name a folder outside the wiki"):
        _build(tmp_path / "wiki", _LESSONS, "sidecar:packs")
    assert _files(tmp_path / "wiki") == {}


@pytest.mark.parametrize(
    ("place", "said"), [("packs", "name a folder outside the wiki"), ("/elsewhere", "is outside of")]
)
def test_a_place_that_cannot_be_is_not_written_into_the_configuration(wiki: Path, place: str, said: str) -> None:
    before = _files(wiki)
    with pytest.raises(RunError, match=said):
        patch_config(wiki, {"summaries": f"sidecar:{place}"}, Report("config set", str(wiki)))
    assert _files(wiki) == before


def test_a_configuration_alone_does_not_choose_a_folder_outside_of_the_repository(tmp_path: Path) -> None:
    place, wiki = tmp_path / "elsewhere" / "packs", tmp_path / "clone" / "wiki"
    _build(wiki, _LESSONS)
    config = wiki / "_config.yaml"
    config.write_text(f"{config.read_text(encoding='utf-8')}summaries: sidecar:{place}\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(RunError, match=r"is outside of .*, name it once: wiki ingest --summaries sidecar:"):
            _build(wiki, [*_LESSONS, 27])
        assert not place.exists()
    _build(wiki, [*_LESSONS, 27], f"sidecar:{place}")  # whoever runs it may
    _build(wiki, [*_LESSONS, 27, 28])  # and need not say so again
    assert sum(each.stat().st_size for each in place.iterdir()) > 0


@pytest.mark.parametrize("value", ["sidecar", "sidecar:", "bogus", "pages:packs"])
def test_an_option_that_names_no_place_is_answered_by_its_own_name(
    value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = str(record(tmp_path, "a"))
    assert main(["ingest", recording, "--wiki", str(tmp_path / "wiki"), "--summaries", value]) == 2
    said = "wiki: --summaries: write pages, or sidecar:PLACE with a folder or an address in a bucket\n"
    assert capsys.readouterr().err == said
    assert not (tmp_path / "wiki").exists()


def test_packs_lie_in_a_bucket(tmp_path: Path) -> None:
    pytest.importorskip("obstore", reason="obstore is not installed (the extra `bucket`)")
    _build(tmp_path / "wiki", _LESSONS, "sidecar:memory://sidecars/team")
    clone = _clone(tmp_path / "wiki", "clone")
    _catalog(clone)
    assert _files(clone) == _files(tmp_path / "wiki")
    listed = [json.loads(line) for line in (clone / "_sidecar.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sum(each["records"] for each in listed) == len(_LESSONS)
    forget(clone, ["session-0000026"], Report("forget", str(clone)), no_progress)
    with pytest.raises(RunError, match="where a session of it was forgotten elsewhere, get the newer"):
        _catalog(_clone(tmp_path / "wiki", "behind"))


def _with_key(wiki: Path) -> None:
    path = next((wiki / "_sessions").glob("*.json"))
    fields = json.loads(path.read_text(encoding="utf-8"))
    fields["stages"]["summarize"]["answer"][0]["goal"] = f"Use {_KEY}."
    path.write_text(json.dumps(fields), encoding="utf-8")


def _in_any(files: Iterable[bytes]) -> bool:
    return any(_KEY.encode() in content for content in files)


def test_a_record_that_somebody_put_a_secret_into_does_not_leave(wiki: Path) -> None:
    before = _packed(wiki.parent / "packs")
    _with_key(wiki)
    (found,) = leaks(wiki)
    allow_secrets(wiki, [f"{found.file}:{found.line}"], "made up")  # which holds of what is in git
    with pytest.raises(RunError, match=r"secrets in _sessions/.*\.json \(github-token\): no record was stored"):
        _catalog(wiki)
    assert _packed(wiki.parent / "packs") == before


def test_a_secret_in_a_pack_of_an_earlier_version_is_redacted_when_it_is_fetched(
    wiki: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_key(wiki)
    with monkeypatch.context() as patch:
        patch.setattr(sidecar, "_refuse_leaks", lambda _folder, _synced: None)
        _catalog(wiki)
    assert _in_any(text.encode() for text in _packed(wiki.parent / "packs").values())
    clone = _clone(wiki, "clone")
    assert _catalog(clone).exit_code == 0
    assert not _in_any(
        content for name, content in _files(clone).items() if name.startswith(("_sessions", "summaries"))
    )
    listed = {line["digest"] for line in map(json.loads, (clone / "_sidecar.jsonl").read_text().splitlines())}
    packs = _packed(wiki.parent / "packs")
    assert not _in_any(text.encode() for name, text in packs.items() if any(each in name for each in listed))
