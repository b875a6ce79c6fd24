"""The folder in which each command ran."""

from __future__ import annotations

from agent_wiki.shell.folders import folders_of
from agent_wiki.trajectory.calls import paired_calls
from tests.engines.scripted_session import Script


def _folders(script: Script) -> list[tuple[str, ...]]:
    return list(folders_of(paired_calls(script.done()), "/home/kim/shop").values())


def test_a_shell_stays_where_its_last_cd_led() -> None:
    script = Script().runs("cd web && npm test", "ok").runs("npm run build", "ok").runs("cd /home/kim/shop", "")
    assert _folders(script) == [(".", "web"), ("web",), ("web",)]
    assert _folders(script.runs("ls", "a"))[-1] == (".",)


def test_a_subshell_a_failed_cd_and_a_named_folder_move_nothing() -> None:
    script = Script().runs("(cd web && npm test)", "ok").runs("ls", "a")
    assert _folders(script) == [(".", "web"), (".",)]
    script = Script().runs("cd wbe", "bash: cd: wbe: No such file or directory", failed=True).runs("ls", "a")
    assert _folders(script) == [(".",), (".",)]
    script = Script().call("shell", {"command": "ls", "workdir": "/home/kim/shop/api"}, "a").runs("ls", "a")
    assert _folders(script) == [("api",), (".",)]


def test_of_another_shell_each_call_begins_at_the_start() -> None:
    script = Script().call("shell", {"command": "cd web && ls"}, "a").call("shell", {"command": "ls"}, "a")
    assert _folders(script) == [(".", "web"), (".",)]


def test_the_same_cd_again_leads_to_the_same_place() -> None:
    script = Script().runs("cd web && npm test", "ok").runs("cd web && npm test", "ok").runs("cd ~/a && ls", "b")
    assert _folders(script) == [(".", "web"), ("web", "web"), ("web", "~/a")]


def test_a_harness_that_goes_back_says_so_and_git_names_its_folder() -> None:
    script = Script().runs("cd /tmp && ls", "a\nShell cwd was reset to /home/kim/shop").runs("git -C api log", "a")
    assert _folders(script) == [(".", "/tmp"), ("api",)]


def test_powershell_moves_by_its_own_name_and_drives_are_absolute() -> None:
    script = Script().call("shell", {"command": 'cd "C:\\Shop\\api" && npm test'}, "ok")
    script.call("shell", {"command": "Set-Location -Path 'C:\\Shop\\api'; npm test"}, "ok")
    assert _folders(script) == [(".", "C:/Shop/api"), (".", "C:/Shop/api")]
