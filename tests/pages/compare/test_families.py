"""Which sessions attempted the same thing."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from agent_wiki.pages.compare.facts import session_facts
from agent_wiki.pages.compare.families import Family, FamilyRule, Override, families
from agent_wiki.pages.compare.views import SessionView
from agent_wiki.trajectory import Message, Source, Trajectory

_LAMP = "order lamp porto ann_lee_12 jun 3 gift wrap"
_BOAT = "rent boat lagos cara_moss_9 sails weekend"
_BUG = "parser crashes empty input lexer.py token"


def _session(session_id: str, words: str = "", **fields: object) -> SessionView:
    return SessionView(session_id, goal=words, request_terms=tuple(words.split()), **fields)  # type: ignore[arg-type]


def _trials(name: str, words: str, number: int = 3, **fields: object) -> list[SessionView]:
    others = ("soon", "cheaper", "later", "please", "again", "receipt")
    return [_session(f"{name}-{at}", f"{words} {others[at]}", **fields) for at in range(number)]


def _ids(found: list[Family]) -> list[list[str]]:
    return [[session.session_id for session in family.sessions] for family in found]


def test_sessions_that_asked_the_same_are_a_family() -> None:
    sessions = [*_trials("lamp", _LAMP), *_trials("boat", _BOAT, 4), _session("other", "write a poem on rain")]
    assert _ids(families(sessions, {}, [])) == [
        ["boat-0", "boat-1", "boat-2", "boat-3"],
        ["lamp-0", "lamp-1", "lamp-2"],
    ]


def _asked(session_id: str, *turns: str, **fields: object) -> SessionView:
    messages = [Message("user", turn) for turn in turns]
    facts = session_facts(Trajectory(session_id, Source("chat"), messages))
    terms = {"request_terms": facts.request_terms, "first_terms": facts.first_terms}
    return SessionView(session_id, **terms, **fields)  # type: ignore[arg-type]


def _no_family(*sessions: SessionView) -> bool:
    return families(sessions, {}, []) == []


def test_pictures_that_a_reader_left_out_are_nothing_in_common() -> None:
    picture = "[image: image/png, 154136 characters]\n[file]"
    asked = ["make the margin narrower", "can we merge the branch", "why is the clock late"]
    assert _no_family(*(_asked(f"s{at}", text, f"{picture} see there", picture) for at, text in enumerate(asked)))


def test_the_way_a_person_begins_is_nothing_in_common() -> None:
    asked = [("the shop's cart loses items", "add a bell"), ("the shop's menu needs an owl", "mend the footer"),
             ("the shop's login is slow", "paint the door")]  # fmt: skip
    sessions = [
        _asked(f"s{at}", *(f"okk.. {text}" for text in (*turns, "and commit it"))) for at, turns in enumerate(asked)
    ]
    assert all("okk" not in session.request_terms for session in sessions)
    assert _no_family(*sessions)


_PLAN = """Implement the following plan: # Plan: {} ## Context The harbour app lives in src/harbour and src/quay. The
pier.rs module talks to crane.rs over HarbourSocket; the Dock enum lists its events. ## Changes Edit pier.rs, crane.rs,
Cargo.toml and harbour_test.rs. {} ## Verification Run cargo build, cargo clippy and cargo test, then check the log."""


def test_plans_in_one_form_for_one_project_are_no_task_in_common() -> None:
    plans = [("Weigh the containers", "A scale reads each load and refuses what exceeds the limit of the berth."),
             ("Night shift lamps", "Lanterns switch on by a timer and report their current to the warden."),
             ("Customs forms", "A clerk signs every manifest, which is printed and filed by year.")]  # fmt: skip
    assert _no_family(*(_asked(f"s{at}", _PLAN.format(*plan)) for at, plan in enumerate(plans)))


def test_prompts_of_one_template_are_as_many_tasks_as_they_name() -> None:
    stones = "amber beryl coral diamond emerald flint garnet hematite iolite jade kyanite lapis"
    rules = " ".join(
        f"Rule {word}: open EDITOR, write script_name.py, run check-{word}, submit." for word in stones.split()
    )
    tasks = ["Decode cipher.txt to learn the flag.", "Patch login_form against injections.", "Restore backup_7.tar."]
    assert _no_family(*(_asked(f"s{at}", f"{rules} {task}") for at, task in enumerate(tasks)))
    same = [_asked(f"t{at}", f"{rules} {tasks[0]}") for at in range(3)]
    others = [_asked(f"u{at}", f"{rules} {task}") for at, task in enumerate(tasks[1:])]
    assert _ids(families([*same, *others], {}, [])) == [["t0", "t1", "t2"]]
    one_word = ("formatter", "printer", "linter")
    assert _no_family(*(_asked(f"v{at}", f"{rules} Scope: the {word}.") for at, word in enumerate(one_word)))


def test_sessions_that_came_to_speak_of_the_same_are_no_task_in_common() -> None:
    later = "let the dragon of level_2 guard the cave with fire, and let players explain the spell"
    first = ["where did we leave off", "what should the village look like", "is the castle fun for people"]
    assert _no_family(*(_asked(f"s{at}", text, later) for at, text in enumerate(first)))


def test_a_session_that_asked_for_something_else_is_left_out_of_a_family() -> None:
    trials = [_asked(f"s{at}", f"{greeting}, rent a boat in Lagos", "I am cara_moss_9, with sails")
              for at, greeting in enumerate(("Hello", "Good day", "Hi there"))]  # fmt: skip
    stranger = _asked("z", "where is my parcel", "rent a boat in Lagos, I am cara_moss_9, with sails")
    assert _ids(families([*trials, stranger], {}, [])) == [["s0", "s1", "s2"]]


def test_sessions_that_another_session_started_form_no_family_by_their_text() -> None:
    started = [_asked(f"s{at}", f"{_LAMP} please", is_side=True, root_session_id=f"s{at}") for at in range(3)]
    assert _no_family(*started)
    recorded = [replace(session, task_id="acme__lamp-1") for session in started]
    assert _ids(families(recorded, {}, [])) == [["s0", "s1", "s2"]]


def test_an_opening_in_few_words_says_no_task_whatever_the_project_is_called_later() -> None:
    later = "dont forget that every level of the game saves a memory and lets people change the seed"
    openings = ("learn this project", "learn this project and the current state", "recap the project and how it grew")
    sessions = [_asked(f"s{at}", opening, later) for at, opening in enumerate(openings)]
    assert _no_family(*sessions)
    same = [_asked(f"s{at}", "learn this project", f"{later} {at}") for at in range(3)]
    assert len(families(same, {}, [])) == 1


def test_two_sessions_are_no_family() -> None:
    assert families(_trials("lamp", _LAMP, 2), {}, []) == []


def test_sessions_that_only_nudge_are_no_family() -> None:
    assert families([_session(f"s{at}", "continue") for at in range(5)], {}, []) == []
    assert families([_session(f"s{at}", "") for at in range(5)], {}, []) == []


def test_a_repository_in_common_is_no_task_in_common() -> None:
    asked = ["fix the flaky login test", "bump the version to 3.1", "explain the cache layer", "add a dark theme"]
    assert families([_session(f"s{at}", f"shopapp main.go {text}") for at, text in enumerate(asked)], {}, []) == []


def test_like_words_in_two_repositories_are_no_task_in_common() -> None:
    def sessions(text: str, *repositories: str) -> list[SessionView]:
        return [_asked(f"s{at}", f"{text} {at}", repository=name, writes=("Edit: tests/test_pier.py",))
                for at, name in enumerate(repositories)]  # fmt: skip

    fix = "there are errors while running the tests, fix them"
    assert _no_family(*sessions(fix, "harbour", "castle", "harbour"))
    assert len(families(sessions(fix, "harbour", "harbour", "harbour"), {}, [])) == 1


def test_requests_about_differently_numbered_things_are_no_task_in_common() -> None:
    def sessions(*numbers: int) -> list[SessionView]:
        return [_asked(f"s{at}", f"look into harbour/pier/issues/{each}") for at, each in enumerate(numbers)]

    assert _no_family(*sessions(7668, 7572, 7427))
    assert _no_family(*sessions(122, 134, 147))
    assert len(families(sessions(7668, 7668, 7668), {}, [])) == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_family_is_a_function_of_the_set_of_sessions(seed: int) -> None:
    sessions = [*_trials("lamp", _LAMP, 5), *_trials("boat", _BOAT, 4), *_trials("bug", _BUG, 3)]
    shuffled = random.Random(seed).sample(sessions, len(sessions))
    assert families([*shuffled, shuffled[0]], {}, []) == families(sessions, {}, [])


def test_recorded_ids_of_one_source_distinguish_its_tasks_whatever_the_text() -> None:
    sessions = [*_trials("a", _LAMP, task_id="7", source_format="bench")]
    sessions += [*_trials("b", _LAMP, task_id="8", source_format="bench")]
    found = families(sessions, {}, [])
    assert _ids(found) == [["a-0", "a-1", "a-2"], ["b-0", "b-1", "b-2"]]
    assert [family.task_id for family in found] == ["7", "8"]


def test_a_counter_that_two_benchmarks_share_is_no_task_in_common() -> None:
    sessions = [*_trials("a", _LAMP, 2, task_id="0", source_format="bench")]
    sessions += [*_trials("b", _BUG, 2, task_id="0", source_format="bench")]
    assert families(sessions, {}, []) == []


def test_hundreds_of_trials_of_one_task_number_are_separated_by_their_text() -> None:
    trials = [_session(f"{name}-{at:03d}", f"{words} own{at}", task_id="0", source_format="bench")
              for name, words in (("lamp", _LAMP), ("bug", _BUG)) for at in range(100)]  # fmt: skip
    assert [len(family.sessions) for family in families(trials, {}, [])] == [100, 100]


def test_a_descriptive_id_joins_sessions_of_different_sources() -> None:
    texts = ["parser crashes", "make it green", "look at the lexer please"]
    sessions = [
        _session(f"s{at}", text, task_id="acme__parser-77", source_format=f"format{at}")
        for at, text in enumerate(texts)
    ]
    assert _ids(families(sessions, {}, [])) == [["s0", "s1", "s2"]]


def test_a_session_without_an_id_joins_the_family_that_asked_the_same() -> None:
    sessions = [*_trials("a", _LAMP, task_id="7", source_format="bench"), _session("z", f"{_LAMP} thanks")]
    assert _ids(families(sessions, {}, [])) == [["a-0", "a-1", "a-2", "z"]]


def test_a_session_that_only_uses_the_same_file_is_no_trial_of_a_recorded_task() -> None:
    sums = [_session(f"a-{at}", "orders.csv sum amounts customer report", task_id="sum-orders") for at in range(5)]
    noise = [_session(f"n-{at}", f"word{at} thing{at} orders.csv") for at in range(2)]
    loads = _session("z", "orders.csv load database customer turnover")
    (found,) = families([*sums, loads, *noise], {}, [])
    assert _ids([found]) == [["a-0", "a-1", "a-2", "a-3", "a-4"]]
    assert found.task_id == "sum-orders"


def test_a_subagent_is_part_of_its_roots_attempt() -> None:
    children = [_session(f"child-{at}", _LAMP, root_session_id="lamp-0") for at in range(4)]
    assert families([*_trials("lamp", _LAMP, 2), *children], {}, []) == []


def test_what_the_owner_pinned_wins() -> None:
    sessions = [*_trials("lamp", _LAMP, 4), *_trials("boat", _BOAT, 3)]
    overrides = {f"boat-{at}": Override("shopping") for at in range(3)} | {"lamp-0": Override("")}
    found = families(sessions, overrides, [FamilyRule("lamps", ("GIFT WRAP",))])
    assert {family.name: [each.session_id for each in family.sessions] for family in found} == {
        "shopping": ["boat-0", "boat-1", "boat-2"],
        "lamps": ["lamp-1", "lamp-2", "lamp-3"],
    }


def test_an_override_that_names_only_a_trial_leaves_the_family_to_the_text() -> None:
    overrides = {"lamp-1": Override(trial="9", condition="b")}
    assert _ids(families(_trials("lamp", _LAMP), overrides, [])) == [["lamp-0", "lamp-1", "lamp-2"]]


def test_a_wiki_of_another_tool_has_goals_only() -> None:
    goals = [f"{task}/strong: retroactive trial {at} of 9" for at, task in enumerate(["t6-png-dim", "t3-zip-list"] * 3)]
    found = families([SessionView(f"s{at}", goal=goal) for at, goal in enumerate(goals)], {}, [])
    assert _ids(found) == [["s0", "s2", "s4"], ["s1", "s3", "s5"]]
    assert "t6-png-dim" in found[0].shared_terms
