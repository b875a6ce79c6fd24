"""The documents say what the code does: commands, fields, names and links are compared with it."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Hashable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from typer.core import TyperGroup

from agent_wiki.commands.app import command_for
from agent_wiki.engines.offline.example_sessions import fires
from agent_wiki.pages.cluster import ClusterPage
from agent_wiki.pages.guideline import GuidelinePage
from agent_wiki.pages.model import field_names
from agent_wiki.pages.skill import SkillPage
from agent_wiki.pages.summary import SummaryPage
from agent_wiki.pages.task import SubtaskPage, TaskPage
from agent_wiki.readers.detect import readers
from agent_wiki.trajectory import HYGIENE, Source

REPOSITORY = Path(__file__).parent.parent
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_SHELL_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PARITY_LINE = re.compile(r"^\| (\d+) \| ", re.MULTILINE)
_NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
_NAMED_FILE = re.compile(r"`((?:benchmarks|deploy|docs|prompts|src|templates|tests)/[\w./-]+\.\w+)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def _text(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def _documents() -> list[Path]:
    """Every Markdown file of the repository that people wrote: not the built wiki, not what tests hold."""
    found = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md"), *REPOSITORY.glob("wiki-example/*.md")]
    return sorted([*found, REPOSITORY / "wiki-example" / "answered" / "README.md"])


def _anchors(document: Path) -> set[str]:
    """What links may name after a `#`: the headings, as GitHub spells them."""
    headings = _HEADING.findall(_FENCED.sub("", document.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def _command_names() -> list[str]:
    root = command_for(())
    assert isinstance(root, TyperGroup)
    return sorted(root.commands)


def _page_fields() -> set[str]:
    """Every field in the frontmatter of a generated page."""
    models = (SummaryPage, GuidelinePage, SkillPage, ClusterPage, TaskPage, SubtaskPage)
    return {name for model in models for name in field_names(cast("Hashable", model))} | {"generated"}


def _tests_in(path: Path) -> set[str]:
    return set(re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE))


def _generator(name: str) -> ModuleType:
    """A script of the docs folder as a module."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_commands_are_documented_as_their_help_says() -> None:
    made = _generator("generate_commands").commands_page()
    assert _text("docs/commands.md") == made, "python docs/generate_commands.py accepts it"


def test_the_manual_page_is_made_from_the_commands_and_is_shipped() -> None:
    made = _generator("generate_commands").man_page()
    assert _text("docs/wiki.1") == made, "python docs/generate_commands.py accepts it"
    assert '"docs/wiki.1" = "share/man/man1/wiki.1"' in _text("pyproject.toml")


def test_what_a_recording_is_searched_for_are_the_commands_that_there_are() -> None:
    made = _generator("generate_commands").commands_module()
    assert _text("src/agent_wiki/recall/wiki_commands.py") == made, "python docs/generate_commands.py accepts it"


@pytest.mark.parametrize("name", ["README.md", "skills/wiki-ingest/SKILL.md"])
def test_tables_of_stages_are_made_from_the_stages(name: str) -> None:
    made = _generator("generate_stages").page_with_stages(REPOSITORY / name)
    assert _text(name) == made, "python docs/generate_stages.py accepts it"


@pytest.mark.usefixtures("quick_workers")
def test_the_tutorial_ends_with_a_lesson_that_an_agent_used(tmp_path: Path) -> None:
    text = _text("docs/tutorial.md")
    made = _generator("generate_tutorial").tutorial_with_output(text, tmp_path)
    assert text == made, "python docs/generate_tutorial.py accepts it"
    assert re.findall(r"followed \d", made) == ["followed 1", "followed 1"]
    words = set(re.findall(r"^wiki (\S+)", "".join(_SHELL_BLOCK.findall(text)), re.MULTILINE))
    assert words == {"ingest", "status", "consult", "why", "connect"}


def test_no_document_calls_wiki_before_it_is_on_the_path() -> None:
    """Either a line puts it there, or the document says where that is done."""
    for document in _documents():
        text = document.read_text(encoding="utf-8")
        called = re.search(r"^```sh\n(?:(?!```).*\n)*?wiki ", text, re.MULTILINE)
        before = text[: called.end()] if called else "pipx install"
        assert re.search(r"export PATH=|pipx install|README\.md#try-it", before), document.name


def test_rules_are_documented_as_they_say_themselves() -> None:
    page = _text("docs/mining.md")
    assert _generator("generate_rules").page_with_rules(page) == page, "python docs/generate_rules.py accepts it"


def test_checks_and_the_judges_rules_are_documented_as_they_say_themselves() -> None:
    page = _text("docs/trust.md")
    assert _generator("generate_checks").page_with_tables(page) == page, "python docs/generate_checks.py accepts it"


def test_the_rule_that_is_shown_as_an_example_finds_its_example() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", _text("docs/mining.md"), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - our own page
    (rule,) = names["RULES"]
    assert fires(rule, rule.example.fires)
    assert not fires(rule, rule.example.silent)


@pytest.mark.parametrize("name", _command_names())
def test_the_readme_names_every_command(name: str) -> None:
    assert re.search(rf"`wiki {re.escape(name)}[ `]", _text("README.md"))


def test_the_readme_has_its_two_command_lines() -> None:
    """`.ci/run` takes the one with pytest, a fresh machine both: whole lines, inside shell blocks."""
    lines = [line for block in _SHELL_BLOCK.findall(_text("README.md")) for line in block.splitlines()]
    starts = [line for line in lines if line.startswith("python3 -m venv ")]
    assert len(starts) == 2
    build, test = starts
    assert "wiki ingest wiki-example/traces" in build
    assert list((REPOSITORY / "wiki-example" / "traces").iterdir())
    assert (REPOSITORY / re.findall(r"-r (\S+)", test)[0]).is_file()
    assert "pytest" in test


@pytest.mark.parametrize("document", _documents(), ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_every_link_leads_somewhere(document: Path) -> None:
    text = _FENCED.sub("", document.read_text(encoding="utf-8"))
    links = [link.partition("#") for link in _LINK.findall(text) if not re.match(r"[a-z]+:", link)]
    places = [(document.parent / path if path else document, anchor) for path, _, anchor in links]
    assert [place for place, _ in places if not place.exists()] == []
    assert [(place.name, anchor) for place, anchor in places if anchor and anchor not in _anchors(place)] == []


@pytest.mark.parametrize("document", _documents(), ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_every_file_that_is_named_is_there(document: Path) -> None:
    named = set(_NAMED_FILE.findall(document.read_text(encoding="utf-8")))
    assert sorted(name for name in named if not (REPOSITORY / name).exists()) == []


def test_the_wiki_format_documents_every_field() -> None:
    text = _text("docs/wiki-format.md")
    fields = _page_fields()
    assert {"evidence", "coverage", "generated"} <= fields
    assert sorted(name for name in fields if f"`{name}`" not in text) == []


def test_the_formats_document_every_hygiene_name_and_every_source_field() -> None:
    text = _text("docs/formats.md")
    names = [*HYGIENE, *Source.__dataclass_fields__]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_the_formats_document_every_reader() -> None:
    text = _text("docs/formats.md")
    assert [reader.FORMAT for reader in readers() if f"| `{reader.FORMAT}` |" not in text] == ["normalized"]


def test_the_page_on_mining_names_modules_that_exist() -> None:
    there = {path.name for path in (REPOSITORY / "src").rglob("*.py")}
    assert (
        sorted({*re.findall(r"`(?:\w+/)*(\w+\.py)`", _text("docs/mining.md").partition("### All rules")[0])} - there)
        == []
    )


def test_every_document_is_reached_from_another() -> None:
    linked = {
        (document.parent / link.partition("#")[0]).resolve()
        for document in _documents()
        for link in _LINK.findall(document.read_text(encoding="utf-8"))
    }
    pages = [*REPOSITORY.glob("docs/*.md"), REPOSITORY / "CONTRIBUTING.md", REPOSITORY / "CHANGELOG.md"]
    assert [page.name for page in sorted(pages) if page.resolve() not in linked] == []


def _lines_on_parity() -> str:
    _, _, found = _text("docs/architecture.md").partition("\n## Parity with the original agent-wiki\n")
    return found.partition("\n## ")[0]


def test_parity_has_all_lines_in_order() -> None:
    numbers = [int(number) for number in _PARITY_LINE.findall(_lines_on_parity())]
    assert numbers == list(range(1, 97))


def test_parity_names_tests_that_exist() -> None:
    named = _NAMED_TEST.findall(_lines_on_parity())
    assert len(named) > 60
    missing = [
        f"{path}::{test}"
        for path, test in named
        if not (REPOSITORY / path).is_file() or (test and test not in _tests_in(REPOSITORY / path))
    ]
    assert missing == []


def test_the_table_of_programs_has_evidence_for_each_cell_and_names_tests_that_exist() -> None:
    _, _, programs = _text("docs/formats.md").partition("\n## Agent programs\n")
    tables, _, evidence = programs.partition("### Evidence")
    lines = [line for line in tables.splitlines() if line.startswith("| ") and not line.startswith("| program ")]
    cells = [cell.strip() for line in lines for cell in line.split("|")[2:-1]]
    assert [cell for cell in cells if not re.fullmatch(r"[A-Z]\d+(, [A-Z]\d+)*|–|no|\?", cell)] == []
    rows = re.findall(r"^\| ([A-Z]\d+) \| (.*)$", evidence, re.MULTILINE)
    assert sorted(set(re.findall(r"[A-Z]\d+", " ".join(cells)))) == sorted(code for code, _ in rows)
    for code, row in rows:
        named = [(path, test) for path, test in _NAMED_TEST.findall(row) if test in _tests_in(REPOSITORY / path)]
        assert named or re.search(r"\b20\d\d-\d\d-\d\d\b", row), f"{code}: no test that exists, no day of a run"


def test_documents_name_no_place_of_one_machine() -> None:
    """Paths of a machine mean nothing to a reader; the example's `/home/dev/project` is part of its recordings."""
    found = [
        f"{document.name}: {match}"
        for document in _documents()
        for match in re.findall(r"(?<![\w/<.~-])/(?:work|opt|tmp|root|Users)/\S+", document.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_every_variable_of_the_nightly_jobs_is_described() -> None:
    page, workflow = _text("docs/nightly.md"), _text(".github/workflows/nightly.yml")
    used = set(re.findall(r"\b(?:vars|secrets)\.(\w+)", workflow))
    assert used > {"WIKI_BUCKET", "WIKI_STATE"}
    assert [name for name in sorted(used) if f"`{name}`" not in page] == []
    head, _, script = _text("deploy/nightly/nightly.sh").partition("\nset -euo")
    for text in (script, workflow):
        assert [name for name in sorted(set(re.findall(r"\bWIKI_\w+", text)) - used) if name not in head] == []


@pytest.mark.parametrize("job", [".github/workflows/nightly.yml", "deploy/nightly/gitlab-ci.yml"])
def test_the_options_that_a_nightly_job_has_by_default_are_described(job: str) -> None:
    (default,) = re.findall(r"(--max-minutes [^'}]*)", _text(job))
    assert f"`{default}`" in _text("docs/nightly.md")


def test_the_questions_that_a_page_shows_are_asked_today() -> None:
    shown = set(re.findall(r"sha256:([0-9a-f]{12})\b", _text("docs/engines.md")))
    records = (REPOSITORY / "wiki-example" / "answered" / "wiki").glob("_[sc]*/*.json")
    asked = {each[:12] for path in records for each in re.findall(r"sha256:([0-9a-f]{64})", path.read_text("utf-8"))}
    assert len(shown) >= 5
    assert shown <= asked
