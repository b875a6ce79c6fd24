"""Puts what ran in Codex's code mode in the place of the scripts that ran it.

A script that was read as one call keeps that call and gets the item's verdict. Any other script becomes the commands,
patches and MCP calls that came of it. A command that outlives its script is a running one, and the later script or
`wait` in which it ends is the poll that brings its end. A script without items stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import field

from agent_wiki.readers.codex_ran import RanItem
from agent_wiki.trajectory import Message, ToolCall
from agent_wiki.trajectory.lazily import dataclass, regex

_TOOL = regex(r"\btools\.([A-Za-z_$][\w$]*)")
_SHOWN_BY_ITEMS = frozenset({"exec_command", "shell_command", "apply_patch", "write_stdin"})
_SECONDS_OF_DELAY = 0.05  # a call may be recorded a moment after its script began
_STILL_RUNS = "Script running with cell ID"


@dataclass(slots=True)
class RanCell:
    """A call of `exec` or `wait`, and the items that ran, began or ended in it. Times in seconds since 1970."""

    call_id: str
    source: str | None  # of the script; None for `wait`
    is_read: bool  # its script is the one call that the reply has in its place
    called: float | None
    answered: float | None = None
    is_answered: bool = False
    ran: list[RanItem] = field(default_factory=list)  # began and ended in it
    begun: list[RanItem] = field(default_factory=list)  # began in it and ended later
    ended: list[RanItem] = field(default_factory=list)  # began earlier and ended in it
    shown: list[RanItem] = field(default_factory=list)  # what its own texts say, where it has no items

    def settle(self) -> None:
        """Take what the script showed for what ran, where no item says that; else drop it."""
        if self.ran or self.begun or self.ended:
            self.shown = []
        self.ran += self.shown

    def is_replaced(self) -> bool:
        """Whether its items are the calls and results, not the script."""
        return not self.is_read and bool(self.ran or self.begun or self.ended)

    def polls(self) -> bool:
        """Whether it awaits what an earlier script began."""
        return self.source is None or "write_stdin" in self.source

    def items(self) -> list[RanItem]:
        """What began in it, in order."""
        return sorted(self.ran + self.begun, key=lambda item: item.began or 0.0)

    def keeps_its_call(self, result: Message | None) -> bool:
        """Whether the call itself stays beside its items, because they do not show all that it did."""
        if self.source is None:
            return True
        if self.shown:
            return False
        others = {name for name in _TOOL.findall(self.source) if name not in _SHOWN_BY_ITEMS}
        if any(not name.startswith("mcp__") for name in others):
            return True
        has_failed = result is not None and bool(result.is_error)
        return has_failed and not any(item.is_error for item in self.ran + self.ended)


class RanItems:
    """Which items ran under which call of a session."""

    def __init__(self) -> None:
        self._cells: dict[str, RanCell] = {}
        self._waiting: dict[str, RanCell] = {}

    def called(self, call_id: str, source: str | None, *, is_read: bool, moment: float | None) -> None:
        """A call of `exec` with its script, or of `wait`, was recorded at a moment."""
        self._cells[call_id] = self._waiting[call_id] = RanCell(call_id, source, is_read, moment)

    def answered(self, call_id: str | None, moment: float | None, shown: list[RanItem]) -> None:
        """A call's output was recorded, in which the script showed the results of several calls, or of none."""
        if cell := self._waiting.pop(call_id or "", None):
            cell.answered, cell.is_answered, cell.shown = moment, True, shown

    def take(self, item: RanItem) -> None:
        """An item was recorded as completed."""
        if owners := [cell for cell in self._waiting.values() if _may_begin(cell, item)]:
            _likeliest(owners, item).ran.append(item)
            return
        began_in = next((cell for cell in reversed(self._cells.values()) if _may_begin(cell, item)), None)
        if began_in is None:
            return
        began_in.begun.append(item)
        if poll := next((cell for cell in self._waiting.values() if cell.polls()), None):
            poll.ended.append(item)

    def put_in(self, messages: Iterable[Message]) -> list[Message]:
        """The messages with what ran in the place of the scripts."""
        messages = list(messages)
        if not self._cells:
            return messages
        for each in self._cells.values():
            each.settle()
        results = {message.tool_call_id: message for message in messages if message.role == "tool"}
        placed: list[Message] = []
        for message in messages:
            cell = self._cells.get(message.tool_call_id or "") if message.role == "tool" else None
            placed.extend(_results(cell, message) if cell else [message])
            placed.extend(each for call in message.tool_calls if call.id not in results for each in self._cut_off(call))
            message.tool_calls = [each for call in message.tool_calls for each in self._calls(call, results)]
        return placed

    def _calls(self, call: ToolCall, results: dict[str | None, Message]) -> Iterator[ToolCall]:
        cell = self._cells.get(call.id)
        if cell is None or not cell.is_replaced():
            yield call
            return
        for item in cell.items():
            yield ToolCall(item.item_id, item.tool, json.dumps(item.arguments, ensure_ascii=False))
        for item in cell.ended if cell.source is not None else ():
            yield ToolCall(_poll_id(item), "write_stdin", json.dumps({"session_id": _number(item.process)}))
        if cell.keeps_its_call(results.get(call.id)):
            yield call

    def _cut_off(self, call: ToolCall) -> Iterator[Message]:
        """The results of the items of a call whose own result is not recorded."""
        cell = self._cells.get(call.id)
        if cell is not None and cell.is_replaced():
            yield from _item_results(cell, Message("tool"))


def _may_begin(cell: RanCell, item: RanItem) -> bool:
    """Whether an item can have begun in a call; one without a time began in the call that waits."""
    if item.began is None or cell.called is None:
        return not cell.is_answered
    is_over = cell.is_answered and (cell.answered is None or cell.answered < item.began)
    return cell.called <= item.began + _SECONDS_OF_DELAY and not is_over


def _likeliest(cells: list[RanCell], item: RanItem) -> RanCell:
    """Of several calls that wait, the first whose script has the item's command, else the item's tool."""
    command = str(item.arguments.get("cmd", item.tool))
    spelt = (command, json.dumps(command)[1:-1], item.tool)
    return next((cell for words in spelt for cell in cells if words in (cell.source or "")), cells[0])


def _results(cell: RanCell, result: Message) -> Iterator[Message]:
    """The results of a call's items, and its own where the call stays."""
    is_wait = cell.source is None
    own = cell.ended if is_wait else [*cell.ran, *cell.ended] if cell.is_read else []
    if result.mark is None and (is_wait or len(own) == 1):
        result.is_error = _verdict(own, result.is_error)
    if not cell.is_replaced():
        yield result
        return
    yield from _item_results(cell, result)
    if cell.keeps_its_call(result):
        yield result


def _verdict(items: list[RanItem], otherwise: bool | None) -> bool | None:
    flags = {item.is_error for item in items}
    return True if True in flags else False if flags == {False} else otherwise


def _item_results(cell: RanCell, result: Message) -> Iterator[Message]:
    """The results of a call's items. A command that the call did not see end runs on, or was stopped with the call."""
    shown = result.content or ""
    is_still_open = shown.startswith(_STILL_RUNS) or result.mark is not None
    for item in cell.items():
        if item in cell.ran:
            yield _result(item, item.item_id)
        else:
            text = shown if is_still_open else f"Process running with session ID {item.process}"
            yield Message("tool", text, tool_call_id=item.item_id, mark=result.mark)
    if cell.source is not None:
        yield from (_result(item, _poll_id(item)) for item in cell.ended)


def _result(item: RanItem, call_id: str) -> Message:
    if item.is_refused:
        return Message("tool", item.output, tool_call_id=call_id, mark="rejected")
    return Message("tool", item.output, tool_call_id=call_id, is_error=item.is_error)


def _poll_id(item: RanItem) -> str:
    return f"{item.item_id}-end"


def _number(process: str | None) -> int | str | None:
    return int(process) if process and process.isdecimal() and len(process) < 19 else process
