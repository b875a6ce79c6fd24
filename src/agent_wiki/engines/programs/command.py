"""`--engine command:'…'`: any program that takes the prompt on standard input and prints JSON.

The command is the owner's: no shell reads it, and it has the whole environment. In its words `{schema}` stands for a
file with the JSON schema of the answer, `{model}` for the name that `--model` gives.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

from agent_wiki.engines.programs.program import Asked, Said, failure
from agent_wiki.engines.programs.running import Finished, Launch, program_on_path
from agent_wiki.errors import UsageError
from agent_wiki.recall.own_sessions import MINING_VARIABLE

NAME = "command"


class CommandProgram:
    """Raises `UsageError` for a command that is none."""

    name = NAME

    def __init__(self, command: str) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"--engine {NAME}:{command!r}: {error}") from error
        if not self._words:
            raise UsageError(f"--engine {NAME}:'PROGRAM WORDS…': name the program that takes the prompt")
        self.marks = tuple(self._words)

    def call(self, asked: Asked, folder: Path, environment: Mapping[str, str]) -> Launch:
        """The command's own words, and the whole prompt as its input."""
        schema = folder / "schema.json"
        schema.write_text(json.dumps(asked.schema, ensure_ascii=False), encoding="utf-8")
        words = [each.replace("{schema}", str(schema)).replace("{model}", asked.model) for each in self._words]
        words[0] = program_on_path(words[0], environment)
        return Launch(tuple(words), prompt_text(asked), {**environment, MINING_VARIABLE: "1"})

    def login_check(self, environment: Mapping[str, str]) -> None:
        """Without a login it says so at once."""

    def said(self, finished: Finished, folder: Path) -> Said:  # noqa: ARG002 - its output is all there is
        """Its standard output."""
        if finished.code:
            code, said = f"exit code {finished.code}", finished.last_line()
            raise failure(Path(self._words[0]).name, said if said.startswith(code) else f"{code}: {said}")
        return Said(finished.out)


def prompt_text(asked: Asked) -> str:
    """All of a request in one text: the system prompt, the question, the schema."""
    schema = json.dumps(asked.schema, ensure_ascii=False)
    form = f"Answer with one JSON object and nothing else. Its JSON schema:\n\n```json\n{schema}\n```\n"
    return f"{asked.system}\n\n{asked.text()}\n{form}"
