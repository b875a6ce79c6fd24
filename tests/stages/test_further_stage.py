"""A stage that this program does not have, added as docs/architecture.md says: nothing else has to know of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.wikis import chat

_ROOT = Path(__file__).parents[2]
_DATA = _ROOT / "tests" / "data" / "glossary_stage"
_LINE = 'Stage("glossary", "Write a page for each term.", "session", output_tokens=200, has_pages=True)'


_GENERATORS = ("generate_commands", "generate_stages", "generate_modules")
_LISTS = ("commands/test_help", "commands/test_schema", "recall/test_own_calls", "harness/test_skills", "test_docs")
_ABOUT_LISTS = (
    "in_one_group or has_examples or not_cut or has_a_form or names_are_those or skill or readme_names or "
    "documented_as_their_help or manual_page or commands_that_there_are or made_from_the_stages or module"
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this program and its documents with the stage: its files, and a line in each of the two tuples."""
    folder = tmp_path_factory.mktemp("further")
    for name in ("src", "prompts", "templates", "skills", "docs", "tests"):
        shutil.copytree(_ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(_ROOT / name, folder)
    package = folder / "src" / "agent_wiki"
    shutil.copy(_DATA / "glossary.py", package / "stages")
    shutil.copy(_DATA / "glossary.md.j2", folder / "templates")
    shutil.copy(_DATA / "prompt.md", folder / "prompts" / "glossary.md")
    _insert(package / "stages" / "order.py", '    Stage(\n        "discover-tasks"', f"    {_LINE},\n")
    _insert(package / "wiki" / "kinds.py", '    PageKind("summary"', '    PageKind("term", "glossary"),\n')
    return folder


def _run(program: Path, *words: str) -> str:
    """What Python prints when it runs these words with the copy, in its folder."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    made = subprocess.run(
        [sys.executable, *words],
        cwd=program,
        env={**others, "PYTHONPATH": str(program / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


@pytest.fixture(scope="module")
def seen(program: Path) -> dict[str, Any]:
    """What a wiki of a program with the stage holds, by path, and what its commands say: exit code and output."""
    recording = program / "session.json"
    recording.write_text(json.dumps(chat("s-1", request="What does the ledger hold?")))
    result: dict[str, Any] = json.loads(_run(program, str(_DATA / "trial.py"), str(recording), str(program / "wiki")))
    return result


def _insert(file: Path, before: str, line: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(before) == 1
    file.write_text(text.replace(before, f"{line}{before}"), encoding="utf-8")


def test_its_pages_are_written_indexed_and_found(seen: dict[str, Any]) -> None:
    assert "# ledger\n\n- The list of all bookings" in seen["glossary/ledger.md"]
    assert '"glossary/ledger.md"' in seen["_index.jsonl"]
    assert "glossary/ledger.md" in seen["consult"][1]


def test_it_has_a_command_and_an_estimate_and_a_worklist_is_made(seen: dict[str, Any]) -> None:
    assert "Write a page for each term." in seen["help"][1]
    assert [seen[name][0] for name in ("help", "stage", "estimate", "worklist")] == [0, 0, 0, 0]
    assert "glossary" in seen["estimate"][1]


def test_what_the_judge_finds_in_its_pages_is_held_back_until_it_is_released(seen: dict[str, Any]) -> None:
    assert "glossary/setup.md" not in seen
    assert "term:setup" in seen["_quarantine/glossary/setup.md"]
    assert "term:setup" in seen["review"][1]
    assert seen["reject held"][0] == 0, "what is held back can be rejected by its id"
    assert seen["release"][0] == 0
    assert "glossary/setup.md" in seen["after"]
    assert "_quarantine/glossary/setup.md" not in seen["after"]


def test_a_page_of_it_that_is_rejected_stays_away(seen: dict[str, Any]) -> None:
    assert seen["reject"][0] == 0
    assert "glossary/ledger.md" not in seen["after"]


def test_a_secret_in_its_answers_reaches_no_file(seen: dict[str, Any]) -> None:
    assert not [path for path, text in seen.items() if "hunter2-Zq81xLmv0" in str(text)]


def test_its_line_and_the_generators_are_all_that_lists_need(program: Path) -> None:
    """Help, examples, forms of JSON, what recordings are searched for, skills and documents: their tests pass."""
    for name in _GENERATORS:
        _run(program, f"docs/{name}.py")
    assert "| `wiki glossary PATH…` | write a page for each term |" in (program / "README.md").read_text("utf-8")
    assert "| `glossary` | one session" in (program / "skills" / "wiki-ingest" / "SKILL.md").read_text("utf-8")
    files = [f"tests/{name}.py" for name in (*_LISTS, "test_architecture")]
    options = ("-q", "-p", "no:cacheprovider", f"--basetemp={program / 'tmp'}", "-k", _ABOUT_LISTS)
    _run(program, "-m", "pytest", *options, *files)
