"""A command line is cut into its simple commands, however it is written."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.shell.kinds import is_check, shell_kind
from agent_wiki.shell.simple_commands import simple_commands


@pytest.mark.parametrize("line", [r"'C:\Git\bin\bash.exe' -c ls", "/usr/bin/bash -c ls", "bash a.sh"])
def test_a_program_has_no_folder_in_its_name(line: str) -> None:
    assert simple_commands(line.replace(" -c ls", " a.sh"))[0].program == "bash"


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ("cd /repo && pytest -q 2>&1 | tail -5", ["cd /repo", "pytest -q", "tail -5"]),
        ("FOO=1 sudo timeout 60 make test; echo done", ["make test", "echo done"]),
        ("bash -lc 'go test ./... && go vet ./...'", ["go test ./...", "go vet ./..."]),
        (
            "powershell -NoProfile -Command \"Set-Location 'C:/shop'; npx vitest run\"",
            ["Set-Location C:/shop", "vitest run"],
        ),
        ("pwsh.exe -c npm test", ["npm test"]),
        ("cmd //c npm run build", ["npm run build"]),
        ("powershell -Command -", ["powershell -Command -"]),
        ("cmd /c if exist a.txt type a.txt", ["cmd /c if exist a.txt type a.txt"]),
        ("uv run pytest", ["pytest"]),
        ('grep -n "a | b" file', ["grep -n a | b file"]),
        ("git -C /repo/x commit -m 'one two'", ["git commit -m one two"]),
        ("for f in a b; do cat $f; done", ["for f in a b", "cat $f"]),
        ("GOCACHE=$(pwd)/.cache go build ./...", ["go build ./..."]),
        ("(cd sub && make test) | tail", ["cd sub", "make test", "tail"]),
        ("git commit -m \"$(cat <<'EOF'\nit's (done\nEOF\n)\" && git push", ["git commit -m $_", "git push"]),
        ("echo 'open", ["echo open"]),
        ("", []),
    ],
)
def test_simple_commands_are_found_in_order(command: str, texts: list[str]) -> None:
    assert [each.text() for each in simple_commands(command)] == texts


def test_a_here_document_belongs_to_its_command() -> None:
    found = simple_commands("cat <<'EOF' > a.py\nimport os\nrm -rf x\nEOF\npython a.py")
    assert [(each.program, each.writes, each.body) for each in found] == [
        ("cat", ("a.py",), "import os\nrm -rf x"),
        ("python", (), ""),
    ]


def test_only_what_goes_to_a_file_is_written() -> None:
    found = simple_commands("make > log.txt 2> err.txt && ls > /dev/null")
    assert [each.writes for each in found] == [("log.txt",), ()]


def test_what_a_subshell_prints_goes_where_the_subshell_says() -> None:
    assert [(each.text(), each.writes) for each in simple_commands("(ls; pwd) > all.txt")] == [
        ("ls", ()),
        ("pwd", ("all.txt",)),
    ]


@given(st.text(st.sampled_from("ab'\"\\$()<>|&;\n -=EOF`{}") | st.characters(), max_size=200))
def test_any_text_is_cut_without_an_error(command: str) -> None:
    for each in simple_commands(command):
        assert each.words or each.writes


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("docker compose -f a.yml run --build test", True),
        ("docker compose run --rm web", False),
        ("docker-compose run tests", True),
        ("./gradlew.bat :shared:testDebugUnitTest", True),
        ("./gradlew clean", False),
        ("xcodebuild -scheme Shop test", True),
        ("xcodebuild -project Shop.xcodeproj -scheme Shop -quiet build", True),
        ("xcodebuild -project Shop.xcodeproj -list", False),
        ("docker compose -f test.yml up --build --abort-on-container-exit", True),
        ("docker compose up -d", False),
        ("cmake --build build", True),
        ("cmake -S . -B build", False),
        ("g++ -Wall cart.cpp -o cart", True),
        ("nix flake check", True),
        ("nix develop", False),
        ("php artisan test --filter CartTest", True),
        ("php artisan migrate", False),
        ("bin/rails test test/cart_test.rb", True),
        ("bash tests/run.sh", True),
        ("bash scripts/run.sh", False),
        ("nginx -t", True),
        ("typst compile report.typ", True),
    ],
)
def test_tasks_and_services_that_test_are_checks(line: str, is_one: bool) -> None:
    (command,) = simple_commands(line)
    assert is_check(command) is is_one


def test_a_command_with_other_words_has_another_program_and_equal_ones_are_one_key() -> None:
    (command,) = simple_commands("/usr/bin/git push")
    assert (command.program, replace(command, words=("make",)).program, replace(command, words=()).program) == (
        "git",
        "make",
        "",
    )
    again = replace(command)
    assert again == command
    assert {command: 1}[again] == 1
    assert pickle.loads(pickle.dumps(command)).program == "git"  # noqa: S301 - it was made here


def test_a_patch_that_was_joined_to_its_command_is_no_line_of_the_shell() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: lamp.py\n@@\n+def lit(lamp) -> bool:\n+    return lamp > 0\n*** End Patch"
    )
    assert [(each.program, each.writes) for each in simple_commands(f"apply_patch {patch}")] == [("apply_patch", ())]


def test_to_ask_where_a_program_is_does_not_run_it() -> None:
    (asked,) = simple_commands("command -v uv")
    assert (asked.program, shell_kind(asked)) == ("command", "look")
    (ran,) = simple_commands("command uv sync")
    assert ran.program == "uv"


def test_a_text_that_stands_alone_is_printed() -> None:
    line = '"Programs found:"; Get-Command python'
    assert next(map(shell_kind, simple_commands(line))) == "look"


def test_what_powershell_assigns_is_the_command_behind_it_and_parts_of_values_are_none() -> None:
    line = '$ns = @{\n  a = "http://x"\n}\n$files = Get-ChildItem src\n(Get-Item cap.ps1).Length'
    line += "\n[xml]$xml = Get-Content a.xml; $h = @{'Content-Type'='text/plain'; 'X-Cap'='3'}"
    programs = [each.program for each in simple_commands(line)]
    assert programs == ["$ns", "Get-ChildItem", "Get-Item", "Get-Content", "$h"]


@pytest.mark.parametrize("line", ["curl -s shop > nul", "curl.exe -s shop > NUL", "ls > $null", "ls >/dev/null"])
def test_what_is_discarded_is_no_file(line: str) -> None:
    assert [step.writes for step in simple_commands(line)] == [()]


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("pnpm exec ultracite check --type-aware src", True),
        ("npx some-tool lint", True),
        ("some-tool check", False),
        ("uv run manage test-data", False),
    ],
)
def test_a_tool_that_a_runner_calls_and_that_is_told_to_check_is_a_check(line: str, is_one: bool) -> None:
    assert is_check(simple_commands(line)[0]) is is_one


def test_a_text_of_signs_alone_is_printed() -> None:
    assert shell_kind(simple_commands('"---"')[0]) == "look"


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        (
            'case "$st" in\n  RUNNING|PENDING|"") sleep 45 ;;\n  *) echo x; break ;;\nesac\nmake',
            "sleep echo break make",
        ),
        ("case $1 in a) npm test;; b) ls;; esac; make", "npm ls make"),
        ("while true; do case $i in a) go test;; *) case $j in x) ls;; esac;; esac; done; make", "true go ls make"),
        ("case broken", ""),
        ("grep x ${T}/-scratch-<USER>-Bio/<SESSION_ID>/b.output", "grep"),
        ("sort <LIST >OUT", "sort"),
    ],
)
def test_patterns_of_a_case_and_placeholders_are_no_commands(line: str, programs: str) -> None:
    commands = simple_commands(line)
    assert " ".join(each.program for each in commands) == programs
    assert [each.writes for each in commands if each.writes] == ([("OUT",)] if ">OUT" in line else [])


def test_a_cmdlet_is_named_as_it_is_written_for_its_paths_hold_no_escapes() -> None:
    (first, second) = simple_commands(r"Get-ChildItem $HOME\.codex\sessions -Recurse | Select-Object -First 1")
    assert first.text() == r"Get-ChildItem $HOME\.codex\sessions -Recurse"
    assert second.text() == "Select-Object -First 1"


def test_tags_that_are_listed_are_looked_at() -> None:
    lines = ("git tag --points-at 1a2b3c4", "git tag --sort=-creatordate", "git tag v1.2", "git tag -a v1.2 -m lamps")
    assert [shell_kind(each) for line in lines for each in simple_commands(line)] == ["look", "look", "ship", "ship"]
