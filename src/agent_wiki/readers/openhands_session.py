"""What is known of a session of OpenHands while its events are read, whatever their form, and the trajectory of it."""

from __future__ import annotations

from typing import Any

from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_values import summed_usage
from agent_wiki.readers.recorded import identifier, iso_utc, mapping, most_used, number, short_digest, text_or_none
from agent_wiki.trajectory import Source, Trajectory, Usage

FORMAT_NAME = "openhands"

_ANSWER_KEYS = ("patch", "test_patch", "FAIL_TO_PASS", "PASS_TO_PASS")


class OpenHandsSession:
    """Takes the events of one session in order; each form of them is a class below it."""

    def __init__(self) -> None:
        self.builder = TrajectoryBuilder()
        self.known_by: list[str] = []  # what makes the session's id; the same while the recording grows
        self.usages: dict[str, Usage | None] = {}  # by response
        self.cost_usd: float | None = None
        self.version: str | None = None
        self.exit_status: str | None = None

    def take(self, event: dict[str, Any]) -> None:
        """Process one event."""
        raise NotImplementedError

    def end(self) -> None:
        """All events have been taken."""

    def note_state(self, state: dict[str, Any]) -> None:
        """Note what a conversation's state says beside its events."""

    def note_time(self, at: Any) -> None:
        """Note when something was recorded."""
        if (text := text_or_none(at)) is not None and iso_utc(text) is not None:
            self.builder.note_time(text)

    def trajectory(self, result: dict[str, Any]) -> Trajectory:
        """The trajectory of all events taken; `result` is what an evaluation says of it."""
        task_id = identifier(result.get("instance_id"))
        error = text_or_none(result.get("error"))
        instance = mapping(result.get("instance"))
        source = Source(
            format=FORMAT_NAME,
            agent_version=self.version,
            task_id=task_id,
            resolved=_verdict(result),
            exit_status=error.strip().partition("\n")[0] if error else self.exit_status,
            usage=summed_usage(self.usages.values()),
            cost_usd=number(mapping(result.get("metrics")).get("accumulated_cost")) or self.cost_usd,
            hygiene={"answer_keys_withheld": sum(instance.get(key) not in (None, "", []) for key in _ANSWER_KEYS)},
        )
        metadata = mapping(result.get("metadata"))
        configured = mapping(metadata.get("llm_config")) or mapping(metadata.get("llm"))
        return self.builder.finish(
            f"{task_id or FORMAT_NAME}-{short_digest(self.known_by or [str(self.builder.started)])}",
            source,
            agent=FORMAT_NAME,
            model=most_used(self.builder.models) or text_or_none(configured.get("model")),
        )


def _verdict(result: dict[str, Any]) -> bool | None:
    """What a grader said of an evaluation's result; None where it is not in the file."""
    tested = mapping(result.get("test_result"))
    places = (mapping(result.get("report")), mapping(tested.get("report")), tested)
    return next((each["resolved"] for each in places if isinstance(each.get("resolved"), bool)), None)
