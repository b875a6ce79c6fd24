"""Tags of guidelines are read and edited by lines; the result is that of the general parser."""

from __future__ import annotations

import random
from typing import Any

import pytest

from agent_wiki.wiki import config
from agent_wiki.wiki.config import CLUSTERS, TAGS, parse_config
from agent_wiki.wiki.config_edits import edit_config
from agent_wiki.wiki.tag_lines import tag_lines

HEAD = "schema_version: 1\n\n# Tags.\ntags:\n  guideline:\n"
TAIL = "\n# Groups.\nclusters: {}\n  # here: {title: x}\ntasks: {}\n"
LINES = ["    0000000000aa: [cache, pytest]\n", "    '000000000123': [go]\n", "    00000000ffff: ['on', a-b]\n"]


def _general(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "tag_lines", lambda _text: None)


def test_lines_that_stages_write_are_read_without_the_general_parser() -> None:
    text = f"{HEAD}{''.join(sorted(LINES, key=lambda line: line.strip(chr(32) + chr(39))))}{TAIL}"
    found = tag_lines(text)
    assert found is not None
    assert found.tags()["00000000ffff"] == ["on", "a-b"]
    assert found.text() == text


@pytest.mark.parametrize(
    "lines",
    [
        ["    0000000000aa: [null]\n"],
        ["    0000000000aa: [1]\n"],
        ["    0000000000aa:\n", "    - cache\n"],
        ["    0000000000aa: [a]\n", "    0000000000aa: [b]\n"],
        ["    0000000000ab: [a]\n", "    0000000000aa: [b]\n"],
        ["    # mine\n", "    0000000000aa: [a]\n"],
        ["    0000000000aa: [a] # mine\n"],
        ["    0000000000aa: [a]\n", "    # mine\n", "    0000000000ab: [b]\n"],
        ["    0000000000aa: [a]\n", "    mine: [b]\n"],
    ],
)
def test_any_other_form_means_what_the_general_parser_says(lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{HEAD}{''.join(lines)}{TAIL}"
    entries = {"0000000000ac": ["new"], "0000000000aa": None}
    found, edited = parse_config(text), edit_config(text, TAGS, entries)
    _general(monkeypatch)
    assert found == parse_config(text)
    assert edited == edit_config(text, TAGS, entries)


def test_a_section_inside_a_text_is_no_section(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f'tags: {{}}\nnote: "\n{HEAD}{LINES[0]}"\n'
    try:
        found: Any = parse_config(text)
    except Exception as error:  # noqa: BLE001 - whatever the general parser says of it
        found = repr(error)
    _general(monkeypatch)
    try:
        wanted: Any = parse_config(text)
    except Exception as error:  # noqa: BLE001
        wanted = repr(error)
    assert found == wanted


def test_edits_by_lines_give_the_bytes_of_the_general_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    words = ["cache", "on", "no", "a-b", "py", "1.0", "true", "0x1f"]
    texts, steps = [f"{HEAD}{LINES[0]}{TAIL}"], []
    for _ in range(60):
        names = [f"{chance.randrange(60):012x}" for _ in range(chance.randrange(1, 4))]
        tags = {each: chance.choice([None, chance.sample(words, chance.randrange(4))]) for each in names}
        cluster = {"one": {"title": "One", "members": names}} if chance.random() < 0.5 else {"one": None}
        steps.append(chance.choice([(TAGS, tags), (CLUSTERS, cluster)]))
        texts.append(edit_config(texts[-1], *steps[-1]))
    read = [parse_config(text) for text in texts]
    _general(monkeypatch)
    for before, step, after, parsed in zip(texts, steps, texts[1:], read[1:], strict=False):
        assert edit_config(before, *step) == after
        assert parse_config(after) == parsed
