"""The goal of a session whose request is pasted output, or stands below some."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.goal import request_line
from tests.engines.sessions import Session
from tests.engines.summaries import summary


def test_below_pasted_output_stands_what_is_asked() -> None:
    query = f"query: SELECT {', '.join(f'p.column_{at}' for at in range(12))} FROM prices"
    error = "When I open the prices I get this error:\ncolumn valid_until does not exist\n\n"
    goal = summary(Session().user(f"{error}    {query}\n please fix it").edit("prices.ex")).goal
    assert goal == "When I open the prices I get this error: column valid_until does not exist: please fix it"


def test_of_a_trace_without_a_word_to_it_the_error_is_the_goal() -> None:
    error = "Error: table clauses has no column named title"
    trace = f"開始解析: shop.txt\n{error}\n    at e.run (db.js:1)\n    at insert (repo.js:2)"
    assert summary(Session().user(trace).edit("db.js")).goal == f"Pasted output: {error}"


def test_a_paste_without_a_word_is_named_by_its_error_line_without_folders() -> None:
    paste = "Task :app:compileDebugKotlin\n\ne: file:///home/kim/shop/Cart.kt:27:15 Unresolved reference: total"
    assert request_line(paste) == "Pasted output: e: Cart.kt:27:15 Unresolved reference: total"
    assert request_line(f"{paste}\n\nPlease correct the build.").startswith("Please correct the build")


def test_pasted_lines_of_containers_are_output() -> None:
    log = "shop-db  | Success. You can now start the server\nshop-app | FAILED: No config file alembic.ini found"
    assert "FAILED: No config file" in summary(Session().user(log).edit("Dockerfile")).goal


@pytest.mark.parametrize(
    "pasted",
    [
        "## Error Type\nConsole Error\n\n## Error Message\nError: Encountered two children with the same key, `/about`",
        "⨯ ./app/globals.css\nError: Encountered two children with the same key, `/about`",
    ],
)
def test_what_a_web_framework_shows_is_output(pasted: str) -> None:
    assert "Encountered two children with the same key" in summary(Session().user(pasted).edit("page.tsx")).goal


def test_code_that_was_pasted_before_a_request_is_no_part_of_it() -> None:
    code = (
        "LampView(\n  image: shop.lamp,\n  refresh: { shop.send(.refresh) }\n)\n.frame(width: 12)\n.cornerRadius(3)\\"
    )
    assert (
        request_line(f"{code}\n\\\nThe lamp jumps when its state changes.") == "The lamp jumps when its state changes."
    )
    listed = "Buy the following:\nlamps,\ncaps,\nropes,\nnails,"
    assert "ropes" in request_line(listed)


def test_pasted_output_is_not_said_to_be_asked() -> None:
    error = "Error: table clauses has no column named title"
    session = Session().user(f"{error}\n    at e.run (db.js:1)\n    at insert (repo.js:2)").edit("db.js")
    assert f"The user pasted output: “{error}” (T1)." in summary(session).narrative


def test_what_was_asked_after_a_paste_heads_the_session() -> None:
    session = Session().user("Error: no such table\n    at e.run (db.js:1)\n    at insert (repo.js:2)").edit("db.js")
    arc = summary(session.says("Mended.").user("Add a table of caps for the members.").edit("caps.js"))
    assert arc.title == "Add a table of caps for the members (and one more request)"
