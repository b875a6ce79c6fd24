"""Signs that a stretch of a session may hold a lesson."""

from __future__ import annotations

import json

from agent_wiki.harness.signs import signs_to_learn
from agent_wiki.trajectory import Message, Source, ToolCall, Trajectory


def _session(*messages: Message) -> Trajectory:
    return Trajectory("s", Source("made-up"), list(messages))


def _call(name: str, **arguments: str) -> Message:
    return Message("assistant", None, tool_calls=[ToolCall("c", name, json.dumps(arguments))])


def test_signs_depend_on_what_happened() -> None:
    asked, done = Message("user", "Please fix the cart."), Message("assistant", "Done.")
    result = Message("tool", "ok", tool_call_id="c")
    failed = Message("tool", "boom", tool_call_id="c", is_error=True)
    refused = Message("tool", "The user said no", tool_call_id="c", is_error=True, mark="rejected")
    look = _call("Bash", command="ls")
    assert signs_to_learn(_session(asked, look, result, done), 0) == ()
    assert signs_to_learn(_session(asked, look, failed, done), 0) == ("an error",)
    assert signs_to_learn(_session(asked, look, refused, done), 0) == ("a correction",)
    assert signs_to_learn(_session(asked, done, Message("user", "No, use pnpm instead."), done), 0) == ("a correction",)
    assert signs_to_learn(_session(asked, done, Message("user", "That's overkill."), done), 0) == ("a correction",)
    assert signs_to_learn(_session(asked, done, Message("user", "Thanks! Now the README."), done), 0) == ()
    found = Message("user", "Fix the cart. Always run the tests with make.")
    assert signs_to_learn(_session(found, look, result, done), 0) == ("a standing instruction",)
    assert signs_to_learn(_session(found, look, result, done), 1) == ()
    interrupt = Message("user", "[Request interrupted by user]", mark="interrupt")
    assert signs_to_learn(_session(asked, look, interrupt), 0) == ("a correction",)
    script = _call("Write", file_path="tools/release.sh", content="echo")
    assert signs_to_learn(_session(asked, script, result, done), 0) == ("a script",)
    written = _call("Bash", command="cat > fix.sh <<'E'\necho\nE")
    assert signs_to_learn(_session(asked, written, result, done), 0) == ("a script",)
    read = _call("Read", file_path="wiki/guidelines/run-it__04474b0794e6.md")
    assert signs_to_learn(_session(asked, read, result, done), 0) == ("a wiki page read",)


def test_signs_of_turns_that_were_looked_at_before_do_not_count() -> None:
    failed = Message("tool", "boom", tool_call_id="c", is_error=True)
    session = _session(Message("user", "Fix it."), _call("Bash", command="ls"), failed, Message("assistant", "Done."))
    assert signs_to_learn(session, 2) == ("an error",), "the result came after"
    assert signs_to_learn(session, 3) == ()
