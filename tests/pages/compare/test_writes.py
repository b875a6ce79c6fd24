"""Which calls change something, and how a page names them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_wiki.pages.compare.writes import LONGEST_WRITE, arguments_of, changes_something, tool_of, write_of
from agent_wiki.trajectory.calls import Call


def _writes(name: str, cwd: str | None = None, **arguments: Any) -> list[str]:
    return list(write_of(Call(1, name, arguments, json.dumps(arguments), 2, "done"), cwd))


def test_a_call_of_a_service_is_its_tool_and_its_arguments() -> None:
    write = _writes("order_item", item="lamp", where={"city": "Porto", "floor": 2})[0]
    assert write == "order_item(item=lamp; where=Porto 2)"
    assert tool_of(write) == "order_item"
    assert arguments_of(write) == {"item": "lamp", "where": "Porto 2"}


@pytest.mark.parametrize(
    "tool",
    [
        "get_user",
        "search_items",
        "Read",
        "WebFetch",
        "mcp__shop__list_orders",
        "think",
        "resolve-library-id",
        "SendMessage",
        "submit",
        "mcp_wiki_read_page",
    ],
)
def test_a_tool_that_only_looks_writes_nothing(tool: str) -> None:
    assert _writes(tool, id="x") == []


@pytest.mark.parametrize("tool", ["cancel_order", "sendMail", "update-record", "book"])
def test_a_tool_whose_verb_acts_changes_something(tool: str) -> None:
    assert changes_something(tool)


def test_an_edit_names_its_file_below_the_sessions_folder() -> None:
    assert _writes("Edit", "/home/me/app", file_path="/home/me/app/src/a.py") == ["Edit: src/a.py"]
    assert _writes("Write", None, file_path="/home/me/app/src/a.py") == ["Write: src/a.py"]


def test_viewing_with_an_editor_is_no_edit() -> None:
    assert _writes("str_replace_editor", command="view", path="a.py") == []


def test_a_patch_names_the_files_it_touches() -> None:
    patch = "*** Begin Patch\n*** Update File: a/b.go\n@@\n-x\n+y\n*** Add File: c.go\n+z\n*** End Patch"
    assert _writes("apply_patch", input=patch) == ["apply_patch: a/b.go", "apply_patch: c.go"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd app && git status && git -C sub commit -m 'git push'", ["shell: git commit"]),
        ("grep -rn foo . | head", []),
        ("sed -n 3p a.txt", []),
        ("sed -i s/a/b/ a.txt", ["shell: sed -i"]),
        ("echo hi > notes/a.txt", ["shell: > notes/a.txt"]),
        ("kubectl -n shop get pods; kubectl -n shop delete pod x", ["shell: kubectl delete"]),
        ("FOO=1 sudo npm install && npm test", ["shell: npm install"]),
        ("cat <<'EOF'\nrm -rf x\nEOF", []),
        ("go build ./... && python -m unittest && mise run lint", []),
        ("gh pr view 3; gh pr create --fill", ["shell: gh pr"]),
        ("kubectl rollout status deploy/x; kubectl rollout restart deploy/x", ["shell: kubectl rollout"]),
        ("make 2>&1 | tee build.log; rake db:migrate", ["shell: rake db:migrate"]),
    ],
)
def test_a_shell_line_is_the_programs_that_change_something(command: str, expected: list[str]) -> None:
    assert _writes("Bash", command=command) == expected


def test_a_write_is_short_whatever_its_arguments_hold() -> None:
    deep: Any = "x" * 10_000
    for _ in range(500):
        deep = [deep]
    write = _writes("create_note", **{f"key{at}": "v" * 200 for at in range(50)}, deep=deep)[0]
    assert len(write) <= LONGEST_WRITE
    assert write.endswith("; …)")


def test_the_longest_arguments_of_a_write_are_left_out_first() -> None:
    people = {f"person{at}": "v" * 59 for at in range(4)}
    assert arguments_of(_writes("book", **people, bags=3, insured="no")[0]) == {
        **{f"person{at}": "v" * 59 for at in range(3)},
        "bags": "3",
        "insured": "no",
    }


def test_the_separators_of_a_write_are_not_in_its_values() -> None:
    assert arguments_of(_writes("send_mail", text="a; b=c\nd", to="x")[0]) == {"text": "a, b=c d", "to": "x"}


def test_a_path_of_windows_tells_no_more_of_the_machine_than_another() -> None:
    assert _writes("Edit", "D:\\work\\pier", file_path="D:\\work\\pier\\src\\a.py") == ["Edit: src/a.py"]
    assert _writes("Edit", None, file_path="C:\\Users\\ann\\Desktop\\pier\\src\\a.py") == ["Edit: src/a.py"]
    assert _writes("Edit", "/work", file_path="src\\a.py") == ["Edit: src\\a.py"]
