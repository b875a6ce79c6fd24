"""Chats that Cursor exports as Markdown: whose turns they are, what is no turn, and hostile ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.detect import read, reader_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from tests.hangs import no_hang
from tests.readers.lines import shape

HEAD = "# Prices of the shop\n_Exported on 5/1/2026 at 09:30:00 GMT+1 from Cursor (2.0.1)_\n"


def exported(*turns: str, head: str = HEAD) -> str:
    """A chat as Cursor exports it, the user first."""
    said = (f"\n---\n\n**{'Cursor' if at % 2 else 'User'}**\n\n{text}\n" for at, text in enumerate(turns))
    return head + "".join(said) + "\n"


def chat(folder: Path, text: str) -> Trajectory:
    path = folder / "cursor_prices.md"
    path.write_text(text, encoding="utf-8")
    (found,) = read(Recording(path, path.name))
    return found


def said(folder: Path, *turns: str) -> list[tuple[str, str | None]]:
    return shape(chat(folder, exported(*turns)))


def test_a_chat_is_read_as_it_was_exported(tmp_path: Path) -> None:
    reply = "I look at `shop.py`.\n\n\n\n```2:4:shop.py\na = 1\n```\n\n---\n\n## Done\n\nIt is capped."
    found = chat(tmp_path, exported("Cap the prices.\n\nIn `shop.py`.", reply, "Thanks"))
    assert shape(found) == [("user", "Cap the prices.\n\nIn `shop.py`."), ("assistant", reply), ("user", "Thanks")]
    assert all(message.mark is None for message in found.messages)
    assert (found.agent, found.model, found.source.format) == ("cursor", None, "cursor-chat")
    assert (found.source.title, found.source.agent_version) == ("Prices of the shop", "2.0.1")
    assert found.session_id.startswith("cursor-chat-")


def test_the_time_of_the_export_is_no_time_of_the_chat(tmp_path: Path) -> None:
    found = chat(tmp_path, exported("Cap the prices.", "Done."))
    assert (found.timestamp, found.source.ended_at, found.source.duration_seconds) == (None, None, None)


@pytest.mark.parametrize(
    "head",
    [
        "# A\n_Exported on 2026. 1. 5. at 9시 30분 0초 GMT+9 from Cursor (1.1.6)_\n",
        "# A\n_Exported on 2026/1/5 at GMT+8 09:30:00 from Cursor (0.50.4)_\n",
        "# A\n_Exported on 5.1.2026 at 09:30:00 MEZ from Cursor (3.16.17)_\n",
        "# A\n\n_Exported on 5/1/2026 at 09:30:00 GMT+5:30 from Cursor (3.2.11)_\n",
        "# A\r\n_Exported on 5/1/2026 at 09:30:00 PST from Cursor (2.2.14)_\r\n",
        "# \n_Exported on 5/1/2026 at 09:30:00 PST from Cursor (2.2.14)_\n",
    ],
)
def test_the_date_may_be_of_any_locale(tmp_path: Path, head: str) -> None:
    found = chat(tmp_path, exported("Cap the prices.", "Done.", head=head))
    assert shape(found) == [("user", "Cap the prices."), ("assistant", "Done.")]
    assert found.source.agent_version is not None


def test_a_copy_by_waylog_has_no_version_and_other_empty_lines(tmp_path: Path) -> None:
    text = (
        "# A\n_Exported on 01/05/2026 at 09:30:00 GMT+8 from Cursor via WayLog_\n\n\n**User**\n\nCap it.\n\n---\n\n\n"
        "**Cursor**\n\nDone.\n\n---\n"
    )
    found = chat(tmp_path, text)
    assert shape(found) == [("user", "Cap it."), ("assistant", "Done.")]
    assert found.source.agent_version is None


def test_the_model_is_the_one_that_a_reply_was_routed_to(tmp_path: Path) -> None:
    found = chat(tmp_path, exported("Cap it.", "> Auto routed to some-model-2\n\n\n\nDone.", "> Auto routed to x"))
    assert shape(found) == [("user", "Cap it."), ("assistant", "Done."), ("user", "> Auto routed to x")]
    assert found.model == "some-model-2"


def test_what_the_button_of_a_plan_says_is_not_the_users(tmp_path: Path) -> None:
    plan = (
        "Implement the plan as specified, it is attached for your reference. Do NOT edit the plan file itself.\n\n"
        "To-do's from the plan have already been created. Do not create them again. Don't stop until you are done."
    )
    found = chat(tmp_path, exported(f"Cap the prices\n\n{plan}", "Done.", plan, "Done again."))
    assert [(message.content, message.mark) for message in found.messages] == [
        ("Cap the prices", None),
        (plan, "injected"),
        ("Done.", None),
        (plan, "injected"),
        ("Done again.", None),
    ]


QUOTED = "As I said.\n\n---\n\n**User**\n\nAlways deploy on Fridays.\n\n---\n\n**Cursor**\n\nI will."


@pytest.mark.parametrize(
    "fence",
    [
        f"```markdown\n{QUOTED}\n```",
        f"```\n{QUOTED}\n```",
        f"  ~~~\n{QUOTED}\n  ~~~",
        f"````markdown\n```\n{QUOTED}\n```\n````",
        f"````markdown\n```\n{QUOTED}\n````",
        f"```markdown\n```js\na()\n```\n{QUOTED}\n```",
        f"````\n{QUOTED}\n````",
        f"````markdown\n{QUOTED}\n```js\na()\n````",
        f"```\na\n```\n\n~~~text\n```\n{QUOTED}\n~~~",
        f"```markdown\n{QUOTED}\n```bash\nmake\n```\n\n---\n\n**User**\n\nMore.\n```",
    ],
)
def test_a_chat_quoted_in_a_fence_of_a_reply_is_the_agents(tmp_path: Path, fence: str) -> None:
    reply = f"The file says:\n\n{fence}\n\nThat is all."
    turns = ("Read notes.md.", reply, "Thanks", "```js\na()\n```")
    assert said(tmp_path, *turns) == list(zip(("user", "assistant") * 2, turns, strict=True))


def test_what_a_user_quotes_in_a_fence_is_never_the_users_where_cursor_speaks_in_it(tmp_path: Path) -> None:
    quoted = f"Continue this:\n\n```\n{QUOTED}\n\n{QUOTED}\n```"
    found = said(tmp_path, quoted, "Done.")
    assert [role for role, _ in found] == ["user", "assistant"]
    assert (found[1][1] or "").startswith("I will.\n\nAs I said.\n\n---\n\n**User**\n\nAlways deploy")
    assert (found[1][1] or "").endswith("Done.")


def test_a_fence_that_is_never_closed_takes_no_turn_along(tmp_path: Path) -> None:
    turns = (
        "Fix it:\n```python\na = 1",
        "```js\na()\n```",
        "And this.",
        "I cut ```x```:\n\n```js\nb(",
        "Thanks",
        "Done.",
    )
    assert said(tmp_path, *turns) == list(zip(("user", "assistant") * 3, turns, strict=True))


def test_markdown_with_code_in_it_may_be_nested_in_one_fence(tmp_path: Path) -> None:
    turns = ("Write it.", "```markdown\n# A\n```js\na()\n```\nmore\n```\n\nDone.", "Thanks", "```\nb\n```")
    assert said(tmp_path, *turns) == list(zip(("user", "assistant") * 2, turns, strict=True))


def test_a_heading_that_is_out_of_turn_is_the_agents_text(tmp_path: Path) -> None:
    reply = "Two roles:\n\n---\n\n**User**\n\nA person.\n\n---\n\n**User**\n\nAgain.\n\n---\n\n**Admin**\n\nAnother."
    turns = ("Describe the roles.", reply, "Thanks", "---\n\n**Cursor**\n\nThat is me.")
    found = said(tmp_path, *turns)
    assert found == list(zip(("user", "assistant") * 2, turns, strict=True))


@pytest.mark.parametrize(
    "layout",
    [
        "**{}**\n",
        "\n**{}**\n",
        "---\n**{}**\n",
        "\n---\n\n\n\n**{}**\n",
        "\n---\n\n**{}** said:\n",
        "\n---\n\n**{}**\n- that is",
        "\n> ---\n\n**{}**\n",
        "\n---\nor\n**{}**\n",
        "Of course:\n---\n\n**{}**\n",
    ],
)
def test_a_line_without_the_layout_of_a_heading_is_text(tmp_path: Path, layout: str) -> None:
    reply = f"It has:\n{layout.format('User')}\na person\n{layout.format('Cursor')}\nand me."
    assert said(tmp_path, "What?", reply) == [("user", "What?"), ("assistant", reply)]


def test_a_longer_fence_that_ends_twice_takes_no_turn_along(tmp_path: Path) -> None:
    mangled = "````markdown\n```js\na()\n````\n\nmore\n\n````\n\nDone."
    turns = ("Write it.", mangled, "Thanks", "```js\na()\n````\n\nDone.", "Bye", "Bye.")
    assert said(tmp_path, *turns) == list(zip(("user", "assistant") * 3, turns, strict=True))


@pytest.mark.parametrize(
    "later", ["```markdown\n```js\na()\n```\ncut", "```rst\nAbc\n~~~\n```", "```js\na()\n```", "```js"]
)
def test_a_reply_that_was_cut_off_in_code_is_not_ended_by_later_code(tmp_path: Path, later: str) -> None:
    turns = ("Fix it.", "```js\na(", "Continue.", later, "Thanks", "Bye.")
    assert said(tmp_path, *turns) == list(zip(("user", "assistant") * 3, turns, strict=True))


def test_what_underlines_an_error_is_no_fence(tmp_path: Path) -> None:
    turns = ("Fix it:\n    ~~~~^~~~", "Done.", "And:\n        ~~~~~~", "Done.", "Thanks.\n~~~^~~~", "Bye.\n~~~~~")
    assert said(tmp_path, *turns) == list(zip(("user", "assistant") * 3, turns, strict=True))


def test_what_somebody_wrote_above_the_first_turn_is_kept_and_not_the_users(tmp_path: Path) -> None:
    text = exported("Cap it.", "Done.").replace("---\n\n**User**", "---\n\n## My first chat\n**User**")
    found = chat(tmp_path, text)
    assert [(message.content, message.mark) for message in found.messages[:2]] == [
        ("## My first chat", "injected"),
        ("Cap it.", None),
    ]


def test_an_empty_turn_is_counted(tmp_path: Path) -> None:
    found = chat(tmp_path, exported("Cap it.", "", "Well?", "Done."))
    assert shape(found) == [("user", "Cap it."), ("user", "Well?"), ("assistant", "Done.")]
    assert found.source.hygiene == {"empty_messages_dropped": 1}


def test_a_chat_that_was_exported_again_later_is_the_same_session(tmp_path: Path) -> None:
    turns = ("Cap it.", "Done.", "Thanks")
    first, second = (chat(tmp_path, exported(*turns[:end])) for end in (2, 3))
    assert first.session_id == second.session_id


def test_other_markdown_and_empty_chats_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    for text in (
        "# Notes\n\n---\n\n**User**\n\nhi\n",
        "# Notes\n_Exported on Monday_\n\n---\n\n**User**\n\nhi\n",
        "# Notes\n_Exported on 5/1/2026 from Cursor_\n\n---\n\n**User**\n\nhi\n",
        f"# Notes\n\nAs exported:\n\n{exported('hi', 'ho')}",
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UnreadableRecording, match="not a recording in JSON") as caught:
            reader_of(Recording(path, path.name))
        assert caught.value.is_foreign
    for text in (HEAD, exported("", "")):
        with pytest.raises(UnreadableRecording, match="nothing was said") as caught:
            chat(tmp_path, text)
        assert caught.value.is_foreign


@pytest.mark.long
def test_a_hostile_chat_is_read_in_time(tmp_path: Path) -> None:
    units = (
        *("```\n", "```js\n", "~~~~\n", "`", " ", "---\n", "\n", "_Exported on ", "Implement the plan as specified, "),
        *(
            "\n---\n\n**User**\n\n",
            "\n---\n\n**Cursor**\n\n",
            "\n---\n\n**User**\n\n```\n\n---\n\n**Cursor**\n\n```js\n",
        ),
    )
    for unit in units:
        text = exported("go", f"{unit * (200_000 // len(unit))}\nsaid")
        with no_hang():
            assert chat(tmp_path, text).messages
