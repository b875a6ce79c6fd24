"""The list `kept:` of the configuration: edited by lines, whatever a person wrote around it."""

from __future__ import annotations

import pytest

from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.config_edits import edit_kept, edit_rejected
from agent_wiki.wiki.templates import Templates


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: 1\n", "a: 1\nkept:\n  - b.md\n"),
        ("a: 1", "a: 1\nkept:\n  - b.md\n"),
        ("", "kept:\n  - b.md\n"),
        ("kept: []\nz: 1\n", "kept:\n  - b.md\nz: 1\n"),
        ("kept: []  # mine\nz: 1\n", "kept:  # mine\n  - b.md\nz: 1\n"),
        ("kept:\nz: 1\n", "kept:\n  - b.md\nz: 1\n"),
        ("kept: [c.md]\n", "kept: [b.md, c.md]\n"),
        ("kept:\n- a.md # first\n# of c\n- c.md", "kept:\n- a.md # first\n- b.md\n# of c\n- c.md\n"),
        ("kept:\n  - a.md\n# the end\n", "kept:\n  - a.md\n  - b.md\n# the end\n"),
        ("kept:\n  - b.md\n", "kept:\n  - b.md\n"),
    ],
)
def test_a_page_is_put_on_the_list_and_all_else_keeps_its_bytes(before: str, after: str) -> None:
    assert edit_kept(before, add=["b.md"]) == after
    assert "b.md" in parse_config(after).kept


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "kept:\n  - a.md\n  # of b\n  - b.md\n  - c.md # c\nz: 1\n",
            "kept:\n  - a.md\n  # of b\n  - c.md # c\nz: 1\n",
        ),
        ("kept: [a.md, b.md]\n", "kept: [a.md]\n"),
        ("kept:\n  - b.md\nz: 1\n", "kept: []\nz: 1\n"),
        ("kept:\n  - c.md\n", "kept:\n  - c.md\n"),
    ],
)
def test_a_page_is_taken_off_the_list(before: str, after: str) -> None:
    assert edit_kept(before, take_out=["b.md"]) == after
    assert "b.md" not in parse_config(after).kept


def test_names_that_yaml_would_read_otherwise_come_back_as_they_are() -> None:
    names = ["a: b.md", "# c.md", "- d.md", "no", "ü .md"]
    assert sorted(parse_config(edit_kept("", add=names)).kept) == sorted(names)


def test_the_template_has_both_sections_empty_and_they_take_entries() -> None:
    text = Templates().render("config.yaml")
    config = parse_config(text)
    assert (config.kept, config.rejected) == ((), {})
    both = edit_kept(edit_kept(text, add=["b.md", "a.md"]), take_out=["b.md"])
    assert parse_config(both).kept == ("a.md",)
    assert edit_kept(both, take_out=["a.md"]).splitlines() == text.splitlines()


def test_rejected_clusters_and_tasks_are_as_if_they_were_not_there() -> None:
    text = "clusters: {a: {members: [x, y]}, b: {members: [x, z]}}\ntasks: {a: {}}\n"
    config = parse_config(f"{text}rejected: {{cluster:a: no use, task:a: }}\n")
    assert (list(config.clusters), list(config.tasks)) == (["b"], [])
    assert config.rejected == {"cluster:a": "no use", "task:a": ""}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: 1", "a: 1\nrejected:\n  b: no\n"),
        ("rejected: {}\n  # eg: x\nz: 1\n", "rejected:\n  b: no\n  # eg: x\nz: 1\n"),
        ("rejected:\n  a: x\n  # of c\n  c: z\n", "rejected:\n  a: x\n  b: no\n  # of c\n  c: z\n"),
        ("{a: 1}\n", "a: 1\nrejected:\n  b: no\n"),
    ],
)
def test_rejected_pages_stand_one_a_line(before: str, after: str) -> None:
    assert edit_rejected(before, {"b": "no"}).replace("'", "") == after
    assert parse_config(edit_rejected(before, {"b": "no"})).rejected["b"] == "no"
