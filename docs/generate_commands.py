"""Writes docs/commands.md, docs/wiki.1 and `recall/wiki_commands.py`: `python docs/generate_commands.py`.

All are made from the commands themselves. A test makes the same texts and compares, so that no option is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import fill
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from agent_wiki.commands.app import app
from agent_wiki.commands.groups import GROUPS
from agent_wiki.stages.order import ASKING_STAGES

COMMANDS_PAGE = Path(__file__).parent / "commands.md"
MAN_PAGE = Path(__file__).parent / "wiki.1"
COMMANDS_MODULE = Path(__file__).parent.parent / "src" / "agent_wiki" / "recall" / "wiki_commands.py"
_WIDTH = 80
_MODULE = '''\
"""The commands of `wiki`, for recognizing them in a recording. Made by `python docs/generate_commands.py`.

What reads recordings is below the commands and stages, and cannot ask them. A test compares.
"""

from __future__ import annotations

COMMANDS = frozenset(
{commands}
)  # fmt: skip
"""What the command `wiki` can do."""
MINING = frozenset(
{mining}
)  # fmt: skip
"""Those with which sessions are mined: all stages, those that ask, and what asks and answers by hand."""
'''
_MAN_HEAD = """\
.\\" Made by `python docs/generate_commands.py`; a test compares.
.TH WIKI 1 "" "agent\\-wiki" "User Commands"
.SH NAME
wiki \\- turn recorded agent sessions into a wiki that the next agent reads
.SH SYNOPSIS
.B wiki
.I COMMAND
[\\fIOPTIONS\\fR]
.SH DESCRIPTION
.B wiki ingest
reads recordings of coding agents (Claude Code, Codex, Gemini CLI and others) and writes a folder of Markdown pages:
rules and workflows, each tied to the turns that it came from.
.B wiki consult
finds the pages that apply to a task, and
.B wiki connect
has an agent do so by itself.
.SH COMMANDS
"""
_MAN_TAIL = """\
.SH EXIT STATUS
.TP
.B 0
All went well.
.TP
.B 1
Some unit failed, and is named with its file and reason; the others went on. Nothing that was named is a recording.
.TP
.B 2
The words are wrong, or the run could not go on.
.TP
.B 3
\\-\\-max\\-usd or \\-\\-max\\-minutes stopped the run, which the next one continues.
.TP
.B 130, 143
A signal ended it.
.SH ENVIRONMENT
.TP
.B ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL
The key, and the server, of \\-\\-engine anthropic.
.TP
.B EVOLVE_DIR
The folder for saved sessions and the log of hooks, instead of .evolve.
.SH FILES
.TP
.I wiki/_config.yaml
What the owner configures.
.TP
.I .evolve/hook.log
What hooks did and what went wrong.
.SH HELP OF EACH COMMAND
"""
_HEAD = """\
# Commands

Made by `python docs/generate_commands.py` from the commands themselves; a test compares. What `wiki COMMAND --help`
prints, {width} characters wide, but for groups of options that several commands have: they are shown once. `wiki` alone
lists the commands by group.

Exit codes: 0 when all went well; 1 when some unit failed (a recording, a page, an answer; each is named with its file
and reason, the others went on); 2 for a usage or run error, in one line on standard error; 3 when `--max-usd` or
`--max-minutes` stopped the run, which the next one continues, or when `--estimate` expects more than that; 130 and 143
when SIGINT or SIGTERM ended it. After the first signal nothing more is begun, what is settled is written, and the wiki
is whole; a second one ends the process at once. Progress goes to standard error, the report to standard output.
The report has at most 25 lines, what is new first; `-v` prints its lists to their ends. Where nothing that was named
is a recording, the code is 1.
`--json` prints the report, or what a command found, as JSON whose keys are always the same; `wiki schema COMMAND`
prints its JSON Schema, `wiki schema` all of them, and `schema_version` says which. Within a version keys are added,
none is removed. Each entry of `failures`, `passed_over` and `waiting` has a `kind` (recording, empty, page, answer,
question, service, budget, stage or bug), a `unit` (file, session, page or stage), the `place` in it (line or field),
a `reason`, and where there is one the `recording` of the session, the `stage` and the `request`; each of `left_out`
and `dropped_claims` has `unit`, `place`, `reason` and `recording`.
`recordings`, `recordings_unchanged` and `recordings_read` of a run count files, whatever they are. `files` says what
they are: `recordings` (of which `recordings_unchanged` were not read again), `parts` of a recording, `others`, which
`passed_over` names, and `unread`, which a run that was stopped or limited did not come to; these four add up to the
files that were listed. The line `read:` has the first two. `sessions` counts sessions by what became of them; those
that are `left-out`, `older` or `forgotten` are as many as the entries of `left_out`, with a recording without a turn
as one session; the line `read:` has them all as left out. `failures_unchanged` are those of `failures` that an earlier
run found, and that were not tried again. A run without news gives the same reasons again.
With `--fail-on` the code is 1 when one of the conditions is met and 0 when none is, whatever failed; 2, 3,
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
    helps = [("wiki", root.get_help(context)), *_helps(root, context)]
    sections = [_section(title, text) for title, text in _each_option_group_once(helps)]
    return "\n".join([_HEAD.format(width=_WIDTH), *sections])


def _helps(group: TyperGroup, context: Any) -> Iterator[tuple[str, str]]:
    """Name and help of each command of a group, those of a group within it behind it."""
    for name, command in group.commands.items():
        inner = command.context_class(
            command, parent=context, info_name=name, terminal_width=_WIDTH, max_content_width=_WIDTH
        )
        yield inner.command_path, "\n".join(map(str.rstrip, command.get_help(inner).splitlines()))
        if isinstance(command, TyperGroup):
            yield from _helps(command, inner)


def _each_option_group_once(helps: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Helps in which a group of options that a command before has, to the letter, is only named with that command."""
    first: dict[str, str] = {}
    for title, text in helps:
        parts = text.split("\n\n")
        for at, part in enumerate(parts):
            heading, _, options = part.partition("\n")
            if options.lstrip().startswith("--") and heading != "Options:":
                owner = first.setdefault(part, title)
                if owner != title:
                    parts[at] = f"{heading} see {owner}"
        yield title, "\n\n".join(parts)


def man_page() -> str:
    """The same as the manual page `wiki(1)`: what commands do, by group, then the help of each as it is printed."""
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    context = root.context_class(root, info_name="wiki", terminal_width=_WIDTH, max_content_width=_WIDTH)
    groups = [f".SS {title}\n" + "".join(map(_man_item, lines.items())) for title, lines in GROUPS.items()]
    helps = [
        f".SS {title}\n.nf\n{_roff(text)}\n.fi\n" for title, text in _each_option_group_once(_helps(root, context))
    ]
    return "".join([_MAN_HEAD, *groups, _MAN_TAIL, *helps])


def commands_module() -> str:
    """The module that lists the commands by their names."""
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    mining = {"ingest", *ASKING_STAGES, "prompt", "apply"}
    return _MODULE.format(commands=_set_of(root.commands), mining=_set_of(mining))


def _set_of(names: Iterable[str]) -> str:
    """The elements of a set in lines that fit."""
    listed = ", ".join(f'"{each}"' for each in sorted(names))
    return fill(f"{{{listed}}}", 110, initial_indent="    ", subsequent_indent="     ", break_on_hyphens=False)


def _man_item(item: tuple[str, str]) -> str:
    name, says = item
    return f".TP\n.B wiki {_roff(name)}\n{_roff(says)}.\n"


def _roff(text: str) -> str:
    """Text in which nothing is a command of roff."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\`")
    return "\n".join(f"\\&{line}" if line.startswith(".") else line for line in escaped.split("\n"))


def _section(title: str, shown: str) -> str:
    lines = "\n".join(line.rstrip() for line in shown.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    COMMANDS_PAGE.write_text(commands_page(), encoding="utf-8")
    MAN_PAGE.write_text(man_page(), encoding="utf-8")
    COMMANDS_MODULE.write_text(commands_module(), encoding="utf-8")
