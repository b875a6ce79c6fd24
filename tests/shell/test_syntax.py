"""The one reader of shell syntax: steps, words, redirections and here-documents, in any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki.shell.syntax import MOST_CHARACTERS, Step, plain_words, redirections, shell_line
from tests.hangs import no_hang


def values(step: Step) -> list[str]:
    return [word.value for word in step.words]


def only_step(line: str) -> Step:
    (step,) = shell_line(line).steps
    return step


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a 'x y'\"z\"w", ["a", "x yzw"]),
        (
            r'a b\ c "d\"e" \
 f',
            ["a", "b c", 'd"e', "f"],
        ),
        ("a #b\\", ["a"]),
        ("a b#c", ["a", "b#c"]),
        ("x=$(a | b; c) d", ["x=$(a | b; c)", "d"]),
        ('echo "$(grep ")" f)" z', ["echo", '$(grep ")" f)', "z"]),
        ("a `b | c` d", ["a", "`b | c`", "d"]),
        (r"a $'it\'s `b`; c\n' d", ["a", "it's `b`; c\n", "d"]),
        ("(cd x && y) z", ["(cd x && y)", "z"]),
        ("diff <(a | b) <(c)", ["diff", "<(a | b)", "<(c)"]),
        ("l=(1 2) f()", ["l=(1 2)", "f()"]),
        (
            r"..\.venv\Scripts\python.exe C:\Users\kim\a.py sed s/a\.b/c/",
            [r"..\.venv\Scripts\python.exe", r"C:\Users\kim\a.py", "sed", "s/a.b/c/"],
        ),
        (r".\gradlew.bat -p web\.ci", [r".\gradlew.bat", "-p", r"web\.ci"]),
        (r"dotnet test src\cart\cart.csproj \*.cs a\ b", ["dotnet", "test", r"src\cart\cart.csproj", "*.cs", "a b"]),
    ],
)
def test_a_word_is_what_the_shell_takes_for_one(line: str, expected: list[str]) -> None:
    assert values(only_step(line)) == expected
    assert shell_line(line).is_whole


def test_each_step_says_what_ends_it() -> None:
    steps = shell_line("a && b || c | d |& e; f & g\nh").steps
    assert [step.after for step in steps] == ["&&", "||", "|", "|&", ";", "&", "\n", ""]


@pytest.mark.parametrize(
    ("line", "plain", "redirected"),
    [
        ("a >b c", ["a", "c"], [(">", "b")]),
        ("a b>>c", ["a", "b"], [(">>", "c")]),
        ("a 2>&1 > 'b c'", ["a"], [("2>&", "1"), (">", "b c")]),
        ("a &>b <c", ["a"], [("&>", "b"), ("<", "c")]),
        ("a <<<'b c'", ["a"], [("<<<", "b c")]),
        ("a '>' \\> b", ["a", ">", ">", "b"], []),
        ("a >", ["a"], []),
    ],
)
def test_redirections_are_distinguished_from_words(
    line: str, plain: list[str], redirected: list[tuple[str, str]]
) -> None:
    step = only_step(line)
    assert [word.value for word in plain_words(step.words)] == plain
    assert redirections(step.words) == redirected


def test_a_here_document_belongs_to_the_command_it_is_fed_to() -> None:
    first, second, third = shell_line("cat <<'A' > f && cat<<-B\n$x\nA\n\ty\n\tB\nc").steps
    assert [(each.text, each.is_literal) for each in first.here_documents] == [("$x\n", True)]
    assert [(each.text, each.is_literal) for each in second.here_documents] == [("\ty\n", True)]
    assert (values(second), values(third)) == (["cat"], ["c"])


def test_a_here_string_of_powershell_is_one_word_whatever_quotes_it_has() -> None:
    line = "$script = @'\n$a = \"it's\"\n(?i)cap|ccap; rm x\n'@\nInvoke-Expression $script; Set-Content a.txt 3"
    steps = shell_line(line).steps
    assert [step.words[0].value for step in steps] == ["$script", "Invoke-Expression", "Set-Content"]
    assert line[steps[-1].words[1].start : steps[-1].words[1].end] == "a.txt"


def test_a_here_document_inside_a_substitution_may_hold_an_apostrophe() -> None:
    line = "git commit -m \"$(cat <<'EOF'\nit's (a\nEOF\n)\" && git push"
    assert [values(step)[:2] for step in shell_line(line).steps] == [["git", "commit"], ["git", "push"]]
    assert shell_line(line).is_whole


@pytest.mark.parametrize("line", ["a 'b", r"a $'b\'", 'a "b', "a $(b", "a `b", "a <<E\nb", "a <<E"])
def test_what_is_not_closed_extends_to_the_end_and_is_marked(line: str) -> None:
    assert not shell_line(line).is_whole
    assert values(only_step(line))[0] == "a"


@settings(deadline=None)
@given(st.text(alphabet="ab '\"\\$()<>|&;\n#`E=-2", max_size=80))
def test_the_words_of_any_text_are_in_order_where_their_places_say(line: str) -> None:
    position = 0
    for step in shell_line(line).steps:
        for word in step.words:
            assert position <= word.start < word.end <= len(line)
            assert line.startswith(word.redirection, word.start)
            position = word.end


@pytest.mark.long
@pytest.mark.parametrize(
    "unit",
    [
        "'",
        "$'\\'",
        '"',
        "$(",
        '"$(',
        "(",
        "`",
        "<<E\n",
        "<<E ",
        "$(<<E\n",
        "a && ",
        "\\",
        ">",
        "\n",
        "#",
        "a;",
        "((<<E",
    ],
)
def test_hostile_text_costs_linear_time(unit: str) -> None:
    text = unit * (2 * MOST_CHARACTERS // len(unit))
    with no_hang():
        shell_line(text)


@pytest.mark.parametrize(
    ("characters", "is_kept"), [(1_000, True), (MOST_CHARACTERS, True), (MOST_CHARACTERS + 1, False)]
)
def test_a_line_is_read_once_unless_it_is_a_file_in_disguise(characters: int, *, is_kept: bool) -> None:
    text = "echo " + "a" * (characters - 5)
    assert (shell_line(text) is shell_line(text)) is is_kept
    assert shell_line(text) == shell_line(text)
