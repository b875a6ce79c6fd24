"""Known errors of which a session shows no remedy: another line, an error that came again, what was only read."""

from __future__ import annotations

from time import process_time

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.extract_guidelines import answer
from agent_wiki.engines.offline.signals import known_remedies
from agent_wiki.stages.extract_guidelines import GuidelinesQuestion, grade_of
from tests.engines.recordings import summary
from tests.engines.scripted_session import Script
from tests.engines.signals.taught import titles_of

FLAG = "rg: unrecognized flag --total|cart|basket"


def _learnt(script: Script) -> list[str]:
    trajectory = script.done()
    found = answer(GuidelinesQuestion(trajectory, summary(trajectory))).guidelines
    return [each.title for each in found if not grade_of(each, trajectory).contradiction]


def test_the_line_that_failed_by_a_known_error_may_be_written_otherwise_in_more_than_its_remedy() -> None:
    script = Script().runs('cd web && rg -n "--total|cart|basket" -g "!dist"', FLAG, failed=True)
    script.runs('rg -n -e "--total|cart|basket" src README.md', "src/cart.js:3: --total")
    assert _learnt(script) == ["Put -- before patterns beginning with -"]


def test_a_known_remedy_in_another_line_shows_nothing() -> None:
    script = Script().runs('rg -n "--total|cart|basket" -g "!dist"', FLAG, failed=True)
    assert not _learnt(script.runs("rg -l -e price docs", "docs/price.md"))


def test_a_line_that_still_shows_the_known_error_is_no_remedy() -> None:
    script = Script().runs('rg -n "--total|cart|basket" -g "!dist"', FLAG, failed=True)
    assert not _learnt(script.runs('rg -n -e "--total|cart|basket" src; true', f"{FLAG}\nsrc/cart.js:3"))


def test_a_pipe_may_have_hidden_the_status_of_what_met_the_error_first_of_all() -> None:
    script = Script().runs("nl -ba app/[id]/page.tsx | head -5", "zsh:1: no matches found: app/[id]/page.tsx")
    script.runs("nl -ba 'app/[id]/page.tsx' | head -9", "1 export")
    assert _learnt(script) == ["Quote wildcards in zsh"]
    later = Script().runs("cat notes.md; true", "Notes\nof today\nzsh:1: no matches found: app/[id]/page.tsx")
    assert not _learnt(later.runs("cat 'app/[id]/page.tsx'", "1 export"))


def test_a_form_of_the_remedy_after_which_the_error_came_again_was_not_it() -> None:
    dubious = "fatal: detected dubious ownership in repository at '/srv/shop'"
    script = Script().runs("git status", dubious, failed=True)
    script.runs("git config --global --add safe.directory /srv/shop/web", "").runs("git status", dubious, failed=True)
    script.runs("git config --global --add safe.directory /srv/shop", "").runs("git status", "On branch main")
    (lesson,) = known_remedies.lessons(MinedSession.of(script.done()))[:1]
    assert "safe.directory /srv/shop`" in lesson.guideline.rationale


@pytest.mark.parametrize(
    "said", ["git commit -- ", "gh-q ", "rg-", "xcodebuild ", "Program Files/Go\\binxxxg", "| python3-<< sy "]
)
def test_words_of_the_patterns_themselves_again_and_again_take_no_time(said: str) -> None:
    line, began = said * (40_000 // len(said)), process_time()
    titles_of(Script().runs(line, f"error: {line}", failed=True).runs(f"{line};", "done"))
    assert process_time() - began < 6


ENGINE = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
NO_CARGO = "bash: line 1: cargo: command not found"
NO_GO = "bash: go: command not found"
OWNED = "error: cannot delete branch 'till' used by worktree at '/srv/till'"


@pytest.mark.parametrize(
    "calls",
    [
        # What failed was never run again, or another program was.
        [("cargo --version", NO_CARGO), ("ls ~/.cargo/bin; node --version", "")],
        [("cargo test", NO_CARGO), ("ls ~/.cargo/bin && npm test", "")],
        [("sudo docker ps", ENGINE), ("sudo systemctl start docker", "")],
        [("docker build -t shop .", ENGINE), ("open -a Docker; podman build -t shop .", "")],
        [("git branch -D till", OWNED), ("git switch main && git log till --oneline", "")],
        # It failed again in spite of the remedy, or nobody can see how it went.
        [("docker ps", ENGINE), ("open -a Docker; docker ps", ""), ("docker ps", ENGINE), ("docker ps", ENGINE)],
        [("go version", NO_GO), ("ls /usr/local/go/bin/; go version 2>/dev/null; echo", "")],
        # Something else in the line is why it works.
        [
            ("cargo test", NO_CARGO),
            ("curl https://sh.rustup.rs -sSf | sh -s -- -y && . ~/.cargo/env && cargo test", ""),
        ],
        [
            (
                "python3 scripts/a.py",
                "File \"scripts/a.py\", line 1, in <module>\n import b\nModuleNotFoundError: No module named 'b'",
            ),
            ("pip install b && PYTHONPATH=. python3 scripts/a.py", ""),
        ],
        # It had run out of memory.
        [("pkill -f train.py; python train.py --batch 512", "Exit code 137"), ("python train.py --batch 8", "")],
    ],
)
def test_what_only_looks_like_a_known_remedy_teaches_nothing(calls: list[tuple[str, str]]) -> None:
    script = Script()
    for line, error in calls:
        script.runs(line, error or "done", failed=bool(error))
    assert not _learnt(script)


@pytest.mark.parametrize(
    ("line", "said", "then"),
    [
        (
            "rg 'gh pr diff 7 --stat' docs",
            "docs/a.md: `gh pr diff 7 --stat` answers unknown flag: --stat",
            "rg 'gh pr diff 7 --name-only' docs",
        ),
        (
            "tail -3 docker.log",
            "failed to connect to the docker API at unix:///x",
            "open -a Docker; tail -3 docker.log",
        ),
        (
            "git log -1 --format=%s -- src",
            "error: pathspec 'src/a' did not match any file(s) known to git",
            "cd /srv/shop && git log -1 --format=%s",
        ),
    ],
)
def test_an_error_that_was_only_looked_at_was_not_met(line: str, said: str, then: str) -> None:
    assert not _learnt(Script().runs(line, said).runs(then, "done"))


def test_a_user_who_spoke_in_between_may_have_installed_what_was_not_found() -> None:
    script = Script().runs("cargo test", NO_CARGO, failed=True)
    assert _learnt(script.runs(". ~/.cargo/env && cargo test", "3 passed")) == ["Put Cargo's folder on PATH"]
    script = Script().runs("cargo test", NO_CARGO, failed=True).user("I have installed Rust now, try again.")
    assert not _learnt(script.runs(". ~/.cargo/env && cargo test", "3 passed"))
