"""`wiki connect`, then sessions: the hooks and the pointer do what they say, and a page that is read is counted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import agent_wiki as aw
from tests.clients.conftest import need
from tests.clients.figures import figures_read, figures_sent
from tests.clients.loopback import Loopback, loopback
from tests.clients.played.turns import bash, says
from tests.clients.programs import CLAUDE_CODE, CODEX, CODEX_PLAIN, COPILOT, GEMINI, OPENCODE, QWEN, Program
from tests.clients.scenarios import RULE, play_all
from tests.clients.work import Work, until, work

_PROGRAMS = {
    "claude-code": CLAUDE_CODE,
    "codex-code-mode": CODEX,
    "codex-plain": CODEX_PLAIN,
    "gemini": GEMINI,
    "qwen": QWEN,
    "opencode": OPENCODE,
    "copilot": COPILOT,
}
_CONSULT = (
    says("", bash("wiki consult --read 'run the tests of this project'")),
    says("I follow that page: make test.", bash("make test")),
    says("The tests pass with `make test`, as the wiki says."),
)


@dataclass(frozen=True)
class Course:
    """What happened in a connected project: a session is taught a rule, the next one reads the page of it."""

    work: Work
    requests: Sequence[str]
    """What the program asked in the second session."""

    def row(self) -> dict[str, Any]:
        """The index row of the one guideline."""
        (row,) = _rows(self.work)
        return row

    def log(self) -> str:
        return (self.work.project / ".evolve" / "hook.log").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=_PROGRAMS)
def course(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """Both sessions, held once for all tests of this file."""
    program = _PROGRAMS[request.param]
    need(program.binary)
    folder = tmp_path_factory.mktemp(request.param)
    with loopback(folder / "model") as model:
        yield _course(program, model, folder)


def _course(program: Program, model: Loopback, folder: Path) -> Course:
    play_all(model)
    model.plays("consults", *_CONSULT)
    connected = work(program, model, folder)
    connected.ran("connect", program.name)
    connected.session("Run the tests. [[teach]]")
    connected.session("", program.resume(f"{RULE} [[obey]]"))
    assert until(lambda: len(_rows(connected)) == 1), _log(connected)
    before = len(model.requests())
    connected.session("Run the tests of this project. [[consults]]")
    assert until(lambda: "used" in _rows(connected)[0]), _log(connected)
    return Course(connected, model.requests()[before:])


def _rows(connected: Work) -> list[dict[str, Any]]:
    path = connected.wiki / "_index.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    return [row for row in rows if row["kind"] == "guideline"]


def _log(connected: Work) -> str:
    path = connected.project / ".evolve" / "hook.log"
    return path.read_text(encoding="utf-8") if path.exists() else "no hook has run"


def test_the_pointer_reaches_the_model(course: Course) -> None:
    lines = (course.work.project / course.work.program.memory).read_text(encoding="utf-8").splitlines()
    longest = max(lines, key=len)
    assert any(json.dumps(longest)[1:-1] in request for request in course.requests)


def test_what_the_start_hook_says_reaches_the_model(course: Course) -> None:
    if course.work.program is OPENCODE:
        pytest.skip("OpenCode has no hook at the start of a session")
    assert any("an agent wiki of 1 page" in request for request in course.requests)


def test_the_stop_hook_saves_sessions_as_the_model_sent_them(course: Course) -> None:
    saved = sorted((course.work.project / ".evolve" / "trajectories").glob("*.json"))
    read = [each for path in saved for each in aw.normalize(path)]
    assert figures_read(read) == figures_sent(course.work.model.sent())


def test_the_stop_hook_mines_what_the_user_said_for_good(course: Course) -> None:
    assert "a standing instruction, mined: 1" in course.log()
    assert course.row()["trust"] == "user"
    assert "make test" in course.row()["title"]


def test_a_page_that_was_consulted_and_followed_is_counted_and_linked(course: Course) -> None:
    row = course.row()
    assert row["used"] == {"followed": 1}
    assert (row["support"]["sessions"], row["support"]["success"]) == (1, 1)
    page = (course.work.wiki / row["link"]).read_text(encoding="utf-8")
    (reader,) = [record for record in _records(course) if record.get("reads")]
    assert f"[{reader['session_id']}](../summaries/{reader['session_id']}.md)" in page
    assert [read["page"] for read in reader["reads"]] == [row["link"]]


def _records(course: Course) -> list[dict[str, Any]]:
    paths = sorted((course.work.wiki / "_sessions").glob("*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def test_an_ingest_of_the_saved_sessions_finds_no_more(course: Course) -> None:
    """Some programs record tokens and times after the last turn: a saved session may be fuller than the mined one."""
    before = course.row()
    course.work.ran("ingest", ".evolve/trajectories")
    assert course.row() == before


def test_connected_twice_is_connected_once_and_disconnected_nothing_names_the_wiki(course: Course) -> None:
    """Last in this file: it takes the connection away."""
    work = course.work
    assert "written" not in work.ran("connect", work.program.name)
    work.ran("connect", work.program.name, "--remove")
    status = work.run(["git", "status", "--short", "--untracked-files=all", "--", ".", ":!wiki"]).stdout
    left = [work.project / line[3:] for line in status.splitlines()]  # a program writes files of its own
    assert [path for path in left if b"wiki" in path.read_bytes()] == []
