"""What a call was for is told by its tool and its command, whatever the harness."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.engines.offline.acts import acts_of
from agent_wiki.engines.offline.same_check import check_runs
from agent_wiki.engines.offline.wording import error_words, listing, said, shown_path
from tests.engines.sessions import Session
from tests.engines.summaries import asked, summary
from tests.hangs import no_hang


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("ls -la", "look"),
        ("git status --short", "look"),
        ("gh pr view 3", "look"),
        ("kubectl get pods", "look"),
        ("sed -n 1,20p a.py", "look"),
        ("sed -i s/a/b/ a.py", "edit"),
        ("cat > a.py <<'EOF'\nx\nEOF", "edit"),
        ("python -m pytest -q", "check"),
        ("npm run lint", "check"),
        ("mise run test:ci", "check"),
        ("./tests/runtests.py forms", "check"),
        ("tsc --noEmit", "check"),
        ("git checkout -- a.py", "revert"),
        ("git checkout -b topic", "run"),
        ("git reset --hard", "revert"),
        ("git commit -am x && git push", "ship"),
        ("git push --dry-run origin main", "look"),
        ("cd $(mktemp -d) && git init -q && git commit -qm try", "run"),
        ("place=$(mktemp -d); cd $place && git init && git tag v1 && git push", "run"),
        ("git clone . /tmp/trial && git -C /tmp/trial push", "run"),
        ("cd /tmp/work && git commit -am x", "ship"),  # the work itself may lie there
        ("mkdir -p docs && cd docs && git commit -am x", "ship"),
        ("git clone https://git.example/a.git /tmp/a && cd /tmp/a && git push", "ship"),
        ("Test-Path a.txt", "look"),
        ("$size = Join-Path a b", "look"),
        ("$build --all", "run"),
        ("gh pr create --fill", "ship"),
        ("rm a.py", "delete"),
        ("pip install x", "run"),
    ],
)
def test_a_command_is_classified_by_what_it_does(command: str, kind: str) -> None:
    assert acts_of(Session().run(command, "out").done())[0].kind == kind


def test_a_temporary_folder_that_an_earlier_call_made_is_one_for_trials() -> None:
    session = (
        Session().run("mkdir -p /tmp/trial && cd /tmp/trial && git init").run("cd /tmp/trial/ && git commit -am x")
    )
    session.run("cd /tmp/trial/app && git push").run("cd /tmp/trials && git push").run("git push")
    assert [act.kind for act in acts_of(session.done())] == ["run", "run", "run", "ship", "ship"]
    own = Session().run("mkdir -p /tmp/trees && git worktree add /tmp/trees/a").run("cd /tmp/trees/a && git push")
    assert acts_of(own.done())[-1].kind == "ship"


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("Read", {"file_path": "a.py"}, "look"),
        ("write_file", {"path": "a.py", "content": ""}, "edit"),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "look"),
        ("str_replace_editor", {"command": "create", "path": "a.py"}, "edit"),
        ("mcp__flights__search_direct", {"to": "Oslo"}, "look"),
        ("book_reservation", {"to": "Oslo"}, "service"),
        ("TodoWrite", {"todos": []}, "plan"),
        ("spawn_agent", {"message": "x"}, "delegate"),
    ],
)
def test_a_tool_is_classified_by_its_purpose(name: str, arguments: dict[str, Any], kind: str) -> None:
    assert acts_of(Session().call(name, arguments, "ok").done())[0].kind == kind


def test_a_patch_names_the_files_it_changes() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: src/b.py\n+z\n*** End Patch"
    assert acts_of(Session().call("apply_patch", {"input": patch}, "Success").done())[0].edits == (
        "src/a.py",
        "src/b.py",
    )


def test_a_poll_counts_as_the_command_that_was_still_running() -> None:
    session = Session().call("exec_command", {"cmd": "go test ./..."}, "Process running with session ID 77\n")
    session.call("write_stdin", {"session_id": 77, "chars": ""}, "--- FAIL: TestX\nFAIL")
    started, poll = acts_of(session.done())
    assert (poll.kind, poll.has_failed) == ("check", True)
    assert poll.commands == started.commands


def test_a_suite_answers_its_tests_and_not_the_other_way_round() -> None:
    acts = acts_of(Session().run("go test ./...", "ok").run("go test ./a -run X", "ok").run("go vet ./...", "").done())
    (suite,), (one,), (vet,) = (check_runs(act) for act in acts)
    assert suite.answers(one)
    assert not one.answers(suite)
    assert not vet.answers(suite)


def test_paths_are_shown_without_the_machine_they_lay_on() -> None:
    assert shown_path("/home/me/shop/src/cart.py", "/home/me/shop") == "src/cart.py"
    assert shown_path("/home/me/shop/src/deep/cart.py") == "deep/cart.py"
    assert shown_path("cart.py") == "cart.py"


def test_words_are_quoted_without_links_and_long_paths() -> None:
    assert said("see [the file](/home/me/shop/a.py:3) now.") == "“see the file now”"
    assert error_words("[lint:go] ==== a.go:3: unused") == "“a.go:3: unused”"


def test_lists_read_as_english() -> None:
    assert [listing(list("abcdef"[:n])) for n in (0, 1, 2, 4, 6)] == [
        "", "a", "a and b", "a, b, c and d", "a, b, c and others"
    ]  # fmt: skip


def test_the_files_of_a_patch_are_known_whatever_argument_stands_ahead_of_it() -> None:
    patch = "*** Begin Patch\n*** Update File: src/cart.py\n@@\n-a\n+b\n*** End Patch"
    session = Session().user("cap it").call("apply_patch", {"explanation": "Cap it", "input": patch}, "edited")
    assert acts_of(session.done())[0].edits == ("src/cart.py",)
    session = Session().user("cap it").call("apply_patch", {"why": "Cap it", "the_patch": patch}, "edited")
    assert acts_of(session.done())[0].edits == ("src/cart.py",)


def test_a_list_that_a_client_keeps_in_a_database_is_a_plan() -> None:
    session = Session().user("cap it").call("sql", {"query": "INSERT INTO todos (id) VALUES ('cap')"}, "1 row inserted")
    session.call("sql", {"query": "UPDATE orders SET total = 4"}, "1 row updated")
    assert [act.kind for act in acts_of(session.done())] == ["plan", "service"]


def test_a_script_that_patches_a_file_changes_that_file_when_it_is_run() -> None:
    patch = "from pathlib import Path\np = Path('shop/cap.py')\ns = p.read_text()\np.write_text(s.replace('a', 'b'))"
    line = f"cat <<'PY' > /tmp/patch.py\n{patch}\nPY\npython /tmp/patch.py"
    session = Session().user("cap the totals").run(line, "patched")
    session.write("/tmp/again.py", patch).run("python /tmp/again.py", "Traceback\nKeyError: 'a'", failed=True)
    acts = acts_of(session.done())
    assert acts[0].edits == ("/tmp/patch.py", "shop/cap.py")
    assert [act.edits for act in acts[1:]] == [("/tmp/again.py",), ()], "it failed"
    listing = patch.replace("s.replace('a', 'b')", "'lamps'")
    session = Session().user("list the lamps").write("/tmp/list.py", listing).run("python /tmp/list.py", "done")
    assert acts_of(session.done())[1].edits == (), "what a script writes anew is its output"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("check_cap.py", "open('out.txt', 'w').write(open('cap.py').read().replace('a', 'b'))"),
        ("build.py", "t = open('page.tmpl').read()\nopen('dist/index.html', 'w').write(t.replace('NAME', 'till'))"),
    ],
)
def test_a_script_that_writes_another_file_than_it_read_changes_nothing(name: str, code: str) -> None:
    session = Session().user("cap the totals").write(name, code).run(f"python {name}", "3 passed")
    assert acts_of(session.done())[1].edits == ()


def test_a_command_that_writes_one_file_many_times_is_told_at_once() -> None:
    session = asked().run("> total.txt\n" * 4_000, "ok").run("pytest", "3 passed")
    with no_hang():
        assert summary(session)
