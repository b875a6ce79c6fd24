"""Which tests a run leaves out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.on_request import leaves_out_long_tests, without_long_tests

_ALL, _NAMED = pytest.Config.ArgsSource.TESTPATHS, pytest.Config.ArgsSource.ARGS


@pytest.mark.parametrize(
    ("source", "marks", "is_without"), [(_ALL, "", True), (_ALL, "long", False), (_NAMED, "", False)]
)
def test_a_run_of_all_tests_is_without_the_long_ones(source: object, marks: str, is_without: bool) -> None:
    config: Any = SimpleNamespace(args_source=source, option=SimpleNamespace(markexpr=marks))
    assert leaves_out_long_tests(config) is is_without


def test_the_others_stay_in_their_order() -> None:
    def item(name: str, *marks: str) -> Any:
        return SimpleNamespace(name=name, get_closest_marker=lambda mark: mark if mark in marks else None)

    kept = without_long_tests([item("b"), item("c", "long"), item("a", "nights")])
    assert [each.name for each in kept] == ["b", "a"]
