"""Each check finds what it is for, at its place, and not what it is not for. The wiki is built once, broken a case."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.checks.check import Check
from agent_wiki.checks.order import CHECKS
from agent_wiki.checks.running import faults_of
from agent_wiki.checks.subject import CheckedWiki
from agent_wiki.engine import no_progress
from tests.checks.broken import built, copied, examples, families, make

FAMILIES = sorted({check.family for check in CHECKS})


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("whole"))


def test_every_check_has_an_example_and_no_example_is_of_none() -> None:
    shown = {f"{family}/{name}" for family in families() for name in examples(family)}
    assert shown == {check.id for check in CHECKS}
    assert len({check.id for check in CHECKS}) == len(CHECKS) >= 60


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_finds_what_it_is_for_at_its_place(check: Check, wiki: Path, tmp_path: Path) -> None:
    broken = copied(wiki, tmp_path)
    example = examples(check.family)[check.id.partition("/")[2]]
    places = [make(broken, edit) for edit in example["found"]]
    faults = faults_of(CheckedWiki(broken), [check], no_progress)
    wanted = example.get("at", places[-1])
    assert wanted in [fault.file for fault in faults], [str(fault) for fault in faults]
    assert "line" not in example or (wanted, example["line"]) in [(fault.file, fault.line) for fault in faults], faults
    assert all(str(fault).startswith(fault.file) and f" {check.id}: " in str(fault) for fault in faults)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_check_of_a_family_finds_what_it_is_not_for(family: str, wiki: Path, tmp_path: Path) -> None:
    whole = copied(wiki, tmp_path)
    for example in examples(family).values():
        for edit in example["passes"]:
            make(whole, edit)
    faults = faults_of(CheckedWiki(whole), [check for check in CHECKS if check.family == family], no_progress)
    assert [str(fault) for fault in faults] == []
