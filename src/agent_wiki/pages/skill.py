"""The skill page: one workflow that worked, a valid `SKILL.md` with its scripts beside it."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator

from agent_wiki.pages.model import BODY, field_names, skill_text
from agent_wiki.pages.plain import PlainLine, PlainMarkdown
from agent_wiki.pages.safety.finding import SafetyFinding
from agent_wiki.pages.scope import scope_shown
from agent_wiki.pages.support import Counted, Evidence, Joined, sources_section
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.layout import unreserved
from agent_wiki.wiki.templates import Templates
from agent_wiki.wiki.text import plain_line

SYNTHESIZE_SKILL = "synthesize-skill"
MOST_USES = 50  # rows of its table of uses: Agent Skills asks for less than 500 lines
_MOST_COMMAND_LINES = 25  # of one step
_LONGEST_DESCRIPTION = 1_024
_TOP_LEVEL = ("name", "description")
_STRICT = {"extra": "forbid"}
_SPELLED_TEXT = "API CI CLI CSS CSV HTML HTTP JSON JSONL PDF PR SDK SQL SSH SVG TLS TOML TSV UI URL XML YAML"
_SPELLED = {word.lower(): word for word in _SPELLED_TEXT.split()} | {"sqlite": "SQLite", "github": "GitHub"}


@dataclass(frozen=True, slots=True)
class WorkflowStep:
    """One step of a workflow and, where there is one, its command.

    `is_adapted`: the recording does not show the command working as it is here.
    """

    __pydantic_config__: ClassVar[Any] = _STRICT

    text: PlainLine
    command: str | None = None
    is_adapted: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """A literal of the session turned into a parameter."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    name: str
    description: PlainLine = ""


@dataclass(frozen=True, slots=True)
class Script:
    """A file of `scripts/`."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    file: str
    text: str


def skill_name(slug: str) -> str:
    """The name of a skill and of its folder, by what its session calls it: one that every system takes."""
    return unreserved(slug, "skill")


SkillName = Annotated[str, AfterValidator(skill_name)]


@dataclass(frozen=True, slots=True)
class SkillEntry:
    """One workflow of one session, checked, as its record holds it. `rule_id` is the embedded engine's own rule.

    `scope`: how far it holds, as of a guideline. `body` is the rendered workflow of a wiki of the former layout, which
    stored no other form of it. `findings` as of a guideline.
    """

    __pydantic_config__: ClassVar[Any] = _STRICT

    name: SkillName
    description: PlainLine
    trigger: PlainLine = ""
    overview: PlainLine = ""
    when_to_use: PlainLine = ""
    steps: tuple[WorkflowStep, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    scripts: tuple[Script, ...] = ()
    tags: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    rule_id: str | None = None
    scope: str | None = None
    body: PlainMarkdown | None = None
    findings: tuple[SafetyFinding, ...] = ()

    @property
    def title(self) -> str:
        words = [_SPELLED.get(word, word) for word in self.name.split("-")]
        return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])

    @property
    def claim(self) -> str:
        """What its evidence has to bear."""
        return f"{self.name} {self.trigger} {self.words}"

    @property
    def words(self) -> str:
        """What the workflow says, for comparing it with guidelines."""
        if self.body is not None:
            return f"{self.description} {self.body}"
        steps = (f"{step.text} {step.command or ''}" for step in self.steps)
        return " ".join([self.description, self.overview, self.when_to_use, *steps])


@dataclass(frozen=True, slots=True)
class SkillPage:
    """What a `SKILL.md` stores: `name` and `description` at its top level, the others as strings under `metadata`."""

    name: str
    description: str
    id: str
    type: str
    trigger: str
    agent: str | None
    tags: list[str]
    sources: list[str] | None
    related_summary: str | None
    support: dict[str, int]
    trust: str
    scope: str | None
    verified_at: str | None
    scripts: list[str] | None
    made_by: str
    counted: Counted | None = field(metadata=BODY)
    entry: SkillEntry = field(metadata=BODY)
    used_by: str = field(metadata=BODY)
    sources_shown: str = field(metadata=BODY)

    def text(self, templates: Templates) -> str:
        """The page as text."""
        front = {name: getattr(self, name) for name in _TOP_LEVEL}
        named = ((name, getattr(self, name)) for name in field_names(SkillPage))
        metadata = {name: _as_text(value) for name, value in named if name not in _TOP_LEVEL and value is not None}
        return skill_text(front, metadata, self._body(templates))

    def _body(self, templates: Templates) -> str:
        entry = self.entry
        return templates.render(
            "skill.md",
            title=entry.title,
            overview=entry.overview,
            when_to_use=entry.when_to_use,
            parameters=entry.parameters,
            steps=[WorkflowStep(step.text, _cut(step.command), step.is_adapted) for step in entry.steps],
            scripts=entry.scripts,
            whole=entry.body,
            fence=fence_of,
            indented=lambda text: "\n".join(f"   {line}" for line in text.splitlines()),
            used_by=self.used_by,
            sources=self.sources_shown,
        )

    def index_row(self) -> dict[str, Any]:
        """What the index says of it besides what it says of every page."""
        return {"priority": "high"} | ({"scope": self.scope} if self.scope else {})

    @property
    def title(self) -> str:
        return self.entry.title

    @property
    def gist(self) -> str:
        return self.description or self.entry.overview


def skill_page(slug: str, joined: Joined[SkillEntry], *, used_by: str) -> SkillPage:
    """The page of one workflow."""
    shown = joined.shown()
    entry, session, cited = joined.entry, joined.first.session, shown.cited()
    return SkillPage(
        name=slug,
        description=plain_line(entry.description, _LONGEST_DESCRIPTION) or entry.title,
        id=f"skill:{slug}",
        type="skill",
        trigger=entry.trigger,
        agent=session.record.agent,
        tags=list(entry.tags),
        sources=shown.sources() or None,
        related_summary=session.path_of_turn(cited[0][1].turn) if cited else session.paths[0],
        support=shown.support(),
        trust=shown.trust(),
        scope=scope_shown(joined),
        verified_at=shown.date(),
        scripts=[f"{script.file}:{script_digest(script.text)}" for script in entry.scripts] or None,
        made_by=joined.engines(SYNTHESIZE_SKILL),
        counted=joined.counted(),
        entry=entry,
        used_by=used_by,
        sources_shown=sources_section(cited, "../../"),
    )


def _cut(command: str | None) -> str | None:
    """A command of no more lines than a step shows; the record has all of it."""
    lines = (command or "").splitlines()
    if len(lines) <= _MOST_COMMAND_LINES:
        return command
    return "\n".join([*lines[:_MOST_COMMAND_LINES], f"# … and {len(lines) - _MOST_COMMAND_LINES} more lines"])


def _as_text(value: Any) -> str:
    """A field as a string, for the specification allows nothing else under `metadata`."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {count}" for name, count in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)


def script_digest(text: str) -> str:
    """What a skill page says of a script, so that a person's edit of the file shows: 12 hex of its SHA-256."""
    return sha256_of(text.replace("\r\n", "\n"))[:12]


def fence_of(code: str) -> str:
    """A fence longer than any run of backticks in the code, so that the code cannot end it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    return "`" * max(3, longest + 1)
