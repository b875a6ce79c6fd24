"""Where the nightly job is rehearsed: a bucket and a model on loopback, a bare remote, and programs that stand in."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agent_wiki.readers import buckets
from tests.buckets.servers import environment, moto_server, seaweedfs_server
from tests.rehearsal.workflow import Job, Runner, job_of
from tests.wikis import chat

_ROOT = Path(__file__).parents[2]
WORKFLOW = _ROOT / ".github" / "workflows" / "nightly.yml"
SCRIPT = _ROOT / "deploy" / "nightly" / "nightly.sh"
BUCKET = "rehearsal"
BRANCH = "wiki/nightly"

_PULLS, _CALLS = "pulls.json", "calls.jsonl"
_FORKS = 31  # one more than `gh pr list` lists if it is given no limit


class Stage:
    """All that nights happen on. `folder` is for everything on the disk."""

    def __init__(self, folder: Path, model_url: str) -> None:
        self.folder = folder
        self.remote = folder / "remote.git"
        self.store: Any = buckets.store_of(f"s3://{BUCKET}")
        self._nights = 0
        self._make_remote()
        self._make_programs()
        options = f"--engine anthropic --base-url {model_url} --concurrency 1 --jobs 1 --max-new-pages 100"
        self._names = {
            "vars.WIKI_BUCKET": f"s3://{BUCKET}/traces",
            "vars.WIKI_STATE": f"s3://{BUCKET}/wiki-state",
            "vars.WIKI_OPTIONS": options,
            "vars.AWS_REGION": "us-east-1",
            "secrets.ANTHROPIC_API_KEY": "any",
            "github.token": "any",
            "github.event.repository.default_branch": "main",
            "github.server_url": "https://github.com",
            "github.repository": "team/agents",
        }

    def job(self, **variables: str) -> Job:
        """The workflow's job, with these variables of the repository instead."""
        job = job_of(WORKFLOW, {**self._names, **{f"vars.{name}": value for name, value in variables.items()}})
        return Job({**job.environment, "WIKI_OUTPUT": str(self.folder / "output")}, job.steps)

    def put(self, name: str, content: bytes | None = None, more: int = 0) -> None:
        """Put a recording into the bucket: a session, or these bytes."""
        self.store.put(
            f"traces/{name}.json", json.dumps(chat(name, more=more)).encode() if content is None else content
        )

    def runner(self, **environment_of_night: str) -> Runner:
        """A runner with a fresh clone, as `actions/checkout` leaves it."""
        self._nights += 1
        clone = self.folder / f"clone-{self._nights}"
        git(self.folder, "clone", "--quiet", str(self.remote), str(clone))
        summary = self.folder / f"summary-{self._nights}.md"
        own = {
            "PATH": f"{self.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_REPOSITORY": "team/agents",
            "GITHUB_RUN_ID": str(self._nights),
            "GH_FOLDER": str(self.folder),
            "GH_REMOTE": str(self.remote),
            "WIKI_PAUSE": "0",
            "WIKI_NIGHT": str(self._nights),
        }
        return Runner(clone, {**os.environ, **own, **environment_of_night})

    def night(self, **environment_of_night: str) -> int:
        """A whole night on a fresh runner; the job's exit code."""
        return self.runner(**environment_of_night).run(self.job())

    def pulls(self) -> list[dict[str, Any]]:
        """The pull requests of the repository itself."""
        return [each for each in self._every_pull() if not each.get("isCrossRepository")]

    def _every_pull(self) -> list[dict[str, Any]]:
        pulls: list[dict[str, Any]] = json.loads((self.folder / _PULLS).read_text(encoding="utf-8"))
        return pulls

    def calls(self) -> list[str]:
        """What `gh pr` was asked to do since the last time, without what only looks."""
        calls = self.folder / _CALLS
        asked = [json.loads(line)[1] for line in calls.read_text(encoding="utf-8").splitlines()]
        calls.write_text("", encoding="utf-8")
        return [each for each in asked if each != "list"]

    def head(self, branch: str = BRANCH) -> str:
        """The commit of a branch of the remote; "" where there is none."""
        found = git(self.remote, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        return found.strip()

    def merge(self, *, is_squash: bool = False) -> None:
        """Merge the open pull request, as a person does on the forge: with a merge commit, or as one commit."""

        def squash(clone: Path) -> None:
            git(clone, "merge", "--quiet", "--squash", f"origin/{BRANCH}")
            git(clone, "commit", "--quiet", "--message", "The wiki")

        def merged(clone: Path) -> None:
            git(clone, "merge", "--quiet", "--no-ff", "--no-edit", f"origin/{BRANCH}")

        self._on_base(squash if is_squash else merged)
        pulls = [each if each.get("isCrossRepository") else {**each, "state": "merged"} for each in self._every_pull()]
        (self.folder / _PULLS).write_text(json.dumps(pulls), encoding="utf-8")

    def change_on_base(self, path: str, before: str, after: str) -> None:
        """Change a word of a file on the base branch."""

        def change(clone: Path) -> None:
            text = (clone / path).read_text(encoding="utf-8")
            assert before in text
            (clone / path).write_text(text.replace(before, after), encoding="utf-8")
            git(clone, "commit", "--quiet", "--all", "--message", "A change")

        self._on_base(change)

    def remove_on_base(self, path: str) -> None:
        """Take a file out on the base branch."""

        def remove(clone: Path) -> None:
            git(clone, "rm", "--quiet", path)
            git(clone, "commit", "--quiet", "--message", "Not wanted")

        self._on_base(remove)

    @contextmanager
    def forge_down(self) -> Iterator[None]:
        """Meanwhile `gh` fails."""
        mark = self.folder / "down"
        mark.touch()
        yield
        mark.unlink()

    def _on_base(self, work: Callable[[Path], object]) -> None:
        clone = self.folder / "person"
        git(self.folder, "clone", "--quiet", str(self.remote), str(clone))
        work(clone)
        git(clone, "push", "--quiet", "origin", "main")
        shutil.rmtree(clone)

    def lock(self) -> dict[str, Any]:
        """What the lock in the bucket says."""
        said: dict[str, Any] = json.loads(bytes(self.store.get("wiki-state/_wiki.lock").bytes()))
        return said

    def let_lock_run_out(self) -> None:
        """The ten minutes after the end of a machine go by."""
        self.store.put("wiki-state/_wiki.lock", json.dumps({**self.lock(), "lease_seconds": 0}).encode())

    def _make_remote(self) -> None:
        git(self.folder, "init", "--quiet", "--bare", "--initial-branch=main", str(self.remote))
        first = self.folder / "first"
        git(self.folder, "clone", "--quiet", str(self.remote), str(first))
        (first / "README.md").write_text("# Agents\n", encoding="utf-8")
        git(first, "checkout", "--quiet", "-B", "main")
        git(first, "add", ".")
        git(first, "commit", "--quiet", "--message", "Agents")
        git(first, "push", "--quiet", "origin", "main")
        fork = {"number": 1, "state": "open", "head": BRANCH, "base": "main", "isCrossRepository": True}
        (self.folder / _PULLS).write_text(json.dumps([fork] * _FORKS), encoding="utf-8")
        (self.folder / _CALLS).write_text("", encoding="utf-8")

    def _make_programs(self) -> None:
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "wiki-nightly").symlink_to(SCRIPT)
        for name, command in (
            ("gh", _GH.format(down=self.folder / "down", python=sys.executable, gh=Path(__file__).with_name("gh.py"))),
            ("pip", "exit 0"),
            ("wiki", _WIKI.format(python=sys.executable)),
        ):
            (programs / name).write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
            (programs / name).chmod(0o755)


_GH = "[ ! -e '{down}' ] && exec '{python}' '{gh}' \"$@\""
_WIKI = """\
if [ "$1" = ingest ] && [ -n "$MEANWHILE" ] && [ ! -e "$MEANWHILE.asked" ]; then
  : > "$MEANWHILE.asked"
  while [ ! -e "$MEANWHILE.done" ]; do sleep 0.05; done
fi
exec '{python}' -m agent_wiki "$@\""""


def git(folder: Path, *words: str) -> str:
    """What git prints."""
    identity = ["-c", "user.name=Person", "-c", "user.email=person@localhost"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def kill_all_below(pid: int) -> None:
    """What the end of a machine is for the processes of a step."""
    children: dict[int, list[int]] = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(each.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(each.parent.name))
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        waiting += children.get(one, [])
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def wait_for(path: Path, most_seconds: float = 300) -> None:
    """Wait until there is such a file."""
    began = time.monotonic()
    while not path.exists():
        assert time.monotonic() < began + most_seconds, path
        time.sleep(0.02)


@contextmanager
def bucket_on_loopback(folder: Path) -> Iterator[None]:
    """An empty bucket, and the environment to reach it: of SeaweedFS where that is installed, else of moto."""
    program = Path(sys.executable).with_name("weed")
    with seaweedfs_server(folder, BUCKET, program) if program.is_file() else _moto(folder) as (endpoint, _):
        for name in [each for each in os.environ if each.startswith("AWS_")]:
            del os.environ[name]
        os.environ.update(environment(endpoint))
        yield


@contextmanager
def _moto(folder: Path) -> Iterator[tuple[str, str]]:
    with moto_server(folder, BUCKET) as endpoint:
        yield endpoint, ""
