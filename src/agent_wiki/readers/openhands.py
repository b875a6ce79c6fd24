"""OpenHands' event streams: a list of actions and observations, by itself or as `history` or `trajectory` of a result.

Each action has the whole response of the model that it came of: that is one reply, whose calls are done one by one. An
observation names the action that was its cause, for ids of calls come again after a condensation. Histories of older
evaluations hold pairs of an action and its observation. Events with a `kind` are those of the SDK (`openhands_sdk`).
(Read from what users published.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agent_wiki.readers import openhands_sdk
from agent_wiki.readers.builder import Call
from agent_wiki.readers.chat_values import reply_usage
from agent_wiki.readers.openhands_session import FORMAT_NAME, OpenHandsSession
from agent_wiki.readers.recorded import flat_text, identifier, mapping, number, objects, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.trajectory import MessageMark, Trajectory

FORMAT = FORMAT_NAME

_SOURCES = frozenset({"agent", "user", "environment"})
_ENDED_BADLY = frozenset({"error", "rate_limited"})
# The tools of actions that do not say which the model called, as in older streams, with their arguments.
_TOOLS = {
    "run": ("execute_bash", ("command", "is_input")),
    "run_ipython": ("execute_ipython_cell", ("code",)),
    "read": ("read", ("path",)),
    "write": ("write", ("path", "content")),
    "edit": ("edit", ("path", "command", "old_str", "new_str", "file_text", "content")),
    "browse": ("browser", ("url",)),
    "browse_interactive": ("browser", ("browser_actions",)),
}


def claims(sample: Sample) -> bool:
    """Events, on lines or in a list; results of an evaluation whose `history` is one; the state of a conversation."""
    if openhands_sdk.is_state(sample.document()):
        return True
    first = next(_objects_in(sample.values), {})
    return _is_any_event(first) or _is_any_event(next(_objects_in([_history(first)]), {}))


def read(recording: Recording) -> Iterator[Trajectory]:
    """The session of a list of events, or one for each result. Raises `UnreadableRecording` for one without turns."""
    session: OpenHandsSession | None = None
    for each in _objects_in(recording.values()):
        if (history := _history(each)) is not None:
            yield _whole(recording, _objects_in([history])).trajectory(each)
        elif openhands_sdk.is_state(each):
            yield _conversation(recording, each).trajectory({})
        elif _is_any_event(each):
            session = session or _session_with(each)
            session.take(each)
    if session is not None:
        session.end()
        recording.expect_messages(session.builder.messages)
        yield session.trajectory({})


def _history(result: dict[str, Any]) -> list[Any] | None:
    return next((found for key in ("history", "trajectory") if isinstance(found := result.get(key), list)), None)


def _whole(recording: Recording, events: Iterable[dict[str, Any]]) -> OpenHandsSession:
    """The session of all its events, which are of one form. Raises `UnreadableRecording` for one without turns."""
    session: OpenHandsSession | None = None
    for event in filter(_is_any_event, events):
        session = session or _session_with(event)
        session.take(event)
    session = session or _Session()
    session.end()
    recording.expect_messages(session.builder.messages)
    return session


def _conversation(recording: Recording, state: dict[str, Any]) -> OpenHandsSession:
    session = _whole(recording, openhands_sdk.events_beside(recording))
    session.note_state(state)
    return session


def _session_with(event: dict[str, Any]) -> OpenHandsSession:
    return openhands_sdk.SdkSession() if openhands_sdk.is_event(event) else _Session()


def _is_any_event(event: dict[str, Any]) -> bool:
    return _is_event(event) or openhands_sdk.is_event(event)


def _objects_in(values: Iterable[Any], depth: int = 2) -> Iterator[dict[str, Any]]:
    """The objects among values, and in lists of them; in a pair the action comes before its observation."""
    for value in values:
        if isinstance(value, list) and depth:
            yield from _objects_in(value, depth - 1)
        elif isinstance(value, dict):
            yield value


def _is_event(event: dict[str, Any]) -> bool:
    has_kind = isinstance(event.get("action"), str) or isinstance(event.get("observation"), str)
    return has_kind and str(event.get("source")) in _SOURCES and {"id", "timestamp", "message"} <= event.keys()


class _Session(OpenHandsSession):
    """Processes the events of one session in order."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, str] = {}  # by event
        self.keys: set[str] = set()  # calls that only type into a command that still runs

    def take(self, event: dict[str, Any]) -> None:
        """Process one event."""
        if not _is_event(event):
            return
        self.note_time(event.get("timestamp"))
        cost = number(mapping(event.get("llm_metrics")).get("accumulated_cost"))
        self.cost_usd = cost if cost else self.cost_usd
        action = event.get("action")
        if not isinstance(action, str):
            self._observation(str(event.get("observation")), event)
        elif event.get("source") == "agent" and action not in ("system", "condensation"):
            self._agents_action(action, event)
        else:
            self._other_action(action, event)

    def _other_action(self, action: str, event: dict[str, Any]) -> None:
        """What the user or the program did. States and look-ups of the program itself are no turns."""
        given = mapping(event.get("args"))
        if action == "message":
            began = [str(self.builder.started)] if self.builder.started else []
            self.known_by = self.known_by or [*began, flat_text(given.get("content"))]
            self.builder.user(flat_text(given.get("content")))
        elif action == "system":
            self.version = text_or_none(given.get("openhands_version")) or self.version
            self.builder.system(flat_text(given.get("content")))
        elif action == "condensation":
            self.builder.user(text_or_none(given.get("summary")), mark="compaction")
        elif action == "run":  # a command that the user typed beside the conversation
            self.builder.user(flat_text(given.get("command")), mark="injected")

    def _agents_action(self, action: str, event: dict[str, Any]) -> None:
        given, metadata = mapping(event.get("args")), mapping(event.get("tool_call_metadata"))
        response = mapping(metadata.get("model_response"))
        name, number_of = (
            str(response.get("id") or f"event-{event.get('id')}"),
            identifier(metadata.get("tool_call_id")),
        )
        call_id = self.calls[str(event.get("id"))] = f"{name}/{number_of or ''}"
        if given.get("is_input") in (True, "true"):
            self.keys.add(call_id)
        if name in self.usages:
            return  # its reply, with all its calls, is there since the first of its actions
        self.usages[name] = reply_usage(response.get("usage"))
        if (model := text_or_none(response.get("model"))) is not None:
            self.builder.models[model] += 1
        message = mapping(next(iter(objects(response.get("choices"))), {}).get("message"))
        said = flat_text(message.get("content")).strip() or (text_or_none(given.get("thought")) or "").strip()
        if action in ("message", "finish"):
            text = (flat_text(given.get("content")) or flat_text(given.get("final_thought"))).strip()
            said = "\n\n".join(filter(None, [said if said != text else "", text]))
        calls = [(f"{name}/{call_id or ''}", *call) for call_id, *call in _calls(action, given, message)]
        self.builder.assistant(said, thinking=text_or_none(message.get("reasoning_content")), calls=calls)

    def _observation(self, kind: str, event: dict[str, Any]) -> None:
        extras = mapping(event.get("extras"))
        if kind == "agent_state_changed":
            state, reason = str(extras.get("agent_state")), text_or_none(extras.get("reason")) or ""
            is_bad = state in _ENDED_BADLY
            self.exit_status = ": ".join(filter(None, [state, reason.partition("\n")[0]])) if is_bad else None
        elif kind == "recall":
            found = [extras.get("repo_instructions")]
            found += [each.get("content") for each in objects(extras.get("microagent_knowledge"))]
            self.builder.user("\n\n".join(filter(None, map(flat_text, found))), mark="injected")
        elif kind != "null":
            of_run = mapping(extras.get("metadata"))
            text = flat_text(event.get("content"))
            if of_run.get("exit_code") == -1:  # what stands around the output says why there is no status
                text = f"{flat_text(of_run.get('prefix'))}{text}{flat_text(of_run.get('suffix'))}".strip("\n")
            mark: MessageMark | None = "rejected" if kind == "user_rejected" else None
            call_id = self.calls.get(str(event.get("cause"))) or f"event-{event.get('cause')}"
            has_verdict = mark is None and call_id not in self.keys  # the exit code is the command's
            self.builder.tool(call_id, text, is_error=_failed(kind, text, extras) if has_verdict else None, mark=mark)


def _calls(action: str, given: dict[str, Any], message: dict[str, Any]) -> Iterator[Call]:
    """The calls of a reply but `finish`, which is its end; where it is not recorded the one that the action shows."""
    recorded = objects(message.get("tool_calls"))
    for call in recorded:
        function = mapping(call.get("function"))
        if (name := text_or_none(function.get("name"))) not in (None, "finish"):
            yield identifier(call.get("id")), str(name), function.get("arguments")
    if not recorded and action not in ("message", "finish"):
        tool, names = _TOOLS.get(action, (action, tuple(each for each in given if each != "thought")))
        yield None, tool, {each: given[each] for each in names if given.get(each) not in (None, "", False)}


def _failed(kind: str, text: str, extras: dict[str, Any]) -> bool | None:
    """Whether a call failed: by its exit code, or as the program says. None where its text has to tell."""
    exit_code = mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    if isinstance(exit_code, int) and not isinstance(exit_code, bool):
        return exit_code != 0 if exit_code >= 0 else None  # -1: it still runs
    if kind == "error" or extras.get("error") is True:
        return True
    return True if text.startswith("ERROR:") else None
