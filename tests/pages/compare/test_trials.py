"""Which sessions with the same request are trials of one task."""

from __future__ import annotations

from dataclasses import replace

from agent_wiki.pages.compare.trials import are_trials
from agent_wiki.pages.compare.views import SessionView

_REQUEST = ("lamp", "totals.py", "crane")


def _sessions(*changed: tuple[str, ...], later: str = "", terms: tuple[str, ...] = _REQUEST) -> list[SessionView]:
    """One session for each tuple of changed files, asked once unless something was said `later`."""
    return [SessionView(f"s{at}", request_terms=(*terms, *later.split()), first_terms=len(terms),
                        writes=("shell: mkdir", *(f"Edit: {file}" for file in files)))
            for at, files in enumerate(changed)]  # fmt: skip


def test_the_words_are_enough_where_customers_of_a_service_ask() -> None:
    asked = [replace(each, writes=("order(lamp=red)",)) for each in _sessions((), (), (), later="in blue please")]
    assert are_trials(asked)
    assert not are_trials([replace(each, tool_calls=0) for each in asked]), "in a chat nothing but words is in common"


def test_sessions_of_which_a_verdict_was_recorded_are_trials() -> None:
    assert are_trials([replace(each, reward=0.0) for each in _sessions((), (), ())])
    assert are_trials([replace(each, resolved=False) for each in _sessions(("a.py",), ("b.py",), ("c.py",))])


def test_agents_that_changed_the_same_files_on_one_request_tried_the_same() -> None:
    assert are_trials(_sessions(("src/pier.rs", "a.rs"), ("src/pier.rs",), ("src/pier.rs", "b.rs")))
    assert not are_trials(_sessions(("src/pier.rs",), ("src/crane.rs", "src/lib.rs"), ("src/boat.rs",)))
    assert not are_trials(_sessions((), (), ())), "a command of a harness, given again and again"


def test_where_a_person_said_more_the_first_words_were_a_role_or_a_menu() -> None:
    same = [("story.md",)] * 3
    assert are_trials(_sessions(*same))
    assert not are_trials(_sessions(*same, later="review story"))


def test_the_same_words_in_another_repository_are_another_task() -> None:
    here, there, again = _sessions(("plan.md",), ("plan.md",), ("plan.md",))
    assert not are_trials([replace(here, repository="harbour"), replace(there, repository="castle"), again])
    assert are_trials([replace(each, repository="harbour") for each in (here, there, again)])


def test_a_loop_that_ticks_off_a_list_does_something_else_each_time() -> None:
    terms, ticked = ("open", "item", "dock-01.md"), "plans/DOCK-01.md"
    assert not are_trials(_sessions((ticked, "src/pier.rs"), (ticked, "src/crane.rs"), (ticked, "lib.rs"), terms=terms))
    assert not are_trials(_sessions((ticked,), (ticked,), (ticked,), terms=terms))
    assert are_trials(_sessions((ticked, "src/pier.rs"), (ticked, "src/pier.rs"), ("src/pier.rs",), terms=terms))
