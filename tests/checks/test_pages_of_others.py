"""A page that a person or another tool put into a wiki is no fault of it; what is advised about one works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from tests.checks.broken import built
from tests.wikis import changed, tree

MINE = "guidelines/my-own.md"


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    made = built(tmp_path)
    (made / MINE).write_text("# Always deploy with ./deploy.sh\n\nUse it.\n", encoding="utf-8")
    assert main(["catalog", "--wiki", str(made)]) == 0
    return made


def _said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main([*words])
    printed = capsys.readouterr()
    return code, printed.out + printed.err


def _values(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_it_is_no_finding_and_counted_as_external(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = _said(capsys, "check", "--wiki", str(wiki))
    assert code == 0, said
    assert "0 findings in 9 pages (1 by others, so external), 3 sessions" in said
    assert _values(capsys, "check", "--wiki", str(wiki))["of_others"] == [{"file": MINE, "trust": "external"}]


def test_consult_says_that_it_is_external(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = _values(capsys, "consult", "deploy", "--wiki", str(wiki))
    assert (row["link"], row["trust"]) == (MINE, "external")


def test_one_that_its_owner_trusts_speaks_for_itself(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = wiki / "_config.yaml"
    config.write_text(config.read_text(encoding="utf-8") + f"\ntrust: [{MINE}]\n", encoding="utf-8")
    for head, trust in (("", None), ("---\ntrust: user\n---\n\n", "user")):
        (wiki / MINE).write_text(f"{head}# Always deploy with ./deploy.sh\n\nUse it.\n", encoding="utf-8")
        assert main(["catalog", "--wiki", str(wiki)]) == 0
        assert _values(capsys, "check", "--wiki", str(wiki))["of_others"] == [{"file": MINE, "trust": trust}]


def test_a_session_that_it_cites_and_nobody_has_is_to_be_corrected_by_hand(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cited = "---\nevidence: [{session_id: s-9, turn: 1, quote: x}]\n---\n\n# Mine\n\nUse it.\n"
    (wiki / MINE).write_text(cited, encoding="utf-8")
    code, said = _said(capsys, "check", "--wiki", str(wiki))
    assert code == 1
    assert f"{MINE}:2: provenance/no-such-session: it cites the session s-9" in said
    assert "correct it by hand" in said
    assert "wiki restore" not in said


def test_it_is_rejected_for_good_only(wiki: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(wiki)
    code, said = _said(capsys, "reject", MINE, "--wiki", str(wiki))
    assert (code, changed(before, tree(wiki))) == (2, [])
    assert "--for-good deletes it" in said
    code, said = _said(capsys, "reject", MINE, "--for-good", "--wiki", str(wiki))
    assert (code, (wiki / MINE).exists()) == (0, False)
    assert f"rejected: {MINE}" in said
    assert MINE not in (wiki / "_index.jsonl").read_text(encoding="utf-8")
