"""`wiki secrets` says where secrets stand, and shows no part of one."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from tests.planted import HARMLESS, given_secrets, private_key, vendor_keys
from tests.readers.sent import CLIENTS

KEY = vendor_keys()["github"]


def _planted() -> list[tuple[str, str]]:
    keys = [(f"token {key}", key) for key in vendor_keys().values()]
    return [*keys, *given_secrets(), (private_key(), private_key())]


def _chat(text: str) -> str:
    return json.dumps({"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "Done."}]})


def _found(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, list[dict[str, Any]]]:
    capsys.readouterr()
    code = main(["secrets", *map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)["secrets"]


@pytest.mark.parametrize("form", [_chat, lambda text: json.dumps({"content": _chat(f"one\n{text}\ntwo")})])
def test_each_planted_kind_is_found_at_its_place(form: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [form(text) for text, _ in _planted()]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    code, found = _found(capsys, file)
    assert code == 1
    missed = []
    for number, (text, secret) in enumerate(_planted(), start=1):
        written = json.dumps(secret)[1:-1] if form is _chat else json.dumps(json.dumps(secret)[1:-1])[1:-1]
        here = [each for each in found if each["line"] == number]
        shown = [lines[number - 1][each["column"] - 1 :][: each["length"]] for each in here]
        if not any(written[: len(written) // 2] in each or each in written for each in shown):
            missed.append(text)
    assert missed == []


def test_no_output_shows_any_part_of_a_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / f"of {KEY}"
    folder.mkdir()
    for number, (text, _) in enumerate(_planted()):
        (folder / f"{number}.json").write_text(_chat(text), encoding="utf-8")
    (folder / "cut.json").write_text(_chat(KEY)[:-30], encoding="utf-8")
    (folder / "env.txt").write_text(f"GH_PAT={KEY}\n", encoding="utf-8")
    for words in (["-v"], ["--json"], ["--sarif", str(tmp_path / "out.sarif")]):
        assert main(["secrets", str(folder), str(folder / "env.txt"), *words]) == 1
    printed = capsys.readouterr()
    said = printed.out + printed.err + (tmp_path / "out.sarif").read_text(encoding="utf-8")
    shown = [secret for _, secret in _planted() for part in (secret[:16], secret[-16:]) if part in said]
    assert shown == []
    assert "1.json:1:" in said


def test_line_and_column_are_those_in_the_file_whatever_is_escaped_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = json.dumps({"é": 'ü\n"\U0001f600\x1b[33m', "content": f'\u2028\x1b[1m "{KEY}" {KEY}'})
    file = tmp_path / "a.jsonl"
    file.write_text(f"{_chat('x')}\n{line}\n", encoding="utf-8")
    code, found = _found(capsys, file)
    first = line.index(KEY)
    assert (code, found) == (
        1,
        [
            {"file": str(file), "kind": "github-token", "length": 40, "line": 2, "column": each + 1, "member": None}
            for each in (first, line.index(KEY, first + 1))
        ],
    )


def test_folders_packed_files_archives_and_text_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = tmp_path / "t" / "inner"
    inner.mkdir(parents=True)
    (inner / "a.json.gz").write_bytes(gzip.compress(json.dumps(json.loads(_chat(KEY)), indent=1).encode()))
    (inner / "notes.txt").write_text(f"x\n\n  {private_key()}\n {KEY}\n", encoding="utf-8")
    with zipfile.ZipFile(inner / "b.eval", "w") as archive:
        archive.writestr("samples/1.json", _chat(KEY))
    code, found = _found(capsys, tmp_path / "t")
    packed = {"file": str(inner / "a.json.gz"), "kind": "github-token", "length": 40, "line": 5, "column": 16}
    archived = {"file": str(inner / "b.eval"), "kind": "github-token", "length": 40, "line": None, "column": None}
    assert (code, found) == (1, [{**packed, "member": None}, {**archived, "member": "samples/1.json"}])
    code, found = _found(capsys, inner / "notes.txt")
    assert [(each["kind"], each["line"], each["column"]) for each in found] == [
        ("private-key", 3, 3),
        ("github-token", 10, 2),
    ]


def test_nothing_found_is_0_and_a_file_that_cannot_be_read_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f"{_chat(text)}\n" for text in HARMLESS), encoding="utf-8")
    (tmp_path / "empty.json").touch()
    assert _found(capsys, tmp_path) == (0, [])
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b"{}" * 99)[:-9])
    assert main(["secrets", str(tmp_path)]) == 1
    assert f"FAILED: {tmp_path / 'cut.json.gz'}: damaged archive" in capsys.readouterr().out
    assert main(["secrets", str(tmp_path / "none")]) == 2


def test_sarif_names_a_rule_for_each_kind_and_a_region_for_each_secret(tmp_path: Path) -> None:
    file, out = tmp_path / "a b.json", tmp_path / "out.sarif"
    file.write_text(_chat(KEY), encoding="utf-8")
    assert main(["secrets", str(file), "--sarif", str(out)]) == 1
    log = json.loads(out.read_text(encoding="utf-8"))
    (run,) = log["runs"]
    assert (log["version"], run["tool"]["driver"]["rules"][0]["id"]) == ("2.1.0", "github-token")
    (result,) = run["results"]
    column = _chat(KEY).index(KEY) + 1
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": file.as_uri()},
        "region": {"startLine": 1, "startColumn": column, "endColumn": column + len(KEY)},
    }
    assert run["invocations"][0]["executionSuccessful"] is True


def test_of_a_database_the_row_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "opencode.db"
    file.write_bytes(gzip.decompress((CLIENTS / "opencode" / "opencode.db.gz").read_bytes()))
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("update part set data = json_set(data, '$.text', ?) where data like '%\"text\"%'", [KEY])
    code, found = _found(capsys, file)
    assert code == 1
    assert {(each["kind"], each["length"], each["column"]) for each in found} == {("github-token", 40, None)}
    assert all(each["line"] >= 1 for each in found)
