"""`import agent_wiki`: the names it offers, what they cost, and the page that shows them at work."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
import textwrap
import typing
from pathlib import Path
from types import FunctionType

import pytest

import agent_wiki as aw
from agent_wiki import api
from tests import consumer
from tests.wikis import arc, record

REPOSITORY = Path(__file__).parent.parent
_CODE = re.compile(r"^( *)```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_FUNCTIONS = ["ingest", "normalize", "open", "prompt_of"]
_ERRORS = [
    "AgentWikiError", "AnswerRejected", "BudgetReached", "NoAnswer", "Queued", "RunError", "ServiceFailed",
    "Unanswered", "UnitError", "UnreadablePage", "UnreadableRecording", "UnsafePath", "UsageError", "WikiLocked",
]  # fmt: skip
_CLASSES = [
    "Account", "Answer", "AskingOptions", "BaseEngine", "Coverage", "Engine", "Failure", "Forgotten", "Hit",
    "MadeWith", "Message", "Note", "Page", "Problem", "Prompt", "Question", "Recording", "Report", "Sample",
    "SessionRecord", "Source", "ToolCall", "Trajectory", "TrajectoryBuilder", "Usage", "Why", "Wiki",
]  # fmt: skip


def code_blocks(page: str) -> list[str]:
    """The Python of a page of docs, block by block; a module begins with a comment that names its file."""
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    return [textwrap.dedent(code) for _, code in _CODE.findall(text)]


def code_modules(page: str) -> dict[str, str]:
    """The modules that a page shows, by file name."""
    return {found[1]: code for code in code_blocks(page) if (found := re.match(r"# (\w+\.py)\n", code)) is not None}


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    folder = tmp_path / "wiki-example" / "traces"
    shutil.copytree(REPOSITORY / "wiki-example" / "traces", folder)
    return folder


def test_the_public_names_are_these() -> None:
    assert sorted([*_FUNCTIONS, *_ERRORS, *_CLASSES, "__version__"]) == sorted(aw.__all__)
    assert {*aw.__all__} - {"__version__"} == {*api.__all__}
    assert {*aw.__all__} <= {*dir(aw)}


def test_a_run_has_the_stages_that_are_named(traces: Path, tmp_path: Path) -> None:
    report = aw.ingest(traces / "mini-slug-accents-3.traj.json", tmp_path / "wiki", stages=["summarize"])
    assert (report.exit_code, [*report.pages]) == (0, ["summary pages"])
    with pytest.raises(aw.UsageError, match="no stage 'sumarize'; there is ingest, "):
        aw.ingest(traces, tmp_path / "wiki", stages=["sumarize"])


def test_a_wiki_forgets_a_session_by_its_recordings_name(traces: Path, tmp_path: Path) -> None:
    recording = traces / "mini-slug-accents-3.traj.json"
    aw.ingest(recording, tmp_path / "wiki", stages=["summarize"])
    (session_id,) = aw.open(tmp_path / "wiki").records
    forgotten = aw.open(tmp_path / "wiki").forget(recording.name)
    assert (forgotten.sessions, forgotten.exit_code) == ([session_id], 0)
    assert not aw.open(tmp_path / "wiki").records


def test_any_other_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'ingst'"):
        _ = aw.ingst  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [*_FUNCTIONS, *_ERRORS, *_CLASSES])
def test_a_public_name_is_documented(name: str) -> None:
    said = getattr(aw, name).__doc__
    assert said
    assert not said.startswith(f"{name}("), "what a dataclass says of itself by default"


@pytest.mark.parametrize("name", [*_FUNCTIONS, "Wiki"])
def test_what_is_called_is_typed(name: str) -> None:
    found = getattr(aw, name)
    functions = (
        [found]
        if isinstance(found, FunctionType)
        else [each for own, each in vars(found).items() if isinstance(each, FunctionType) and not own.startswith("_")]
    )
    assert functions
    for function in functions:
        hints = typing.get_type_hints(function)
        assert {*inspect.signature(function).parameters} - {"self"} <= {*hints}
        assert "return" in hints
        assert function.__doc__


def test_the_page_of_docs_names_every_public_name() -> None:
    text = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
    unnamed = [name for name in [*_FUNCTIONS, *_CLASSES] if not re.search(rf"\b{name}\b", text)]
    assert unnamed == ["Message", "ToolCall", "Usage"], "parts of a trajectory, described in formats.md"


def test_the_import_loads_nothing_heavy() -> None:
    heavy = ("agent_wiki.api", "anthropic", "jinja2", "pydantic", "typer", "yaml")
    code = f"import sys, agent_wiki as aw; print([each for each in {heavy} if each in sys.modules], aw.__version__)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout == f"[] {aw.__version__}\n"


def test_a_program_uses_it(traces: Path, tmp_path: Path) -> None:
    assert consumer.main(traces, tmp_path) == [
        "exit code 0",
        "20 sessions, 20 records",
        "pages: True",
        "quotes: 0",
        "refused: 20",
    ]


def test_a_damaged_recording_is_an_error_or_a_failure_of_the_report(tmp_path: Path) -> None:
    (tmp_path / "a-torn.json").write_text('{"messages": [', encoding="utf-8")
    (tmp_path / "notes.json").write_text('{"title": "no recording"}', encoding="utf-8")
    record(tmp_path, "whole")
    with pytest.raises(aw.UnreadableRecording, match=r"a-torn\.json"):
        list(aw.normalize(tmp_path))
    report = aw.Report("normalize", "")
    assert [each.session_id for each in aw.normalize(tmp_path, report)] == ["whole"]
    assert [Path(each.unit).name for each in report.failures] == ["a-torn.json"]
    (tmp_path / "a-torn.json").unlink()
    assert [each.session_id for each in aw.normalize(tmp_path)] == ["whole"]
    with pytest.raises(aw.UnreadableRecording, match=r"notes\.json"):
        list(aw.normalize(tmp_path / "notes.json"))


def test_a_recording_that_is_gone_meanwhile_is_unreadable(tmp_path: Path) -> None:
    record(tmp_path, "one")
    second = record(tmp_path, "two")
    sessions = aw.normalize(tmp_path)
    assert next(sessions).session_id == "one"
    second.unlink()
    with pytest.raises(aw.UnreadableRecording, match="No such file"):
        next(sessions)


def test_an_engine_that_costs_money_is_named_where_a_dry_run_is_refused(tmp_path: Path) -> None:
    engine = consumer.Refusing()
    engine.is_paid = True
    with pytest.raises(aw.UsageError, match="cannot say what refusing would answer"):
        aw.ingest(record(tmp_path, "one"), tmp_path / "wiki", engine, dry_run=True)


def test_a_page_is_found_by_path_id_and_name() -> None:
    pages = aw.open(REPOSITORY / "wiki-example" / "wiki").pages
    skill = next(path for path in pages if path.startswith("skills/"))
    summary = next(path for path in pages if path.startswith("summaries/"))
    name = skill.split("/")[1]
    assert pages[skill] == pages[f"skill:{name}"] == pages[name]
    assert pages[summary].fields["session_id"] in pages
    assert len(pages) == len({*pages})
    assert "no such page" not in pages


def test_a_record_that_cannot_be_read_is_a_problem_of_the_wiki(tmp_path: Path) -> None:
    record(tmp_path / "traces", "one")
    assert aw.ingest(str(tmp_path / "traces"), tmp_path / "wiki").exit_code == 0
    (tmp_path / "wiki" / "_sessions" / "one.json").write_text("{", encoding="utf-8")
    wiki = aw.open(tmp_path / "wiki")
    assert dict(wiki.records) == {}
    assert [each.page for each in wiki.problems] == ["_sessions/one.json"]


@pytest.mark.long
def test_the_code_of_the_page_runs(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {"SummaryAnswer": {"arcs": [arc(key_turns=[])]}}
    model = f"import json\nANSWERS = {answers!r}\ndef ask(system, text, schema):\n"
    model += "    return json.dumps(ANSWERS.get(schema['title'], {}))\n"
    for name, code in {**code_modules("api.md"), "shop_model.py": model}.items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(traces.parent.parent)
    names: dict[str, typing.Any] = {}
    for code in (each for each in code_blocks("api.md") if not re.match(r"# \w+\.py\n", each)):
        exec(code, names)  # noqa: S102 - our own page
    seen = capsys.readouterr().out
    assert "0 20 Counter({" in seen
    assert "make test" in seen
    assert " verified " in seen
    assert "no-such-folder: no wiki here" in seen
    assert names["report"].sessions == {"mined": 20}
    page = min(path for path in Path("asked", "summaries").glob("*.md") if path.name != "index.md")
    assert "made_by: shop" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"most": 0}, "most: 0 is less than 1"),
        ({"kinds": ["lamp"]}, "no kind 'lamp': choose one of"),
        ({"kinds": "guideline"}, "not one word"),
        ({"tags": "python"}, "not one word"),
    ],
)
def test_what_consult_cannot_be_given_is_said(wrong: dict[str, typing.Any], said: str) -> None:
    wiki = aw.open(REPOSITORY / "wiki-example" / "wiki")
    with pytest.raises(aw.UsageError, match=said):
        wiki.consult("run the tests", **wrong)


def test_one_stage_is_given_in_a_list(tmp_path: Path) -> None:
    with pytest.raises(aw.UsageError, match="give a list of names, not 'summarize' alone"):
        aw.ingest([record(tmp_path, "a")], tmp_path / "wiki", stages="summarize")


@pytest.mark.parametrize("jobs", [0, -1])
def test_fewer_jobs_than_one_are_refused(tmp_path: Path, jobs: int) -> None:
    with pytest.raises(aw.UsageError, match=f"jobs: {jobs} is less than 1"):
        aw.ingest([], tmp_path / "wiki", jobs=jobs)
    assert not (tmp_path / "wiki").exists()


def test_the_api_names_the_wiki_beside_and_no_option_of_the_command(tmp_path: Path) -> None:
    aw.ingest([], tmp_path / "demo")
    with pytest.raises(aw.UsageError, match=r"demo is one\Z"):
        aw.open(tmp_path / "wiki")
