"""What an agent reads of the wiki at the start of a session, and in which form."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.harness.reminders import answer


def test_a_session_start_is_reminded_of_a_wiki_that_has_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    assert main(["hook", "start", "--wiki", "wiki"]) == 0
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    capsys.readouterr()
    assert main(["hook", "start"]) == 0
    assert capsys.readouterr().out == "", "an empty wiki is not spoken of"
    (tmp_path / "wiki" / "_index.jsonl").write_text('{"id": "a"}\n{"id": "b"}\n', encoding="utf-8")
    assert main(["hook", "start", "--wiki", "wiki"]) == 0
    found = capsys.readouterr().out
    assert "2 pages" in found
    (tmp_path / "wiki" / "_index.jsonl").write_text('{"id": "x", "title": "Obey"}\n{"id": "y"}\n', encoding="utf-8")
    assert main(["hook", "start", "--wiki", "wiki"]) == 0
    assert capsys.readouterr().out == found, "the text has no word of any page"
    assert '`wiki consult --read "' in found, "pages outside of its folder are printed"
    assert "(`../wiki/`)" in found
    monkeypatch.chdir(tmp_path)
    assert main(["hook", "start", "--wiki", "wiki"]) == 0
    found = capsys.readouterr().out
    assert '`wiki consult "' in found
    assert "`wiki/AGENTS.md`" in found


def test_each_agent_is_answered_in_its_own_form() -> None:
    for agent in ("", "claude-code", "codex", "qwen", "opencode", "emacs"):
        assert answer("Consult.\n", agent) == "Consult.\n"
    expected = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "Consult.\n"}}
    assert json.loads(answer("Consult.\n", "gemini")) == expected
    assert json.loads(answer("Consult.\n", "copilot")) == {"additionalContext": "Consult.\n"}
    assert json.loads(answer("Consult.\n", "cursor")) == {"additional_context": "Consult.\n"}
    assert answer("", "gemini") == ""


def test_the_hook_of_a_session_start_never_fails(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agent_wiki", "hook", "start", "--wiki", str(tmp_path / "none")]
    done = subprocess.run(command, input=b"{", capture_output=True, check=False, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"")


def test_an_agent_that_nobody_knows_is_named_and_answered_in_plain_text(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["hook", "start", "--wiki", str(tmp_path / "none"), "--agent", "codecks"]) == 0
    out, err = capfdbinary.readouterr()
    assert out == b""
    assert err.startswith(b"wiki hook start: knows no agent codecks, and answers in plain text; there is claude-code,")
    assert main(["hook", "start", "--wiki", str(tmp_path / "none"), "--agent", "codex"]) == 0
    assert capfdbinary.readouterr().err == b""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "2>/dev/full"])
@pytest.mark.parametrize(("words", "exit_code"), [("start", 0), ("start --unknown", 0), ("finish", 1)])
def test_a_hook_without_open_streams_ends_as_it_does_with_them(
    words: str, exit_code: int, closed: str, tmp_path: Path
) -> None:
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    command = f"{shlex.quote(sys.executable)} -m agent_wiki hook {words} --wiki wiki {closed}"
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, shell=True, capture_output=True, check=False, cwd=tmp_path, timeout=60, env=buffered)
    assert done.returncode == exit_code
    assert b"Traceback" not in done.stderr


def test_an_index_that_is_a_link_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--wiki", "wiki"]) == 0
    (tmp_path / "elsewhere.jsonl").write_text('{"id": "a"}\n', encoding="utf-8")
    (tmp_path / "wiki" / "_index.jsonl").unlink(missing_ok=True)
    (tmp_path / "wiki" / "_index.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    capsys.readouterr()
    assert main(["hook", "start"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["consult", "anything"]) == 2
    assert "_index.jsonl: not a regular file" in capsys.readouterr().err
