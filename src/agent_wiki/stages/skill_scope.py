"""How far a workflow holds: for its repository alone, if it runs what only that repository has."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from agent_wiki.pages.scope import GENERAL
from agent_wiki.shell.kinds import script_of
from agent_wiki.shell.simple_commands import SimpleCommand, steps_of
from agent_wiki.shell.task_runners import TASK_RUNNERS, runner_name, task_words
from agent_wiki.stages.recorded_commands import PLACEHOLDER
from agent_wiki.wiki.scopes import REPOSITORY

if TYPE_CHECKING:
    from agent_wiki.stages.synthesize_skill import SkillAnswer

_PARAMETER = "\ue000"  # stands for a parameter where `<name>` would be read as a redirection
_OF_THE_RUNNER = frozenset(
    {"add", "audit", "cache", "ci", "config", "create", "dedupe", "dlx", "exec", "i", "init", "install", "link", "list",
     "ls", "outdated", "pack", "plugins", "publish", "remove", "rm", "trust", "uninstall", "update", "upgrade", "use",
     "version", "view", "why", "x"}
)  # fmt: skip
"""Words of a task runner that it has everywhere; any other is the name of a task of the repository."""


def scope_of(skill: SkillAnswer) -> str:
    """`repository` if a step runs a task or a script of the repository that the skill does not bring; else `general`.

    What the engine proposed comes first.
    """
    if skill.scope:
        return skill.scope
    brought = {script.file for script in skill.scripts}
    commands = (PLACEHOLDER.sub(_PARAMETER, step.command) for step in skill.steps if step.command)
    is_own = any(_is_repositorys(step, brought) for command in commands for step in steps_of(command))
    return REPOSITORY if is_own else GENERAL


def _is_repositorys(step: SimpleCommand, brought: Collection[str]) -> bool:
    if runner_name(step.program) in TASK_RUNNERS:
        words = task_words(step.words)
        task = next((word for word in words if word not in ("run", "run-script")), "")
        return bool(task) and task not in _OF_THE_RUNNER and _PARAMETER not in task
    script = script_of(step)
    if script is None or script.startswith(("/", "~", "$")) or _PARAMETER in script:
        return False
    return "." in script.rpartition("/")[2] and script.rpartition("/")[2] not in brought
