"""A printed prompt as text, and a folder with one file for each open question, so that they can be given to workers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_wiki.engines.recorded import ObservedPrompt
from agent_wiki.errors import RunError, UsageError
from agent_wiki.stages.order import ASKING_STAGES
from agent_wiki.trajectory import without_surrogates
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.replacing import replacing

if TYPE_CHECKING:
    from agent_wiki.pipeline.worklist import OpenQuestion

INDEX = "questions.json"
_MARK = 12  # digits of a digest
_FILE = re.compile(rf"(?:{'|'.join(ASKING_STAGES)})-[0-9a-f]{{{_MARK}}}\.txt")


def prompt_file_name(stage: str, request: str) -> str:
    """`<stage>-<first digits of the request>.txt`: nothing of a recording names a file."""
    return f"{stage}-{request.removeprefix('sha256:')[:_MARK]}.txt"


def prompt_sections(asked: ObservedPrompt) -> list[str]:
    """The parts under headings that nobody who wrote into a recording could have predicted."""
    mark = asked.prompt.digest.removeprefix("sha256:")[:_MARK]
    about = " ".join(", ".join(asked.about).split())
    return [
        f"# {asked.prompt.stage}: {about}",
        f"# request {asked.prompt.digest}" + (" (answered)" if asked.is_answered else ""),
        f"===== system {mark} =====",
        asked.prompt.system,
        f"===== message {mark} =====",
        asked.prompt.text,
        f"===== JSON schema of the answer {mark} =====",
        json.dumps(asked.prompt.schema, ensure_ascii=False, indent=2),
    ]


@dataclass(slots=True)
class PromptFolder:
    """A folder of prompts, one file a question, with an index. What is there and unchanged is not written again.

    Files of questions that are no longer open are removed, if an earlier index has them. `written`, `unchanged` and
    `removed` are names of files.
    """

    folder: Path
    is_dry_run: bool = False
    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _new: set[str] = field(default_factory=set)  # of those written the ones that were not there before

    def check(self, wiki: Path) -> None:
        """Raises `UsageError` for a folder inside the wiki: what lies there is committed with its pages."""
        if self.folder.resolve().is_relative_to(wiki.resolve()):
            raise UsageError(f"--prompts {self.folder}: inside the wiki; name a folder of your own beside it")

    def put(self, asked: ObservedPrompt) -> None:
        """Write the prompt of one question. Raises `RunError` where that is not possible."""
        name = prompt_file_name(asked.prompt.stage, asked.prompt.digest)
        if name not in self._seen:
            self._seen.add(name)
            self._write(name, "".join(f"{part}\n" for part in prompt_sections(asked)))

    def finish(self, questions: Sequence[OpenQuestion], others: Sequence[OpenQuestion] = ()) -> None:
        """Write the index, and remove what an earlier one has and no question asks any more. Raises `RunError`.

        `others` are open too but not listed: their files stay where they lie, and none is made.
        """
        kept = {prompt_file_name(each.stage, each.request) for each in others} - self._new
        kept = {name for name in kept if (self.folder / name).is_file()}
        for name in sorted((self._indexed() | self._seen) - {each.file for each in questions} - kept):
            if name in self.written:  # of a version of a session that turned out to be superseded
                self.written.remove(name)
            elif (self.folder / name).is_file():
                self.removed.append(name)
            if not self.is_dry_run:
                (self.folder / name).unlink(missing_ok=True)
        rows = [{key: value for key, value in asdict(each).items() if value is not None} for each in questions]
        index = {"questions": rows} | ({"others": [{"file": name} for name in sorted(kept)]} if kept else {})
        self._write(INDEX, json.dumps(index, ensure_ascii=False, indent=1) + "\n")

    def _indexed(self) -> set[str]:
        """The files that the index of an earlier run names; nothing that is not named as prompts are."""
        try:
            kept = json.loads((self.folder / INDEX).read_bytes())
            rows = [*kept["questions"], *kept.get("others", ())]
            return {row["file"] for row in rows if _FILE.fullmatch(row["file"])}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return set()

    def _write(self, name: str, text: str) -> None:
        content = without_surrogates(text).encode()
        path = self.folder / name
        try:
            if path.is_file() and path.read_bytes() == content:
                self.unchanged.append(name)
                return
            self.written.append(name)
            if not path.is_file():
                self._new.add(name)
            if not self.is_dry_run:
                self.folder.mkdir(parents=True, exist_ok=True)
                with replacing(path) as stream:
                    stream.write(content)
        except OSError as error:
            raise RunError(f"--prompts {path}: cannot write ({error.strerror})") from error
