"""A cause sentence confirmed by the success that follows."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import causes
from tests.engines.scripted_session import Script


def _rules(said: str, *, worked: bool = True) -> list[str]:
    script = Script().runs("perl -i -pe s/a/b/ $FILES", "Can't open a b c: No such file or directory", failed=True)
    script.runs("for f in a b; do perl -i -pe s/a/b/ $f; done", failed=not worked, says=said)
    return [lesson.guideline.rule for lesson in causes.lessons(MinedSession.of(script.done()))]


def test_a_general_cause_and_its_remedy_are_a_rule() -> None:
    said = "zsh doesn't word-split unquoted variables. Let me use an explicit loop."
    assert _rules(said) == ["Use an explicit loop: zsh doesn't word-split unquoted variables."]


def test_an_unconfirmed_cause_gives_no_lesson() -> None:
    assert not _rules("zsh doesn't word-split unquoted variables. Let me use an explicit loop.", worked=False)


@pytest.mark.parametrize(
    "said",
    [
        "The file needs the new parameter. Let me add the parameter.",
        "This doesn't work here. Let me use an explicit loop.",
        "zsh only works with src/cart/files.sh. Let me use an explicit loop.",
        "zsh doesn't word-split unquoted variables.",
        "zsh doesn't word-split unquoted variables. Let me look at the file.",
    ],
)
def test_a_cause_that_means_something_only_in_its_session_gives_no_lesson(said: str) -> None:
    assert not _rules(said)


def test_a_cause_is_looked_up_by_the_command_it_stops() -> None:
    script = Script().user("Move the pictures.").runs("git mv a b/a", "fatal: renaming failed", failed=True)
    script.runs("mkdir -p b && git mv a b/a", says="Git does not create folders. I'll run `mkdir -p` before `git mv`.")
    (lesson,) = causes.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.trigger == "About to run `git mv`, or it has failed."
    assert lesson.guideline.tags == ["git", "mkdir"]


def test_a_script_of_the_session_is_looked_up_by_its_error() -> None:
    failure = "FileNotFoundError: [Errno 2] No such file or directory: 'out/day.csv'"
    script = Script().user("Export it.").runs("python3 tools/export.py", failure, failed=True)
    script.runs(
        "mkdir -p out && python3 tools/export.py", says="Python does not create folders. I'll run `mkdir -p` first."
    )
    (lesson,) = causes.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.trigger == (
        "A command that works with python stops with `FileNotFoundError: [Errno 2] No such file or directory`."
    )
