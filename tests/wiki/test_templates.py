"""Templates: the owner's first, then those that ship; rendering is strict and sandboxed."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.errors import RunError
from agent_wiki.wiki.templates import Templates, shipped_names

WORDS = {"title": "T", "rule": "r", "rationale": "w", "used_by": "u", "sources": "s", "cause": ""}


def test_the_owners_template_wins_and_the_others_still_ship(tmp_path: Path) -> None:
    (tmp_path / "guideline.md.j2").write_text("mine: {{ title }}", encoding="utf-8")
    templates = Templates(tmp_path)
    assert templates.render("guideline.md", title="T") == "mine: T"
    assert templates.render("config.yaml").startswith("schema_version: 1\n")
    assert Templates(tmp_path / "none").render("guideline.md", **WORDS).startswith("# T\n")


def test_every_kind_of_page_has_a_template() -> None:
    kinds = {"summary", "guideline", "cluster", "skill", "task", "subtask", "index", "agents"}
    assert {f"{kind}.md.j2" for kind in kinds} <= set(shipped_names("templates"))


@pytest.mark.parametrize(
    "text",
    ["{{ missing }}", "{% for x in %}", "{{ title.__class__.__mro__ }}", "{{ 1 // 0 }}", "{{ title + 1 }}",
     "{% include 'x' %}"],
)  # fmt: skip
def test_a_template_that_cannot_be_rendered_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "guideline.md.j2").write_text(f"a\n{text}", encoding="utf-8")
    with pytest.raises(RunError, match=r"^templates/guideline\.md\.j2"):
        Templates(tmp_path).render("guideline.md", title="T")


def test_a_template_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    (tmp_path / "guideline.md.j2").write_bytes(b"caf\xe9")
    with pytest.raises(RunError, match=r"templates/guideline\.md\.j2"):
        Templates(tmp_path).render("guideline.md", title="T")
