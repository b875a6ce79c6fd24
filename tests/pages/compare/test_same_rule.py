"""The same rule in other words is the same; a near miss is not."""

from __future__ import annotations

import pytest

from agent_wiki.pages.compare.same_rule import Reading, alike, reading_of, supports
from agent_wiki.pages.compare.views import GuidelineView
from tests.hangs import no_hang


def _alike(left: str, right: str) -> bool:
    score = alike(_reading(left), _reading(right))
    assert score == alike(_reading(right), _reading(left)), "the order of two rules means nothing"
    return score > 0


def _reading(text: str) -> Reading:
    return reading_of(GuidelineView("", "", text))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Use `uv run pytest` to run the tests.", "Run the tests with `uv run pytest`."),
        (
            "Apply the database migrations before you start the server.",
            "Run database migrations before the server starts",
        ),
        ("Pass `--no-pager` to git so that its output is not cut.", "Call git with `--no-pager`, else output is cut."),
        ("Use `make fmt` and not `gofmt` to format.", "Use `make fmt` to format, not `gofmt`."),
    ],
)
def test_one_rule_in_two_wordings_is_one_rule(left: str, right: str) -> None:
    assert _alike(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Use `pnpm` instead of `npm` to install packages.", "Use `npm` instead of `pnpm` to install packages."),
        ("Use `pnpm` instead of `npm`.", "Use `yarn` instead of `npm`."),
        ("Install `foo` with `pip install foo` first.", "Install `bar` with `pip install bar` first."),
        ("Wait 5 seconds for the broker to start.", "Wait 30 seconds for the broker to start."),
        ("Lock the ledger table before the import.", "Unlock the ledger table before the import."),
        ("Seed the ledger before the import job.", "Seed the ledger after the import job."),
        ("Never squash the commits of a release branch.", "Squash the commits of a release branch."),
        ("Run `go test ./core` from the module root.", "Run `go build ./core` from the module root."),
        ("Pass `--dry-run` to the publish command.", "Pass `--force` to the publish command."),
        ("Quote YAML values with colons.", "Quote shell arguments with spaces."),
    ],
)
def test_a_near_miss_is_another_rule(left: str, right: str) -> None:
    assert not _alike(left, right)


def test_a_placeholder_names_nothing() -> None:
    assert _alike("Restore it with `git checkout <file>` at once.", "Restore it at once with `git checkout <path>`.")


def test_two_rules_of_few_words_are_not_the_same() -> None:
    assert not _alike("Be careful.", "Be careful.")


def test_a_sentence_is_supported_when_every_member_names_what_it_names() -> None:
    members = [_reading("Run `make lint` before a commit of code."), _reading("Before a commit, run `make lint`.")]
    assert supports("Run `make lint` before each commit.", members)
    assert not supports("Run `make lint --fix` before each commit.", members)
    assert not supports("Never run `make lint` before a commit.", members)
    assert not supports("Run `make lint` on Monday mornings at the coast.", members)


def test_a_hostile_rule_is_read_in_linear_time() -> None:
    hostile = "`" * 70_000 + "--a" * 70_000 + "<" * 70_000
    with no_hang():
        assert reading_of(GuidelineView("", hostile, hostile)).length >= 0
