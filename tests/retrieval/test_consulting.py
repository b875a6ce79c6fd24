"""What a wiki answers to a task in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UsageError
from agent_wiki.retrieval import consult, lexical, read_pages
from tests.retrieval.wikis import CANCEL, PYTEST, YAML, write_wiki


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    return write_wiki(tmp_path / "wiki")


def test_the_page_that_applies_comes_first_and_says_why(wiki: Path) -> None:
    first = consult(wiki, "pytest is not found, how do I run the tests?")[0]
    assert first.row == PYTEST
    assert "trigger: " in first.why
    assert "pytest" in first.why
    assert 0 < first.score <= 1


def test_a_paraphrase_with_hardly_a_word_in_common_is_found(wiki: Path) -> None:
    assert [hit.row for hit in consult(wiki, "the customer wants to call off their booking")][:1] == [CANCEL]


@pytest.mark.parametrize(
    "task",
    ["bake a chocolate cake", "", "   ", "?!", "the of and", '"unbalanced OR (NEAR* title:', "\x00\ud800", "日本語"],
)
def test_nothing_applies_to_what_is_unrelated_empty_or_query_syntax(wiki: Path, task: str) -> None:
    assert consult(wiki, task) == []


def test_tags_and_kinds_narrow_what_is_found(wiki: Path) -> None:
    task = "tests fail: pytest not found"
    assert consult(wiki, task, kinds=("skill",)) == []
    assert consult(wiki, task, tags=("yaml",)) == []
    assert [hit.row for hit in consult(wiki, task, tags=("Tests",), kinds=("guideline",))] == [PYTEST]


@pytest.mark.parametrize(("findings", "number"), [(0, 0), (2, 1), (None, 1)])
def test_a_comparison_in_which_nothing_was_found_is_not_shown(
    tmp_path: Path, findings: int | None, number: int
) -> None:
    task = {**YAML, "kind": "task", "id": "task:yaml", "link": "tasks/yaml__task.md"}
    row = task if findings is None else {**task, "findings": findings}
    assert len(consult(write_wiki(tmp_path, (row,)), "YAML mapping values are not allowed")) == number


def test_a_folder_that_is_no_wiki_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no wiki here"):
        consult(tmp_path, "anything")


def test_pages_are_read_whole_without_their_machinery_when_there_is_room(wiki: Path) -> None:
    text = read_pages(consult(wiki, "YAML mapping values are not allowed"), 2000)
    assert text.startswith(f"--- {YAML['link']} [guideline]")
    assert "Put a value that holds a colon" in text
    assert "## Sources" not in text
    assert "id:" not in text


def test_what_holds_for_another_repository_alone_is_not_shown(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path, ({**PYTEST, "scope": "repository:shop"}, YAML))
    task = "run the unit tests, pytest is not found"
    assert [hit.link for hit in consult(wiki, task)] == [PYTEST["link"]], "where the reader works is not known"
    assert [hit.link for hit in consult(wiki, task, repository="shop")] == [PYTEST["link"]]
    assert consult(wiki, task, repository="cart") == []
    plain = consult(wiki, task, repository="shop")
    assert [hit.score for hit in consult(wiki, f"{task} shop", repository="shop")] == [hit.score for hit in plain]


def test_of_pages_that_fit_as_well_that_of_this_repository_comes_first_and_says_so(tmp_path: Path) -> None:
    own = {**PYTEST, "id": "999999999999", "link": "guidelines/own__999999999999.md", "scope": "repository:shop"}
    wiki = write_wiki(tmp_path, (PYTEST, own))
    task = "run the unit tests, pytest is not found"
    assert [hit.link for hit in consult(wiki, task)] == [PYTEST["link"], own["link"]]
    first, second = consult(wiki, task, repository="shop")
    assert (first.link, second.link) == (own["link"], PYTEST["link"])
    assert first.why.startswith("of this repository; ")
    assert "repository" not in second.why
    assert first.score == second.score, "what is preferred is not lifted over the floor"


_MAKE: dict[str, Any] = {
    **PYTEST,
    "id": "888888888888",
    "title": "Always run the tests with make test",
    "trigger": "About to run the tests.",
    "summary": "Always run the tests with `make test`.",
    "link": "guidelines/always-run-the-tests__888888888888.md",
}
_SYMPY: dict[str, Any] = {**PYTEST, "scope": "repository:sympy"}


def test_what_holds_nobody_knows_how_far_comes_after_what_holds_for_this_very_repository(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path / "one", (_MAKE, _SYMPY))
    first, second = consult(wiki, "run the tests", repository="sympy")
    assert (first.row, second.row) == (_SYMPY, _MAKE)
    assert first.score < second.score, "the other one fits better"
    general = write_wiki(tmp_path / "two", ({**_MAKE, "scope": "general"}, _SYMPY))
    assert consult(general, "run the tests", repository="sympy")[0].link == _MAKE["link"]
    browser = {**_MAKE, "trigger": "About to run the browser tests."}
    more = write_wiki(tmp_path / "three", (browser, _SYMPY))
    assert consult(more, "run the browser tests", repository="sympy")[0].row == browser, "it has more of the words"


@pytest.mark.parametrize("name", ["sympy", "Sympy", "sympy/sympy", "https://github.com/sympy/sympy.git",
                                  "git@github.com:sympy/sympy", "https://example.com/a/sympy/"])  # fmt: skip
def test_a_repository_is_given_by_its_name_with_its_owner_or_by_its_address(tmp_path: Path, name: str) -> None:
    wiki = write_wiki(tmp_path, (_MAKE, _SYMPY))
    assert consult(wiki, "run the tests", repository=name) == consult(wiki, "run the tests", repository="sympy")


@pytest.mark.parametrize(
    "task",
    ["run the sympy tests", "run tests in sympy", "run SymPy's tests", "run the tests of sympy/sympy.",
     "run the tests of https://github.com/sympy/sympy"],
)  # fmt: skip
def test_a_repository_that_the_request_names_counts_like_one_that_is_given(tmp_path: Path, task: str) -> None:
    cart = {**PYTEST, "id": "7" * 12, "link": f"guidelines/cart__{'7' * 12}.md", "scope": "repository:cart"}
    wiki = write_wiki(tmp_path, (_MAKE, cart, _SYMPY))
    assert [hit.row for hit in consult(wiki, task)] == [_SYMPY, _MAKE]
    here = consult(wiki, task, repository="cart")
    assert {hit.link for hit in here} == {_SYMPY["link"], _MAKE["link"], cart["link"]}, "both count"


@pytest.mark.parametrize("task", ["run the tests of src/core/sympy/add", "run the tests in sympy.py", "run its tests"])
def test_neither_a_file_nor_a_part_of_a_path_names_a_repository(tmp_path: Path, task: str) -> None:
    wiki = write_wiki(tmp_path, ({**_SYMPY, "scope": "repository:sympy"},))
    assert not any(hit.why.startswith("of this repository") for hit in consult(wiki, task))


_EPISODES = tuple(
    {
        "kind": "episode",
        "id": f"episode:{name}",
        "title": "Run the tests where pytest is not installed",
        "tags": ["tests"],
        "trigger": "Run the unit tests; pytest is not found.",
        "summary": "Installing pytest was given up, because the network is closed and the tests need no pytest.",
        "link": f"summaries/{name}.md",
    }
    for name in ("a", "b")
)


def test_lessons_come_before_episodes_of_which_one_is_shown(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path, (*_EPISODES, PYTEST))
    task = "run the unit tests, pytest is not found, install pytest?"
    assert [hit.kind for hit in consult(wiki, task)] == ["guideline", "episode"]
    assert [hit.kind for hit in consult(wiki, task, kinds=("episode",))] == ["episode", "episode"]


_BUILD: dict[str, Any] = {
    **YAML,
    "id": "333333333333",
    "title": "Raise the memory of the linker",
    "trigger": "A build stops with `collect2: fatal error: ld terminated with signal 9`.",
    "summary": "Give the container more memory.",
    "link": "guidelines/raise-the-memory-of-the-linker__333333333333.md",
}
_ALIKE: dict[str, Any] = {
    **YAML,
    "id": "444444444444",
    "title": "Read the log of a failed build",
    "trigger": "A build in the container fails with a fatal error of the linker.",
    "summary": "A failed build of a container leaves its log beside the program that the linker was to write.",
    "link": "guidelines/read-the-log-of-a-failed-build__444444444444.md",
}
_LOG = "\n".join(f"[{step}/40] compiling src/module_{step}.cc with optimisation and warnings" for step in range(40))


@pytest.mark.parametrize(
    "task",
    [
        "collect2: fatal error: ld terminated with signal 9 [Killed]",
        f"the build in the container failed:\n{_LOG}\ncollect2: fatal error: ld terminated with signal 9\nmake: *** 2",
    ],
)
def test_the_page_whose_trigger_quotes_the_very_failure_comes_first(tmp_path: Path, task: str) -> None:
    wiki = write_wiki(tmp_path / "wiki", (_ALIKE, _BUILD, PYTEST))
    first = consult(wiki, task)[0]
    assert first.row == _BUILD
    assert first.why.startswith("it quotes this failure")


def test_a_number_counts_with_the_word_that_says_what_it_numbers(tmp_path: Path) -> None:
    two, three = (
        {
            **YAML,
            "id": str(code) * 12,
            "title": f"What exit code {code} of the checker means",
            "trigger": f"The checker stops with exit code {code}.",
            "summary": "Look at the report of the checker.",
            "link": f"guidelines/exit-code__{str(code) * 12}.md",
        }
        for code in (2, 3)
    )
    wiki = write_wiki(tmp_path / "wiki", (two, three))
    assert consult(wiki, "the checker exited with code 2")[0].row == two
    assert consult(wiki, "the checker exited with code 3")[0].row == three


def test_of_a_files_name_the_ending_counts_and_the_askers_own_word_for_it_does_not(tmp_path: Path) -> None:
    row = {
        **YAML,
        "title": "Read WAV headers with wave",
        "trigger": "A WAV header is wanted.",
        "summary": "Use `wave`.",
    }
    wiki = write_wiki(tmp_path, (row,))
    assert [hit.row for hit in consult(wiki, "read the header of jubilee-voicemail-oberon.wav")] == [row]
    assert consult(wiki, "read the header of jubilee voicemail oberon") == []


def test_go_is_a_language_where_it_is_written_as_one(tmp_path: Path) -> None:
    row = {**YAML, "title": "Use t.Chdir in Go tests", "trigger": "Writing Go tests.", "summary": "Use `t.Chdir`."}
    wiki = write_wiki(tmp_path, (row,))
    for task in ("change the folder in our Go tests", "go test for another folder"):
        assert "Go" in {
            word.title().removesuffix("lang") for word in consult(wiki, task)[0].why.split(": ")[1].split(", ")
        }
    assert consult(wiki, "go on with the folder") == []


@pytest.mark.parametrize("task", ["Permission denied (publickey).", "command not found: q"])
def test_words_of_which_every_failure_consists_find_nothing_by_themselves(tmp_path: Path, task: str) -> None:
    cache = {
        **YAML,
        "title": "Keep the cache here",
        "trigger": "A cache is refused (`permission denied`, `not found`).",
    }
    assert consult(write_wiki(tmp_path, (cache,)), task) == []


def test_the_bare_name_of_an_exception_is_no_quotation_of_a_failure() -> None:
    assert lexical.quotations("It stops with `ModuleNotFoundError` for an app.") == []
    assert lexical.quotations("It stops with `No module named pytest`.") == [
        lexical.Quotation(["modul", "nam", "pytest"], 4)
    ]


def test_a_short_failure_comes_first_however_long_the_path_behind_it(tmp_path: Path) -> None:
    zsh = {**YAML, "id": "1" * 12, "title": "Quote wildcards", "trigger": "zsh answers `no matches found`."}
    other = {**YAML, "id": "2" * 12, "title": "Give bracketed paths", "trigger": "`src/app/[slug]/page.tsx` is found."}
    hits = consult(write_wiki(tmp_path, (other, zsh)), "(eval):1: no matches found: src/app/[slug]/page.tsx")
    assert [hit.title for hit in hits][:1] == ["Quote wildcards"]


def test_one_common_word_is_no_answer_to_a_short_request() -> None:
    request = lexical.request_terms({"push": "push"}, {"push": 3}, 20, lambda _word: 0.7)
    assert lexical.score({"push": "trigger"}, request) < 0.5


_CACHES: dict[str, Any] = {
    **YAML,
    "id": "666666666666",
    "title": "Point tool caches into the sandbox",
    "tags": ["cache", "sandbox"],
    "trigger": "uv, go or npm is to be run in a sandbox, or stops with `Operation not permitted` below `~/.npm`.",
    "summary": "Point the cache of a build into the sandbox: `GOCACHE=/tmp/go-build`.",
    "link": "guidelines/point-tool-caches__666666666666.md",
}
_PNPM: dict[str, Any] = {
    **YAML,
    "id": "777777777777",
    "title": "Use pnpm instead of npm",
    "tags": ["npm", "pnpm"],
    "trigger": "About to use `npm` in a project.",
    "summary": "Use `pnpm` instead of `npm`.",
    "link": "guidelines/use-pnpm__777777777777.md",
}


@pytest.mark.parametrize("task", ["npm run build", "run npm test", "npm run dev", "how do I build with npm?"])
def test_a_bare_command_needs_more_than_its_program_and_a_word_that_every_command_has(
    tmp_path: Path, task: str
) -> None:
    wiki = write_wiki(tmp_path, (_CACHES, _PNPM))
    assert [hit.row for hit in consult(wiki, task)] == [_PNPM], "its title is about this program"


@pytest.mark.parametrize("task", ["run npm in the sandbox", "npm run build stops: operation not permitted"])
def test_a_command_with_what_it_is_about_finds_the_page_on_that(tmp_path: Path, task: str) -> None:
    assert consult(write_wiki(tmp_path, (_CACHES, _PNPM)), task)[0].row == _CACHES


def test_a_bare_command_finds_what_holds_for_this_very_repository(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path, (_SYMPY,))
    assert consult(wiki, "run pytest") == []
    assert [hit.row for hit in consult(wiki, "run pytest", repository="sympy")] == [_SYMPY]


_QUOTING: dict[str, Any] = {
    **YAML,
    "id": "555555555555",
    "title": "Use the runner of the repository",
    "trigger": "The tests are to be run.",
    "summary": "Use `bin/test`.",
    "link": "guidelines/use-the-runner__555555555555.md",
}
_EVIDENCE = """evidence:
- {session_id: a, turn: 2, quote: 'bash: line 1: frobnicate: command not found', trust: tool}
- {session_id: a, turn: 3, quote: 'the wombat cannot be found here', trust: assistant}
- {session_id: a, turn: 4, quote: '12 wombats counted in order', trust: tool}
"""


@pytest.mark.parametrize(
    ("task", "is_found"),
    [
        ("bash: line 1: frobnicate: command not found", True),
        ("/bin/zsh: line 7: frobnicate: command not found", True),
        ("bash: line 1: other: command not found", False),
        ("the wombat cannot be found here", False),
        ("12 wombats counted in order", False),
    ],
)
def test_a_failure_that_a_tool_reported_finds_the_page_whose_evidence_it_is(
    tmp_path: Path, task: str, *, is_found: bool
) -> None:
    wiki = write_wiki(tmp_path, (_QUOTING, PYTEST))
    page = wiki / str(_QUOTING["link"])
    page.write_text(page.read_text(encoding="utf-8").replace("trigger: unused\n", _EVIDENCE), encoding="utf-8")
    first = [hit for hit in consult(wiki, task) if hit.why.startswith("it quotes this failure")][:1]
    assert [hit.row for hit in first] == [_QUOTING] * is_found


@pytest.mark.parametrize(
    "task", ["error[E0277]: the trait bound is not satisfied", "HTTP 409 Conflict at https://localhost:8137/upload"]
)
def test_an_error_that_no_page_has_finds_nothing(wiki: Path, task: str) -> None:
    assert consult(wiki, task) == []


@pytest.mark.parametrize(
    ("task", "written"), [("run go test here", "go"), ("tests in Go fail", "Go"), ("golang, go test", "golang")]
)
def test_a_language_that_is_searched_by_a_clearer_name_is_shown_as_it_was_written(task: str, written: str) -> None:
    words = lexical.words_of(task)
    assert words[lexical.terms("golang")[0]] == written
