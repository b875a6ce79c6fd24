"""A GitHub workflow's own shell steps, run as a runner would: expressions put in, one bash a step.

Of the expressions only what such a file needs is understood: names, strings, `||`, `!=` and `always()`. Steps that use
an action are left out.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")
_SHELL = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c")

Names = Mapping[str, str]
"""What names of contexts stand for, as `vars.WIKI_BUCKET`. Any other is empty."""


@dataclass(frozen=True)
class Step:
    """A shell step. `is_always` says that it runs after a failure too."""

    name: str
    script: str
    is_always: bool


@dataclass(frozen=True)
class Job:
    """The one job of a workflow for certain names; it has no steps where its condition is false."""

    environment: Mapping[str, str]
    steps: tuple[Step, ...]


def job_of(workflow: Path, names: Names) -> Job:
    """The workflow's job as a runner would see it."""
    (job,) = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    environment = {name: _put_in(str(value), names) for name, value in job["env"].items()}
    return Job(environment, tuple(_steps(job, names)) if _holds(job["if"], names) else ())


def _steps(job: Mapping[str, Any], names: Names) -> Iterator[Step]:
    for step in job["steps"]:
        condition = str(step.get("if", ""))
        is_always = condition == "always()"
        if "run" in step and (is_always or not condition or _holds(condition, names)):
            yield Step(step["name"], _put_in(step["run"], names), is_always)


def _put_in(text: str, names: Names) -> str:
    return _EXPRESSION.sub(lambda found: _value(found[1], names), text)


def _value(expression: str, names: Names) -> str:
    words = [word.strip() for word in expression.split("||")]
    values = (word.strip("'") if word[0] in "'0123456789" else names.get(word, "") for word in words)
    return next((value for value in values if value), "")


def _holds(condition: str, names: Names) -> bool:
    left, is_compared, right = condition.partition(" != ")
    assert is_compared, condition
    return _value(left, names) != _value(right, names)


@dataclass
class Runner:
    """Runs a job's steps in a folder. `exit_code` is that of the step that failed."""

    folder: Path
    environment: Mapping[str, str]
    exit_code: int = 0
    process: subprocess.Popen[bytes] | None = None

    def run(self, job: Job) -> int:
        """Run the steps. Out: 0, or the exit code of the first that failed."""
        for step in job.steps:
            if self.exit_code and not step.is_always:
                continue
            environment = {**self.environment, **job.environment}
            self.process = subprocess.Popen([*_SHELL, step.script], cwd=self.folder, env=environment)
            code = self.process.wait()
            self.exit_code = self.exit_code or code
        return self.exit_code
