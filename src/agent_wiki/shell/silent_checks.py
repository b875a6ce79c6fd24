"""Checks whose silence, or whose word that there was nothing to run, says how they went."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_wiki.shell.result_lines import failing_lines, last_line, lines_of, shows_success, without_colours
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.syntax import PIPES
from agent_wiki.trajectory.lazily import regex

_NONE_FOUND = regex(
    r"\b[Nn]o tests? (?:found|ran|files? found|to run)\b|\bcollected 0 items\b|^Ran 0 tests|\b0 selected\b"
    r"|^=+ \d+ deselected in |^Linting: 0 files?(?:\(s\))?$"
    r"|^Checked 0 files in ",
    re.MULTILINE,
)
# What a script says in the place of its check; a runner says the same of a part, and then counts what has passed.
_SKIPPED = regex(r"\bskipping (?:the )?(?:syntax |type |lint )?checks?\W{0,9}$", re.MULTILINE)
_MOST_READ = 2_000  # characters at the end of a result
# Checks that mark each fault with the word error, and what shows the lines with an error and no fewer.
_MARKS_ERRORS = regex(
    r"(?:cargo (?:check|build|clippy)|(?:npx |bunx |pnpm (?:exec )?|yarn )?(?:vue-)?tsc|gcc|g\+\+|clang(?:\+\+)?|javac"
    r"|rustc)(?![\w+])"
)
_SEEKS_ERRORS = regex(r"(?:e?grep|rg)(?: -(?:[inEw]{1,4}|[ABC] ?\d{1,3}))* [\^(]{0,2}error\b", re.IGNORECASE)
_OF_OTHERS = regex(
    r"e?grep (?:-E )?-E?vE? (?:-E )?[\"']?(?:\./)?(?:node_modules|(?:vendor|third_party|\.next|dist)/)[\"']?"
)  # by a name that no file of the project has in its own


def fits_no_test(result: str) -> bool:
    """A test runner says that there was no test to run, and nothing in its result shows one that failed."""
    lines = [line for line in lines_of(result) if line.strip()]
    has_none = bool(lines) and all(line.rstrip().endswith("[no test files]") for line in lines)
    end = without_colours(result[-_MOST_READ:])
    has_none = has_none or _NONE_FOUND.search(end) is not None
    has_none = has_none or (_SKIPPED.search(end) is not None and not any(map(shows_success, lines)))
    return has_none and not any(failing_lines(lines))


def finds_no_error(commands: Sequence[SimpleCommand], result: str) -> bool:
    """The last pipe of a call shows the errors alone of a check that marks each with that word, and there are none.

    Or it cuts what the check printed, which was nothing.

    In: the commands of a call that did not fail, and its result.
    """
    at = next((at for at, each in enumerate(commands) if _MARKS_ERRORS.match(each.text())), len(commands))
    checked, shown = commands[at : at + 1], commands[at + 1 :]
    if not checked or not shown or last_line(result):
        return False
    is_piped = all(each.after in PIPES for each in (*checked, *shown[:-1])) and not any(each.writes for each in shown)
    is_search = _SEEKS_ERRORS.match(shown[0].text()) is not None
    # To leave lines about other people's code out hides no error of the project.
    of_errors = [each for each in shown[1:] if not _OF_OTHERS.fullmatch(each.text())] if is_search else shown
    return is_piped and all(each.program in ("head", "tail") for each in of_errors)
