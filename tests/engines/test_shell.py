"""Command lines as miners see them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.engines.offline import shell


@pytest.mark.parametrize(
    ("line", "heads"),
    [
        ("cd app && npm run build", ["cd", "npm run build"]),
        ("FOO=1 go test ./... 2>&1 | tail -3", ["go test", "tail"]),
        ("git -C sub push -u origin main", ["git push"]),
        ("/usr/bin/python3 -m pytest a.py", ["python3 -m pytest"]),
        ("./bin/test a.py; bin/test b.py", ["bin/test", "bin/test"]),
        ("timeout 30 make check", ["make check"]),
        ("cat <<'EOF' > a.py\nimport x && y\nEOF\npython a.py", ["cat", "python a.py"]),
        ("echo 'a && b' && ls", ["echo", "ls"]),
        ("", []),
    ],
)
def test_a_line_is_split_into_what_was_run(line: str, heads: list[str]) -> None:
    assert [command.head for command in shell.split(line)] == heads


def test_flags_environment_and_targets_are_distinguished() -> None:
    (command,) = shell.split("CI=1 go test -run=TestA -v ./pkg")
    assert command.env == ("CI=1",)
    assert command.targets == ("./pkg",)


def test_reading_is_no_action() -> None:
    assert [each.head for each in shell.actions("cd x; git status; grep -n a b; git push; gh pr view 3")] == [
        "git push"
    ]


def test_a_here_document_is_no_part_of_the_text() -> None:
    (command, _) = shell.split("FOO=1 tee a.sh <<EOF > /dev/null\nrm -rf x\nEOF\nbash a.sh")
    assert (command.text, command.words) == ("FOO=1 tee a.sh  > /dev/null", ("tee", "a.sh"))


def test_subshells_and_quotes_are_read_as_the_shell_does() -> None:
    found = shell.split("(cd a && make 'x > y' \\\n  z) || true")
    assert [(each.words, each.operator) for each in found] == [
        (("cd", "a"), "&&"),
        (("make", "x > y", "z"), "||"),
        (("true",), ""),
    ]


def test_a_message_fed_to_a_substitution_is_no_word_to_go_by() -> None:
    (commit,) = shell.actions("git status && git commit -m \"$(cat <<'EOF'\nit's done\nEOF\n)\" -q")
    assert commit.words == ("git", "commit", "-m", "$(cat)", "-q")


@given(st.text(alphabet="ab \"'`$()<>&|;\n\\EOF-=", max_size=200))
def test_any_text_is_split_without_an_error(line: str) -> None:
    assert all(command.words or command.env for command in shell.split(line))


def test_a_hostile_line_is_cheap() -> None:
    assert len(shell.split("a && " * 300_000)) <= 60
    assert shell.split("'" * 1_000_000) is not None
    assert shell.split("(" * 1_000_000) is not None


def test_a_command_in_an_environment_keeps_its_name() -> None:
    (command,) = shell.split("conda run -n lamps python3 src/lamp.py")
    assert (command.head, command.targets) == ("conda run -n lamps python3", ("src/lamp.py",))
