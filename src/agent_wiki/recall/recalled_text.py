"""What a session got from a wiki, and whether its lessons go beyond that.

Text that a session read in the wiki is not new evidence for it: an agent that reads a rule and follows it shows
that the rule was useful, not that another session discovered it. Everything here depends on the trajectory, never on
the wiki's current pages, so that the order in which sessions are read does not matter (decision 011).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agent_wiki.pages.compare.same_rule import Reading, alike, reading_of
from agent_wiki.pages.compare.views import GuidelineView
from agent_wiki.recall.reads import WikiRead, wiki_reads
from agent_wiki.recall.shown_pages import MOST_SEARCHED, index_rows, row_text, unescaped, without_line_numbers
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.layout import AGENTS, content_id, page_id

_SHORTEST_QUOTE = 20  # characters; shorter ones are in two texts by chance
_SHORTEST_LINE, _LONGEST_LINE, _MOST_LINES = 20, 1_000, 3_000
_GUIDELINE_ID = regex(r"(?<![0-9a-f])[0-9a-f]{12}(?![0-9a-f])")
_PLACEHOLDER = regex(r"<[\w .-]{1,60}>")
_MARKUP = regex(r"^(?:[#>*-]+|\d+\.)\s+")


@dataclass(frozen=True)
class ShownPage:
    """One page as shown to the session, in `turn`. `ids`: the ids of pages whose rule is in the text."""

    turn: int
    page: str
    text: str
    ids: frozenset[str]

    @cached_property
    def folded(self) -> str:
        """The text in lower case with white space folded."""
        return folded(self.text)

    @cached_property
    def readings(self) -> list[Reading]:
        """Each line, and each heading with the line below it, as a rule's features."""
        return [reading_of(GuidelineView("", title, line)) for title, line in _sentences(self.text)]


@dataclass(frozen=True)
class RecalledText:
    """Everything that a session got from a wiki, in recorded order."""

    trajectory: Trajectory
    shown: tuple[ShownPage, ...]
    turns: frozenset[int] = field(default=frozenset())  # turns whose content is a wiki's text

    def is_recalled(self, turn: int, quote: str) -> bool:
        """Whether a quote is the wiki's words and not something that happened.

        This covers any quote of a turn that shows pages, and words of the agent that repeat a page it had read.
        A call that does what a page says is still something that happened.
        """
        if turn in self.turns:
            return True
        message = self.trajectory.messages[turn - 1]
        words = folded(quote)
        if message.role != "assistant" or len(words) < _SHORTEST_QUOTE:
            return False
        if not any(quote in (text or "") for text in (message.content, message.thinking)):
            return False
        return any(each.turn < turn and words in each.folded for each in self.shown)

    def rule_shown_at(self, title: str, rule: str) -> int | None:
        """The first turn that showed this rule's page, or a line that says the same; None if none did."""
        if not self.shown:
            return None
        name, words = content_id(rule), folded(rule)
        said = [reading_of(GuidelineView("", heading, rule)) for heading in ("", title)]
        for each in self.shown:
            if name in each.ids or words in each.folded or _says_the_same(each, said):
                return each.turn
        return None

    def skill_shown_at(self, slug: str, commands: Sequence[str]) -> int | None:
        """The first turn that showed the skill of this name, or a skill with all these commands; None if none did."""
        pieces = [piece for command in commands for piece in _pieces(command)]
        for each in self.shown:
            if not each.page.startswith("skills/"):
                continue
            if page_id(each.page) == f"skill:{slug}" or (pieces and all(piece in each.folded for piece in pieces)):
                return each.turn
        return None


def recalled_text(trajectory: Trajectory) -> RecalledText:
    """The wiki text that a trajectory was shown; empty for a session that read no page."""
    reads = [read for read in wiki_reads(trajectory) if read.result_turn is not None]
    return RecalledText(
        trajectory, tuple(map(_shown, reads)), frozenset(read.result_turn or 0 for read in reads if not read.script)
    )


def _shown(read: WikiRead) -> ShownPage:
    text = without_line_numbers(unescaped(read.text[:MOST_SEARCHED]))
    rows = index_rows(text)
    if rows:
        text = "\n".join(map(row_text, rows))
    name = page_id(read.page)
    ids = set() if read.is_index else {name}
    if (read.is_index and not read.page.endswith(AGENTS)) or name.startswith("cluster:"):
        ids.update(_GUIDELINE_ID.findall(read.text[:MOST_SEARCHED]))  # rows and members state the rules themselves
    return ShownPage(read.result_turn or read.turn, read.page, text, frozenset(ids))


def independent(turns: Iterable[int], shown_at: int | None) -> bool:
    """Whether every cited turn came before the page was shown, so that the session found the rule by itself."""
    return shown_at is None or all(turn < shown_at for turn in turns)


def folded(text: str) -> str:
    """Lower case, with white space folded and without code marks, in which pages and sessions differ."""
    return " ".join(text.lower().replace("`", "").split())


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """`(heading above, line)` of each line long enough to state a rule."""
    heading = ""
    seen: set[str] = set()
    for raw in text.split("\n")[:_MOST_LINES]:
        line = raw.strip()
        if line.startswith("#"):
            heading = _MARKUP.sub("", line)[:_LONGEST_LINE]
        elif _SHORTEST_LINE <= len(line) <= _LONGEST_LINE and line not in seen:
            seen.add(line)
            yield "", _MARKUP.sub("", line)
            if heading:
                yield heading, _MARKUP.sub("", line)
            heading = ""


def _says_the_same(shown: ShownPage, said: Sequence[Reading]) -> bool:
    return any(alike(mine, other) for other in shown.readings for mine in said)


def _pieces(command: str) -> list[str]:
    """The parts of a command between placeholders, as a page would show them."""
    return [piece for piece in map(folded, _PLACEHOLDER.split(command)) if len(piece) >= 4]
