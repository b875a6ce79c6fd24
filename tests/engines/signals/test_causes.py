"""A cause sentence confirmed by the success that follows."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import causes
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script


def _script(said: str, *, worked: bool = True) -> Script:
    script = Script().runs("python3 report.py", 'sqlite3.OperationalError: near "ORDER": syntax error', failed=True)
    script.says(said).edits("UPDATE visits SET seen = 1 ORDER BY day", "UPDATE visits SET seen = 1")
    return script.runs("python3 report.py", "3 visits" if worked else "Traceback", failed=not worked)


def _rules(said: str, *, worked: bool = True) -> list[str]:
    return [each.guideline.rule for each in causes.lessons(MinedSession.of(_script(said, worked=worked).done()))]


def test_what_a_known_tool_cannot_do_is_a_rule_once_the_check_passes() -> None:
    said = "But SQLite doesn't support `ORDER BY` in `UPDATE`. Let me look at the file."
    expected = "Remember when working with SQLite: SQLite doesn't support `ORDER BY` in `UPDATE`."
    assert _rules(said) == [expected]
    assert not _rules(said, worked=False)
    script = _script(said)
    (lesson,) = causes.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.title == "SQLite doesn't support `ORDER BY` in `UPDATE`"
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


def test_what_a_check_also_reports_when_it_passes_had_not_failed_it() -> None:
    warned = "Error: near ORDER, ignored"
    script = Script().runs("python3 report.py", warned, failed=True)
    script.says("SQLite doesn't support `ORDER BY` in `UPDATE`.")
    script.edits("UPDATE visits SET seen = 1 ORDER BY day", "UPDATE visits SET seen = 1")
    assert not causes.lessons(MinedSession.of(script.runs("python3 report.py", f"{warned}\n3 visits").done()))


def test_a_cause_that_is_too_long_for_a_title_or_leaves_open_which_is_none() -> None:
    said = "SQLite doesn't support `ORDER BY` in `UPDATE`"
    assert causes.lessons(MinedSession.of(_script(f"{said}.").done()))
    assert not causes.lessons(MinedSession.of(_script(f"But {said} statements of any kind.").done()))
    assert not causes.lessons(MinedSession.of(_script("SQLite needs a different `UPDATE` here.").done()))


def test_a_general_remedy_in_the_next_sentence_leads_the_rule() -> None:
    said = "SQLite doesn't support `ORDER BY` in `UPDATE`. Let me use a subquery instead."
    assert _rules(said) == ["Use a subquery: SQLite doesn't support `ORDER BY` in `UPDATE`."]


@pytest.mark.parametrize(
    "said",
    [
        "The file needs the new parameter. Let me add the parameter.",
        "SQLite doesn't support `ORDER BY` here.",
        "SQLite probably doesn't support `ORDER BY` in `UPDATE`.",
        "SQLite doesn't support `RIGHT JOIN`.",  # nothing in what failed or was changed speaks of it
        "`orderVisits` doesn't support `ORDER BY`.",  # nothing that means the same elsewhere
        "Counts of `ORDER BY` can go negative, which doesn't make sense.",  # "go" is a verb
        "SQLite usually doesn't support `ORDER BY` in `UPDATE`.",
        "The nexus doesn't have the SQLite package with `ORDER BY`.",  # a thing of the work at hand
        "SQLite isn't running with `ORDER BY` yet.",
        "SQLite can't find `ORDER BY`.",  # how things are at the moment
        "In the first stage SQLite doesn't use `ORDER BY`.",
        'SQLite rejects "the day of `ORDER BY`".',
    ],
)
def test_what_is_guessed_or_means_something_only_in_its_session_gives_no_lesson(said: str) -> None:
    assert not _rules(said)


def test_what_the_session_defines_is_its_own() -> None:
    script = Script().call("Read", {"file_path": "a.py"}, "def seen_visits(day):")
    script.runs("python3 a.py", "seen_visits() failed", failed=True)
    script.says("SQLite rejects `seen_visits`.").edits("seen_visits", "visits").runs("python3 a.py", "3 visits")
    assert not causes.lessons(MinedSession.of(script.done()))


def test_after_many_edits_one_sentence_does_not_say_what_helped() -> None:
    script = Script().runs("python3 a.py", 'near "ORDER": syntax error', failed=True)
    script.says("SQLite doesn't support `ORDER BY` in `UPDATE`.")
    for count in range(8):
        script.edits(f"ORDER BY {count}", "", path=f"{count}.py")
    assert not causes.lessons(MinedSession.of(script.runs("python3 a.py", "3 visits").done()))


_GIT = "Git does not create missing parent folders. I'll call `mkdir -p` before `git mv`."


@pytest.mark.parametrize(("prepared", "expected"), [("mkdir -p attic", 1), ("git status", 0)])
def test_a_remedy_that_was_announced_in_code_and_then_applied_bears_the_cause_out(prepared: str, expected: int) -> None:
    script = Script().runs(
        "git mv old attic/old", "fatal: renaming 'old' failed: No such file or directory", failed=True
    )
    script.runs(f"{prepared} && git mv old attic/old", says=_GIT)
    titles = [each.guideline.title for each in causes.lessons(MinedSession.of(script.done()))]
    assert titles == ["Call `mkdir -p` before `git mv`"] * expected


@pytest.mark.parametrize(("used", "expected"), [("a.zip", 1), ("other.zip", 0)])
def test_of_a_missing_program_another_passes_on_the_same_file(used: str, expected: int) -> None:
    said = "Python needs no unzip program. I'll use `python3 -m zipfile -l` to list archives."
    script = Script().runs("unzip -l a.zip", "bash: line 1: unzip: command not found", failed=True)
    script.runs(f"python3 -m zipfile -l {used}", "a.txt  3", says=said)
    triggers = [each.guideline.trigger for each in causes.lessons(MinedSession.of(script.done()))]
    assert triggers == ["`unzip` stops with `unzip: command not found`."] * expected


@pytest.mark.parametrize(
    "said",
    [
        "The report tests fail because PostgreSQL doesn't allow column aliases in `HAVING`.",
        "Use the sum itself (PostgreSQL doesn't allow column aliases in `HAVING`).",
    ],
)
def test_the_cause_in_a_clause_of_its_own_is_taken_without_the_event(said: str) -> None:
    script = Script().runs("pytest tests", 'FAILED tests/a.py\nSELECT 1 HAVING "total" > 2', failed=True)
    script.says(said).edits("HAVING total", "HAVING sum(x)").runs("pytest tests", "3 passed")
    (lesson,) = causes.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.rule.endswith(": PostgreSQL doesn't allow column aliases in `HAVING`.")
    assert lesson.guideline.trigger == "Working with PostgreSQL."  # which test failed says nothing elsewhere


def test_a_cause_that_speaks_of_nothing_in_the_failure_is_none() -> None:
    script = Script().runs("pytest tests", "ImportError: no name 'shop'", failed=True)
    script.says("Redis doesn't support `SCAN` there.").edits("a", "redis `SCAN`").runs("pytest tests", "3 passed")
    assert not causes.lessons(MinedSession.of(script.done()))


def test_a_search_that_finds_nothing_has_not_failed_for_a_cause() -> None:
    script = Script().runs("grep -rn lamp src | head", "=== lamps ===", failed=True)
    script.says("Python needs `lamp` in requirements.").runs("grep -rn lamp src | head", "src/a.py: lamp")
    assert not causes.lessons(MinedSession.of(script.done()))


def test_a_remedy_of_which_a_part_was_not_used_is_left_out() -> None:
    said = "SQLite doesn't support `ORDER BY` in `UPDATE`. Let me use `rowid` and `strict` instead."
    assert _rules(said) == ["Remember when working with SQLite: SQLite doesn't support `ORDER BY` in `UPDATE`."]
