"""The final texts of the files a session wrote."""

from __future__ import annotations

import pytest

from agent_wiki.shell.files_written import adds_file, deletes_file, files_written, is_temporary
from agent_wiki.trajectory.calls import paired_calls
from tests.engines.recordings import Step, edit, session, shell, write


def texts(*steps: Step) -> dict[str, str]:
    return {each.path: each.text for each in files_written(paired_calls(session(*steps))) if not each.is_removed}


def patch(text: str) -> Step:
    return ("apply_patch", {"input": f"*** Begin Patch\n{text}*** End Patch\n"}, "Done", False)


def test_a_write_then_an_edit_gives_the_edited_text() -> None:
    assert texts(write("a.py", "one\ntwo\n"), edit("a.py", "two", "three")) == {"a.py": "one\nthree\n"}


def test_a_failed_edit_changes_nothing() -> None:
    failed = ("Edit", {"file_path": "a.py", "old_string": "one", "new_string": "x"}, "String not found", True)
    assert texts(write("a.py", "one\n"), failed) == {"a.py": "one\n"}


@pytest.mark.parametrize(
    "step",
    [edit("a.py", "one", "x"), edit("a.py", "no such", "x"), shell("sed -i s/one/two/ a.py"), shell("mv a.py b.py")],
)
def test_a_change_that_cannot_be_followed_makes_the_text_unknown(step: Step) -> None:
    assert texts(write("a.py", "one one\n"), step) == {}


def test_a_patch_adds_changes_and_deletes() -> None:
    added = patch("*** Add File: a.py\n+one\n+two\n*** Add File: b.py\n+x\n")
    changed = patch("*** Update File: a.py\n@@\n one\n-two\n+three\n*** Delete File: b.py\n")
    assert texts(added, changed) == {"a.py": "one\nthree\n"}


def test_here_documents_write_and_add() -> None:
    first = shell("cat > a.sh <<'EOF'\necho $1\nEOF")
    assert texts(first, shell("cat >> a.sh <<'EOF'\necho $2\nEOF")) == {"a.sh": "echo $1\necho $2\n"}


def test_a_here_document_that_the_shell_expands_is_unknown() -> None:
    assert texts(shell("cat > a.sh <<EOF\necho $HOME\nEOF")) == {}


def test_a_file_that_is_removed_again_was_for_the_session_alone() -> None:
    assert texts(write("/x/a.py", "one\n"), shell("rm -f a.py")) == {}


def test_other_tools_name_the_text_and_the_path_otherwise() -> None:
    made = ("str_replace_editor", {"command": "create", "path": "a.py", "file_text": "one\n"}, "ok", False)
    changed = (
        "str_replace_editor",
        {"command": "str_replace", "path": "a.py", "old_str": "one", "new_str": "two"},
        "ok",
        False,
    )
    assert texts(made, changed) == {"a.py": "two\n"}


@pytest.mark.parametrize(
    ("made", "changed"),
    [
        (
            ("write", {"filePath": "a.py", "content": "one one\n"}),  # OpenCode
            ("edit", {"filePath": "a.py", "oldString": "one", "newString": "two", "replaceAll": True}),
        ),
        (
            ("write", {"path": "a.py", "content": "one one\n"}),  # pi
            ("edit", {"path": "a.py", "edits": [{"oldText": "one one", "newText": "two two"}]}),
        ),
        (
            ("write_file", {"file_path": "a.py", "content": "one one\n"}),  # Gemini CLI, Qwen Code
            ("replace", {"file_path": "a.py", "old_string": "one one", "new_string": "two two"}),
        ),
        (
            ("write_to_file", {"TargetFile": "a.py", "CodeContent": "one one\n"}),  # Antigravity
            (
                "multi_replace_file_content",
                {
                    "TargetFile": "a.py",
                    "ReplacementChunks": [
                        {"TargetContent": "one", "ReplacementContent": "two", "AllowMultiple": True},
                    ],
                },
            ),
        ),
        (
            ("create_file", {"filePath": "a.py", "content": "one one\n"}),  # VS Code Copilot
            (
                "multi_replace_string_in_file",
                {"replacements": [{"filePath": "a.py", "oldString": "one one", "newString": "two two"}]},
            ),
        ),
    ],
    ids=["opencode", "pi", "gemini-cli", "antigravity", "copilot"],
)
def test_the_edits_of_every_agent_are_followed(
    made: tuple[str, dict[str, object]], changed: tuple[str, dict[str, object]]
) -> None:
    assert texts((*made, "ok", False), (*changed, "ok", False)) == {"a.py": "two two\n"}


def test_a_file_that_a_patch_takes_away_and_adds_again_is_rewritten() -> None:
    both = "*** Delete File: cart.py\n*** Add File: cart.py\n+total = 0\n"
    calls = paired_calls(session(patch(both), patch("*** Delete File: cart.py\n")))
    assert [(adds_file(each, "cart.py"), deletes_file(each, "cart.py")) for each in calls] == [
        (False, False),
        (False, True),
    ]


def test_a_file_of_work_that_lies_in_a_temporary_folder_is_not_temporary() -> None:
    assert is_temporary("/tmp/till.py", None)
    assert is_temporary("/tmp/till.py", "/srv/shop")
    assert is_temporary("/tmp/till.py", "/tmp/shop")
    assert is_temporary("/tmp/shop2/till.py", "/tmp/shop")
    assert not is_temporary("/tmp/shop/src/till.py", "/tmp/shop")
    assert not is_temporary("src/till.py", "/tmp/shop")
