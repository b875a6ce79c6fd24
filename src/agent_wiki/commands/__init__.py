"""The command line: thin, one module per group of commands. Heavy modules are imported where they are used."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Entry point of `wiki`. Returns the exit code: 0 all well, 1 some unit failed, 2 usage or run error, 3 budget."""
    from agent_wiki.commands import harness, unchanged

    words = sys.argv[1:] if arguments is None else arguments
    if harness.is_hook(words):
        return harness.call(words[1], words[2:])

    from agent_wiki.errors import RunError

    try:
        if unchanged.is_catalogued(words):
            return 0
        from agent_wiki.commands.app import command_for

        command_for(words)(args=arguments, prog_name="wiki")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except RunError as error:
        _complain(f"{error}")
        return 2
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output is gone, so nothing more can be printed
        return 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _complain(f"{place}{error.strerror or error}")
        return 2
    return 0


def _complain(error: str) -> None:
    from agent_wiki.commands.visible import visible

    sys.stderr.write(visible(f"wiki: {error}\n"))
