"""A sample of the named bad inputs, each with a command or two; `python -m tests.bad_inputs` tries all with all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_inputs.tables import KINDS, PAGES
from tests.bad_inputs.trying import COMMANDS, made_ready, problems

_EVERY = 20


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_ready(tmp_path_factory.mktemp("ready"))


@pytest.mark.parametrize("kind", KINDS)
def test_bad_inputs_are_refused_in_words_and_nothing_is_lost(kind: str, ready: Path, tmp_path: Path) -> None:
    sample = list(KINDS[kind].items())[len(kind) :: 2 * _EVERY if kind == "mcp" else _EVERY]
    for number, (name, content) in enumerate(sample):
        assert problems(kind, name, content, ready, tmp_path / str(number), most=1) == []


def test_a_page_whose_support_is_a_number_is_joined(ready: Path, tmp_path: Path) -> None:
    assert problems("page", "tags-number.md", PAGES["tags-number.md"], ready, tmp_path, only="join") == []


def test_there_are_at_least_150_of_them_and_each_kind_has_its_commands() -> None:
    assert len({content for inputs in KINDS.values() for content in inputs.values()}) >= 150
    assert KINDS.keys() == COMMANDS.keys()
