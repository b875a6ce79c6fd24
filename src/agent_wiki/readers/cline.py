"""Tasks of Cline and Roo Code: `api_conversation_history.json`, Anthropic's messages in one array.

Older versions write calls as XML into the text, newer ones as `tool_use`; results are texts that name their tool, or
`tool_result`. `ui_messages.json` beside it has the tokens and times, or is the recording where it is alone
(`cline_shown`); `task_metadata.json` has the program's version. (Read after Cline's and Roo's sources and public tasks;
no program of theirs ran here.)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from agent_wiki.errors import PartOfRecording, UnreadableRecording
from agent_wiki.readers.builder import Call, TrajectoryBuilder
from agent_wiki.readers.cline_shown import is_shown, sent
from agent_wiki.readers.cline_text import (
    Environment,
    UserText,
    environment_in,
    has_failed,
    mcp_call,
    spoken,
    taken_apart,
    user_text,
    was_refused,
)
from agent_wiki.readers.recorded import (
    add_counts,
    flat_text,
    mapping,
    most_used,
    number,
    objects,
    recorded_call,
    short_digest,
    text_or_none,
    usage_of,
)
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.sidecars import value_beside
from agent_wiki.trajectory import MessageMark, Source, Trajectory
from agent_wiki.trajectory.harness_text import harness_mark
from agent_wiki.trajectory.json_text import value_or

FORMAT = "cline"

_SENT = "api_conversation_history.json"
_CALLED = {"subagents": "use_subagents"}  # results that name their tool otherwise than its calls
_SPENT = {
    "tokensIn": "input_tokens",
    "tokensOut": "output_tokens",
    "cacheWrites": "cache_creation_input_tokens",
    "cacheReads": "cache_read_input_tokens",
}
_SPENT_ON_A_REPLY = {"prompt": "input_tokens", "completion": "output_tokens"}


def claims(sample: Sample) -> bool:
    """An array of messages, the first a user's with `environment_details` or a `<task>`; or of what Cline showed."""
    if sample.shape != "document" or not isinstance(sample.values[0], list):
        return False
    first = objects(sample.values[0][:1])
    if first and is_shown(first[0]):
        return True
    if not first or first[0].get("role") != "user":
        return False
    texts = [str(block.get("text", "")) for block in objects(first[0].get("content")) if block.get("type") == "text"]
    return any(text.startswith("<task>") or "<environment_details>" in text for text in texts)


def read(recording: Recording) -> Iterator[Trajectory]:
    """The one task of a file. Raises `UnreadableRecording` when nothing was said in it.

    Also `PartOfRecording` for what was shown of a task whose messages are beside it.
    """
    task = _Task()
    recorded = (message for message in recording.elements() if isinstance(message, dict))
    first: dict[str, Any] = next(recorded, {})
    shown: Any = None
    if is_shown(first):
        if recording.has_beside(_SENT):
            raise PartOfRecording(recording.name, f"no recording: what Cline showed of the task in {_SENT}")
        shown = [first, *recorded]
    for message in chain([first], recorded) if shown is None else sent(shown):
        task.take(message)
    if not task.builder.messages:
        raise UnreadableRecording(recording.name, "a task without messages")
    shown = shown or value_beside(recording, "ui_messages.json")
    yield task.trajectory(shown, value_beside(recording, "task_metadata.json"))


class _Task:
    """Processes the messages of one task in order."""

    def __init__(self) -> None:
        self.builder = TrajectoryBuilder()
        self.tokens: Counter[str] = Counter()
        self.environment = Environment()
        self.waiting: dict[str, str] = {}  # calls without a result: id → name
        self.result_of: str | None = None  # the tool whose result the next text is
        self.first: Any = None
        self.times: list[Any] = []

    def take(self, message: dict[str, Any]) -> None:
        """Process one message."""
        self.first = self.first or message
        if "ts" in message:
            self.times.append(message["ts"])
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
        if message.get("role") == "assistant":
            self._reply(blocks, message)
        elif message.get("isSummary"):
            self.builder.user(flat_text(content), "compaction")
        else:
            self.result_of = None
            for block in blocks:
                self._of_user(block)

    def _reply(self, blocks: list[dict[str, Any]], message: dict[str, Any]) -> None:
        thoughts: list[str] = []
        words: list[str] = []
        calls: list[Call] = []
        for block in blocks:
            if block.get("type") == "tool_use":
                calls.append(recorded_call(block, "id", "name", "input"))
            elif block.get("type") in ("thinking", "reasoning"):
                thoughts.append(str(block.get("thinking") or block.get("text") or ""))
            elif block.get("type") == "text":
                said, thought, written = taken_apart(str(block.get("text", "")))
                words.append(said)
                thoughts.append(thought)
                calls += written
        said_by_call, calls = spoken(calls)
        text = "\n\n".join(each.strip() for each in (*words, *said_by_call) if each.strip())
        thinking = "\n\n".join(each for each in thoughts if each.strip())
        calls = [mcp_call(call) for call in calls]
        ids = self.builder.assistant(text, thinking=thinking, calls=calls)
        self.waiting = {call_id: call[1] for call_id, call in zip(ids, calls, strict=True)}
        self._measure(message)

    def _measure(self, message: dict[str, Any]) -> None:
        if isinstance(model := mapping(message.get("modelInfo")).get("modelId"), str):
            self.builder.models[model] += 1
        metrics = mapping(message.get("metrics"))
        add_counts(self.tokens, mapping(metrics.get("tokens")), _SPENT_ON_A_REPLY)
        self.builder.note_cost(number(metrics.get("cost")))

    def _of_user(self, block: dict[str, Any]) -> None:
        if block.get("type") == "tool_result":
            self._notice(text := flat_text(block.get("content")))
            found = user_text(text)
            call_id, is_error = text_or_none(block.get("tool_use_id")), block.get("is_error")
            self._result(call_id, found.text if found.tool else text, is_error if isinstance(is_error, bool) else None)
            self._words(found)
        elif (text := flat_text([block])) and text.strip():
            self._notice(text)
            self._text(user_text(text))

    def _notice(self, text: str) -> None:
        """The surroundings, as the first message that describes them has them."""
        found = environment_in(text)
        ours = self.environment
        self.environment = Environment(
            ours.cwd or found.cwd, ours.remote or found.remote, ours.model or found.model, ours.is_roo or found.is_roo
        )

    def _text(self, found: UserText) -> None:
        if found.tool is not None:
            self.result_of = found.tool
            if found.text.strip():
                self._result_of_tool(found.text)
            self._words(found)
        elif self.result_of is not None and (found.note or found.words):
            self._result_of_tool(found.note or found.words[0])
            self._words(found)
        else:
            if found.note:
                self.builder.user(found.note, harness_mark(found.note) or "injected")
            self._words(found)

    def _words(self, found: UserText) -> None:
        for words in found.words:
            self.builder.user(words)

    def _result_of_tool(self, text: str) -> None:
        """A result that names its tool; of a tool by which the agent only spoke it is a note of the program."""
        name, self.result_of = self.result_of, None
        name = _CALLED.get(name or "", name)
        call_id = next((call_id for call_id, called in self.waiting.items() if called == name), None)
        call_id = call_id or (next(iter(self.waiting), None) if name == "use_mcp_tool" else None)
        if call_id is None:
            self.builder.user(f"[{name}] {text}", "injected")
        else:
            self._result(call_id, text, None)

    def _result(self, call_id: str | None, text: str, is_error: bool | None) -> None:
        self.waiting.pop(call_id or "", None)
        mark: MessageMark | None = "rejected" if was_refused(text) else None
        flag = has_failed(text) if is_error is None else is_error
        self.builder.tool(call_id, text, is_error=None if mark else flag, mark=mark)

    def trajectory(self, ui_messages: Any, metadata: Any) -> Trajectory:
        """The task, with what the files beside it say of its tokens, times and program."""
        shown = objects(ui_messages)
        spent, cost_usd = _spent(shown)
        times = self.times or [each.get("ts") for each in shown if "ts" in each]
        if times:
            self.builder.note_time(times[0], times[-1])
        versions = [each.get("cline_version") for each in objects(mapping(metadata).get("environment_history"))]
        models = [each.get("model_id") for each in objects(mapping(metadata).get("model_usage"))]
        source = Source(
            format=FORMAT,
            agent_version=text_or_none(versions[-1]) if versions else None,
            cwd=self.environment.cwd,
            remote=self.environment.remote,
            usage=usage_of(spent or self.tokens),
            cost_usd=None if cost_usd is None else round(cost_usd, 9),
        )
        model = (
            most_used(self.builder.models) or (text_or_none(models[-1]) if models else None) or self.environment.model
        )
        return self.builder.finish(
            f"cline-{short_digest([json.dumps(self.first, sort_keys=True)])}",
            source,
            agent="roo-code" if self.environment.is_roo else FORMAT,
            model=model,
        )


def _spent(shown: list[dict[str, Any]]) -> tuple[Counter[str], float | None]:
    """Tokens and cost of all requests, as the program showed them."""
    tokens: Counter[str] = Counter()
    cost_usd: float | None = None
    for message in shown:
        if message.get("say") != "api_req_started":
            continue
        request = mapping(value_or(message.get("text"), None))
        add_counts(tokens, request, _SPENT)
        if (cost := number(request.get("cost"))) is not None:
            cost_usd = (cost_usd or 0.0) + cost
    return tokens, cost_usd
