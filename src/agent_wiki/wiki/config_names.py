"""Names in `_config.yaml` that become file names: what is none is refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterable

import yaml

from agent_wiki.errors import RunError
from agent_wiki.trajectory.lazily import regex
from agent_wiki.wiki.layout import CONFIG, slug
from agent_wiki.wiki.yaml_syntax import compose_yaml

_NAME = regex(r"\w[\w. +-]{0,119}")


def check_page_names(text: str, section: str, names: Iterable[str]) -> None:
    """Raise `RunError` for a name that no page may have, with its line in `text` and a name that one may.

    None may lead out of its folder, and no two may differ by case alone: on many disks they would be one file.
    """
    taken: dict[str, str] = {}
    for name in names:
        if not _NAME.fullmatch(name):
            raise RunError(_how_to_mend(text, section, name, "cannot be the name of a page", slug(name)))
        other = taken.setdefault(name.casefold(), name)
        if other != name:
            reason = f"differs from {other!r} by case alone, which many disks do not tell apart"
            raise RunError(_how_to_mend(text, section, name, reason, f"{slug(name)}-2"))


def _how_to_mend(text: str, section: str, name: str, reason: str, better: str) -> str:
    line = _line_of(text, section, name)
    place = f"{CONFIG}:{line}" if line else CONFIG
    return f"{place}: {section}: {name[:60]!r} {reason}; name it {better!r}, for example, and run again"


def _line_of(text: str, section: str, name: str) -> int | None:
    """The line of an entry, counted from 1; None where it is not on lines of its own."""
    root = compose_yaml(text)
    line: int | None = None
    for key in (section, name):
        entries = root.value if isinstance(root, yaml.MappingNode) else []
        found = next(((each, value) for each, value in entries if each.value == key), None)
        if found is None:
            return None
        line, root = found[0].start_mark.line + 1, found[1]
    return line
