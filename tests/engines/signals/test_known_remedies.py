"""A well-known error and its remedy."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.extract_guidelines import answer
from agent_wiki.engines.offline.signals import known_remedies
from agent_wiki.engines.offline.signals.known_remedies import Remedy, remedies
from agent_wiki.stages.extract_guidelines import GuidelinesQuestion, grade_of
from tests.engines.recordings import summary
from tests.engines.scripted_session import Script

FORMAT = "fork/exec /tmp/home/kim/cart.test: exec format error"
RAN, COMPILED = "GOOS=linux go test ./cart", "GOOS=linux go test -c -o cart.test ./cart"
PORTS = "0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports."
PATCH = """kubectl patch deployment cart --type=json -p '[{"op":"remove","path":"/spec/ports/0/hostPort"}]'"""
NO_APP = "File \"django/apps/registry.py\", line 91, in populate\nModuleNotFoundError: No module named 'shop'"
APP_NAMED = ("configure_all()", "settings.configure(INSTALLED_APPS=[])")
HEALTHY = 'deployment "cart" successfully rolled out'


def _titles(script: Script) -> list[str]:
    return [lesson.guideline.title for lesson in known_remedies.lessons(MinedSession.of(script.done()))]


def test_an_error_met_and_then_remedied_is_a_lesson() -> None:
    script = Script().runs(RAN, FORMAT, failed=True).runs(COMPILED)
    (lesson,) = known_remedies.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.title == "Cross-compile Go tests with -c"
    assert [each.quote for each in lesson.guideline.evidence] == [FORMAT, RAN, COMPILED]
    assert "/home" not in lesson.guideline.rule + lesson.guideline.rationale
    assert lesson.guideline.rationale.endswith(f"; it ran as `{COMPILED}`.")


def test_an_error_without_its_remedy_gives_no_lesson() -> None:
    assert not _titles(Script().runs(RAN, FORMAT, failed=True).runs("git status"))


def test_a_remedy_that_failed_too_gives_no_lesson() -> None:
    script = Script().runs(RAN, FORMAT, failed=True)
    assert not _titles(script.runs(COMPILED, "cart_test.go:3: undefined: cart", failed=True))


def test_an_error_text_that_was_only_read_gives_no_lesson() -> None:
    assert not _titles(Script().runs("cat notes.md", FORMAT).runs(COMPILED))


def test_a_remedy_may_be_an_edit() -> None:
    script = Script().runs("python check.py", NO_APP, failed=True)
    (lesson,) = known_remedies.lessons(MinedSession.of(script.edits(*APP_NAMED).done()))
    assert lesson.guideline.title == "List only importable apps in settings"
    assert lesson.guideline.rationale.endswith(f"; it went on after an edit that wrote `{APP_NAMED[1]}`.")


def test_a_remedy_may_be_another_tool_which_is_named() -> None:
    line = "$files = @(Get-ChildItem src)\nWrite-Host $files"
    script = Script().runs(line, "/usr/bin/bash: line 1: Write-Host: command not found", failed=True)
    (lesson,) = known_remedies.lessons(MinedSession.of(script.call("PowerShell", {"command": line}, "cart.ts").done()))
    assert lesson.guideline.rationale.endswith("; given to the tool `PowerShell` it passed.")


def test_backslashes_that_bash_takes_out_are_no_matter_of_the_folder() -> None:
    script = Script().runs(r"cd C:\shop\web && npm test", "bash: cd: C:shopweb: No such file or directory", failed=True)
    assert _titles(script.runs("cd C:/shop/web && npm test", "3 passed")) == ["Write Windows paths with / in Bash"]


def test_a_state_that_a_look_showed_is_a_lesson_once_a_later_look_shows_it_good() -> None:
    script = Script().runs("kubectl describe pod cart-1", PORTS).runs(PATCH, "deployment.apps/cart patched")
    assert not _titles(script)
    script.runs("kubectl get pods", "cart-1  0/1  Pending")
    assert not _titles(script)
    script.runs("kubectl rollout status deploy/cart", HEALTHY)
    (lesson,) = known_remedies.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.title == "Remove conflicting hostPort from deployments"
    assert [each.quote for each in lesson.guideline.evidence][::2] == [PORTS, PATCH]
    assert lesson.guideline.confirming_turn == 8


def test_a_change_before_the_state_was_shown_is_no_remedy() -> None:
    script = Script().runs(PATCH, "deployment.apps/cart patched").runs("kubectl describe pod cart-1", PORTS)
    assert not _titles(script.runs("kubectl rollout status deploy/cart", HEALTHY))


@pytest.mark.parametrize("remedy", remedies(), ids=lambda remedy: remedy.wording.title)
def test_every_entry_is_worded_as_a_rule(remedy: Remedy) -> None:
    wording = remedy.wording
    assert 3 <= len(wording.title.split()) <= 7
    assert 2 <= len(wording.tags) <= 5
    assert not wording.rule.lower().startswith(("don't", "do not", "never", "avoid"))


@pytest.mark.long
def test_the_tables_patterns_are_cheap_on_hostile_text() -> None:
    for text in ("a.b " * 250_000, "'" * 1_000_000, "sed: 1: " * 100_000, "go-build" * 100_000, "x/y: " * 200_000):
        for remedy in remedies():
            remedy.error.search(text[:40_000])
            for pattern in (remedy.command, remedy.edit, remedy.failed, remedy.good):
                if pattern:
                    pattern.search(text[:40_000])


def test_a_line_that_only_looks_teaches_how_to_join_commands() -> None:
    wrong = "The token '&&' is not a valid statement separator in this version."
    script = Script().runs("git status && git diff", wrong, failed=True).runs("git status; git diff")
    assert _titles(script) == ["Join commands with ; in PowerShell"]


def test_the_command_that_signs_the_error_is_the_one_that_stopped() -> None:
    script = Script().runs(
        "cd web && rm -rf dist", "/usr/bin/bash: line 1: cd: web: No such file or directory", failed=True
    )
    (lesson,) = known_remedies.lessons(MinedSession.of(script.runs("cd /shop/web && rm -rf dist", "ok").done()))
    assert lesson.guideline.title == "Begin commands with their absolute folder"
    assert lesson.guideline.rationale.startswith("`cd` stopped with `cd: web: No such file or directory`")
    assert lesson.guideline.evidence[1].quote == "cd web"
    session = replace(script.done(), agent="gemini-cli")  # another agent's shell may begin anew with each call
    assert [each.scope for each in answer(GuidelinesQuestion(session, summary(session))).guidelines] == [
        "tool:gemini-cli"
    ]


def test_of_a_chain_the_step_is_blamed_that_the_error_names_an_argument_of() -> None:
    chain = "git add src/a.py && git commit -m 'Round prices' && git push"
    missing = "fatal: pathspec 'src/a.py' did not match any files"
    script = Script().runs(chain, missing, failed=True).runs(f"cd /srv/shop && {chain}", "1 file changed")
    (lesson,) = known_remedies.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.title == "Begin commands with their absolute folder"
    assert lesson.guideline.rationale.startswith("`git add` stopped with ")


def test_another_program_on_the_same_file_stands_in_for_one_that_is_not_there() -> None:
    missing = "sed : The term 'sed' is not recognized as the name of a cmdlet, function, script file"
    script = Script().runs("sed -n '1,40p' src/cart.ts", missing, failed=True)
    script.runs("Get-Content -Path src/cart.ts -TotalCount 40", "export const total = 3")
    assert _graded(script) == {"Read and search with PowerShell's commands": "checked"}


def test_a_patch_in_a_list_of_words_is_one_text() -> None:
    refused = (
        "apply_patch verification failed: invalid hunk at line 3, '' is not a valid hunk header. Valid hunk headers:"
    )
    bad, good = (
        "*** Begin Patch\n*** Add File: docs/a.md\n+# Cart" + gap + "- one; two\n*** End Patch"
        for gap in ("\n\n", "\n+\n+")
    )
    script = Script().call("shell", {"command": ["apply_patch", bad]}, refused, failed=True)
    script.call("shell", {"command": ["apply_patch", good]}, "Success. Updated the following files:\nA docs/a.md")
    assert _graded(script) == {"Begin added lines with + in apply_patch": "checked"}


def test_what_does_not_touch_the_commits_is_no_cause_of_a_refused_push() -> None:
    refused = "remote: error: GH013: Repository rule violations\nremote: - GITHUB PUSH PROTECTION"
    rewritten = "git filter-branch --index-filter 'git rm --cached --ignore-unmatch .env' -- --all"
    script = Script().runs("git push origin main", refused, failed=True).runs("git stash", "Saved working directory")
    script.runs(rewritten, "Rewrite 8a58ce4 (4/4)").runs(
        "git push origin main --force", "ff6065a..65d6cf6  main -> main"
    )
    assert _graded(script) == {"Take secrets out of unpushed commits": "checked"}


def _graded(script: Script) -> dict[str, str]:
    trajectory = script.done()
    lessons = known_remedies.lessons(MinedSession.of(trajectory))
    return {each.guideline.title: grade_of(each.guideline, trajectory).cause for each in lessons}


@pytest.mark.parametrize(
    ("failed", "said", "then"),
    [
        ('rg "total(cart" src', "error: unclosed group", "rg total src | sed 's/\\(a\\)/b/'"),
        (
            "git status",
            "fatal: not a git repository",
            "git init && git config --global --add safe.directory /srv && git status",
        ),
    ],
)
def test_a_remedy_beside_which_more_was_done_teaches_nothing(failed: str, said: str, then: str) -> None:
    assert not _graded(Script().runs(failed, said, failed=True).runs(then, "ok"))


def test_a_push_that_the_user_may_have_allowed_teaches_nothing() -> None:
    script = Script().runs("git push origin main", "remote: - GITHUB PUSH PROTECTION", failed=True)
    script.runs("git commit --amend -m x", "[main 4c1f2ab] x").says("It is refused.").user("I allowed that secret.")
    assert _graded(script.runs("git push origin main", "main -> main")) == {
        "Take secrets out of unpushed commits": "asserted"
    }


def test_a_host_whose_key_was_not_known_is_reached_once_it_is() -> None:
    greeting = "Hi kim! You've successfully authenticated, but GitHub does not provide shell access."
    script = Script().runs("ssh -T git@github.com", "Host key verification failed.", failed=True)
    script.runs("ssh-keyscan github.com >> ~/.ssh/known_hosts", "# github.com:22 SSH-2.0-4c1f2ab")
    (title,) = _graded(script.runs("ssh -T git@github.com", greeting, failed=True))  # GitHub ends it with status 1
    assert title == "Add host keys before the first ssh"
    assert _graded(script) == {title: "checked"}
    refused = Script().runs("ssh -T git@github.com", "Host key verification failed.", failed=True)
    refused.runs("ssh-keyscan github.com >> ~/.ssh/known_hosts", "# github.com:22 SSH-2.0-4c1f2ab")
    again = refused.runs("ssh -T git@github.com", "git@github.com: Permission denied (publickey).", failed=True)
    assert "checked" not in _graded(again).values()


@pytest.mark.parametrize(
    ("said", "then"),
    [
        (
            "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.",
            "ssh-keyscan h >> known_hosts",
        ),
        ("Host key verification failed.", "ssh-keyscan github.com | diff - ~/.ssh/known_hosts"),
    ],
)
def test_a_key_that_changed_or_was_only_read_teaches_nothing(said: str, then: str) -> None:
    assert not _graded(Script().runs("ssh h uptime", said, failed=True).runs(then, "h ssh-rsa x").runs("ssh h uptime"))


def test_a_large_file_leaves_the_commit_that_holds_it() -> None:
    refused = "remote: error: File db.bin is 258.33 MB; this exceeds GitHub's file size limit of 100.00 MB"
    script = Script().runs("git push origin main", refused, failed=True)
    script.runs("git rm --cached db.bin && git commit --amend --no-edit", "[main c847cc3] shop")
    assert _graded(script.runs("git push origin main", "203491a..c847cc3  main -> main")) == {
        "Take large files out of unpushed commits": "checked"
    }


def test_what_was_installed_in_between_is_the_remedy() -> None:
    script = Script().runs("npx vite build", "sh: vite: not found", failed=True)
    assert _titles(script.runs("cd web && npx vite build", "built")) == ["Run npx in the workspace's package"]
    script = Script().runs("npx vite build", "sh: vite: not found", failed=True).runs("npm install", "added 3 packages")
    assert not _titles(script.runs("cd web && npx vite build", "built"))
    script = Script().runs("npx vite build", "sh: vite: not found", failed=True).runs("npm install", "added 3 packages")
    looked = "cd web && npx vite build", "built"
    assert not _titles(script.runs("cat build.log", "sh: vite: not found").runs(*looked))
    script = Script().runs("npx vite build", "sh: vite: not found", failed=True).runs("npm install", "added 3 packages")
    script.runs("npx vite build", "sh: vite: not found", failed=True)  # what was installed did not help
    assert _titles(script.runs("cd web && npx vite build", "built"))


def test_a_remedy_that_a_later_look_confirms_may_come_after_many_looks() -> None:
    script = Script().runs("kubectl describe pod cart-1", PORTS)
    for number in range(9):
        script.runs(f"kubectl describe pod lamp-{number}", "Running")
    script.runs(PATCH, "deployment.apps/cart patched").runs("kubectl rollout status deployment/cart", HEALTHY)
    assert _titles(script) == ["Remove conflicting hostPort from deployments"]


def test_another_command_far_away_is_no_remedy() -> None:
    script = Script().runs("gh pr edit 7 --title Cart", "GraphQL: Projects (classic) is being deprecated", failed=True)
    for number in range(9):
        script.runs(f"git show {number}", "Cart")
    assert not _titles(script.runs("gh api -X PATCH repos/kim/shop/pulls/8 -f title=Lamp", "{}"))


def test_an_address_and_the_end_of_a_long_line_are_quoted_as_they_were_run() -> None:
    denied = "git@github.com: Permission denied (publickey)."
    script = Script().runs("git push origin main", denied, failed=True)
    script.runs("git push https://github.com/kim/shop.git main", "main -> main")
    (lesson,) = known_remedies.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.rationale.endswith("it went on in the form that is quoted.")
    assert lesson.guideline.evidence[-1].quote == "git push https://github.com/kim/shop.git main"


def test_a_path_to_a_program_leaves_no_empty_name() -> None:
    script = Script().runs("./bin/cart", "./bin/cart: error while loading shared libraries: libcart.so: cannot open "
                           "shared object file: No such file or directory", failed=True)  # fmt: skip
    (lesson,) = known_remedies.lessons(MinedSession.of(script.runs("LD_LIBRARY_PATH=bin ./bin/cart", "3").done()))
    assert not lesson.guideline.rationale.startswith("``")


def test_thousands_of_assignments_are_searched_at_once() -> None:
    error = "File \"<frozen os>\", line 685, in __getitem__\nKeyError: 'A'"
    for line in (("A=" + ";python" * 57 + "\n") * 30, "A=\n" * 60_000, "A=;os.environ[" * 10_000):
        began = process_time()
        assert not _titles(Script().runs(line, error, failed=True).runs("export A=3\npython3 a.py", "3"))
        assert process_time() - began < 2


@pytest.mark.parametrize("line", ["A=3;\npython3 -c '{}'", "  A=3\nB=4\npython3 - <<'E'\n{}\nE", "A=3 python3 -c '{}'"])
def test_a_variable_that_stays_within_the_shell_is_to_be_exported(line: str) -> None:
    line = line.format('import os; print(os.environ["A"])')
    error = "File \"<frozen os>\", line 685, in __getitem__\nKeyError: 'A'"
    session = Script().runs(line, error, failed=True).runs(f"export A=3\n{line}", "3")
    assert len(_titles(session)) == (not line.startswith("A=3 p"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pip install black ruff", 0),
        ("npx biome lint --write src", 0),
        ("cd shop && black src", 1),
        ("uv run black src", 1),
        ("npx biome check --write src", 1),
    ],
)
def test_only_what_formats_is_a_formatter(line: str, expected: int) -> None:
    script = Script().runs("black --check src", "would reformat src/cart.py", failed=True)
    assert len(_titles(script.runs(line, "ok"))) == expected


def test_that_cargo_is_missing_says_nothing_of_go() -> None:
    worked = 'PATH="$PATH:/c/Program Files/Go/bin" go test ./cart'
    for program, expected in (("cargo", 0), ("go", 1)):
        script = Script().runs("go test ./cart", f"bash: {program}: command not found", failed=True)
        assert len(_titles(script.runs(worked, "ok"))) == expected


@pytest.mark.parametrize(("line", "expected"), [("git add -u", 0), ("git add --update", 0), ("git add src", 1)])
def test_all_that_is_tracked_is_not_added_by_name(line: str, expected: int) -> None:
    error = "fatal: unable to stat '.npm/_logs/debug-0.log': No such file or directory"
    assert len(_titles(Script().runs("git add .", error, failed=True).runs(line))) == expected


def test_no_other_persons_name_is_taken_for_a_commit() -> None:
    (remedy,) = (each for each in remedies() if each.id.endswith("author-identity"))
    assert "ask for the name" in remedy.wording.rule
    assert "git log" not in remedy.wording.rule


FLAG = "rg: unrecognized flag --total|cart|basket"


def _learnt(script: Script) -> list[str]:
    trajectory = script.done()
    found = answer(GuidelinesQuestion(trajectory, summary(trajectory))).guidelines
    return [each.title for each in found if not grade_of(each, trajectory).contradiction]


def test_the_line_that_failed_by_a_known_error_may_be_written_otherwise_in_more_than_its_remedy() -> None:
    script = Script().runs('cd web && rg -n "--total|cart|basket" -g "!dist"', FLAG, failed=True)
    script.runs('rg -n -e "--total|cart|basket" src README.md', "src/cart.js:3: --total")
    assert _learnt(script) == ["Put -- before patterns beginning with -"]


def test_a_known_remedy_in_another_line_shows_nothing() -> None:
    script = Script().runs('rg -n "--total|cart|basket" -g "!dist"', FLAG, failed=True)
    assert not _learnt(script.runs("rg -l -e price docs", "docs/price.md"))


def test_a_line_that_still_shows_the_known_error_is_no_remedy() -> None:
    script = Script().runs('rg -n "--total|cart|basket" -g "!dist"', FLAG, failed=True)
    assert not _learnt(script.runs('rg -n -e "--total|cart|basket" src; true', f"{FLAG}\nsrc/cart.js:3"))


def test_a_pipe_may_have_hidden_the_status_of_what_met_the_error_first_of_all() -> None:
    script = Script().runs("nl -ba app/[id]/page.tsx | head -5", "zsh:1: no matches found: app/[id]/page.tsx")
    script.runs("nl -ba 'app/[id]/page.tsx' | head -9", "1 export")
    assert _learnt(script) == ["Quote wildcards in zsh"]
    later = Script().runs("cat notes.md; true", "Notes\nof today\nzsh:1: no matches found: app/[id]/page.tsx")
    assert not _learnt(later.runs("cat 'app/[id]/page.tsx'", "1 export"))


def test_a_form_of_the_remedy_after_which_the_error_came_again_was_not_it() -> None:
    dubious = "fatal: detected dubious ownership in repository at '/srv/shop'"
    script = Script().runs("git status", dubious, failed=True)
    script.runs("git config --global --add safe.directory /srv/shop/web", "").runs("git status", dubious, failed=True)
    script.runs("git config --global --add safe.directory /srv/shop", "").runs("git status", "On branch main")
    (lesson,) = known_remedies.lessons(MinedSession.of(script.done()))[:1]
    assert "safe.directory /srv/shop`" in lesson.guideline.rationale


@pytest.mark.parametrize(
    "said", ["git commit -- ", "gh-q ", "rg-", "xcodebuild ", "Program Files/Go\\binxxxg", "| python3-<< sy "]
)
def test_words_of_the_patterns_themselves_again_and_again_take_no_time(said: str) -> None:
    line, began = said * (40_000 // len(said)), process_time()
    _titles(Script().runs(line, f"error: {line}", failed=True).runs(f"{line};", "done"))
    assert process_time() - began < 6


ENGINE = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
NO_CARGO = "bash: line 1: cargo: command not found"
NO_GO = "bash: go: command not found"
OWNED = "error: cannot delete branch 'till' used by worktree at '/srv/till'"


@pytest.mark.parametrize(
    "calls",
    [
        # What failed was never run again, or another program was.
        [("cargo --version", NO_CARGO), ("ls ~/.cargo/bin; node --version", "")],
        [("cargo test", NO_CARGO), ("ls ~/.cargo/bin && npm test", "")],
        [("sudo docker ps", ENGINE), ("sudo systemctl start docker", "")],
        [("docker build -t shop .", ENGINE), ("open -a Docker; podman build -t shop .", "")],
        [("git branch -D till", OWNED), ("git switch main && git log till --oneline", "")],
        # It failed again in spite of the remedy, or nobody can see how it went.
        [("docker ps", ENGINE), ("open -a Docker; docker ps", ""), ("docker ps", ENGINE), ("docker ps", ENGINE)],
        [("go version", NO_GO), ("ls /usr/local/go/bin/; go version 2>/dev/null; echo", "")],
        # Something else in the line is why it works.
        [
            ("cargo test", NO_CARGO),
            ("curl https://sh.rustup.rs -sSf | sh -s -- -y && . ~/.cargo/env && cargo test", ""),
        ],
        [
            (
                "python3 scripts/a.py",
                "File \"scripts/a.py\", line 1, in <module>\n import b\nModuleNotFoundError: No module named 'b'",
            ),
            ("pip install b && PYTHONPATH=. python3 scripts/a.py", ""),
        ],
        # It had run out of memory.
        [("pkill -f train.py; python train.py --batch 512", "Exit code 137"), ("python train.py --batch 8", "")],
    ],
)
def test_what_only_looks_like_a_known_remedy_teaches_nothing(calls: list[tuple[str, str]]) -> None:
    script = Script()
    for line, error in calls:
        script.runs(line, error or "done", failed=bool(error))
    assert not _learnt(script)


@pytest.mark.parametrize(
    ("line", "said", "then"),
    [
        (
            "rg 'gh pr diff 7 --stat' docs",
            "docs/a.md: `gh pr diff 7 --stat` answers unknown flag: --stat",
            "rg 'gh pr diff 7 --name-only' docs",
        ),
        (
            "tail -3 docker.log",
            "failed to connect to the docker API at unix:///x",
            "open -a Docker; tail -3 docker.log",
        ),
        (
            "git log -1 --format=%s -- src",
            "error: pathspec 'src/a' did not match any file(s) known to git",
            "cd /srv/shop && git log -1 --format=%s",
        ),
    ],
)
def test_an_error_that_was_only_looked_at_was_not_met(line: str, said: str, then: str) -> None:
    assert not _learnt(Script().runs(line, said).runs(then, "done"))


def test_a_user_who_spoke_in_between_may_have_installed_what_was_not_found() -> None:
    script = Script().runs("cargo test", NO_CARGO, failed=True)
    assert _learnt(script.runs(". ~/.cargo/env && cargo test", "3 passed")) == ["Put Cargo's folder on PATH"]
    script = Script().runs("cargo test", NO_CARGO, failed=True).user("I have installed Rust now, try again.")
    assert not _learnt(script.runs(". ~/.cargo/env && cargo test", "3 passed"))
