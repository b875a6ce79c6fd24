"""The stages, in the order in which they run. A new stage is a module of its name, and a line here.

Commands with their help and examples, estimates, worklists, records and the forms of JSON are made from this tuple.
Documents, and what lies below it, are made from it by scripts: the help and `recall/wiki_commands.py` by
`docs/generate_commands.py`, tables of stages by `docs/generate_stages.py`. Sections of `_config.yaml` name the stage
that writes them (`wiki/config_merge.py`). What a stage does is in its module, which is imported when that is asked
for, so that the command line starts without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from agent_wiki.trajectory.lazily import dataclass

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from agent_wiki.engine import Answer, Question
    from agent_wiki.pages.catalog import Catalog, RenderedPage

Scope = Literal["session", "corpus", "wiki"]
"""What a stage looks at: one trajectory, all that sessions contributed, or the wiki before it is written."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage, called `name` on the command line; its module and its prompt file have the same name.

    The module of a stage on sessions has `QUESTIONS` (what an answer becomes → the answer's type), `ENTRIES` (what a
    record holds of an answer), `question(trajectory, summary)` and `run(trajectory, answers, engine)`, which is given
    what the record holds of earlier stages, and returns what it holds of this one and the claims that were dropped.
    That of a stage over all sessions has `QUESTIONS` and `run(view, engine)`, which returns a `CorpusResult`. Either
    `has_pages` of its own, then its module has `pages(catalog)`, which renders them.

    `help` is one sentence, `short` the same in at most 54 characters, where it is longer. `makes` is what comes of the
    stage, and `asks_about` what an agent that answers is asked about.

    `output_tokens` is the average length of an answer, used where there is no journal: for the stages on sessions, 56
    careful answers to the shipped prompts have 640, 300 and 600. `only_after` says which sessions the stage asks
    about, where that is not all. A stage that `may_archive` can cover guidelines with its pages.
    """

    name: str
    help: str
    scope: Scope
    short: str = ""
    makes: str = ""
    asks_about: str = "one session, its summary known"
    output_tokens: int = 0
    only_after: str = ""
    may_archive: bool = False
    has_pages: bool = False

    @property
    def line(self) -> str:
        """What it does, as `wiki --help` says it."""
        return self.short or self.help.rstrip(".")

    @property
    def examples(self) -> tuple[str, ...]:
        """Command lines that are typed as they are."""
        if self.scope == "session":
            return (f"wiki {self.name} recordings",)
        return (f"wiki {self.name}", f"wiki {self.name} --dry-run")

    @property
    def module(self) -> ModuleType:
        return import_module(f"agent_wiki.stages.{self.name.replace('-', '_')}")

    @property
    def questions(self) -> Mapping[str, type[Answer]]:
        """What an answer becomes → the type of the answer."""
        questions: Mapping[str, type[Answer]] = self.module.QUESTIONS
        return questions

    @property
    def run(self) -> Callable[..., Any]:
        """What runs the stage; see above for what goes in and out."""
        run: Callable[..., Any] = self.module.run
        return run

    @property
    def pages(self) -> Callable[[Catalog], Iterator[RenderedPage]] | None:
        """The function that renders this stage's own pages; None for a stage whose pages the catalog renders."""
        pages: Callable[[Catalog], Iterator[RenderedPage]] | None = self.module.pages if self.has_pages else None
        return pages

    def question(self, *about: Any) -> Question[Any]:
        """The question of a stage on sessions, from the trajectory and its summary."""
        question: Question[Any] = self.module.question(*about)
        return question


STAGES: tuple[Stage, ...] = (
    Stage(
        "summarize",
        "Write a summary page for each session.",
        "session",
        makes="a summary page for each session",
        asks_about="one session; first",
        output_tokens=700,
    ),
    Stage(
        "extract-guidelines",
        "Extract lessons from sessions that have a summary.",
        "session",
        makes="the lessons of sessions that have a summary",
        output_tokens=400,
    ),
    Stage(
        "synthesize-skill",
        "Turn workflows that worked into skills, from sessions that have a summary.",
        "session",
        short="Turn workflows that worked into skills",
        makes="the workflows of sessions that worked",
        asks_about="one session of which a part worked, or may have",
        output_tokens=600,
        only_after="only sessions of which a part succeeded, or may have, are asked for a skill",
        may_archive=True,
    ),
    Stage(
        "consolidate-clusters",
        "Group guidelines of different sessions that state the same rule.",
        "corpus",
        short="Group guidelines that state the same rule",
        makes="guidelines of different sessions that state the same rule",
        asks_about="guidelines of different sessions whose wording is alike",
        output_tokens=300,
    ),
    Stage(
        "discover-tasks",
        "Compare sessions that attempted the same thing.",
        "corpus",
        makes="sessions that attempted the same thing, compared",
        asks_about="sessions that attempted the same thing, or one that stands out",
        output_tokens=500,
    ),
    Stage(
        "catalog",
        "Bring backlinks, indexes and all that is derived up to date.",
        "wiki",
        short="Update indexes, backlinks and all that is derived",
        makes="backlinks, indexes and everything else that is derived, up to date",
    ),
)


def names(*scopes: Scope) -> tuple[str, ...]:
    """The names of the stages of some scopes, in their order; of all where none is given."""
    return tuple(stage.name for stage in STAGES if not scopes or stage.scope in scopes)


SESSION_STAGES = names("session")
CORPUS_STAGES = names("corpus")
ASKING_STAGES = names("session", "corpus")
ALL_STAGES = names()
SUMMARIZE = SESSION_STAGES[0]
"""The first stage on sessions makes the summary that the others are given."""
CATALOG = STAGES[-1].name


def stage_named(name: str) -> Stage:
    """The stage of that name. Raises `KeyError`."""
    return {stage.name: stage for stage in STAGES}[name]


def page_renderers() -> list[Callable[[Catalog], Iterator[RenderedPage]]]:
    """The functions that render what stages have of pages of their own."""
    return [stage.pages for stage in STAGES if stage.pages is not None]


@lru_cache(maxsize=1)
def entry_types() -> dict[str, TypeAdapter[Any]]:
    """Stage on sessions → the type of what a record holds of its answer."""
    from pydantic import TypeAdapter

    return {stage.name: TypeAdapter(stage.module.ENTRIES) for stage in STAGES if stage.scope == "session"}


@lru_cache(maxsize=1)
def kinds_of_answers() -> dict[type[Answer], str]:
    """Type of an answer → what it becomes: a summary, guidelines, a skill, a cluster, a task or a subtask."""
    asking = (stage for stage in STAGES if stage.name in ASKING_STAGES)
    return {answer_type: kind for stage in asking for kind, answer_type in stage.questions.items()}
