"""The script of a night, `wiki-nightly`, over a folder that stands in for a bucket. The rehearsal has whole nights."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.pipeline import bucket_state
from tests.planted import vendor_keys
from tests.repositories import Repository
from tests.wikis import record

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "deploy" / "nightly" / "nightly.sh"
LOCK_LINES = {
    ".github/workflows/nightly.yml": r"run: exec (wiki lock .*)",
    "deploy/nightly/gitlab-ci.yml": r"- (wiki lock .*)",
    "deploy/nightly/crontab": r"(wiki lock .*?) >>",
}


class Nightly:
    """A clone of a repository with a remote, a person's clone of it, and a folder of recordings."""

    def __init__(self, folder: Path) -> None:
        self.clone, self.traces = Repository(folder / "clone"), folder / "traces"
        self.clone.commit()
        self.remote = folder / "remote.git"
        self.clone.git("clone", "--quiet", "--bare", str(self.clone.root), str(self.remote))
        self.clone.git("remote", "add", "origin", str(self.remote))
        self.clone.git("clone", "--quiet", str(self.remote), str(folder / "person"))
        self.person = Repository(folder / "person")
        programs = folder / "bin"
        programs.mkdir()
        (programs / "wiki").write_text(f"#!/bin/sh\nexec '{sys.executable}' -m agent_wiki \"$@\"\n", encoding="utf-8")
        (programs / "wiki").chmod(0o755)
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("WIKI_")} | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "WIKI_OUTPUT": str(folder / "output"),
            "WIKI_OPTIONS": "--jobs 1",
            "WIKI_BUCKET": f"file://{self.traces}",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }

    def night(self, **variables: str) -> tuple[int, str]:
        """Exit code, and what it says."""
        return self.run(str(SCRIPT), **variables)

    def before_git(self, lines: str) -> None:
        """Have the script's git do something else first."""
        git = self.clone.root.parent / "bin" / "git"
        git.write_text(f"#!/bin/sh\n{lines}\nexec '{shutil.which('git')}' \"$@\"\n", encoding="utf-8")
        git.chmod(0o755)

    def with_github(self) -> dict[str, str]:
        """The variables for a night with a stand-in for GitHub, which knows no pull request yet."""
        folder = self.clone.root.parent
        (folder / "pulls.json").write_text("[]", encoding="utf-8")
        gh = folder / "bin" / "gh"
        gh.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{ROOT}/tests/rehearsal/gh.py' \"$@\"\n", encoding="utf-8")
        gh.chmod(0o755)
        return {"WIKI_FORGE": "github", "GH_FOLDER": str(folder), "GH_REMOTE": str(self.remote), "WIKI_PAUSE": "0"}

    def bodies(self) -> list[str]:
        """What the pull requests say."""
        pulls = json.loads((self.clone.root.parent / "pulls.json").read_text(encoding="utf-8"))
        return [each["body"] for each in pulls]

    def squash(self) -> None:
        """A person merges the branch into the base as one commit, as the forge does."""
        self.person.git("fetch", "--quiet")
        self.person.git("merge", "--quiet", "--squash", "origin/wiki/nightly")
        self.person.commit()
        self.person.git("push", "--quiet", "origin", "main")

    def edit_on_base(self, page: str, before: str, after: str) -> None:
        """A person changes a word of a page on the base."""
        path = self.person.root / page
        text = path.read_text(encoding="utf-8")
        assert before in text
        path.write_text(text.replace(before, after), encoding="utf-8")
        self.person.commit()
        self.person.git("push", "--quiet", "origin", "main")

    def run(self, *command: str, **variables: str) -> tuple[int, str]:
        environment = {**self._environment, **variables}
        done = subprocess.run(
            command, cwd=self.clone.root, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stderr


@pytest.fixture
def nightly(tmp_path: Path) -> Nightly:
    return Nightly(tmp_path)


@pytest.mark.parametrize(
    ("bucket", "state"),
    [
        ("s3://b/traces", "s3://b/traces/wiki-state"),
        ("s3://b/traces/", "s3://b/traces"),
        ("s3://b/traces//", "s3://b/traces/state/"),
        ("s3://b", "s3://b/wiki-state"),
    ],
)
def test_a_state_below_the_recordings_is_refused(nightly: Nightly, bucket: str, state: str) -> None:
    code, said = nightly.night(WIKI_BUCKET=bucket, WIKI_STATE=state)
    lies = f"WIKI_STATE ({state}) lies below WIKI_BUCKET ({bucket})"
    assert (code, said) == (2, f"nightly: {lies}, and would be read as recordings: name another place\n")


@pytest.mark.parametrize(
    ("variables", "lines"),
    [
        ({"WIKI_BUCKET": ""}, ["WIKI_BUCKET is not set"]),
        ({"WIKI_FORGE": "gitea"}, ["WIKI_FORGE=gitea: there is github, gitlab or none"]),
        ({"WIKI_FORGE": "github"}, ["gh is not on the PATH"]),
        (
            {"WIKI_FORGE": "gitlab", "WIKI_TOKEN": "x", "CI_API_V4_URL": "", "CI_PROJECT_ID": ""},
            ["curl is not on the PATH", "CI_API_V4_URL is not set", "CI_PROJECT_ID is not set"],
        ),
    ],
)
def test_what_a_night_lacks_is_said_before_anything_is_done(
    nightly: Nightly, variables: dict[str, str], lines: list[str], tmp_path: Path
) -> None:
    record(nightly.traces, "a")
    programs = tmp_path / "few"  # in which the forges' programs are not
    programs.mkdir()
    for name in ("bash", "env", "git", "mktemp", "python3"):
        program = shutil.which(name)
        assert program
        (programs / name).symlink_to(program)
    path = f"{tmp_path / 'bin'}:{programs}"
    code, said = nightly.night(PATH=path, **variables)
    assert code == 2
    shown = said.splitlines()
    assert len(shown) == len(lines)
    assert all(line.startswith(f"nightly: {start}") for line, start in zip(shown, lines, strict=True))
    assert not (tmp_path / "output").exists()


def test_a_night_outside_a_clone_is_one_line(nightly: Nightly) -> None:
    code, said = nightly.run("bash", "-c", f"cd / && exec '{SCRIPT}'", GIT_CEILING_DIRECTORIES="/")
    assert (code, said) == (2, "nightly: / is in no clone of a repository, which a night needs\n")


def test_options_on_several_lines_all_count_and_quotes_are_refused(nightly: Nightly, tmp_path: Path) -> None:
    record(nightly.traces, "a")
    record(nightly.traces / "scratch", "b")
    code, said = nightly.night(WIKI_OPTIONS="--jobs 1\n--exclude '*/scratch/*'")
    assert (code, said) == (2, "nightly: WIKI_OPTIONS: '*/scratch/*': write it without quotes\n")
    assert nightly.night(WIKI_OPTIONS="--jobs 1\n--exclude */scratch/*\n", WIKI_FOLDER="./wiki/")[0] == 0
    report = json.loads((tmp_path / "output" / "run-1.json").read_text(encoding="utf-8"))
    assert report["recordings_read"] == 1


def test_a_night_that_died_before_it_read_anything_is_cleared_by_the_next(nightly: Nightly, tmp_path: Path) -> None:
    record(nightly.traces, "a")
    half = f"'{nightly.clone.root}/.git/index.lock' '{nightly.clone.root}/half'"
    nightly.before_git(f"case $1 in checkout) touch {half}; kill -9 $PPID;; esac")
    (nightly.clone.root / "wiki").mkdir()
    assert nightly.night()[0] == -9
    (tmp_path / "bin" / "git").unlink()
    (nightly.clone.root / "half").unlink()
    (nightly.clone.root / "wiki" / "half.md").write_text("half", encoding="utf-8")
    assert nightly.night()[0] == 0


def test_an_open_request_says_when_there_is_nothing_new_any_more(nightly: Nightly, tmp_path: Path) -> None:
    forge = nightly.with_github()

    def bodies(number: int) -> list[str]:
        (nightly.traces / f"cut{number}.json").write_text('{"messages": [', encoding="utf-8")
        assert nightly.night(**forge)[0] == 1
        return nightly.bodies()

    record(nightly.traces, "a")
    assert "nothing new" not in bodies(1)[0]
    nightly.squash()
    assert "**Wiki: nothing new**" in bodies(2)[0]
    (tmp_path / "pulls.json").write_text("[]", encoding="utf-8")
    assert bodies(3) == [], "none is opened"


def test_what_is_new_counts_from_what_the_open_request_said(nightly: Nightly, tmp_path: Path) -> None:
    forge = nightly.with_github()
    heads = []
    for name, variables in (("a", forge), ("b", {}), ("c", forge)):  # of the second no request says anything
        record(nightly.traces, name)
        assert nightly.night(**variables)[0] == 0
        heads.append(nightly.clone.git("rev-parse", "origin/wiki/nightly").strip())
    (body,) = nightly.bodies()
    assert f"Since the last update (`{heads[0][:12]}`): " in body
    assert body.endswith(f"<!-- {heads[2]} -->\n")
    pulls = json.loads((tmp_path / "pulls.json").read_text(encoding="utf-8"))
    unknown = {**pulls[0], "body": f"<!-- {'0' * 40} -->"}  # from which nobody knows what was shown
    (tmp_path / "pulls.json").write_text(json.dumps([unknown]), encoding="utf-8")
    record(nightly.traces, "d")
    assert nightly.night(**forge)[0] == 0
    assert f"Since the last update (`{heads[2][:12]}`): " in nightly.bodies()[0]


def test_what_is_new_counts_from_what_the_open_merge_request_said(nightly: Nightly, tmp_path: Path) -> None:
    record(nightly.traces, "a")
    assert nightly.night()[0] == 0
    head = nightly.clone.git("rev-parse", "origin/wiki/nightly").strip()
    record(nightly.traces, "b")
    assert nightly.night()[0] == 0
    request = {"iid": 1, "state": "opened", "sha": "aa", "description": f"x\n\n<!-- {head} -->", "source_project_id": 7}
    (tmp_path / "requests.json").write_text(json.dumps([request]), encoding="utf-8")
    curl = tmp_path / "bin" / "curl"
    asked = f"case $* in *--get*) cat '{tmp_path}/requests.json';; esac"
    curl.write_text(f"#!/bin/sh\ncat > '{tmp_path}/header'\n{asked}\n", encoding="utf-8")
    curl.chmod(0o755)
    gitlab = {"WIKI_TOKEN": "any", "CI_API_V4_URL": "https://forge.invalid", "CI_PROJECT_ID": "7"}
    record(nightly.traces, "c")
    assert nightly.night(WIKI_FORGE="gitlab", **gitlab)[0] == 0
    body = (tmp_path / "output" / "body.md").read_text(encoding="utf-8")
    assert f"Since the last update (`{head[:12]}`): " in body


def test_state_without_news_has_a_subject_of_its_own(nightly: Nightly) -> None:
    subjects = []
    record(nightly.traces, "a")
    for content in ("", '{"messages": ['):
        if content:
            (nightly.traces / "cut.json").write_text(content, encoding="utf-8")
        nightly.night()
        subjects.append(nightly.clone.git("log", "-1", "--format=%s", "origin/wiki/nightly").strip())
    assert subjects == ["Wiki: no page changed, from 1 session", "Wiki: state of the bucket, no page changed"]


@pytest.mark.parametrize(
    "said",
    [
        "fatal: Authentication failed for 'https://forge.invalid/wiki.git/'",
        "remote: Permission to team/agents.git denied to bot.",
        "fatal: unable to access 'https://forge.invalid/wiki.git/': The requested URL returned error: 403",
        "fatal: repository 'https://forge.invalid/wiki.git/' not found",
        "remote: You can't push: it's not allowed here, isn't it?",
    ],
)
def test_a_push_that_nobody_takes_is_tried_once(nightly: Nightly, said: str) -> None:
    record(nightly.traces, "a")
    nightly.before_git(f'if [ "$1" = push ]; then echo "{said}" >&2; exit 128; fi')
    expected = f"{said}\nnightly: wiki/nightly could not be pushed: origin refuses it\n"
    code, printed = nightly.night(WIKI_PAUSE="0")
    assert (code, printed.endswith(expected), printed.count(said)) == (2, True, 1)


@pytest.mark.parametrize(
    "said",
    [
        "fatal: unable to access 'https://forge.invalid/access-denied/wiki.git/': Could not resolve host",
        "error: failed to push some refs to 'https://forge.invalid/not allowed/wiki.git'",
        "remote: upstream host not found",
    ],
)
def test_a_push_that_fails_otherwise_is_tried_again_whatever_the_remote_is_called(nightly: Nightly, said: str) -> None:
    record(nightly.traces, "a")
    nightly.before_git(f'if [ "$1" = push ]; then echo "{said}" >&2; exit 128; fi')
    code, printed = nightly.night(WIKI_PAUSE="0")
    assert (code, printed.count(said)) == (2, 3)
    assert printed.endswith("nightly: wiki/nightly could not be pushed\n")


def test_a_branch_that_the_remote_protects_is_pushed_once(nightly: Nightly) -> None:
    record(nightly.traces, "a")
    hook = nightly.remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho >> tries\necho 'You may not push to this branch.'\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    code, said = nightly.night(WIKI_PAUSE="0")
    assert (code, said.count("remote: You may not push to this branch.")) == (2, 1)
    assert (nightly.remote / "tries").read_text(encoding="utf-8") == "\n"


def test_a_night_says_what_it_pushed_and_where_it_pushed_nothing(nightly: Nightly) -> None:
    record(nightly.traces, "a")
    state = f"{nightly.traces.as_uri()}-state"  # beside the recordings, though it begins as they do
    assert "nightly: wiki/nightly is pushed; the body for a pull request is " in nightly.night(WIKI_STATE=state)[1]
    pushed = nightly.clone.git("rev-parse", "origin/wiki/nightly")
    code, said = nightly.night(WIKI_STATE=state)
    assert (code, nightly.clone.git("rev-parse", "origin/wiki/nightly")) == (0, pushed)
    assert said.count("nightly: ") == said.count("nightly: nothing new is pushed onto wiki/nightly; the body for ") == 1


def test_a_secret_that_somebody_pushed_makes_each_night_red_until_it_is_out(nightly: Nightly, tmp_path: Path) -> None:
    key = vendor_keys()["github"]
    record(nightly.traces, "a")
    assert nightly.night()[0] == 0
    nightly.person.git("fetch", "--quiet", "origin", "wiki/nightly")
    nightly.person.git("checkout", "--quiet", "-B", "wiki/nightly", "origin/wiki/nightly")
    page = nightly.person.root / "wiki" / "summaries" / "a.md"
    before = page.read_text(encoding="utf-8")
    for text, is_found in ((f"{before}\nThe key is {key}.\n", True), (before, False)):
        page.write_text(text, encoding="utf-8")
        nightly.person.commit()
        nightly.person.git("push", "--quiet", "origin", "wiki/nightly")
        pushed = nightly.person.git("rev-parse", "HEAD")
        for _ in range(2 if is_found else 1):
            code, said = nightly.night()
            assert (code, "nothing new is pushed" in said) == ((2, False) if is_found else (0, True)), said
            assert ("wiki on origin/wiki/nightly holds secrets" in said) is is_found
            assert key not in said
            assert (tmp_path / "output" / "body.md").exists() is not is_found
            assert nightly.clone.git("rev-parse", "origin/wiki/nightly") == pushed


def test_a_secret_that_is_on_the_base_already_makes_the_night_red(nightly: Nightly) -> None:
    key = vendor_keys()["github"]
    record(nightly.traces, "a")
    assert nightly.night()[0] == 0
    nightly.squash()
    nightly.edit_on_base("wiki/summaries/a.md", "Outcome: ", f"With {key}. Outcome: ")
    nightly.person.git("push", "--quiet", "origin", "--delete", "wiki/nightly")
    code, said = nightly.night()
    assert (code, "wiki on origin/main holds secrets" in said, key in said) == (2, True, False), said


def test_a_night_whose_push_fails_twice_is_one_night_for_what_failed_in_it(nightly: Nightly) -> None:
    record(nightly.traces, "a")
    assert nightly.night(WIKI_NIGHT="1")[0] == 0
    said = (" ! [rejected] HEAD -> wiki/nightly (fetch first)", "fatal: unable to access: Could not resolve host")
    tries = "echo >> $0.tries; case $(wc -l < $0.tries) in 1) echo '{}' >&2; exit 1;; 2) echo '{}' >&2; exit 128;; esac"
    nightly.before_git(f'if [ "$1" = push ]; then {tries.format(*said)}; fi')
    (nightly.traces / "cut.json").write_text('{"messages": [', encoding="utf-8")
    code, printed = nightly.night(WIKI_NIGHT="2", WIKI_PAUSE="0")
    assert (code, printed.count("failed; taking in what is on wiki/nightly now")) == (1, 2)
    entries = nightly.clone.git("show", f"origin/wiki/nightly:wiki/{bucket_state.NAME}").splitlines()
    (failed,) = [entry for entry in map(json.loads, entries) if "failed_runs" in entry]
    assert (failed["failed_runs"], failed["failed_night"]) == (1, "2")


@pytest.mark.parametrize("is_base_edited", [True, False])
def test_what_people_change_on_the_base_after_a_squash_merge_stays(nightly: Nightly, is_base_edited: bool) -> None:
    pages = {name: f"wiki/summaries/{name}.md" for name in "ab"}
    record(nightly.traces, "a")
    assert nightly.night()[0] == 0
    nightly.squash()
    record(nightly.traces, "b")
    assert nightly.night()[0] == 0
    if is_base_edited:  # so that the squash gives a wiki that the branch never had
        nightly.edit_on_base(pages["a"], "Outcome: ", "Result: ")
    nightly.squash()
    nightly.edit_on_base(pages["b"], "Outcome: ", "Result: ")
    record(nightly.traces, "c")
    assert nightly.night()[0] == 0
    for page in pages.values():
        assert nightly.clone.git("show", f"wiki/nightly:{page}") == nightly.person.git("show", f"main:{page}")


@pytest.mark.parametrize("folder", ["wiki", "."])
def test_a_session_that_base_and_branch_mined_differently_stops_no_night(nightly: Nightly, folder: str) -> None:
    record(nightly.traces, "a")
    assert nightly.night(WIKI_FOLDER=folder)[0] == 0
    other = record(nightly.traces.parent / "other", "a", more=1)
    nightly.person.git("checkout", "--quiet", "main")
    wiki = nightly.person.root / folder
    assert main(["ingest", str(other), "--wiki", str(wiki), "--jobs", "1"]) == 0
    nightly.person.commit()
    nightly.person.git("push", "--quiet", "origin", "main")
    code, said = nightly.night(WIKI_FOLDER=folder)
    assert code == 0, said
    name = "_sessions/a.json" if folder == "." else f"{folder}/_sessions/a.json"
    shown = [nightly.clone.git("show", f"{each}:{name}") for each in ("origin/main", "origin/wiki/nightly")]
    assert json.loads(shown[0])["turns"] == json.loads(shown[1])["turns"] == 6


def test_what_people_change_after_a_squash_merge_stays_where_the_wiki_is_the_whole_checkout(nightly: Nightly) -> None:
    record(nightly.traces, "a")
    assert nightly.night(WIKI_FOLDER=".")[0] == 0
    nightly.squash()
    nightly.edit_on_base("summaries/a.md", "Outcome: ", "Result: ")
    record(nightly.traces, "b")
    code, said = nightly.night(WIKI_FOLDER=".")
    assert code == 0, said
    page = "summaries/a.md"
    assert nightly.clone.git("show", f"wiki/nightly:{page}") == nightly.person.git("show", f"main:{page}")
    assert nightly.clone.git("log", "--oneline", "--grep", "merged into main as one commit", "wiki/nightly")


@pytest.mark.parametrize("file", LOCK_LINES)
def test_a_job_without_a_state_names_the_variable(file: str, nightly: Nightly) -> None:
    line = re.search(LOCK_LINES[file], (ROOT / file).read_text(encoding="utf-8"))
    assert line is not None
    code, said = nightly.run("bash", "-c", line[1], WIKI_STATE="")
    place = "name a place in a bucket, as in s3://bucket/prefix"
    assert (code, said) == (2, f"wiki: (WIKI_STATE is not set)/_wiki.lock: {place}\n")


def test_a_merge_request_of_a_fork_is_not_the_jobs_own() -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    program = script.partition("known_requests='")[2].partition("'\n\n")[0]
    said = f"<!-- {'a' * 40} -->"
    requests = [
        {"iid": 1, "state": "opened", "sha": "aa", "description": said, "source_project_id": 9},
        {"iid": 2, "state": "opened", "sha": "bb", "description": None, "source_project_id": 7},
        {"iid": 3, "state": "closed", "sha": "cc", "description": f"x\n{said}\n", "source_project_id": 7},
    ]
    done = subprocess.run(
        [sys.executable, "-c", program, "7"],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"2 opened bb -\n3 closed cc {said}\n"


def test_it_says_how_it_is_set_up_and_takes_no_arguments(nightly: Nightly) -> None:
    asked = subprocess.run([str(SCRIPT), "--help"], capture_output=True, text=True, check=True)
    assert all(name in asked.stdout for name in ("Usage: wiki-nightly", "WIKI_BUCKET", "WIKI_FORGE", "The exit code"))
    code, said = nightly.run(str(SCRIPT), "s3://bucket")
    assert (code, said) == (
        2,
        "nightly: s3://bucket: it takes no arguments; `wiki-nightly --help` says how it is set up\n",
    )
    assert "wiki/nightly" not in nightly.clone.git("branch", "--all")
