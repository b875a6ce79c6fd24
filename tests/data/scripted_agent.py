"""An agent of LangGraph whose model answers by script: it lists a folder, fails to read a file, and answers."""

from __future__ import annotations

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import Field

QUESTION = {"messages": [("system", "You list files."), ("user", "How many files are in src?")]}
_CALLS = [
    {"name": "list_files", "args": {"folder": "src"}, "id": "c1"},
    {"name": "read_file", "args": {"path": "missing.py"}, "id": "c2"},
]


class Scripted(BaseChatModel):
    model_name: str = "scripted"
    response_metadata: dict[str, str] = Field(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **_):
        return self.bind(tools=[{"type": "function", "function": {"name": each.name}} for each in tools])

    def _generate(self, messages, *_, **__):
        first = not any(message.type == "tool" for message in messages)
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        text, calls = ("Let me look.", _CALLS) if first else ("There are two files.", [])
        message = AIMessage(text, tool_calls=calls, usage_metadata=usage, response_metadata=self.response_metadata)
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
def list_files(folder: str) -> list[str]:
    """Lists a folder."""
    return ["a.py", "b.py"]


@tool
def read_file(path: str) -> str:
    """Reads a file."""
    raise ValueError(f"no such file: {path}")


def ask(config, **response_metadata) -> None:
    """Put the question to the agent. `config` has the callbacks that record it."""
    model = Scripted(response_metadata=response_metadata).bind_tools([list_files, read_file])
    graph = StateGraph(MessagesState)
    graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([list_files, read_file], handle_tool_errors=True))
    graph.add_edge("__start__", "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    graph.compile(name="lister").invoke(QUESTION, config=config)
