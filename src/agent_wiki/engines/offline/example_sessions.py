"""The examples of rules: a session in which a rule finds something, and one in which it must not."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.extract_guidelines import offered
from agent_wiki.engines.offline.rule import AnyRule, Example, GuidelineRule
from agent_wiki.readers.example_notation import example_session

FOLDER = Path(__file__).parent / "examples"


def example_of(rule: AnyRule) -> Example:
    """The example that a rule carries, or that this package has for it. Raises `KeyError` where there is none."""
    return rule.example or shipped_examples(rule.family)[rule.id.partition("/")[2]]


def fires(rule: AnyRule, text: str) -> bool:
    """Whether a rule finds something in the session that a text describes. Raises `ValueError` as `example_session`."""
    trajectory = example_session(text)
    if isinstance(rule, GuidelineRule):
        return bool(offered(MinedSession.of(trajectory), [rule]))
    return rule.find(trajectory) is not None


@cache
def shipped_examples(family: str) -> dict[str, Example]:
    """The examples of a family's rules by the names of the rules."""
    written = tomllib.loads((FOLDER / f"{family}.toml").read_text(encoding="utf-8"))
    return {name: Example(**sessions) for name, sessions in written.items()}
