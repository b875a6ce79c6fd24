"""`wiki config patch`: a person's or an agent's own entries, merged into `_config.yaml`."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from agent_wiki.commands.files import place_of, text_in
from agent_wiki.commands.show import finish
from agent_wiki.commands.stages import AsJson, DryRun, Verbose, Wiki
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.errors import UsageError


def patch(
    file: Annotated[Path | None, typer.Argument(help="YAML or JSON; standard input without one.")] = None,
    wiki: Wiki = None,
    dry_run: DryRun = False,
    verbose: Verbose = False,
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
    report = Report("config patch", str(folder), is_dry_run=dry_run, is_verbose=verbose)
    report = patch_config(folder, values, report)
    finish(report, as_json=as_json)


def _mapping(file: Path | None) -> dict[str, Any]:
    """The mapping in a file or on standard input. Raises `UsageError` with the line that cannot be read."""
    import yaml

    from agent_wiki.wiki.yaml_syntax import why_not_yaml

    place, text = place_of(file), text_in(file).removeprefix("\ufeff")
    try:
        value = _parsed(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(why_not_yaml(error, place)) from error
    if not isinstance(value, dict):
        raise UsageError(f"{place}: a patch is a mapping, such as {{clusters: {{…}}}}")
    return value


def _parsed(text: str) -> Any:
    from agent_wiki.wiki.yaml_syntax import load_yaml

    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return load_yaml(text)
