"""When a later command shows that what had failed in an earlier one works now."""

from __future__ import annotations

import pytest

from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand, simple_commands


def _only(line: str) -> SimpleCommand:
    (command,) = simple_commands(line)
    return command


@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ('mysql -u shop -e "SELECT dirty FROM migrations"', 'mysql -u shop -e "SHOW VARIABLES LIKE character"'),
        ('python3 -c "import cart; cart.total(3)"', 'python3 -c "print(open(name).read())"'),
        ("cat > a.md <<'E'\nthe first of many words\nE", "cat > b.md <<'E'\nanother list entirely\nE"),
    ],
)
def test_the_same_program_with_another_text_is_another_command(failed: str, passed: str) -> None:
    assert not is_same_check(_only(failed), _only(passed))


@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ('psql -c "DELETE FROM visits WHERE day = 1 LIMIT 3"', 'psql -c "DELETE FROM visits WHERE day = 1"'),
        ('gh issue view 18 --json old -q ".old | length and more"', 'gh issue view 18 --json new -q ".new[0]"'),
    ],
)
def test_a_text_that_was_mended_and_what_is_shown_of_a_result_do_not_make_it_another(failed: str, passed: str) -> None:
    assert is_same_check(_only(failed), _only(passed))


@pytest.mark.parametrize(
    ("failed", "passed", "is_same"),
    [
        ("pytest carts/test_total.py", "pytest carts/", True),
        ("go vet ./cart/total.go", "go vet ./cart/...", True),
        ("pytest carts", "pytest carts/test_total.py", False),
        ("pytest carts/test_total.py", "pytest cart", False),
        (r"dotnet test a\cart.csproj -v minimal", r"dotnet test a\cart.csproj -m:1 -v normal", True),
        (r"Get-Content app\cart.tsx", r"Get-Content -LiteralPath 'app\cart.tsx'", True),
    ],
)
def test_a_folder_holds_what_lies_in_it_and_a_path_of_windows_is_the_same_in_quotes(
    failed: str, passed: str, *, is_same: bool
) -> None:
    assert is_same_check(_only(failed), _only(passed)) is is_same


@pytest.mark.parametrize(
    ("failed", "passed", "is_same"),
    [
        ("jest --testPathPatterns=api/carts", "jest --testPathPatterns=unit/lamps", False),
        ("jest --testPathPatterns=api/carts", "jest --testPathPatterns=api", True),
        ("jest --testPathPattern=api", "jest --testPathPattern=api/carts", False),
        ("cargo test --test carts", "cargo test --test carts capped", False),
        ("cargo test --test carts", "cargo test --test carts -- --test-threads=1", True),
        ("mvn -q -Dtest=CartTest test", "mvn -q -Dtest=LampTest test", False),
        ("go test -run Cart", "go test -run Cart -timeout 60s", True),
        ("phpunit-all app", "phpunit-all app --filter=Cart", False),
    ],
)
def test_of_chosen_tests_fewer_or_others_are_not_the_same_check(failed: str, passed: str, *, is_same: bool) -> None:
    assert is_same_check(_only(failed), _only(passed)) is is_same


@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ("mix format --check-formatted", "mix test"),
        ("flutter analyze", "flutter test"),
        ("xcodebuild -scheme Till build", "xcodebuild -scheme Till test"),
        ("manage.py check", "manage.py test"),
        ("cargo check --bin test", "cargo test --bin test"),
        ("make till ITEM=2", "make -n till ITEM=2"),
        ("just till", "just --dry-run till"),
    ],
)
def test_another_job_of_the_same_program_is_another_check(failed: str, passed: str) -> None:
    assert not is_same_check(_only(failed), _only(passed))
    assert is_same_check(_only(passed), _only(passed))


def test_a_job_on_all_answers_for_one_on_a_part() -> None:
    assert is_same_check(_only("mix test test/till_test.exs"), _only("MIX_ENV=test mix test"))


def _patched(file: str, lines: str) -> SimpleCommand:
    return _only(f"apply_patch <<'E'\n*** Begin Patch\n*** Update File: {file}\n@@\n{lines}\n*** End Patch\nE")


@pytest.mark.parametrize(
    ("file", "lines", "is_same"),
    [
        ("cart.py", "-price\n+total = price * count", True),  # by other lines than those that were not found
        ("cart.py", "-till\n+open a drawer of it and lock that again as it was before", False),
        ("till.py", "-price\n+sum of it, whatever price", False),
    ],
)
def test_a_patch_of_the_same_file_with_a_part_of_its_words_is_that_patch(
    file: str, lines: str, *, is_same: bool
) -> None:
    failed = _patched("cart.py", "-a line that is not there at all\n+total = price * count")
    assert is_same_check(failed, _patched(file, lines)) is is_same
