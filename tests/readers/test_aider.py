"""Chat histories of Aider: the user's words, the model's, and what Aider printed between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.detect import read, reader_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import paired_calls
from tests.hangs import no_hang

HISTORY = """
# aider chat started at 2026-01-05 09:30:00

> /usr/bin/aider --model some/model --message fix the tests
and keep
# this heading

of the message~
> Aider v0.86.2~
> Main model: some/model with diff edit format, infinite output~

#### /add shop.py~
> Added shop.py to the chat~

#### Fix the tests.~
#### ~
#### They fail since monday.~

I look at the file.

#### A heading of the model

> a quote of the model's

shop.py
```python
<<<<<<< SEARCH
a = 1
=======
a = 2
>>>>>>> REPLACE
```

> Tokens: 3.1k sent, 209 received. Cost: $0.0029 message, $0.01 session.~
> Applied edit to shop.py~
> Running make test~
> Add command output to the chat? (Y)es/(N)o [Yes]: y~

#### Add command output to the chat? (Y)es/(N)o [Yes]: y~

#### /ask why did it fail?~

#### why did it fail?~

It was monday.

# aider chat started at 2026-01-06 10:00:00

#### /exit~

# aider chat started at 2026-01-07 11:00:00

#### thanks~

<thinking-content-0123abcd>
A thank-you.
</thinking-content-0123abcd>

You are welcome.
""".replace("~\n", "  \n")


def histories(folder: Path, text: str = HISTORY) -> list[Trajectory]:
    path = folder / "history.md"
    path.write_text(text, encoding="utf-8")
    return list(read(Recording(path, path.name)))


def test_sessions_of_one_file_are_apart_and_one_in_which_nothing_was_said_is_left_out(tmp_path: Path) -> None:
    first, second = histories(tmp_path)
    assert (first.timestamp, second.timestamp) == ("2026-01-05T09:30:00Z", "2026-01-07T11:00:00Z")
    assert first.session_id.startswith("aider-20260105093000-")
    assert (first.model, first.source.agent_version, first.source.cost_usd) == ("some/model", "0.86.2", 0.01)
    assert [(m.role, m.content, m.thinking) for m in second.messages] == [
        ("user", "thanks", None),
        ("assistant", "You are welcome.", "A thank-you."),
    ]


def test_only_what_the_user_typed_is_the_users(tmp_path: Path) -> None:
    first = histories(tmp_path)[0]
    typed = [m.content for m in first.messages if m.role == "user" and m.mark is None]
    assert typed == ["Fix the tests.\n\nThey fail since monday.", "/ask why did it fail?"]
    printed = [m.content or "" for m in first.messages if m.mark == "injected"]
    assert printed[0].startswith("/usr/bin/aider --model")
    assert "# this heading" in printed[0]
    assert printed[1] == "/add shop.py"


def test_what_aider_did_for_a_reply_are_its_calls(tmp_path: Path) -> None:
    first = histories(tmp_path)[0]
    edit, run = paired_calls(first)
    assert (edit.name, edit.path(), edit.is_error) == ("edit", "shop.py", False)
    assert (run.command(), run.result) == ("make test", None)
    reply = first.messages[edit.turn - 1].content or ""
    assert "#### A heading of the model" in reply
    assert reply.endswith("```")


def test_edits_that_failed_and_the_architects_plan(tmp_path: Path) -> None:
    text = """# aider chat started at 2026-01-05 09:30:00

#### Change a.~

Change `a` to 2.

#### Change `a` to 2.~

shop.py
```
<<<<<<< SEARCH
```

> The LLM did not conform to the edit format.~
> # 1 SEARCH/REPLACE block failed to match!

## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in shop.py
<<<<<<< SEARCH
def cap():
    a = 1
    ~
    return a

The SEARCH section must exactly match.~

I try again.
"""
    (found,) = histories(tmp_path, text.replace("~\n", "  \n"))
    typed = [m.content for m in found.messages if m.role == "user" and m.mark is None]
    assert typed == ["Change a."]
    (edit,) = paired_calls(found)
    assert (edit.path(), edit.is_error) == ("shop.py", True)
    assert (edit.result or "").startswith("SearchReplaceNoExactMatch: This SEARCH block failed")
    said = [m.content for m in found.messages if m.role == "assistant"]
    assert (len(said), said[-1]) == (3, "I try again.")


def test_an_edit_that_the_user_refused_and_one_of_an_ignored_file_were_not_made(tmp_path: Path) -> None:
    text = """# aider chat started at 2026-01-05 09:30:00

#### Add the settings.~

Here they are.

> Allow creation of new file src/cron.ts? n~
> Skipping edits to src/cron.ts~
> Skipping edits to .aider.conf.yml that matches gitignore spec.~
> Applied edit to app.ts~
"""
    (found,) = histories(tmp_path, text.replace("~\n", "  \n"))
    calls = {each.path(): each for each in paired_calls(found)}
    assert {path: (each.is_error, each.mark) for path, each in calls.items()} == {
        "app.ts": (False, None), "src/cron.ts": (None, "rejected"), ".aider.conf.yml": (True, None)
    }  # fmt: skip
    assert calls[".aider.conf.yml"].result == "Skipping edits to .aider.conf.yml that matches gitignore spec"


def test_a_readme_about_aider_is_no_recording(tmp_path: Path) -> None:
    for text in ("# Notes\n\n#### hello  \n", "# aider chat started at noon\n\n#### hi  \n", "<!-- a comment -->\n"):
        path = tmp_path / "README.md"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UnreadableRecording, match="not a recording in JSON") as caught:
            reader_of(Recording(path, path.name))
        assert caught.value.is_foreign
    with pytest.raises(UnreadableRecording, match="nothing was said"):
        histories(tmp_path, "# aider chat started at 2026-01-06 10:00:00\n\n#### /exit  \n")


def test_a_hostile_history_is_read_in_time(tmp_path: Path) -> None:
    for unit in (
        "> x\n",
        "#### x  \n",
        "#### x  \n\n",
        "<thinking-content-0>\n",
        "> Cost: $. message, $1.1.1 session.  \nx\n",
    ):
        text = "# aider chat started at 2026-01-06 10:00:00\n\n" + unit * (60_000 // len(unit)) + "\n\nsaid\n"
        with no_hang():
            assert len(histories(tmp_path, text)) == 1


def test_a_file_that_the_user_let_it_create_is_created(tmp_path: Path) -> None:
    text = """# aider chat started at 2026-01-05 09:30:00

#### Write a.~

I write it.

> a.py~
> Create new file? (Y)es/(N)o [Yes]: y~
> Allow creation of new file c.py? y~
> Applied edit to a.py~
> Applied edit to b.py~
> Applied edit to c.py~
"""
    (found,) = histories(tmp_path, text.replace("~\n", "  \n"))
    called = [(call.name, call.path()) for call in paired_calls(found)]
    assert called == [("create_file", "a.py"), ("edit", "b.py"), ("create_file", "c.py")]


def test_of_a_history_that_a_formatter_went_over_what_was_typed_is_the_users_too(tmp_path: Path) -> None:
    formatted = "# aider chat started at 2024-08-20 14:08:19\n\n#### /add shop.md\n\n> Added shop.md\n\n"
    formatted += "#### it throws an error\n\n#### when I log in\n\nLet us look.\n\n#### it still does\n\nSet.\n"
    (found,) = histories(tmp_path, formatted)
    typed = [message.content for message in found.messages if message.role == "user" and message.mark is None]
    assert typed == ["it throws an error\nwhen I log in", "it still does"]


def test_a_heading_of_a_reply_is_not_typed_where_no_formatter_was_at_work(tmp_path: Path) -> None:
    plain = "# aider chat started at 2024-08-20 14:08:19\n\n#### cap the cart  \n\nDone.\n\n#### What changed\n\nIt.\n"
    (found,) = histories(tmp_path, plain)
    assert [message.role for message in found.messages] == ["user", "assistant"]


def test_a_history_is_read_once_so_that_no_bad_byte_counts_twice(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    path.write_bytes(HISTORY.encode() + b"\nNot \xff all of it is text.\n")
    recording = Recording(path, path.name)
    assert list(read(recording))
    assert recording.hygiene == {"replaced_bytes": 1}


def test_lines_of_a_printed_text_that_are_padded_are_printed_too(tmp_path: Path) -> None:
    text = """# aider chat started at 2026-01-05 10:00:00

#### push it~

Run these.

> Tokens: 2k sent, 1k received.~
> cd shop
git add cart.py             ~
git commit -m "Cap totals"  \x20
git push~
> Run shell commands? (Y)es/(N)o [Yes]: n~
""".replace("~\n", "  \n")
    (trajectory,) = histories(tmp_path, text)
    said = [message.content for message in trajectory.messages if message.role == "assistant"]
    assert said == ["Run these."]


def test_the_command_that_starts_aider_is_no_request(tmp_path: Path) -> None:
    text = """# aider chat started at 2026-01-05 10:00:00

#### aider --model sonnet~

#### cap the totals~

Done.
""".replace("~\n", "  \n")
    (trajectory,) = histories(tmp_path, text)
    typed = [message.content for message in trajectory.messages if message.role == "user" and message.mark is None]
    assert typed == ["cap the totals"]
