"""Writes docs/rules.md from the rules of the embedded engine: `python docs/generate_rules.py`.

A test makes the same text and compares, so that no rule goes undocumented.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_wiki.engines.offline.example_sessions import example_of
from agent_wiki.engines.offline.rules import RULES

RULES_PAGE = Path(__file__).parent / "rules.md"
_HEAD = """\
# Rules of the embedded engine

Made by `python docs/generate_rules.py` from the rules themselves; a test compares and runs every example.

Each guideline and each skill of the embedded engine comes from one of these {count} rules, and says which. The
rules of the family `recipes` find skills, all others guidelines. An entry in
`_config.yaml` switches rules off in that wiki, and the next run mines the recordings it is given again without them:

```yaml
rules:
  ignore: [retries/flag-added, recipes/chain]
```

A rule finds something in its first example and nothing in its second. In an example `$` is a shell command, `=` a line
of a result, `!` the same of a call that failed, and `refused:` why the user refused the call.

## A rule of your own

A package of your own adds rules [by an entry point](api.md#packages-that-add-engines-readers-and-rules). Its version is
part of the engine's, so sessions are mined again when it changes. A lesson names the rule that found it,
quotes what happened word for word, and says how much it weighs against others about the same turns (1 to 100):

```python
# shop_rules.py
from agent_wiki.engines.offline.lessons import Wording, lesson
from agent_wiki.engines.offline.rule import Example, GuidelineRule

WORDS = Wording(
    "shop/stop-server-first",
    "Stop the server before migrating",
    "Stop the development server before running migrations: it locks the database.",
    "A migration answers `database is locked`.",
    ("database", "migrations"),
)


def lessons(session):
    found = []
    for attempt in session.attempts:
        if attempt.verdict == "failed" and "database is locked" in attempt.output:
            quotes = [session.quote(attempt.result_turn, "database is locked")]
            found += lesson(WORDS, "The migration failed while the server ran.", quotes, {{attempt.turn}}, 60)
    return found


EXAMPLE = Example(fires="$ make migrate\\n! Error: database is locked", silent="$ make migrate\\n= 3 applied")
RULES = [GuidelineRule("shop/stop-server-first", "A migration meets a locked database.", lessons, EXAMPLE)]
```

`fires(rule, text)` of `agent_wiki.engines.offline.example_sessions` runs an example in your tests.
"""


def rules_page() -> str:
    """The whole page: the head, then the rules family by family."""
    families = dict.fromkeys(rule.family for rule in RULES)
    sections = (line for family in families for line in _family(family))
    return "\n".join([_HEAD.format(count=len(RULES)), *sections])


def _family(family: str) -> Iterator[str]:
    yield f"## {family}\n"
    for rule in (each for each in RULES if each.family == family):
        example = example_of(rule)
        yield f"### {rule.id}\n\n{rule.summary}\n"
        yield f"```text\n{example.fires.strip()}\n```\n\nNothing in:\n\n```text\n{example.silent.strip()}\n```\n"


if __name__ == "__main__":
    RULES_PAGE.write_text(rules_page(), encoding="utf-8")
