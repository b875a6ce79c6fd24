"""Hooks and rules go into an agent's settings and out again, and every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent_wiki.errors import RunError
from agent_wiki.harness import json_members
from agent_wiki.harness.agents.agent import Hook, HookFile, Permissions
from agent_wiki.harness.hook_settings import (
    installed_events,
    installed_rules,
    with_hooks,
    with_rules,
    without_hooks,
    without_rules,
)

_NESTED = HookFile("f", (Hook("SessionStart", "start", 10), Hook("Stop", "stop", 60)))
_FLAT = HookFile(
    "f",
    (Hook("SessionStart", "start", 10), Hook("Stop", "stop", 60)),
    is_flat=True,
    command_key="bash",
    units_per_second=1000,
    other_members={"version": 1},
)
_FORMS = some.sampled_from([_NESTED, _FLAT])
_COMMANDS = {"SessionStart": "wiki hook start --wiki wiki", "Stop": "wiki hook stop --wiki wiki"}
_RULES = Permissions("f", ("permissions", "allow"), ("Bash(wiki consult:*)", "mcp__wiki__*"))


def _commands(settings: dict[str, Any], event: str) -> list[str]:
    return [hook["command"] for entry in settings["hooks"][event] for hook in entry["hooks"]]


@pytest.mark.parametrize(
    "settings",
    [
        "{}",
        "{}\n",
        "{ }",
        "{\n}\n",
        '{"a":1}',
        '{"hooks":{}}',
        '{"hooks": {"Stop": []}}\n',
        '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t]\n\t}\n}\n',
        '{\r\n  "model": "opus"\r\n}\r\n',
        '\ufeff{"a": [1, 2, {"b": null}]}',
        '{\n  "a": 1,\n\n  "b": 2\n}',
        '{"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "x"}]}]}}',
    ],
)
def test_settings_of_any_shape_come_back_byte_for_byte(settings: str) -> None:
    connected = with_hooks(settings, _NESTED, _COMMANDS)
    assert with_hooks(connected, _NESTED, _COMMANDS) == connected
    found = json.loads(connected.removeprefix("\ufeff"))
    assert _commands(found, "Stop")[-1:] == ["wiki hook stop --wiki wiki"]
    assert ("\r\n" in settings) == ("\r\n" in connected)
    if "\r\n" in settings:
        assert "\n" not in connected.replace("\r\n", "")
    assert without_hooks(connected, _NESTED) == settings


_VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text('ab"\\{}[],é', max_size=6),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)


_INDENTS = some.sampled_from([None, 2, 4, "\t", 0])


@given(
    some.dictionaries(some.text("xyz", max_size=3), _VALUES, max_size=3),
    some.dictionaries(some.sampled_from(["Stop", "PreToolUse"]), some.lists(_VALUES, max_size=2), max_size=2),
    _INDENTS,
    some.booleans(),
    _FORMS,
)
def test_hooks_in_and_out_change_no_settings(
    others: dict[str, Any], hooks: dict[str, Any], indent: int | str | None, has_hooks: bool, form: HookFile
) -> None:
    settings = {**others, "hooks": hooks, "z": 1} if has_hooks else others
    text = json.dumps(settings, indent=indent)
    connected = with_hooks(text, form, _COMMANDS)
    found = json.loads(connected)
    assert {name: value for name, value in found.items() if name != "hooks"} == {
        name: value for name, value in settings.items() if name != "hooks"
    }
    assert list(found)[: len(settings)] == list(settings)
    assert installed_events(connected, form) == ["SessionStart", "Stop"]
    assert with_hooks(connected, form, _COMMANDS) == connected
    assert without_hooks(connected, form) == text


def test_a_hook_that_somebody_put_beside_others_is_taken_out_alone() -> None:
    hooks = [{"type": "command", "command": "a"}, {"type": "command", "command": "/opt/bin/wiki hook stop"}]
    text = json.dumps({"hooks": {"Stop": [{"hooks": hooks}]}})
    left = without_hooks(text, _NESTED)
    assert left is not None
    assert json.loads(left) == {"hooks": {"Stop": [{"hooks": hooks[:1]}]}}


@given(some.dictionaries(some.text(max_size=4), _VALUES, max_size=4), _INDENTS, _VALUES)
def test_a_member_goes_in_at_the_end_and_out_without_a_trace(
    value: dict[str, Any], indent: int | str | None, member: Any
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    changed = json_members.with_member(text, (), "new key", member)
    assert json.loads(changed) == {**value, "new key": member}
    assert json_members.without_member(changed, ("new key",)) == text


def test_a_file_of_flat_hooks_is_made_whole_and_gone_without_them() -> None:
    made = with_hooks(None, _FLAT, _COMMANDS)
    assert json.loads(made) == {
        "version": 1,
        "hooks": {
            "SessionStart": [{"type": "command", "bash": "wiki hook start --wiki wiki", "timeout": 10_000}],
            "Stop": [{"type": "command", "bash": "wiki hook stop --wiki wiki", "timeout": 60_000}],
        },
    }
    assert without_hooks(made, _FLAT) is None
    assert without_hooks('{"version": 1}', _FLAT) == '{"version": 1}'


@given(
    some.dictionaries(some.text("xyz", max_size=3), _VALUES, max_size=3),
    some.none() | some.lists(some.sampled_from(["Read(~/.zshrc)", "mcp__other", 7]), max_size=2, unique=True),
    some.none() | some.just({"deny": []}) | some.just({}),
    _INDENTS,
)
def test_rules_in_and_out_change_no_settings(
    others: dict[str, Any], allowed: list[Any] | None, rest: dict[str, Any] | None, indent: int | str | None
) -> None:
    inner = {"permissions": {**(rest or {}), **({} if allowed is None else {"allow": allowed})}}
    text = json.dumps({**others, **({} if rest is None and allowed is None else inner)}, indent=indent)
    permitted = with_rules(text, _RULES)
    assert json.loads(permitted)["permissions"]["allow"] == [*(allowed or []), *_RULES.rules]
    assert installed_rules(permitted, _RULES) == list(_RULES.rules)
    assert with_rules(permitted, _RULES) == permitted
    assert without_rules(permitted, _RULES, _RULES.rules) == text
    assert without_rules(permitted, _RULES, ()) == permitted


@pytest.mark.parametrize(
    ("settings", "line"),
    [('{\n  "permissions": []\n}', 2), ('{\n  "permissions": {\n    "allow": "all"\n  }\n}', 3), ("{", 1)],
)
def test_rules_have_no_place_where_another_kind_of_value_is(settings: str, line: int) -> None:
    with pytest.raises(RunError, match=f"^f:{line}: "):
        with_rules(settings, _RULES)
    with pytest.raises(RunError, match=f"^f:{line}: "):
        without_rules(settings, _RULES, _RULES.rules)
