"""Which sentences of a user state a rule for later work."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.engines.offline.imperatives import VERBS, base
from agent_wiki.engines.offline.norms import Norm, norm_of


def _words(sentence: str, *, is_correction: bool = False) -> str | None:
    norm = norm_of(sentence, is_correction=is_correction)
    return norm.words if norm else None


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Don't commit unless I ask", "Don't commit unless I ask"),
        ("don't push without asking me first", "don't push without asking me first"),
        ("please never use mocks in tests", "never use mocks in tests"),
        ("Always run the linter before you commit.", "Always run the linter before you commit"),
        ("make sure to run the tests before pushing", "make sure to run the tests before pushing"),
        ("we usually use testify for assertions", "we usually use testify for assertions"),
        (
            "We don't use testify here, use the standard library",
            "We don't use testify, use the standard library",
        ),
        ("I'd prefer table tests", "I'd prefer table tests"),
        ("from now on write commit messages in the imperative", "write commit messages in the imperative"),
        (
            "whenever you change the schema, regenerate the types",
            "whenever you change the schema, regenerate the types",
        ),
        ("we never force push to main", "we never force push to main"),
        ("You should never push directly to main", "You should never push directly to main"),
        ("Make sure to always run the linter first", "Make sure to always run the linter first"),
    ],
)
def test_what_is_said_for_good_is_a_norm_anywhere(said: str, words: str) -> None:
    assert _words(said) == words


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("stop adding emojis to commit messages", "stop adding emojis to commit messages"),
        ("don't use fmt.Println, use the logger", "don't use fmt.Println, use the logger"),
        (
            "no, don't mock the database, use a real one in tests",
            "don't mock the database, use a real one in tests",
        ),
        ("please don't leave TODO comments", "don't leave TODO comments"),
        ("don't touch main", "don't touch main"),
        ("I don't want any backwards compatibility code", "I don't want any backwards compatibility code"),
        (
            "do not add regions as an option since it can only have one value",
            "do not add regions as an option since it can only have one value",
        ),
        (
            "do not add emojis to commit messages because I hate them",
            "do not add emojis to commit messages because I hate them",
        ),
    ],
)
def test_an_order_is_a_norm_only_where_the_user_corrects(said: str, words: str) -> None:
    assert _words(said, is_correction=True) == words
    assert _words(said) is None


@pytest.mark.parametrize(
    "said",
    [
        "before you go doing that, we need to get back to main",
        "don't do that",
        "you always use mocks instead of real objects",
        '"Never push to main" is an outdated rule',
        "before you touch it again, run the tests",
        "don't deploy until Kim is back from holiday",
        "never use sleep in this repo's tests",
        "don't do full auto for carts",
        "don't build a mock",
        "I don't want ot commit docs",
        "don't change the header",  # which header?
        "Don't bump the version release",
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
def test_words_about_the_work_at_hand_are_no_norm(said: str) -> None:
    assert _words(said, is_correction=True) is None


def _norm(sentence: str) -> Norm:
    norm = norm_of(sentence, is_correction=False)
    assert norm is not None
    return norm


@pytest.mark.parametrize(
    ("said", "situation"),
    [
        ("always run the linter before you commit", "Before you commit"),
        ("don't commit unless I ask", "About to commit"),
        ("whenever you change the schema, regenerate the types", "Whenever you change the schema"),
        ("Always run the tests with `make test`", "About to run the tests"),
        ("We don't use testify here, use the standard library", "About to use testify"),
        ("From now on, use uv instead of pip", "About to use uv instead of pip"),
        ("Always run the linter before checking in code", "Before checking in code"),
        ("never check in generated files", "About to check in generated files"),
        ("we always use fixtures", "Choosing between fixtures and something else"),
        ("we usually use testify for assertions", "Choosing between testify and something else for assertions"),
        ("never use mocks in tests", "About to use mocks in tests"),
        ("never add a dependency just because it is popular", "About to add a dependency"),
    ],
)
def test_a_norm_says_when_it_applies(said: str, situation: str) -> None:
    assert _norm(said).situation == situation


def test_what_names_a_person_is_no_order_for_whoever_reads_it() -> None:
    assert _norm("Always run the tests with `make test`").is_imperative
    assert _norm("never use mocks in tests").is_imperative
    assert not _norm("don't commit unless I ask").is_imperative
    assert not _norm("we usually use testify for assertions").is_imperative


@given(st.sampled_from(sorted(VERBS)))
def test_a_verb_is_its_own_base(verb: str) -> None:
    assert base(verb) == verb


@given(st.text(max_size=240), st.booleans())
def test_any_sentence_can_be_asked(sentence: str, is_correction: bool) -> None:
    norm = norm_of(sentence, is_correction=is_correction)
    assert norm is None or len(norm.words.split()) >= 2


def test_a_proposal_for_now_states_no_norm() -> None:
    said = "try with both graders, maybe run some existing examples in this repo"
    assert _words(said, is_correction=True) is None
