"""Makes pydantic-ai.jsonl with pydantic-ai and a model that answers by script."""

from __future__ import annotations

from pathlib import Path

from exporting import provider
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings

traces = provider(Path(__file__).with_name("pydantic-ai.jsonl"))
Agent.instrument_all(InstrumentationSettings(tracer_provider=traces, version=5))


def boss_says(messages, info):
    replies = sum(isinstance(message, ModelResponse) for message in messages)
    if replies == 0:
        calls = [
            ToolCallPart("list_files", {"folder": "src"}, tool_call_id="c1"),
            ToolCallPart("read_file", {"path": "missing.py"}, tool_call_id="c2"),
        ]
        return ModelResponse(parts=[ThinkingPart("I look first."), TextPart("Let me look."), *calls])
    if replies == 1:
        return ModelResponse(parts=[ToolCallPart("ask_helper", {"question": "what is it?"}, tool_call_id="c3")])
    return ModelResponse(parts=[TextPart("There are two files.")])


def helper_says(messages, info):
    return ModelResponse(parts=[TextPart("A helper answer.")])


helper = Agent(FunctionModel(helper_says, model_name="helper-model"), name="helper", instructions="You help.")
boss = Agent(
    FunctionModel(boss_says, model_name="scripted"),
    name="boss",
    system_prompt="You list files.",
    instructions="Be brief.",
)


@boss.tool_plain
def list_files(folder: str) -> list[str]:
    return ["a.py", "b.py"]


@boss.tool_plain(retries=2)
def read_file(path: str) -> str:
    raise ModelRetry(f"no such file: {path}")


@boss.tool_plain
async def ask_helper(question: str) -> str:
    return (await helper.run(question)).output


first = boss.run_sync("How many files are in src?")
boss.run_sync("And now?", message_history=first.all_messages())
traces.shutdown()
