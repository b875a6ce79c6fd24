"""`wiki config patch`: a person's or an agent's own entries, merged into `_config.yaml`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from agent_wiki.commands.show import finish
from agent_wiki.commands.stages import AsJson, DryRun, Wiki
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.errors import UsageError


def patch(
    file: Annotated[Path | None, typer.Argument(help="YAML or JSON; standard input without one.")] = None,
    wiki: Wiki = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Merge a mapping into the configuration, and bring the wiki up to date with it.

    Mappings are merged at every depth; a null removes a key; a list replaces a list. Comments are kept. From then on
    these entries are yours: no stage overwrites them.
    """
    from agent_wiki.pipeline.patch_config import patch_config
    from agent_wiki.report import Report

    values = _mapping(file)
    folder = wiki_folder(wiki)
    report = patch_config(folder, values, Report("config patch", str(folder), is_dry_run=dry_run))
    finish(report, as_json=as_json)


def _mapping(file: Path | None) -> dict[str, Any]:
    """The mapping in a file or on standard input. Raises `UsageError` with the line that cannot be read."""
    import yaml

    from agent_wiki.wiki.yaml_syntax import load_yaml

    place = str(file) if file is not None else "standard input"
    try:
        text = (sys.stdin.buffer.read() if file is None else file.read_bytes()).decode("utf-8").removeprefix("\ufeff")
        value = json.loads(text) if text.lstrip().startswith("{") and _is_json(text) else load_yaml(text)
    except OSError as error:
        raise UsageError(f"{place}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{place}: not UTF-8 text") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"{place}:{line}: {error.problem}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{place}: cannot be parsed ({type(error).__name__})") from error
    if not isinstance(value, dict):
        raise UsageError(f"{place}: a patch is a mapping, such as {{clusters: {{…}}}}")
    return value


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
