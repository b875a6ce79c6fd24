"""What a session got from a wiki, and whether what it teaches is more than that.

Text that a session read in the wiki is no new evidence for it: an agent that reads a rule and does as it says shows
that the rule was of use, not that another session found it. Everything here is a function of the trajectory, never of
what the wiki holds, so that it does not depend on the order in which sessions are read (decision 011).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agent_wiki.compare.same_rule import Reading, alike, reading_of
from agent_wiki.compare.views import GuidelineView
from agent_wiki.recall.reads import WikiRead, wiki_reads
from agent_wiki.recall.shown_pages import MOST_SEARCHED, index_rows, row_text, unescaped, without_line_numbers
from agent_wiki.trajectory import Trajectory
from agent_wiki.wiki.layout import AGENTS, content_id, page_id

_SHORTEST_QUOTE = 20  # characters; fewer stand in two texts by chance
_SHORTEST_LINE, _LONGEST_LINE, _MOST_LINES = 20, 1_000, 3_000
_GUIDELINE_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{12}(?![0-9a-f])")
_PLACEHOLDER = re.compile(r"<[\w .-]{1,60}>")
_MARKUP = re.compile(r"^(?:[#>*-]+|\d+\.)\s+")


@dataclass(frozen=True)
class ShownPage:
    """One page as the session got it: `turn` is that of the text. `ids`: pages whose rule stands in it, by id."""

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
        """What each line says, and each heading with the line below it."""
        return [reading_of(GuidelineView("", title, line)) for title, line in _sentences(self.text)]


@dataclass(frozen=True)
class RecalledText:
    """All that a session got from a wiki, in recorded order."""

    trajectory: Trajectory
    shown: tuple[ShownPage, ...]
    turns: frozenset[int] = field(default=frozenset())  # whose content is a wiki's text

    def is_recalled(self, turn: int, quote: str) -> bool:
        """True for a quote that is the wiki's words and not something that happened.

        That is any quote of a turn that shows pages, and the agent's own words where they repeat a page it had read.
        A call that does what a page says is an act and stays one.
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
        """The first turn that showed the page of this rule, or a line that says the same; None when none did."""
        if not self.shown:
            return None
        name, words = content_id(rule), folded(rule)
        said = [reading_of(GuidelineView("", heading, rule)) for heading in ("", title)]
        for each in self.shown:
            if name in each.ids or words in each.folded or _says_the_same(each, said):
                return each.turn
        return None

    def skill_shown_at(self, slug: str, commands: Sequence[str]) -> int | None:
        """The first turn that showed the skill of this name, or a skill with all these commands; None when none did."""
        pieces = [piece for command in commands for piece in _pieces(command)]
        for each in self.shown:
            if not each.page.startswith("skills/"):
                continue
            if page_id(each.page) == f"skill:{slug}" or (pieces and all(piece in each.folded for piece in pieces)):
                return each.turn
        return None


def recalled_text(trajectory: Trajectory) -> RecalledText:
    """What a trajectory's reads of wiki pages showed it; empty for a session that read none."""
    reads = [read for read in wiki_reads(trajectory) if read.result_turn is not None]
    return RecalledText(trajectory, tuple(map(_shown, reads)), frozenset(read.result_turn or 0 for read in reads))


def _shown(read: WikiRead) -> ShownPage:
    text = without_line_numbers(unescaped(read.text[:MOST_SEARCHED]))
    rows = index_rows(text)
    if rows:
        text = "\n".join(map(row_text, rows))
    name = page_id(read.page)
    ids = set() if read.is_index else {name}
    if (read.is_index and not read.page.endswith(AGENTS)) or name.startswith("cluster:"):
        ids.update(_GUIDELINE_ID.findall(read.text[:MOST_SEARCHED]))  # their rows and members say the rules themselves
    return ShownPage(read.result_turn or read.turn, read.page, text, frozenset(ids))


def independent(turns: Iterable[int], shown_at: int | None) -> bool:
    """True when every cited turn came before the page was shown: then the session found the rule by itself."""
    return shown_at is None or all(turn < shown_at for turn in turns)


def folded(text: str) -> str:
    """Lower case, white space folded, without the marks of code: pages and sessions set these differently."""
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
    """A command's parts between placeholders, as a page would show them."""
    return [piece for piece in map(folded, _PLACEHOLDER.split(command)) if len(piece) >= 4]
