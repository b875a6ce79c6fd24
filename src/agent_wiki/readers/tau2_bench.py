"""tau2-bench results: `{timestamp, info, tasks, simulations: […]}`, each simulation one trajectory.

Or one simulation a file, `{task_id, reward, simulation_run}`, without the domain, the agent and the model. (Read
after files that users published; tau2-bench itself writes the first form.)

Differences from OpenAI messages: arguments are objects, a tool message has the call's id in `id` and a flag
in `error`, and `requestor` says who called, because the simulated user has tools too. A user's calls stay on
its user message, and their results are tool messages; both are marked `injected`, so that they are not taken for
the agent's. Usage and cost are the agent's alone. Task ids count from 0 in every domain, so the domain is put
before them ("airline/0"). `tasks` and the details of `reward_info` are answer keys, but for the `ticket` of a run
without a simulated user: that is the request, which its agent finds in the prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.builder import TrajectoryBuilder
from agent_wiki.readers.chat_messages import add_message, calls_of, message_text
from agent_wiki.readers.chat_values import content_id, reply_usage, summed_usage
from agent_wiki.readers.recorded import identifier, iso_utc, mapping, number, objects, seconds_between, text_or_none
from agent_wiki.readers.recording import Recording, Sample
from agent_wiki.readers.tau_bench import stop_mark
from agent_wiki.trajectory import Source, Trajectory

FORMAT = "tau2-bench"

_ANSWER_KEYS = ("evaluation_criteria", "user_scenario")


def claims(sample: Sample) -> bool:
    """One object with a list of simulations, the first of which has messages or a task id, or with a single one."""
    document = sample.document()
    simulations = document.get("simulations")
    if not isinstance(simulations, list):
        return _is_single(document)
    return not simulations or "task_id" in mapping(simulations[0]) or "messages" in mapping(simulations[0])


def _is_single(document: dict[str, Any]) -> bool:
    return "task_id" in document and isinstance(mapping(document.get("simulation_run")).get("messages"), list)


def read(recording: Recording) -> Iterator[Trajectory]:
    """Every simulation as one trajectory. Raises `UnreadableRecording` when none of them can be read."""
    document = mapping(recording.document())
    head = mapping(document.get("info"))
    tasks = {identifier(task.get("id")): task for task in objects(document.get("tasks"))}
    found = 0
    simulations = [_single(document)] if _is_single(document) else document.get("simulations") or []
    for position, simulation in enumerate(simulations, start=1):
        messages = mapping(simulation).get("messages")
        if not isinstance(messages, list) or not messages:
            recording.warnings.append(f"{recording.name}: simulation {position} has no messages, skipped")
            continue
        found += 1
        yield _trajectory(simulation, head, tasks.get(identifier(simulation.get("task_id")), {}))
    if not found:
        raise UnreadableRecording(recording.name, "no simulation with messages in it")


def _single(document: dict[str, Any]) -> dict[str, Any]:
    """The simulation of a file of its own, with the reward and the task's id that stand beside it."""
    simulation = mapping(document["simulation_run"])
    reward = mapping(simulation.get("reward_info")) or document.get("reward")
    return {"task_id": document["task_id"]} | simulation | {"reward_info": reward}


def _trajectory(simulation: dict[str, Any], head: dict[str, Any], task: dict[str, Any]) -> Trajectory:
    builder = TrajectoryBuilder()
    messages = list(_flat(simulation["messages"]))
    if (ticket := text_or_none(task.get("ticket"))) and not any(each.get("role") == "user" for each in messages):
        builder.user(ticket)
    for message in messages:
        _add(builder, message)
    domain = text_or_none(mapping(head.get("environment_info")).get("domain_name"))
    source = _source(simulation, task, domain)
    agent = mapping(head.get("agent_info"))
    session_id = identifier(simulation.get("id")) or content_id(
        FORMAT, domain, identifier(simulation.get("task_id")), source.trial, messages=simulation["messages"]
    )
    return builder.finish(
        session_id,
        source,
        agent=text_or_none(agent.get("implementation")),
        model=text_or_none(agent.get("llm")),
        timestamp=iso_utc(simulation.get("start_time")),
    )


def _flat(messages: list[Any]) -> Iterator[dict[str, Any]]:
    """The messages; results of parallel calls that were recorded as one message become separate messages."""
    for message in messages:
        if isinstance(message, dict):
            inner = message.get("tool_messages")
            yield from objects(inner) if isinstance(inner, list) else [message]


def _add(builder: TrajectoryBuilder, message: dict[str, Any]) -> None:
    if message.get("role") == "tool":
        flag = message.get("error")
        builder.tool(
            identifier(message.get("id")) or identifier(message.get("tool_call_id")),
            message_text(message),
            is_error=flag if isinstance(flag, bool) else None,
            mark="injected" if message.get("requestor") == "user" else None,
        )
    elif message.get("role") == "user" and message.get("tool_calls"):
        builder.user(message_text(message), "injected", calls=calls_of(message))
    else:
        add_message(builder, message, mark=stop_mark(message))


def _source(simulation: dict[str, Any], task: dict[str, Any], domain: str | None) -> Source:
    reward = simulation.get("reward_info")
    start, end = iso_utc(simulation.get("start_time")), iso_utc(simulation.get("end_time"))
    duration = number(simulation.get("duration"))
    replies = (each for each in _flat(simulation["messages"]) if each.get("role") == "assistant")
    withheld = sum(task.get(key) is not None for key in _ANSWER_KEYS) + isinstance(reward, dict)
    return Source(
        FORMAT,
        task_id="/".join(part for part in (domain, identifier(simulation.get("task_id"))) if part) or None,
        trial=identifier(simulation.get("trial")),
        reward=number(mapping(reward).get("reward", reward)),
        exit_status=text_or_none(simulation.get("termination_reason")),
        usage=summed_usage(reply_usage(reply.get("usage")) for reply in replies),
        cost_usd=number(simulation.get("agent_cost")),
        duration_seconds=duration if duration is not None else seconds_between(start, end),
        ended_at=end,
        hygiene={"answer_keys_withheld": withheld},
    )
