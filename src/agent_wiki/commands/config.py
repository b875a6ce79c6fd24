"""`wiki config`: what stands in `_config.yaml`, and a person's or an agent's own entries merged into it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from agent_wiki.commands import completing
from agent_wiki.commands.files import place_of, text_in
from agent_wiki.commands.show import finish, print_answer, print_json, print_lines
from agent_wiki.commands.stages import AsJson, DryRun, ExistingWiki, Verbose, Wiki
from agent_wiki.commands.unchanged import wiki_folder
from agent_wiki.errors import UsageError

Key = Annotated[str, typer.Argument(help="A key, such as clusters or rules.ignore.", autocompletion=completing.keys)]


def show(
    key: Annotated[
        str | None,
        typer.Argument(
            help="A key, such as clusters; without one, all in a line each.", autocompletion=completing.keys
        ),
    ] = None,
    wiki: ExistingWiki = None,
    as_json: AsJson = False,
) -> None:
    """Show what is configured: all keys in a line each, or one key in full."""
    from agent_wiki.wiki.config_keys import overview, value_at
    from agent_wiki.wiki.yaml_syntax import dump_yaml

    values = _configured(wiki)
    if key is not None:
        chosen = value_at(values, key)
        if as_json:
            print_json(chosen)
        else:
            print_lines([dump_yaml({key: chosen}).removesuffix("\n")])
    elif as_json:
        print_json(values)
    else:
        print_lines(overview(values))


def set_value(
    key: Key,
    value: Annotated[str, typer.Argument(help="YAML or plain text; null takes the key out.")],
    wiki: Wiki = None,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Set one key, and bring the wiki up to date with it."""
    from agent_wiki.wiki.config_keys import check_key

    check_key(key)
    values = _value(value)
    for name in reversed(key.split(".")):
        values = {name: values}
    _merge("config set", values, wiki, dry_run, verbose, as_json)


def check(wiki: ExistingWiki = None, as_json: AsJson = False) -> None:
    """Check the configuration: every key is known, every value is one that is understood. Exits with 1 if not."""
    from agent_wiki.wiki.config_keys import problems_in

    values = _configured(wiki, is_checked=True)
    problems = values if isinstance(values, list) else problems_in(values)
    if as_json:
        values = {"problems": problems, "exit_code": int(bool(problems))}
        print_answer("config check", values)
    else:
        print_lines(problems or ["every key is known and every value is understood"])
    raise typer.Exit(int(bool(problems)))


def _value(text: str) -> Any:
    """YAML where it looks like it: `[a, b]`, `{a: 1}`, `null`, `3`; else text, also with a colon in it."""
    from contextlib import suppress

    import yaml

    with suppress(yaml.YAMLError, RecursionError):
        value = _parsed(text)
        if not isinstance(value, dict | list) or text.lstrip().startswith(("{", "[")):
            return value
    return text


def _configured(named: Path | None, *, is_checked: bool = False) -> Any:
    """What `_config.yaml` holds; with `is_checked`, why it cannot be read, as a list. Raises `RunError`."""
    from agent_wiki.errors import RunError
    from agent_wiki.wiki.config import parse_config
    from agent_wiki.wiki.layout import CONFIG
    from agent_wiki.wiki.missing import no_wiki
    from agent_wiki.wiki.store import WikiFolder
    from agent_wiki.wiki.yaml_syntax import load_yaml

    folder = wiki_folder(named)
    text = WikiFolder(folder).read_text(CONFIG) if folder.is_dir() else None
    if text is None:
        raise no_wiki(folder)
    try:
        parse_config(text)
    except RunError as error:
        if is_checked:
            return [str(error)]
        raise
    return load_yaml(text) or {}


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
    from agent_wiki.wiki.config_keys import check_patch

    values = _mapping(file)
    check_patch(values)
    _merge("config patch", values, wiki, dry_run, verbose, as_json)


def _merge(
    command: str, values: dict[str, Any], wiki: Path | None, dry_run: bool, verbose: bool, as_json: bool
) -> None:
    from agent_wiki.pipeline.patch_config import patch_config
    from agent_wiki.pipeline.report import Report

    folder = wiki_folder(wiki)
    report = Report(command, str(folder), is_dry_run=dry_run, is_verbose=verbose)
    finish(patch_config(folder, values, report), as_json=as_json)


def _mapping(file: Path | None) -> dict[str, Any]:
    """The mapping in a file or on standard input. Raises `UsageError` with the line that cannot be read."""
    place, text = place_of(file), text_in(file).removeprefix("\ufeff")
    value = _yaml(text, place)
    if not isinstance(value, dict):
        raise UsageError(f"{place}: a patch is a mapping, such as {{clusters: {{…}}}}")
    return value


def _yaml(text: str, place: str) -> Any:
    """The value in a text. Raises `UsageError` with the line that cannot be read."""
    import yaml

    from agent_wiki.wiki.yaml_syntax import why_not_yaml

    try:
        return _parsed(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(why_not_yaml(error, place)) from error


def _parsed(text: str) -> Any:
    from agent_wiki.wiki.yaml_syntax import load_yaml

    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return load_yaml(text)
