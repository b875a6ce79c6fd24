"""A rule of this engine as a value: what finds a guideline or a skill, under an id that pages and owners name.

The model is ruff's: one code a rule, families, an example that fires and one that must not, documentation made from
the rules, and a line of a user's configuration that switches one off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agent_wiki.trajectory.lazily import dataclass

if TYPE_CHECKING:
    from agent_wiki.engines.offline.attempts import MinedSession
    from agent_wiki.engines.offline.lessons import Lesson
    from agent_wiki.stages.synthesize_skill import SkillAnswer
    from agent_wiki.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Example:
    """Two sessions as `readers/example_notation.py` reads them: the rule finds something in the first alone."""

    fires: str
    silent: str


@dataclass(frozen=True, slots=True)
class Rule:
    """`id` is `<family>/<name>` and never changes. A rule of this package has its example in `examples/<family>.toml`,
    one of another package carries its own.
    """

    id: str
    summary: str

    @property
    def family(self) -> str:
        return self.id.partition("/")[0]


@dataclass(frozen=True, slots=True)
class GuidelineRule(Rule):
    """`find` may be shared by several rules: each of its lessons names the rule that it comes from."""

    find: Callable[[MinedSession], Sequence[Lesson]]
    example: Example | None = None
    makes = "guideline"


@dataclass(frozen=True, slots=True)
class SkillRule(Rule):
    """`find` returns the workflow in a trajectory, or None."""

    find: Callable[[Trajectory], SkillAnswer | None]
    example: Example | None = None
    makes = "skill"


AnyRule = GuidelineRule | SkillRule
