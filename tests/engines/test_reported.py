"""What the agent reported at the end: lines of its replies, verbatim, and which replies they are of."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.summarize import answer
from agent_wiki.stages.summarize import ArcAnswer, SummarizeQuestion, SummaryAnswer, check
from tests.engines.sessions import Session

REPORT = """## Summary
Two totals were wrong, for `cap()` was called **before** the discount.

**Not checked:**
- The page for refunds, which needs a database that is not here.
- Short.

| File | Change |
|---|---|
| `src/cart.ts` | Takes the discount off before it caps the total |

Run it so:
```bash
curl https://shop.example/totals
```
Would you like me to commit it?"""


def reported(session: Session) -> list[tuple[int, str]]:
    arc = summary(session)
    return [(each.turn, each.text) for each in arc.reported]


def summary(session: Session) -> ArcAnswer:
    trajectory = session.done()
    checked, dropped = check(answer(SummarizeQuestion(trajectory)), trajectory)
    assert not dropped
    return checked.arcs[0]


def asked(text: str = "mend the totals of the shop") -> Session:
    return Session(cwd="/home/me/shop").user(text)


def test_the_lines_that_say_something_with_their_headings_and_the_code() -> None:
    assert [text for _, text in reported(asked().edit("src/cart.ts").says(REPORT))] == [
        "Two totals were wrong, for `cap()` was called **before** the discount.",
        "Not checked:",
        "The page for refunds, which needs a database that is not here.",
        "`src/cart.ts` | Takes the discount off before it caps the total",
        "Run it so:",
        "`curl https://shop.example/totals`",
    ]


def test_a_long_line_is_cut_where_a_sentence_ends_and_the_reply_where_the_room_does() -> None:
    long = "The first sentence of it is short enough to be shown. " + "A word or two of the second one, " * 12
    lines = reported(
        asked().edit("src/cart.ts").says("\n".join([long, *["The lamp number is told here, too." * 3] * 40]))
    )
    assert lines[0][1] == "The first sentence of it is short enough to be shown."
    assert sum(len(text) for _, text in lines) <= 1_200
    endless = reported(asked().edit("src/cart.ts").says("no end or stop of it " * 40))
    assert endless[0][1].endswith(" …")


def test_the_longest_report_and_the_last_one_and_none_of_what_the_user_objected_to() -> None:
    session = asked().edit("src/cart.ts").says("What nobody wanted at all is here. " * 12).user("no, that is wrong")
    session.edit("src/cart.ts").says("The cart takes the discount off at first now. " * 6).user("now the lamp page")
    session.edit("src/lamp.ts").says("The lamp page has its own total in it now. " * 5)
    texts = [text for _, text in reported(session)]
    assert [text[:14] for text in texts] == ["The cart takes", "The lamp page "]


@pytest.mark.parametrize(
    "session",
    [
        asked().edit("src/cart.ts").says("Done, the totals are right."),
        asked().says(REPORT).run("make test", "4 passed"),
        asked().edit("src/cart.ts").says('{"verdict": "fine", "note": "' + 'a \\"quoted\\" word ' * 20 + '"}'),
    ],
)
def test_a_short_reply_one_that_calls_overtook_and_escaped_json_are_not_shown(session: Session) -> None:
    assert reported(session) == []


def test_what_an_assistant_says_to_a_customer_is_no_report() -> None:
    session = asked("cancel my order").call("cancel_order", {"order": "W1"}, "cancelled")
    assert reported(session.says("The order of Kim Lee with the card that ends in 7447 is cancelled. " * 4)) == []


def test_a_line_that_the_turn_does_not_have_is_dropped() -> None:
    trajectory = asked().edit("src/cart.ts").says(REPORT).done()
    (arc,) = answer(SummarizeQuestion(trajectory)).arcs
    invented = [arc.reported[0].model_copy(update={"text": "Nobody said this."}), *arc.reported[1:]]
    given = SummaryAnswer(arcs=[arc.model_copy(update={"reported": invented})])
    checked, dropped = check(given, trajectory)
    assert [each.place for each in dropped] == ["reported"]
    assert len(checked.arcs[0].reported) == len(given.arcs[0].reported) - 1
