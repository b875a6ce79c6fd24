"""One session's values out of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.engines.offline import shell
from agent_wiki.engines.offline.generalize import general_command, generalize
from agent_wiki.trajectory import Source, Trajectory

SESSION = Trajectory("s1", Source("test", cwd="/home/kim/shop", git_branch="kim/fix-cart"), [])


@pytest.mark.parametrize(
    ("text", "general"),
    [
        ("cart.go:12:5: Error return value is not checked", "<file>: Error return value is not checked"),
        ("total price is 305, but paid 255", "total price is <number>, but paid <number>"),
        ("payment method card_5511 not found", "payment method <id> not found"),
        ("HTTP 404 from http://localhost:5173/a", "HTTP 404 from <url>"),
        ("'main' is checked out at '/home/kim/other'", "'main' is checked out at '<path>'"),
        ("reverts 4ead9dc1 of 2026-01-02", "reverts <commit> of <date>"),
        ("use client/server rendering and origin/main", "use client/server rendering and origin/main"),
        ("pinned numpy==1.26.4 in package.json", "pinned numpy==1.26.4 in package.json"),
    ],
)
def test_values_of_one_session_become_placeholders(text: str, general: str) -> None:
    assert generalize(text, SESSION) == general


def test_what_says_nothing_without_its_values_is_refused() -> None:
    assert generalize("/home/kim/a/b /home/kim/c/d.py 12345", SESSION) is None


@pytest.mark.parametrize(
    ("line", "general"),
    [
        ("bin/test core/tests/test_a.py core/b.py", "bin/test <file>"),
        ("git checkout -b kim/rename origin/main", "git checkout -b <branch> origin/main"),
        ("GOOS=windows go test -c ./internal/auth -o auth.exe", "GOOS=<value> go test -c <path> -o <file>"),
        ("go test -run TestCart ./cart/ -v", "go test -run <name> <path> -v"),
        ("mise run fmt", "mise run fmt"),
        ("npm ci --prefix /home/kim/shop/web", "npm ci --prefix web"),
    ],
)
def test_commands_keep_programs_and_flags(line: str, general: str) -> None:
    (command,) = shell.split(line)
    assert general_command(command, SESSION) == general


@given(st.text(max_size=300))
def test_generalizing_any_text_gives_text_or_none(text: str) -> None:
    result = generalize(text, SESSION)
    assert result is None or "/home/kim" not in result


def test_a_hostile_text_is_cheap() -> None:
    for piece in ("/a", "a-1", "a.b@", "A1", "http://", "a_"):
        generalize(piece * 300_000, SESSION)
