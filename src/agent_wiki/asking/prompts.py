"""Prompts: the files that a model reads, and how a question becomes a request.

The one module that knows the syntax of `prompts/<stage>.md`: YAML frontmatter (`version`, `system`, `max_tokens`) and a
Jinja body with the question. An owner's version is in the wiki's folder. A request about a trajectory begins with the
trajectory and ends with the question, so that the three questions on it share one prefix that a service can cache.
Transcript first, question last is inspect_scout's order; validated prompt files are simonw/llm's.
"""

from __future__ import annotations

import hashlib
import json
import math
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_wiki.asking.transcript import Segment, fenced, transcript
from agent_wiki.engine import Answer, Question
from agent_wiki.errors import RunError, UnreadablePage
from agent_wiki.pages.compare.family_figures import MOST_ROW_WRITES, family_figures
from agent_wiki.recall.own_sessions import PROMPT_MARK
from agent_wiki.recall.reads import wiki_reads
from agent_wiki.stages import discover_tasks, summarize
from agent_wiki.stages.order import ASKING_STAGES
from agent_wiki.trajectory import Trajectory, without_surrogates
from agent_wiki.trajectory.digests import sha256_of_values
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.page import line_of_field, parse_page
from agent_wiki.wiki.templates import check_no_links, shipped_folder, strict_environment, text_of_data
from agent_wiki.wiki.text import plain_line

if TYPE_CHECKING:
    from jinja2 import Environment, Template

LONG = "long-trajectory"
"""The prompt file for trajectories read in segments: a note before the question, and the request to merge answers."""
TOGETHER = "together"
"""The prompt file for several questions on one trajectory in one request."""

BYTES_PER_TOKEN = 2.5
"""Where nothing else is known. In 19 recorded sessions of six models, which say what each tool result added to the
prompt (81 results of 1.5 to 174 kB), it is 1.95 to 3.2 by model, less with newer ones."""

_MOST_TOKENS = 21_333  # the client does not wait for a longer answer without streaming
_MOST_RECALLED = 40
_MOST_LINE = 400
_OPENING = f"This is an {PROMPT_MARK}."


class PromptHead(BaseModel):
    """The frontmatter of a prompt file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    version: int = Field(ge=1)
    system: str = Field(min_length=1)
    max_tokens: int = Field(ge=1, le=_MOST_TOKENS)


@dataclass(frozen=True, slots=True)
class PromptFile:
    """One prompt, read and checked. `place` is the file's name in errors, `body_line` the line where its body begins.

    `digest` is that of the file's text, because an owner may change it without changing its version.
    """

    place: str
    head: PromptHead
    body: Template
    body_line: int
    digest: str


@dataclass(frozen=True)  # without slots, so that it keeps its digest
class Prompt:
    """The request for one question. `prefix` is the same for every question on one trajectory, "" without one.

    `schema` is the JSON schema of the answer; `text` the whole user message, `prefix` and `question` joined.
    """

    stage: str
    version: int
    system: str
    prefix: str
    question: str
    max_tokens: int
    schema: dict[str, Any]

    @property
    def text(self) -> str:
        return self.prefix + self.question

    @property
    def whole_text(self) -> str:
        """All that is sent: system prompt, message, and the schema."""
        return "\n".join((self.system, self.text, json.dumps(self.schema, ensure_ascii=False)))

    @property
    def estimated_tokens(self) -> int:
        """How many tokens that may be, by its length."""
        return math.ceil(len(self.whole_text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)

    @cached_property
    def digest(self) -> str:
        """`sha256:…` over the whole request, independent of the model."""
        parts = [self.stage, self.system, self.prefix, self.question, self.max_tokens, self.schema]
        return sha256_of_values(parts)


def read_prompts(overrides: Path | None = None) -> dict[str, PromptFile]:
    """Every prompt file. In: the owner's folder (`<wiki>/prompts`) or None. Out: stage (`LONG`, `TOGETHER`) → prompt.

    All are read and checked at once, so that a run does not find a broken one after paying for others. Raises
    `RunError` with file, line and reason, and `UnsafePath` for a link.
    """
    if overrides is not None:
        check_no_links(overrides)
    return {name: _read_prompt(name, overrides) for name in (*ASKING_STAGES, LONG, TOGETHER)}


def _read_prompt(stage: str, overrides: Path | None) -> PromptFile:
    name = f"{stage}.md"
    own = overrides / name if overrides is not None else None
    is_own = own is not None and own.exists()
    path = own if own is not None and is_own else shipped_folder("prompts") / name
    place = path.as_posix() if is_own else f"prompts/{name}"
    return parse_prompt(text_of_data(path, place), place)


@lru_cache(maxsize=64)
def parse_prompt(text: str, place: str) -> PromptFile:
    """A prompt file from its text. Raises `RunError` with `place`, line and reason."""
    from jinja2 import TemplateSyntaxError

    text = text.removeprefix("\ufeff")
    try:
        page = parse_page(text, place)
        head = PromptHead.model_validate(page.fields)
    except UnreadablePage as error:
        raise RunError(str(error)) from error
    except ValidationError as error:
        raise RunError(_first_problem(error, text, place)) from error
    body_line = text.count("\n", 0, len(text) - len(page.body)) + 1
    if not page.body.strip():
        raise RunError(f"{place}:{body_line}: the prompt asks nothing below its frontmatter")
    try:
        body = _template(page.body)
    except TemplateSyntaxError as error:
        raise RunError(f"{place}:{body_line + error.lineno - 1}: {error.message}") from error
    return PromptFile(place, head, body, body_line, hashlib.sha256(text.encode()).hexdigest())


def _first_problem(error: ValidationError, text: str, place: str) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "frontmatter"
    reason = "unknown field" if first["type"] == "extra_forbidden" else first["msg"]
    return f"{place}:{line_of_field(text, name)}: {name}: {reason}"


@lru_cache(maxsize=64)
def _template(text: str) -> Template:
    """A prompt's body, compiled once: this takes longer than everything else before the first question."""
    return _environment().from_string(text)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = strict_environment()
    environment.filters["fenced"] = fenced
    environment.filters["line"] = lambda value, most=_MOST_LINE: plain_line(str(value), most)
    return environment


def render_prompt(
    question: Question[Any],
    prompts: Mapping[str, PromptFile],
    seen: Trajectory | None = None,
    segment: Segment | None = None,
) -> Prompt:
    """The request for one question. Pure: the same question and prompts give the same bytes.

    In: a stage's question; the prompts by stage, from `read_prompts`; the trajectory as a model sees it (previews for
    long texts) if that is not the question's own; the segment of it that is shown. Raises `RunError` with file,
    line and reason if the prompt uses a field that the question does not have.
    """
    prompt = prompts[question.stage]
    prefix = _prefix(seen or question.fields().get("trajectory"), segment)
    asked = _rendered(prompt, _shown(question, segment))
    if segment is not None:
        asked = _rendered(prompts[LONG], {"segment": segment}) + "\n" + asked
    return _prompt(question, prompt, prompt.head.system, prefix, asked)


def render_merging_prompt(
    question: Question[Any], prompts: Mapping[str, PromptFile], parts: Sequence[tuple[Segment, str]]
) -> Prompt:
    """The request to merge the answers on the segments of the question's trajectory into one.

    In: each segment in order with its answer as JSON text. Raises `RunError` as `render_prompt` does.
    """
    prompt = prompts[question.stage]
    asked = _rendered(prompt, _shown(question))
    merging = _rendered(prompts[LONG], {"parts": parts, "question": asked})
    made = _prompt(question, prompt, prompts[LONG].head.system, "", merging)
    return replace(made, max_tokens=max(made.max_tokens, prompts[LONG].head.max_tokens))


def render_together(
    questions: Sequence[Question[Any]],
    prompts: Mapping[str, PromptFile],
    prefix: str,
    form: type[BaseModel],
    segment: Segment | None = None,
) -> Prompt:
    """Several questions on one trajectory as one request: `form` has a field for each, named after its answer's type.

    In: the questions in order; the prefix of the prompts that would ask them one by one. Raises `RunError` as
    `render_prompt` does.
    """
    asked = {}
    for question in questions:
        text = _rendered(prompts[question.stage], _shown(question, segment, is_together=True))
        note = "" if segment is None else _rendered(prompts[LONG], {"segment": segment}) + "\n"
        asked[question.answer_type.__name__] = note + text
    together = prompts[TOGETHER]
    return Prompt(
        stage="+".join(question.stage for question in questions),
        version=together.head.version,
        system=together.head.system.strip(),
        prefix=prefix,
        question=_rendered(together, {"questions": asked, "is_segment": segment is not None}),
        max_tokens=together.head.max_tokens,
        schema=_schema(form),
    )


def _prompt(question: Question[Any], prompt: PromptFile, system: str, prefix: str, asked: str) -> Prompt:
    answer_type: type[Answer] = question.answer_type
    return Prompt(
        stage=question.stage,
        version=prompt.head.version,
        system=system.strip(),
        prefix=prefix,
        question=asked if prefix else f"{_OPENING}\n\n{asked}",
        max_tokens=prompt.head.max_tokens,
        schema=_schema(answer_type),
    )


@lru_cache(maxsize=16)
def _schema(answer_type: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an answer, cached because creating one takes longer than rendering a prompt."""
    return answer_type.model_json_schema()


def _prefix(trajectory: Trajectory | None, segment: Segment | None) -> str:
    if trajectory is None:
        return ""
    return f"{_OPENING}\n\n{fenced(transcript(trajectory, segment), 'trajectory')}\n\n"


def _shown(question: Question[Any], segment: Segment | None = None, *, is_together: bool = False) -> dict[str, Any]:
    """What a prompt may show: the question's fields, figures from them, and whether others are asked with it."""
    shown = {**question.fields(), "is_together": is_together}
    if question.stage == summarize.STAGE:
        recalled = _recalled(shown["trajectory"])
        if segment is not None:
            recalled = {page: turn for page, turn in recalled.items() if segment.first <= turn <= segment.last}
        shown["recalled"] = recalled
    elif question.stage == discover_tasks.STAGE:
        shown["figures"] = family_figures(shown["sessions"] if "sessions" in shown else shown["peers"])
        shown["most_writes"] = MOST_ROW_WRITES
    return shown


def _recalled(trajectory: Trajectory) -> dict[str, int]:
    """Wiki page → the turn that read it first, without index pages and what a search only listed."""
    first: dict[str, int] = {}
    for read in wiki_reads(trajectory):
        if read.shows_page:
            first.setdefault(read.page, read.turn)
    return dict(list(first.items())[:_MOST_RECALLED])


def _rendered(prompt: PromptFile, shown: Mapping[str, Any]) -> str:
    from jinja2 import TemplateError

    try:
        return without_surrogates(prompt.body.render(**shown)).strip("\n") + "\n"
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
        line = prompt.body_line + (lines[-1] or 1) - 1 if lines else prompt.body_line
        raise RunError(f"{prompt.place}:{line}: {error}") from error
