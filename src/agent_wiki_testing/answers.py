"""Who answers in place of a model: a callable, a script, or an echo of the schema; and what its words become.

An answerer gets an `Asked` and gives JSON values (sent as JSON text, or as the input of a forced tool), a string (sent
as it is) or a `Reply` (sent with its own stop reason).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from agent_wiki_testing.checks import forced_tool, native_schema
from agent_wiki_testing.endpoint import Endpoint
from agent_wiki_testing.faults import Fault, Occasion
from agent_wiki_testing.schemas import schema_in_text, smallest_value
from agent_wiki_testing.tokens import CHARACTERS_PER_TOKEN, content_blocks, token_count

StopReason = Literal["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal", "model_context_window_exceeded"]
PROSE = "I have read it all. Nothing said in which form you would like the answer."
_UNFINISHED = '{"answer": ['


@dataclass(frozen=True)
class Asked:
    """One request for a message, as an answerer sees it.

    `number` counts requests in order of arrival, from 1 (for an item of a batch: its place); `attempt` how often this
    very body has come, `digest` is that of its bytes. `schema` is the one that the model knows of, `means` by what:
    structured output, a forced tool, or the text of the prompt; both are None where the endpoint ignores what was
    asked.
    """

    body: dict[str, Any]
    number: int
    attempt: int
    digest: str
    schema: dict[str, Any] | None
    means: Literal["native", "tool", "prompt"] | None
    custom_id: str | None = None

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @cached_property
    def system(self) -> str:
        """The system prompt."""
        return "\n".join(part["text"] for part in content_blocks(self.body.get("system") or ()))

    @cached_property
    def blocks(self) -> list[str]:
        """The texts of all text blocks of the messages, in order."""
        parts = [part for message in self.body["messages"] for part in content_blocks(message["content"])]
        return [part["text"] for part in parts if part["type"] == "text"]

    @property
    def text(self) -> str:
        """All text of the messages."""
        return "\n".join(self.blocks)

    @property
    def question(self) -> str:
        """The last text block: where the trajectory comes first, the question."""
        return self.blocks[-1] if self.blocks else ""

    @cached_property
    def stage(self) -> str | None:
        """The stage whose answer is asked for, by the title of the schema or the last such title in the question."""
        stages = _stage_by_title()
        title = str((self.schema or {}).get("title"))
        if title in stages:
            return stages[title]
        places = {self.question.rfind(title): stage for title, stage in stages.items()}
        return places[max(places)] if max(places) >= 0 else None


Answerer = Callable[[Asked], Any]


@lru_cache(maxsize=1)
def _stage_by_title() -> dict[str, str]:
    from agent_wiki.stages import consolidate_clusters, discover_tasks, extract_guidelines, summarize, synthesize_skill

    return {
        summarize.SummaryAnswer.__name__: summarize.STAGE,
        extract_guidelines.GuidelinesAnswer.__name__: extract_guidelines.STAGE,
        synthesize_skill.SkillsAnswer.__name__: synthesize_skill.STAGE,
        consolidate_clusters.ClustersAnswer.__name__: consolidate_clusters.STAGE,
        discover_tasks.TaskAnswer.__name__: discover_tasks.STAGE,
        discover_tasks.SubtasksAnswer.__name__: discover_tasks.STAGE,
    }


def asked_of(body: dict[str, Any], endpoint: Endpoint, occasion: Occasion, custom_id: str | None = None) -> Asked:
    """A checked body as an answerer sees it: with the schema that a model behind this endpoint would know of."""
    asked = Asked(body, occasion.number, occasion.attempt, occasion.digest, None, None, custom_id)
    tool = forced_tool(body) if endpoint.forced_tools == "honoured" else None
    if (schema := native_schema(body, endpoint)) is not None:
        return replace(asked, schema=schema, means="native")
    if tool is not None:
        return replace(asked, schema=tool["input_schema"], means="tool")
    if (schema := schema_in_text(f"{asked.system}\n{asked.question}")) is not None:
        return replace(asked, schema=schema, means="prompt")
    return asked


def echo(asked: Asked) -> Any:
    """The default answerer: the smallest answer that fits the schema, prose where there is none."""
    return PROSE if asked.schema is None else smallest_value(asked.schema)


class ScriptedAnswer(BaseModel):
    """One line of a script: the answer for requests of which all of this is true."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: Any
    stage: str | None = None
    number: int | None = None
    digest: str | None = None
    custom_id: str | None = None
    text: str = ""

    def fits(self, asked: Asked) -> bool:
        """Whether this is the answer to that request."""
        exact = ("stage", "number", "digest", "custom_id")
        found = [name for name in exact if getattr(self, name) is not None]
        return self.text in asked.text and all(getattr(self, name) == getattr(asked, name) for name in found)


def scripted(answers: Sequence[ScriptedAnswer]) -> Answerer:
    """An answerer that takes the first line of a script that fits, and else the echo."""

    def answer(asked: Asked) -> Any:
        found = next((each for each in answers if each.fits(asked)), None)
        return echo(asked) if found is None else found.answer

    return answer


@dataclass(frozen=True, slots=True)
class Reply:
    """What a message says: a text, or the input of a called tool."""

    text: str = ""
    tool_input: dict[str, Any] | None = None
    stop_reason: StopReason = "end_turn"

    def output_tokens(self) -> int:
        """At least one, as on the service, also where nothing is said."""
        said = self.text if self.tool_input is None else json.dumps(self.tool_input, ensure_ascii=False)
        return max(1, token_count(said))

    def content(self, asked: Asked) -> list[dict[str, Any]]:
        """The content blocks of the message."""
        if self.tool_input is not None:
            name = (forced_tool(asked.body) or {})["name"]
            return [{"type": "tool_use", "id": f"toolu_{asked.digest[7:27]}", "name": name, "input": self.tool_input}]
        return [{"type": "text", "text": self.text, "citations": None}] if self.text else []


def reply_to(asked: Asked, answer: Any, fault: Fault | None, room_tokens: int) -> Reply:
    """What an answerer said as the message that goes out.

    In: what was asked and answered, the fault that strikes if one does, and the tokens that fit before the context
    window is full. JSON values for a model that knows of no schema become prose: it could not have given them.
    """
    reply = _reply(asked, answer)
    if fault is not None:
        reply = _spoiled(reply, answer, fault)
    most = min(int(asked.body["max_tokens"]), room_tokens)
    if reply.output_tokens() > most:
        reason: StopReason = "max_tokens" if most < room_tokens else "model_context_window_exceeded"
        return _cut(reply, most * CHARACTERS_PER_TOKEN, reason)
    return reply


def _reply(asked: Asked, answer: Any) -> Reply:
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, str):
        return Reply(answer)
    if asked.means is None:
        return Reply(PROSE)
    if asked.means == "tool" and isinstance(answer, dict):
        return Reply(tool_input=answer, stop_reason="tool_use")
    return Reply(json.dumps(answer, ensure_ascii=False))


def _spoiled(reply: Reply, answer: Any, fault: Fault) -> Reply:
    if fault.kind == "refusal":
        return Reply(stop_reason="refusal")
    if fault.kind == "truncation":
        return _cut(reply, len(reply.text) // 2, "max_tokens")
    if fault.kind == "context-window":
        return _cut(reply, len(reply.text) // 2, "model_context_window_exceeded")
    if fault.kind == "malformed":
        return Reply(_UNFINISHED)
    if fault.kind == "fenced":
        return Reply(f"Here it is:\n\n```json\n{reply.text}\n```\n") if reply.tool_input is None else reply
    return _schema_broken(reply, answer)


def _cut(reply: Reply, characters: int, stop_reason: StopReason) -> Reply:
    if reply.tool_input is not None:  # what was there of the input is no JSON yet
        return Reply(tool_input={}, stop_reason=stop_reason)
    return Reply(reply.text[:characters], stop_reason=stop_reason)


def _schema_broken(reply: Reply, answer: Any) -> Reply:
    """JSON as good as the answer but for its first field, which has another name."""
    values = dict(answer) if isinstance(answer, dict) else {}
    first = next(iter(values), None)
    broken = {"unasked": values.pop(first, None), **values}
    if reply.tool_input is not None:
        return replace(reply, tool_input=broken)
    return Reply(json.dumps(broken, ensure_ascii=False))
