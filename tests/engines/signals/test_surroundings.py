"""What fails for its surroundings and passes in others, with nothing else changed."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.extract_guidelines import answer
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.signals.surroundings import in_others
from agent_wiki.stages.extract_guidelines import GuidelinesQuestion, grade_of
from tests.engines.recordings import summary
from tests.engines.scripted_session import Script

_NO_MODULE = "ModuleNotFoundError: No module named 'flask'"


def _lessons(script: Script) -> list[Lesson]:
    session = MinedSession.of(script.done())
    return [lesson for each in session.attempts if each.verdict == "failed" for lesson in in_others(session, each)]


@pytest.mark.parametrize(
    ("failed", "error", "worked", "rule"),
    [
        ("pytest t", _NO_MODULE, "PYTHONPATH=src pytest t", "Set `PYTHONPATH=src` for `pytest`"),
        (
            "./gradlew test",
            "Unsupported class file major version 65",
            "JAVA_HOME=$(/usr/libexec/java_home -v 17) ./gradlew test",
            "Set `JAVA_HOME=$(/usr/libexec/java_home -v 17)` for `./gradlew`",
        ),
    ],
)
def test_the_one_difference_is_the_rule(failed: str, error: str, worked: str, rule: str) -> None:
    script = Script().runs(failed, error, failed=True).runs(worked, "3 passed")
    (lesson,) = _lessons(script)
    assert lesson.guideline.rule.startswith(rule)
    assert "in this repository" in lesson.guideline.rule
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


@pytest.mark.parametrize(
    ("failed", "error", "worked"),
    [
        ("npm run dev", "Error: listen EADDRINUSE", "PORT=3001 npm run dev"),
        ("npm test", "Error: no connection", "DATABASE_URL=postgres://a:b@c/d npm test"),
        ("npm test", "Error: no connection", "API_TOKEN=abc npm test"),
        ("bundle exec rails runner x.rb", "User is already taken", "RAILS_ENV=test bundle exec rails runner x.rb"),
        ("python -c 'import flask'", _NO_MODULE, ".venv/bin/python -c 'import flask'"),
        ("cargo test", "error: could not start", "RUST_BACKTRACE=1 cargo test"),
        ("python -m pytest t", _NO_MODULE, "/Users/dev/shop/.venv/bin/python -m pytest t"),
        ("pytest t", "1 failed, 2 passed", "PYTHONPATH=src pytest t"),
        ("pytest t", _NO_MODULE, "PYTHONPATH=/data/app/files pytest t"),
        ("eslint src", "Error: it cannot be read", "eslint src --max-warnings 99"),
    ],
)
def test_a_value_of_this_session_or_a_failure_of_the_code_is_none(failed: str, error: str, worked: str) -> None:
    assert _lessons(Script().runs(failed, error, failed=True).runs(worked, "3 passed")) == []


def test_two_differences_name_none() -> None:
    script = Script().runs("pytest t", _NO_MODULE, failed=True).runs("PYTHONPATH=src .venv/bin/pytest t", "3 passed")
    assert _lessons(script) == []


def test_a_form_that_the_user_objects_to_is_none() -> None:
    script = (
        Script().runs("python3 t/run.py", _NO_MODULE, failed=True).runs("PYTHONPATH=src python3 t/run.py", "3 passed")
    )
    script.says("All pass.").user("Good, but don't call the runner by hand. Always run the tests with `make test`.")
    assert _lessons(script) == []


def test_it_holds_for_the_repository() -> None:
    script = Script().runs("pytest t", _NO_MODULE, failed=True).runs("PYTHONPATH=src pytest t", "3 passed")
    session = script.done()
    (guideline,) = answer(GuidelinesQuestion(session, summary(session))).guidelines
    assert guideline.scope == "repository"


def test_what_follows_in_the_line_and_cannot_fail_is_no_check_that_has_to_pass() -> None:
    error = "This project is configured to use till because package.json has a manager field"
    script = Script().runs("pnpm --version && cat package.json | head -5", error, failed=True)
    script.runs("ls -la | head -5", "cart.py").runs("MANAGER_CHECKS=0 pnpm --version | tail -3", "10.2.1")
    (lesson,) = _lessons(script)
    assert lesson.guideline.title == "Set MANAGER_CHECKS for pnpm"
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


def test_a_program_that_then_fails_otherwise_is_no_better() -> None:
    script = Script().runs("python app.py", "bash: python: command not found", failed=True)
    assert not _lessons(script.runs("uv run python app.py", "error: cannot open the cache of uv", failed=True))


def test_a_value_with_the_number_of_a_feature_is_the_session_s() -> None:
    script = Script().runs("./prepare.sh", "ERROR: Not on a feature branch", failed=True)
    assert not _lessons(script.runs("FEATURE=001-basket ./prepare.sh", "ready"))
