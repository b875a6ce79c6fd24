"""The rules of the embedded engine, and what each made in a wiki: for `wiki rules`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from agent_wiki.engines.offline.example_sessions import example_of
from agent_wiki.engines.offline.rule import AnyRule
from agent_wiki.engines.offline.rules import all_rules
from agent_wiki.errors import UsageError
from agent_wiki.retrieval.rule_records import Made, made_by_rules
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.config import Config, parse_config
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.text import counted

_GONE = "There is no such rule any more."


@dataclass(slots=True)
class RuleUse:
    """A rule with what it made. `rule` is None where pages name one that there is not any more."""

    id: str
    rule: AnyRule | None
    is_ignored: bool = False
    made: list[Made] = field(default_factory=list)

    @property
    def sessions(self) -> int:
        """How many sessions it found something in."""
        return len({each.session_id for each in self.made})

    def to_json(self) -> dict[str, Any]:
        """The rule, its example and what it made, as JSON values."""
        rule = self.rule
        return {
            "id": self.id,
            "family": self.id.partition("/")[0],
            "makes": rule.makes if rule else None,
            "summary": rule.summary if rule else _GONE,
            "is_ignored": self.is_ignored,
            "example": asdict(example_of(rule)) if rule else None,
            "made": [asdict(each) for each in self.made],
        }

    def line(self) -> str:
        """The rule in one line."""
        found = f"{len(self.made)} in {counted(self.sessions, 'session')}" if self.made else "-"
        state = "ignored" if self.is_ignored else found
        return f"{self.id:38} {state:18} {self.rule.summary if self.rule else _GONE}"

    def lines(self) -> Iterator[str]:
        """The rule with its examples and what it made."""
        yield self.line()
        if self.rule:
            example = example_of(self.rule)
            yield from ("", "finds something in:", "", *_indented(example.fires))
            yield from ("", "and nothing in:", "", *_indented(example.silent))
        if self.made:
            heading = "in records here, and on no page while the rule is ignored:" if self.is_ignored else "made here:"
            yield from ("", heading, "", *self.made_lines())

    def made_lines(self) -> Iterator[str]:
        """A line for each page that it made something for, with the session."""
        yield from (f"  {each.page}  {each.title}  ({each.session_id})" for each in self.made)


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.strip().splitlines()]


@dataclass(slots=True)
class RulesUsed:
    """Rules with what they made, and one line for each record that cannot be read."""

    rules: list[RuleUse]
    problems: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        return 1 if self.problems else 0

    def lines(self, *, is_whole: bool) -> list[str]:
        """A line a rule, those that made most first, then what is ignored; with `is_whole` what each made below it."""
        ordered = sorted(self.rules, key=lambda each: (-len(each.made), not each.is_ignored))
        return [line for each in ordered for line in (each.line(), *(each.made_lines() if is_whole else ()))]

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values, always with the same keys."""
        return {
            "rules": [each.to_json() for each in self.rules],
            "problems": self.problems,
            "exit_code": self.exit_code,
        }


def rules_used(wiki: Path, wanted: str | None = None) -> RulesUsed:
    """Every rule with what it made in a wiki; those of the family, or the one, that is wanted.

    In a wiki that does not exist no rule made anything. Raises `UsageError` where no rule has that id or family.
    """
    problems: list[str] = []
    folder = WikiFolder(wiki)
    text = folder.read_text(CONFIG) or ""
    config = parse_config(text) if text else Config()
    uses = {rule.id: RuleUse(rule.id, rule, rule.id in config.ignored_rules) for rule in all_rules()}
    for rule_id, made in sorted(
        made_by_rules(wiki, problems), key=lambda each: (each[0], each[1].session_id, each[1].page)
    ):
        uses.setdefault(rule_id, RuleUse(rule_id, None)).made.append(made)
    chosen = [use for use in uses.values() if wanted in (None, use.id, use.id.partition("/")[0])]
    if not chosen:
        raise UsageError(f"no rule and no family of rules is called {wanted!r}; `wiki rules` lists them")
    return RulesUsed(chosen, problems)
