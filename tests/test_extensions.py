"""Engines, readers and rules of other packages, installed beside this one and found by their entry points."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib import invalidate_caches
from pathlib import Path
from typing import TypeAlias

import pytest

from agent_wiki.commands import main
from agent_wiki.engines.offline.extra_rules import packages_with_rules
from agent_wiki.engines.offline.rules import all_rules
from agent_wiki.pipeline import mine
from agent_wiki.pipeline.normalize import write_envelope
from agent_wiki.readers import detect
from agent_wiki.readers.example_notation import example_session
from tests.test_api import code_modules
from tests.wikis import chat

Run: TypeAlias = Callable[..., tuple[int, str, str]]
"""Runs the command with some words → its exit code, what it printed, what it complained of."""

_ENGINE = """
import multiprocessing
import os
from agent_wiki.engine import BaseEngine
from agent_wiki.engines.offline import OfflineEngine

class Parrot(BaseEngine):
    name, version = "parrot", "1"

    def answer(self, question):
        with open(os.environ["PARROT_LOG"], "a") as log:
            log.write("worker\\n" if multiprocessing.parent_process() else "run\\n")
        return OfflineEngine().answer(question)

class Choir(Parrot):
    name, concurrency = "choir", 2

    def close(self):
        with open(os.environ["PARROT_LOG"], "a") as log:
            log.write("closed\\n")

class Stone:
    name = version = "stone"
"""

_READER = """
import json
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.trajectory import Source

FORMAT = "birdsong"

def claims(sample):
    return sample.shape == "document" and isinstance(sample.values[0], dict) and "song" in sample.values[0]

def read(recording):
    document = recording.document()
    builder = TrajectoryBuilder()
    builder.user(document["song"])
    builder.assistant("Tweet.")
    yield builder.finish("birdsong-1", Source(FORMAT))

class copy_of_codex:
    FORMAT = "codex"
    claims = read = staticmethod(lambda _: ())
"""

_RULES = """
from agent_wiki.engines.offline.lessons import Wording, lesson
from agent_wiki.engines.offline.rule import Example, GuidelineRule

WORDS = Wording("shop/test-carts", "Test every cart twice", "Test every cart twice.", "A cart.", ("carts",))

def carts(session):
    return lesson(WORDS, "The user asked for carts.", [session.quote(1, "Always test the cart twice")], {1}, 50)

EXAMPLE = Example("agent: Hello.", "user: Hello.")
RULES = [GuidelineRule("shop/test-carts", "A request speaks of carts.", carts, EXAMPLE)]
TAKEN = GuidelineRule("recipes/script", "The id of another rule.", carts, EXAMPLE)
BARE = GuidelineRule("shop/bare", "Nobody shows what it finds.", carts)
"""


class _Site:
    """A folder of installed packages, and the command run with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "parrot.log"
        for name, code in (("parrot_engine", _ENGINE), ("birdsong_reader", _READER), ("shop_rules", _RULES)):
            (folder / f"{name}.py").write_text(code, encoding="utf-8")

    def install(self, package: str, group: str, **entries: str) -> None:
        """Add a package whose entry points of `agent_wiki.<group>` are these."""
        self.install_groups(package, {f"agent_wiki.{group}": entries})

    def install_groups(self, package: str, groups: Mapping[str, Mapping[str, str]]) -> None:
        """Add a package with entry points of several groups."""
        metadata = self.folder / f"{package}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
        lines = (
            line
            for group, entries in groups.items()
            for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
        )
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def wiki(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """`wiki ingest … --json` in a process of its own."""
        path = os.pathsep.join((str(self.folder), os.environ.get("PYTHONPATH", "")))
        environment = {**os.environ, "PYTHONPATH": path, "PARROT_LOG": str(self.log)}
        command = [sys.executable, "-m", "agent_wiki", "ingest", *map(str, words), "--json"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def site(tmp_path: Path) -> _Site:
    folder = tmp_path / "site"
    folder.mkdir()
    return _Site(folder)


_CACHED = (packages_with_rules, all_rules, detect._installed, detect.known_formats, mine._engine)


@pytest.fixture
def here(site: _Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """`wiki ingest --jobs 1 … --json` in this process, which forgets before what was installed."""
    monkeypatch.syspath_prepend(str(site.folder))
    monkeypatch.setenv("PARROT_LOG", str(site.log))

    def forget() -> None:
        for path in site.folder.glob("*.py"):
            sys.modules.pop(path.stem, None)
        for cached in _CACHED:
            cached.cache_clear()

    def run(*words: str | Path) -> tuple[int, str, str]:
        forget()
        invalidate_caches()
        code = main(["ingest", "--jobs", "1", *map(str, words), "--json"])
        return code, *capsys.readouterr()

    yield run
    forget()


@pytest.fixture
def stopped(here: Run, tmp_path: Path) -> Callable[..., str]:
    """The one line with which what is installed stops a run."""

    def run(*words: str | Path) -> str:
        code, _, errors = here(*words, "--wiki", tmp_path / "wiki")
        assert code == 2
        assert not (tmp_path / "wiki" / "_sessions").exists()
        (line,) = errors.splitlines()
        return line

    return run


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    folder = tmp_path / "traces"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.json").write_text(
            json.dumps(chat(name, request="Always test the cart twice.")), encoding="utf-8"
        )
    return folder


@pytest.mark.long
def test_an_engine_and_a_rule_of_other_packages_are_known_in_every_worker(
    site: _Site, recordings: Path, tmp_path: Path
) -> None:
    site.install("parrot", "engines", parrot="parrot_engine:Parrot")
    site.install("shop", "rules", all="shop_rules:RULES")
    run = site.wiki(recordings, "--wiki", tmp_path / "wiki", "--engine", "parrot", "--jobs", "2")
    assert (run.returncode, run.stderr) == (0, "")
    assert json.loads(run.stdout)["sessions"] == {"mined": 2}
    pages = [tmp_path / "wiki" / "summaries" / f"{name}.md" for name in ("one", "two")]
    assert all("made_by: parrot" in page.read_text(encoding="utf-8") for page in pages)
    assert set(site.log.read_text(encoding="utf-8").split()) == {"worker"}
    assert _titles(tmp_path / "wiki") == ["# Test every cart twice"]


def test_an_engine_that_takes_several_questions_at_a_time_is_shared_and_closed(
    site: _Site, here: Run, recordings: Path, tmp_path: Path
) -> None:
    site.install("parrot", "engines", choir="parrot_engine:Choir")
    code, _, errors = here(recordings, "--wiki", tmp_path / "wiki", "--engine", "choir", "--jobs", "2")
    assert (code, errors) == (0, "")
    *asked, last = site.log.read_text(encoding="utf-8").split()
    assert set(asked) == {"run"}
    assert last == "closed"


@pytest.mark.parametrize(
    ("packages", "reason"),
    [
        ({"a": {"other": "parrot_engine:Parrot"}}, "no engine 'parrot'; there is offline, "),
        ({"a": {"parrot": "parrot_engine:Stone"}}, "--engine parrot: a (parrot_engine:Stone) gives no engine"),
        ({"a": {"parrot": "parrot_engine:Wren"}}, "a (parrot_engine:Wren) cannot be loaded: "),
        (
            {"a": {"parrot": "parrot_engine:Choir"}, "b": {"parrot": "parrot_engine:Parrot"}},
            "a (parrot_engine:Choir) and b (parrot_engine:Parrot) are both named 'parrot'",
        ),
    ],
)
def test_what_is_wrong_with_an_installed_engine_is_one_line(
    site: _Site, recordings: Path, stopped: Callable[..., str], packages: dict[str, dict[str, str]], reason: str
) -> None:
    for package, entries in packages.items():
        site.install(package, "engines", **entries)
    assert reason in stopped(recordings, "--engine", "parrot")


def test_a_reader_of_another_package_is_asked_before_the_general_one(site: _Site, here: Run, tmp_path: Path) -> None:
    recording = tmp_path / "song.json"
    recording.write_text(json.dumps({"song": "Sing a song.", **chat("one")}), encoding="utf-8")
    _, plain, _ = here(recording, "--wiki", tmp_path / "plain")
    site.install("birds", "readers", birdsong="birdsong_reader")
    _, sung, _ = here(recording, "--wiki", tmp_path / "sung")
    formats = [list(json.loads(printed)["formats"]) for printed in (plain, sung)]
    assert formats == [["openai-messages"], ["birdsong"]]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("birdsong_reader:copy_of_codex", "(birdsong_reader:copy_of_codex) reads 'codex', which another reader reads"),
        ("birdsong_reader:claims", "birds (birdsong_reader:claims) is no reader: it needs FORMAT, claims and read"),
    ],
)
def test_a_reader_that_cannot_be_used_is_one_line(
    site: _Site, recordings: Path, stopped: Callable[..., str], entry: str, reason: str
) -> None:
    site.install("birds", "readers", birdsong=entry)
    assert reason in stopped(recordings)


def _titles(wiki: Path) -> list[str]:
    """The title of the installed rule, once for each guideline of a wiki that has it."""
    texts = [page.read_text(encoding="utf-8") for page in (wiki / "guidelines").glob("*.md")]
    return [title for text in texts for title in ("# Test every cart twice",) if title in text]


def test_a_rule_of_another_package_makes_pages_until_it_is_uninstalled(
    site: _Site, here: Run, recordings: Path, tmp_path: Path
) -> None:
    wiki = tmp_path / "wiki"

    def titles() -> list[str]:
        assert here(recordings, "--wiki", wiki)[0] == 0
        return _titles(wiki)

    assert titles() == []
    site.install("shop", "rules", all="shop_rules:RULES")
    assert titles() == ["# Test every cart twice"]
    shutil.rmtree(site.folder / "shop-1.0.dist-info")
    assert titles() == []


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("shop_rules:TAKEN", "shop (shop_rules:TAKEN) gives the rule recipes/script, which there is already"),
        ("shop_rules:WORDS", "which is not a rule"),
        ("shop_rules:BARE", "shop (shop_rules:BARE) gives shop/bare without an example"),
        ("shop_rules:GONE", "shop (shop_rules:GONE) cannot be loaded"),
    ],
)
def test_a_rule_that_cannot_be_used_is_one_line(
    site: _Site, recordings: Path, stopped: Callable[..., str], entry: str, reason: str
) -> None:
    site.install("shop", "rules", one=entry)
    assert reason in stopped(recordings)


_LOCKED = "$ make migrate\n! Error: database is locked\n$ make stop\n= stopped\n$ make migrate\n= 3 applied"


def test_the_package_that_the_docs_show_adds_all_three(site: _Site, here: Run, tmp_path: Path) -> None:
    """Its entry points and modules are those of docs/api.md and docs/mining.md."""
    for name, code in {**code_modules("api.md"), **code_modules("mining.md")}.items():
        (site.folder / name).write_text(code, encoding="utf-8")
    (site.folder / "shop_model.py").write_text("def ask(system, text, schema):\n    return 'no JSON'\n", "utf-8")
    text = (Path(__file__).parent.parent / "docs" / "api.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    groups = tomllib.loads(snippet)["project"]["entry-points"]
    assert sorted(groups) == ["agent_wiki.engines", "agent_wiki.readers", "agent_wiki.rules"]
    site.install_groups("shop", groups)
    traces = tmp_path / "traces"
    traces.mkdir()
    ticket = {"ticket": 7, "request": "Where is my parcel?", "reply": "On its way."}
    (traces / "ticket.json").write_text(json.dumps(ticket), encoding="utf-8")
    session = example_session(f"user: Migrate.\n{_LOCKED}")
    write_envelope(traces / "migration.json", session)

    exit_code, mined, complaints = here(traces, "--wiki", tmp_path / "wiki")
    assert (exit_code, complaints) == (0, "")
    assert json.loads(mined)["formats"] == {session.source.format: 1, "shop-ticket": 1}
    records = [json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "wiki" / "_sessions").iterdir()]
    assert "shop/stop-server-first" in json.dumps(records)

    _, asked, _ = here(traces, "--wiki", tmp_path / "asked", "--engine", "shop")
    failures = json.loads(asked)["failures"]
    assert {(each["kind"], each["stage"]) for each in failures} == {("answer", "summarize")}
