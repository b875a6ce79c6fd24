"""Writes docs/commands.md from the commands themselves: `python docs/generate_commands.py`.

A test makes the same text and compares, so that no option goes undocumented.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from agent_wiki.commands.app import app

COMMANDS_PAGE = Path(__file__).parent / "commands.md"
_WIDTH = 80
_HEAD = """\
# Commands

Made by `python docs/generate_commands.py` from the commands themselves; a test compares. What `wiki COMMAND --help`
prints, {width} characters wide; `wiki` alone lists the commands by group.

Exit codes: 0 when all went well; 1 when some unit failed (a recording, a page, an answer; each is named with its file
and reason, the others went on); 2 for a usage or run error, told in one line on standard error; 3 when `--max-usd` or
`--max-minutes` stopped the run, which the next one continues, or when `--estimate` expects more than that; 130 and 143
when SIGINT or SIGTERM ended it. After the first signal nothing more is begun, what is settled is written, and the wiki
is whole; a second one ends the process at once. Progress goes to standard error, the report to standard output.
The report has at most 25 lines, what is new first; `-v` prints its lists to their ends. Where nothing that was named
is a recording, the code is 1.
`--json` prints the report as one JSON object whose keys are always the same. Each entry of `failures`, `passed_over`
and `waiting` has a `kind` (recording, empty, page, answer, question, service, budget, stage or bug), a `unit` (file,
session, page or stage), the `place` in it (line or field), a `reason`, and where there is one the `recording` of the
session, the `stage` and the `request`; each of `left_out` and `dropped_claims` has `unit`, `place`, `reason` and
`recording`. With `--fail-on` the code is 1 when one of the conditions is met and 0 when none is, whatever failed; 2, 3,
130 and 143 stay. `wiki secrets` ends with 1 when it found one, too, and `wiki report --exit-code` with 3 when there is
nothing new to review.

`wiki summarize`, `wiki extract-guidelines` and `wiki synthesize-skill` run one stage and then catalog, so that a wiki
is whole after each; the second and third need the summaries of the first. `wiki ingest` runs all stages. Every command
that writes holds the wiki's lock and waits up to ten minutes for another that holds it.
"""


def commands_page() -> str:
    """The whole page: the head, then each command's help in the order of `wiki --help`."""
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    context = root.context_class(root, info_name="wiki", terminal_width=_WIDTH, max_content_width=_WIDTH)
    return "\n".join([_HEAD.format(width=_WIDTH), _section("wiki", root.get_help(context)), *_sections(root, context)])


def _sections(group: TyperGroup, context: Any) -> Iterator[str]:
    """A section for each command of a group, those of a group within it behind it."""
    for name, command in group.commands.items():
        inner = command.context_class(
            command, parent=context, info_name=name, terminal_width=_WIDTH, max_content_width=_WIDTH
        )
        yield _section(inner.command_path, command.get_help(inner))
        if isinstance(command, TyperGroup):
            yield from _sections(command, inner)


def _section(title: str, shown: str) -> str:
    lines = "\n".join(line.rstrip() for line in shown.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    COMMANDS_PAGE.write_text(commands_page(), encoding="utf-8")
