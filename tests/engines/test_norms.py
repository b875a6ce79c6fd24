"""From the words of a user to the rule they state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.engines.offline.imperatives import VERBS, base, gerund, title_of
from agent_wiki.engines.offline.norms import norm_of


def _rule(sentence: str, *, is_correction: bool = False) -> str | None:
    norm = norm_of(sentence, is_correction=is_correction)
    return norm.rule if norm else None


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("Don't commit unless I ask", "Commit only if the user asks"),
        ("don't push without asking me first", "Push only after asking the user"),
        ("please never use mocks in tests", "Do without mocks in tests"),
        ("Always run the linter before you commit.", "Always run the linter before committing"),
        ("make sure to run the tests before pushing", "Run the tests before pushing"),
        ("remember to update the changelog when adding a feature", "Update the changelog when adding a feature"),
        ("we usually use testify for assertions", "Use testify for assertions"),
        ("We don't use testify here, use the standard library", "Use the standard library instead of testify"),
        ("I'd prefer table tests", "Prefer table tests"),
        ("from now on write commit messages in the imperative", "Write commit messages in the imperative"),
        ("whenever you change the schema, regenerate the types", "Regenerate the types whenever changing the schema"),
        ("we never force push to main", "Avoid force-pushing to main"),
    ],
)
def test_what_is_said_for_good_is_a_rule_anywhere(said: str, rule: str) -> None:
    assert _rule(said) == rule


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("stop adding emojis to commit messages", "Keep commit messages free of emojis"),
        ("don't use fmt.Println, use the logger", "Use the logger instead of fmt.Println"),
        (
            "no, don't mock the database, use a real one in tests",
            "Use a real one in tests instead of mocking the database",
        ),
        ("please don't leave TODO comments", "Leave out TODO comments"),
        ("don't touch main", "Leave main as found"),
        ("do not delete build artifacts", "Avoid deleting build artifacts"),
        ("I don't want any backwards compatibility code", "Do without any backwards compatibility code"),
        (
            "do not add regions as an option since it can only have one value",
            "Leave out regions as an option",
        ),
        ("do not add emojis to commit messages because I hate them", "Keep commit messages free of emojis"),
    ],
)
def test_an_order_is_a_rule_only_where_the_user_corrects(said: str, rule: str | None) -> None:
    assert _rule(said, is_correction=True) == rule
    assert _rule(said) is None


@pytest.mark.parametrize(
    "said",
    [
        "before you go doing that, we need to get back to main",
        "don't do that",
        "don't do full auto for carts",
        "don't build a mock",
        "I don't want ot commit docs",
        "don't change the header",  # which header?
        "don't change files that not required:",  # of which a list comes
        "make sure it works",
        "you should have asked me first",
        "don't worry about the tests",
        "always open this file in my editor",
        "never use the second one",
        "can you always run the linter?",  # a question
        "we use it a lot",
        "add a button",
        "we keep getting errors",
        "we use to have tests",
        "make sure to update the modal after closing the drawer",
        "run the tests when you are done",
        "don't add tests yet",
        "don't make changes, just explain",
        "don't write code",
        "we don't need tests",
        "always",
        "",
    ],
)
def test_words_about_the_work_at_hand_are_no_rule(said: str) -> None:
    assert _rule(said, is_correction=True) is None


def test_a_rule_says_when_it_applies() -> None:
    timed = norm_of("always run the linter before you commit", is_correction=False)
    bare = norm_of("don't commit unless I ask", is_correction=False)
    assert timed is not None
    assert bare is not None
    assert (timed.situation, bare.situation) == ("Before committing", "About to commit")


def test_what_asks_for_approval_applies_before_the_change() -> None:
    norm = norm_of("Always ask for the user's approval", is_correction=False)
    assert norm is not None
    assert norm.situation == "About to change something that the user has not agreed to"


def test_a_title_does_not_promise_more_than_the_rule() -> None:
    assert title_of("Run the linter and the tests with care before committing") == ("Run the linter and the tests")
    assert title_of("Merge pull requests only after the user's approval") == (
        "Merge pull requests only after the user's…"
    )
    assert title_of("Push to main only if the user asks") == "Push to main only when asked"
    assert title_of("Use pnpm") is None


@pytest.mark.parametrize(
    ("verb", "form"), [("run", "running"), ("write", "writing"), ("tie", "tying"), ("use", "using")]
)
def test_gerunds_are_spelled_as_they_are_written(verb: str, form: str) -> None:
    assert gerund(verb) == form


@given(st.sampled_from(sorted(VERBS)))
def test_a_verb_is_found_again_in_its_gerund(verb: str) -> None:
    assert base(gerund(verb)) == verb


@given(st.text(max_size=240), st.booleans())
def test_any_sentence_can_be_asked(sentence: str, is_correction: bool) -> None:
    norm = norm_of(sentence, is_correction=is_correction)
    assert norm is None or len(norm.rule.split()) >= 2


def test_a_proposal_for_now_states_no_norm() -> None:
    said = "try with both graders, maybe run some existing examples in this repo"
    assert _rule(said, is_correction=True) is None
