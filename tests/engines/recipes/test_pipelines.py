"""Command lines cut into pipelines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki.engines.offline.recipes.pipelines import pipelines
from agent_wiki.shell.syntax import MOST_CHARACTERS


def words(line: str) -> list[list[list[str]]]:
    return [[[word.value for word in command] for command in each.commands] for each in pipelines(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a && b || c; d", [[["a"]], [["b"]], [["c"]], [["d"]]]),
        ("a 'x y' | b \"z\"", [[["a", "x y"], ["b", "z"]]]),
        ("a 2>&1 | tail -5", [[["a", "2>&1"], ["tail", "-5"]]]),
        ("a &> log & b", [[["a", "&>", "log"]], [["b"]]]),
        ("a \\\n  --flag # why\nb", [[["a", "--flag"]], [["b"]]]),
        ("git commit -m \"$(cat <<'EOF'\nx (y)\nEOF\n)\"", [[["git", "commit", "-m", "$(cat <<'EOF'\nx (y)\nEOF\n)"]]]),
        ("", []),
    ],
)
def test_a_line_is_cut_where_the_shell_cuts_it(line: str, expected: list[list[list[str]]]) -> None:
    assert words(line) == expected


@pytest.mark.parametrize(
    "line", ["echo 'open", 'echo "open', "echo $(open", "cat <<'EOF'\nno end", "x" * (MOST_CHARACTERS + 1)]
)
def test_a_line_that_is_broken_or_too_long_has_no_pipelines(line: str) -> None:
    assert pipelines(line) == ()


def test_each_pipeline_knows_what_joins_it_to_the_one_before() -> None:
    assert [each.joint for each in pipelines("a && b || c; d\ne")] == ["", "&&", "||", ";", "\n"]


def test_a_here_document_is_taken_out_and_marked_when_the_shell_would_change_it() -> None:
    quoted, open_one = pipelines("cat > a <<'END'\n$x\nEND\ncat > b <<END\n$x\nEND\n")
    assert (quoted.here_documents[0].text, quoted.here_documents[0].is_literal) == ("$x\n", True)
    assert (open_one.here_documents[0].text, open_one.here_documents[0].is_literal) == ("$x\n", False)


@settings(deadline=None)
@given(st.text(alphabet="ab '\"\\$()<>|&;\n#`E=-", max_size=60))
def test_every_word_is_where_its_place_says(line: str) -> None:
    for each in pipelines(line):
        assert each.text in line
        for command in each.commands:
            assert all(0 <= word.start < word.end <= len(each.text) for word in command)
