"""Codex's code mode: calls that are scripts, on sessions made up here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_wiki.readers.codex_script import script_of
from agent_wiki.shell.tools import is_escalated
from agent_wiki.shell.verdict import verdict_of
from agent_wiki.stages.trust import trust_of
from agent_wiki.trajectory.calls import Call, paired_calls
from tests.hangs import no_hang
from tests.readers.codex_lines import event, item, meta, output, read, typed

DONE = "Script completed\nWall time 0.4 seconds\nOutput:\n"
FAILED = "Script failed\nWall time 0.1 seconds\nOutput:\n"


def script(call_id: str, source: str) -> dict[str, Any]:
    return item("custom_tool_call", name="exec", call_id=call_id, input=source)


def shown(call_id: str, *texts: str) -> dict[str, Any]:
    parts = [{"type": "input_text", "text": text} for text in texts]
    return item("custom_tool_call_output", call_id=call_id, output=parts)


def calls(tmp_path: Path, *records: Any) -> list[Call]:
    return paired_calls(read(tmp_path, meta(), *typed("build it"), *records))


@pytest.mark.parametrize(
    "source",
    [
        'const r = await tools.exec_command({"cmd":"make","workdir":"/repo"});\ntext(r.output);\n',
        "let r = await tools.exec_command({cmd: 'make', workdir: '/repo',}); text(JSON.stringify(r))",
        'const cmd = `make`;\nconst r = await tools.exec_command({cmd, workdir: "/repo"})\ntext(r.output.slice(0, 9))',
        '// @exec: {"yield_time_ms": 9000}\ntext(await tools.exec_command({cmd:"make",workdir:"/repo"}));',
    ],
)
def test_a_script_with_one_plain_call_is_that_call(tmp_path: Path, source: str) -> None:
    [call] = calls(tmp_path, script("c1", source), shown("c1", DONE, "made\n"))
    assert (call.name, call.command(), call.arguments["workdir"]) == ("exec_command", "make", "/repo")
    assert call.result == "made\n"


@pytest.mark.parametrize(
    "source",
    [
        'if (late) await tools.exec_command({cmd: "make"});',
        "for (const name of names) await tools.exec_command({cmd: name});",
        'const r = await tools.exec_command({cmd: "make " + target}); text(r.output);',
        "const r = await tools.exec_command({cmd: `make ${target}`}); text(r.output);",
        'const r = await tools.exec_command({...common, cmd: "make"}); text(r.output);',
        'const a = await tools.exec_command({cmd: "a"}); const b = await tools.write_stdin({}); text(b.output);',
        'const r = await tools.exec_command({cmd: "a"}); text(JSON.parse(r.output).name);',
        'const r = await tools.exec_command({cmd: "a"}); text(other.output);',
        'let cmd = "a"; cmd = "b"; const r = await tools.exec_command({cmd}); text(r.output);',
        'const r = await tools.exec_command({cmd: "a", cmd: "b"}); text(r.output);',
        'const r = await tools.exec_command("\\x41"); text(r.output);',
        'tools.exec_command({cmd: "a"});',
        'text("tools.exec_command({})");',
        'const r = await tools.exec_command({cmd: "a"',
        "text(ALL_TOOLS);",
        "",
    ],
)
def test_a_script_with_anything_else_stays_as_it_is(tmp_path: Path, source: str) -> None:
    [call] = calls(tmp_path, script("c1", source), shown("c1", DONE, "made\n"))
    assert (call.name, call.arguments) == ("exec", {"input": source})
    assert call.result == f"{DONE}\nmade\n"


AB = 'tools.exec_command({cmd: "a"})', 'tools.exec_command({cmd: "b"})'
EACH = f"const rs = await Promise.all([{AB[0]}, {AB[1]}]);"


@pytest.mark.parametrize(
    "source",
    [
        f"const a = await {AB[0]}; const b = await {AB[1]}; text(a.output); text('---'); text(b);",
        f"const [a, b] = await Promise.all([{AB[0]}, {AB[1]}]); text(a.output); text('---'); text(JSON.stringify(b));",
        f"{EACH} text(rs[0].output); text('---'); text(rs[1]);",
    ],
)
def test_the_calls_of_a_script_that_shows_each_result_are_calls_of_their_own(tmp_path: Path, source: str) -> None:
    frame = '{"exit_code":2,"output":"no b\n"}'
    first, second = calls(tmp_path, script("c1", source), shown("c1", DONE, "made a\n", "---", frame))
    assert [each.command() for each in (first, second)] == ["a", "b"]
    assert (first.result, first.is_error, first.turn) == ("made a\n", None, second.turn)
    assert (second.result, second.is_error) == ("Process exited with code 2\nOutput:\nno b\n", True)


@pytest.mark.parametrize(
    "body",
    [
        "text(r);",
        "{ text(r); }",
        "text(`exit ${r.exit_code}: ${r.output}`);",
        '{text("exit " + r.exit_code + ": " + r.output)}',
    ],
)
def test_a_loop_that_shows_each_result_is_read_once_for_each(tmp_path: Path, body: str) -> None:
    texts = (
        ['{"exit_code":0,"output":"A"}', '{"exit_code":1,"output":"B"}']
        if "text(r)" in body
        else ["exit 0: A", "exit 1: B"]
    )
    found = calls(tmp_path, script("c1", f"{EACH}\nfor (const r of rs) {body}"), shown("c1", DONE, *texts))
    assert [(each.command(), each.is_error) for each in found] == [("a", False), ("b", True)]
    assert [each.result for each in found] == [
        f"Process exited with code {code}\nOutput:\n{out}" for code, out in ("0A", "1B")
    ]


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        (f"{EACH} text(rs[0].output);", ["A"]),  # nothing shows what the other returned
        (f"{EACH} for (const r of rs) text(r.output);", ["A"]),  # fewer texts than it must have shown
        (f"{EACH} text(rs[0].output + rs[1].output);", ["AB"]),
        (f"{EACH} text(rs[2].output);", ["A"]),
        (f"{EACH} for (const r of other) text(r);", ["A", "B"]),
        (f"const [a] = await Promise.all([{AB[0]}, {AB[1]}]); text(a);", ["A"]),
        ("const rs = await Promise.all(names.map(name => tools.exec_command({cmd: name}))); text(rs);", ["A"]),
    ],
)
def test_results_that_are_not_kept_apart_leave_the_script_as_it_is(
    tmp_path: Path, source: str, texts: list[str]
) -> None:
    [call] = calls(tmp_path, script("c1", source), shown("c1", DONE, *texts))
    assert (call.name, call.arguments) == ("exec", {"input": source})


@pytest.mark.parametrize(
    ("says", "text", "result", "is_error"),
    [
        ("text(`exit=${r.exit_code}\\n${r.output}`)", "exit=1\nno", "Process exited with code 1\nOutput:\nno", True),
        ("text(r.output); text('exit ' + r.exit_code)", "exit 0", "Process exited with code 0\nOutput:\nmade", False),
        ("text(`${r.output} ${r.session_id}`)", "made 77", "Process running with session ID 77\nOutput:\nmade", None),
        ("text(`exit=${r.exit_code}`)", "something else", "something else", None),
        ('text("done")', "done", "", None),
    ],
)
def test_what_a_script_says_in_words_of_its_own_is_read_out_of_them(
    tmp_path: Path, says: str, text: str, result: str, is_error: bool | None
) -> None:
    source = f'const r = await tools.exec_command({{cmd: "make"}}); {says};'
    texts = ["made", text] if "text(r.output)" in says else [text]
    [call] = calls(tmp_path, script("c1", source), shown("c1", DONE, *texts))
    assert (call.command(), call.result, call.is_error) == ("make", result, is_error)


def test_a_script_that_fails_is_a_failed_call_also_when_it_is_not_read(tmp_path: Path) -> None:
    error = "Script error:\nReferenceError: target is not defined"
    [call] = calls(tmp_path, script("c1", "text(target);"), shown("c1", FAILED, error))
    assert (call.is_error, call.result) == (True, f"{FAILED}\n{error}")


def test_a_patch_is_applied_when_its_script_completes_and_not_when_it_fails(tmp_path: Path) -> None:
    source = 'const patch = "*** Begin Patch\\n*** Add File: a.py\\n+x = \\"1\\"\\n*** End Patch";\n'
    source += "text(await tools.apply_patch(patch));"
    error = "Script error:\napply_patch verification failed: Failed to find expected lines in /repo/a.py"
    first, second = calls(
        tmp_path, script("c1", source), shown("c1", FAILED, error), script("c2", source), shown("c2", DONE, "{}")
    )
    patch = '*** Begin Patch\n*** Add File: a.py\n+x = "1"\n*** End Patch'
    assert (first.name, first.arguments) == ("apply_patch", {"input": patch}) == (second.name, second.arguments)
    assert (first.is_error, first.result) == (True, error.removeprefix("Script error:\n"))
    assert (second.is_error, second.result) == (False, "{}")


@pytest.mark.parametrize(("code", "has_failed"), [(127, True), (0, False)])
def test_the_exit_code_of_a_returned_object_is_the_calls(tmp_path: Path, code: int, has_failed: bool) -> None:
    source = 'const r = await tools.exec_command({cmd: "make"}); text(JSON.stringify(r));'
    frame = f'{{"chunk_id":"4c","wall_time_seconds":0.2,"exit_code":{code},"output":"make\\n","note":"x"}}'
    [call] = calls(tmp_path, script("c1", source), shown("c1", DONE, frame))
    assert call.is_error is has_failed
    head = f"Chunk ID: 4c\nWall time: 0.2 seconds\nProcess exited with code {code}\n"
    assert call.result == head + '{"note": "x"}\nOutput:\nmake\n'


def test_an_exit_code_that_a_command_prints_itself_is_not_the_calls(tmp_path: Path) -> None:
    source = 'const r = await tools.exec_command({cmd: "cat log.json"}); text(r.output);'
    [call] = calls(tmp_path, script("c1", source), shown("c1", DONE, '{"exit_code": 1, "output": "no"}'))
    assert call.result == '{"exit_code": 1, "output": "no"}'


def test_a_call_that_leaves_the_sandbox_is_seen_to(tmp_path: Path) -> None:
    arguments = '{"cmd":"npm test","sandbox_permissions":"require_escalated","prefix_rule":["npm","test"]}'
    source = f"const r = await tools.exec_command({arguments});\ntext(r.output);"
    [call] = calls(tmp_path, script("c1", source), shown("c1", DONE, "ok"))
    assert is_escalated(call)


def test_a_call_that_the_user_refused_is_marked(tmp_path: Path) -> None:
    source = 'const r = await tools.exec_command({cmd: "rm -r out"}); text(r.output);'
    error = 'Script error:\nexec_command failed for `rm -r out`: CreateProcess { message: "rejected by user" }'
    [call] = calls(tmp_path, script("c1", source), shown("c1", FAILED, error))
    assert call.mark == "rejected"


def test_the_rest_of_a_running_command_is_the_later_result_of_the_first_call(tmp_path: Path) -> None:
    tell = "if (r.session_id) text(`SESSION_ID=${r.session_id}`);"
    start = f'const r = await tools.exec_command({{cmd: "npm test"}}); text(r.output); {tell}'
    poll = 'const r = await tools.write_stdin({session_id:77,chars:""}); text(r.output);'
    first, second = calls(
        tmp_path,
        script("c1", start),
        shown("c1", DONE, "collecting", "SESSION_ID=77"),
        script("c2", poll),
        shown("c2", DONE, "Tests: 3 passed, 3 total"),
    )
    assert first.result == "Process running with session ID 77\nOutput:\ncollecting"
    assert verdict_of(first).state == "running"
    assert second.continues is first
    assert verdict_of(second).state == "passed"


def test_what_a_command_prints_does_not_make_it_a_running_one(tmp_path: Path) -> None:
    start = 'const r = await tools.exec_command({cmd: "env"}); text(r.output);'
    start += " if (r.session_id) text(`ID ${r.session_id}`);"
    [call] = calls(tmp_path, script("c1", start), shown("c1", DONE, "ID 5"))
    assert call.result == "ID 5"


def test_the_rest_of_a_running_script_is_awaited(tmp_path: Path) -> None:
    source = 'const r = await tools.exec_command({cmd: "npm test"}); text(r);'
    running = output("c1", "Script running with cell ID 3\nWall time 10.0 seconds\nOutput:\n")
    wait = item("function_call", name="wait", call_id="c2", arguments='{"cell_id":"3"}')
    frame = '{"exit_code":1,"output":"Tests: 1 failed, 3 total"}'
    first, second = calls(tmp_path, script("c1", source), running, wait, shown("c2", DONE, frame))
    assert verdict_of(first).state == "running"
    assert (second.name, second.continues, second.is_error) == ("wait", first, True)
    assert second.result == "Process exited with code 1\nOutput:\nTests: 1 failed, 3 total"


def test_a_wait_for_an_unknown_cell_is_a_call_like_any_other(tmp_path: Path) -> None:
    wait = item("function_call", name="wait", call_id="c2", arguments='{"cell_id":"9"}')
    broken = item("function_call", name="wait", call_id="c3", arguments="{")
    first, second = calls(tmp_path, wait, shown("c2", DONE, "x"), broken, shown("c3", DONE, "y"))
    assert (first.continues, second.continues) == (None, None)


def test_an_event_about_an_inner_call_changes_nothing(tmp_path: Path) -> None:
    source = 'const r = await tools.exec_command({cmd: "make"}); text(r.output);'
    ended = event("exec_command_end", call_id="exec-1", exit_code=1)
    [call] = calls(tmp_path, script("c1", source), ended, shown("c1", DONE, "made\n"))
    assert call.is_error is None


def ran(item_type: str, **fields: Any) -> dict[str, Any]:
    return event("item_completed", item={"type": item_type, "id": "exec-1", **fields})


@pytest.mark.parametrize(
    ("printed", "result"),
    [
        ({"formatted_output": "made", "exit_code": 2}, "Process exited with code 2\nOutput:\nmade"),
        ({"stdout": "made", "stderr": "warned", "exit_code": 0}, "Process exited with code 0\nOutput:\nmade\nwarned"),
        ({"aggregated_output": "made", "status": "failed"}, "made"),
    ],
)
def test_what_a_command_printed_is_found_in_whatever_form_it_is_recorded(
    tmp_path: Path, printed: dict[str, Any], result: str
) -> None:
    made = ran("CommandExecution", command=["/bin/zsh", "-lc", "make"], **printed)
    [call] = calls(tmp_path, script("c1", "await run();"), made, shown("c1", DONE))
    assert (call.command(), call.result) == ("make", result)
    assert call.is_error is (printed.get("exit_code") != 0)


def test_a_search_from_a_script_has_what_it_found_and_strangers_wrote_it(tmp_path: Path) -> None:
    source = "const r = await tools.web__run({q: term}); text(r);"
    found = ran("Extension", kind="web.search", query="moons", results=[{"title": "Two", "url": "https://example.org"}])
    other = ran("Extension", kind="canvas.render", query="x")
    trajectory = read(tmp_path, meta(), *typed("go"), script("c1", source), found, other, shown("c1", DONE, "Two"))
    search, script_itself = paired_calls(trajectory)
    assert (search.name, search.arguments, search.result) == (
        "web_search",
        {"query": "moons"},
        "Two https://example.org",
    )
    assert (script_itself.name, script_itself.arguments) == ("exec", {"input": source})
    assert trust_of(trajectory, search.result_turn or 0) == "external"


@pytest.mark.parametrize(
    "hostile", ['"\\', "[" * 99_999, "{a:" * 99_999, "`" * 99_999, "const a = 1;" * 20_000, " " * 99_999]
)
def test_a_hostile_script_takes_no_time(hostile: str) -> None:
    with no_hang():
        assert script_of(f"const r = await tools.exec_command({hostile}") is None
        assert script_of(hostile + " tools.") is None
