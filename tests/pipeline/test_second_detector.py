"""A second detector adds to our own findings, where it is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from agent_wiki.commands import main
from tests.planted import vendor_keys

KEY = vendor_keys()["github"]
ODD = "zq-" + "7hQ2" * 8
"""Of a shape that we do not know."""


class _Scanner:
    """Finds keys by their text, as the real one finds them by rules; its offsets are those of bytes."""

    def reset_dedup(self) -> None:
        self.is_ready = True

    def scan(self, content: bytes) -> list[Any]:
        assert self.is_ready
        self.is_ready = False
        return [
            SimpleNamespace(
                rule_id=f"kingfisher.{kind}",
                secret=secret,
                visible=kind != "helper",
                location={
                    "start_offset": content.index(secret.encode()),
                    "end_offset": content.index(secret.encode()) + len(secret),
                },
            )
            for kind, secret in (("odd", ODD), ("github", KEY), ("helper", "é one"))
            if secret.encode() in content
        ]


def _found(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, Any]:
    capsys.readouterr()
    code = main(["secrets", *map(str, words), "--json", "--detector", "kingfisher"])
    printed = capsys.readouterr()
    assert not any(secret in printed.out + printed.err for secret in (KEY, ODD))
    return code, printed


def test_what_it_finds_besides_is_reported_at_its_place_and_what_both_find_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("kingfisher_sdk")
    vars(module)["Scanner"] = _Scanner
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", module)
    lines = [{"role": "user", "content": f"é one {KEY}"}, {"role": "assistant", "content": f"é and {ODD}"}]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in lines), encoding="utf-8")
    code, printed = _found(capsys, file)
    places = [
        (each["kind"], each["line"], each["column"], each["length"]) for each in json.loads(printed.out)["secrets"]
    ]
    second = file.read_text(encoding="utf-8").splitlines()[1]
    assert code == 1
    assert [each[:2] for each in places] == [("github-token", 1), ("kingfisher-odd", 2)]
    assert places[1][2:] == (second.index(ODD) + 1, len(ODD))
    code, printed = _found(capsys, "--wiki", tmp_path)
    assert json.loads(printed.out)["kinds"] == {"github-token": 1, "kingfisher-odd": 1}


def test_where_it_is_not_installed_one_line_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    code, printed = _found(capsys, "--wiki", tmp_path)
    assert (code, printed.err.strip()) == (
        2,
        "wiki: --detector kingfisher needs its package: pip install 'agent-wiki[secrets]'",
    )
    assert main(["secrets", "--wiki", str(tmp_path), "--detector", "another"]) == 2


def test_the_real_one_finds_a_key_behind_letters_of_several_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(
        "kingfisher_sdk", reason="the extra `secrets` is not installed: 43 MB, a first start of seconds"
    )
    (tmp_path / "a.txt").write_text(f"é\nünd {ODD} token {KEY}\n", encoding="utf-8")
    code, printed = _found(capsys, tmp_path / "a.txt")
    found = json.loads(printed.out)["secrets"]
    assert (code, [(each["kind"], each["line"], each["column"]) for each in found if each["column"] > 40]) == (
        1,
        [("github-token", 2, len(f"ünd {ODD} token ") + 1)],
    )
