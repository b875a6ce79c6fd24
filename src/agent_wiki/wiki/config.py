"""`_config.yaml`: the durable taxonomy that people and stages both write.

Entries that a stage adds carry `made_by` (but for tags). `config_edits` changes the text and keeps what a person wrote.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import Any

import yaml

from agent_wiki.errors import RunError
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.trajectory.subagents import begun_by
from agent_wiki.wiki.config_names import check_page_names
from agent_wiki.wiki.form_versions import is_newer, newer
from agent_wiki.wiki.layout import CONFIG
from agent_wiki.wiki.tag_lines import STAND_IN, TagLines, tag_lines
from agent_wiki.wiki.values import texts_of
from agent_wiki.wiki.yaml_syntax import load_yaml, why_not_yaml

Section = tuple[str, ...]

_FORGOTTEN_DIGITS = 12

TAGS: Section = ("tags", "guideline")
CLUSTERS: Section = ("clusters",)
TASKS: Section = ("tasks",)
OVERRIDES: Section = ("session_family_overrides",)
RULES: Section = ("rules",)
REJECTED: Section = ("rejected",)
RELEASED: Section = ("released",)
ALLOWED_SECRETS: Section = ("allowed_secrets",)
IN_GIT = "pages"
VERSION = 1
"""Of the form of the file, as `schema_version` says it."""
_WORDS = {"summary_names": ("session", "title"), "pii": ("replace", "keep")}

_SECTIONS: tuple[Section, ...] = (TAGS, CLUSTERS, TASKS, OVERRIDES, REJECTED, RELEASED, ALLOWED_SECRETS)


@dataclass(frozen=True, slots=True)
class Release:
    """What a person let through of a page that was held back: the digests of its `texts`, and `why`."""

    texts: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class AllowedSecret:
    """What looks like a secret of this `kind` and is none, or may be seen: a person says `why`."""

    kind: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """The parsed configuration. Values are as written; a missing section is empty.

    Clusters and tasks that `rejected` names are left out, whoever wrote them.
    """

    tags: dict[str, list[str]] = field(default_factory=dict)
    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    overrides: dict[str, dict[str, Any]] = field(default_factory=dict)
    ignored_rules: tuple[str, ...] = ()  # ids of rules of the embedded engine that the owner switched off
    rejected: dict[str, str] = field(default_factory=dict)  # id of a page that a person retired for good → why
    released: dict[str, Release] = field(default_factory=dict)  # by id of a page
    allowed_secrets: dict[str, AllowedSecret] = field(default_factory=dict)  # by the digest of the value
    forgotten: frozenset[str] = frozenset()  # sessions that stay out for good, by `forgotten_name`
    kept: tuple[str, ...] = ()  # paths of pages that a person edited and keeps
    are_summaries_titled: bool = False  # their file names begin with their titles
    keeps_personal_data: bool = False  # no stand-ins for user names, mail addresses and customers' names
    trusted: tuple[str, ...] = ()  # names of wikis whose records, and paths of pages whose own words, the owner trusts
    sidecar: str = ""  # where records lie that are not in git
    version: int = VERSION


def forgotten_name(session_id: str) -> str:
    """How a session that was forgotten is named: 12 hex of the SHA-256 of its id, which says nothing of it."""
    return sha256_of(session_id)[:_FORGOTTEN_DIGITS]


def forgotten_as(
    forgotten: Collection[str], session_id: str, parent_session_id: str | None, earlier_ids: Iterable[str] = ()
) -> str:
    """By which of these names a session stays out for good, its own or that of one that began it; "" if by none.

    `earlier_ids` are those that it had when less of it was recorded.
    """
    if not forgotten:
        return ""
    names = map(forgotten_name, (session_id, *earlier_ids, *begun_by(session_id, parent_session_id)))
    return next((name for name in names if name in forgotten), "")


def parse_config(text: str) -> Config:
    """Parse `_config.yaml`. Raises `RunError` naming line and reason: a run must not overwrite what it cannot read."""
    try:
        root = _loaded(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise RunError(f"{why_not_yaml(error, CONFIG)}; correct it and run again") from error
    if root is None:
        root = {}
    if not isinstance(root, dict):
        raise RunError(f"{CONFIG}:1: not a mapping; correct it and run again")
    try:
        return _config_of(root, text)
    except RunError as error:
        if is_newer(version := _version(root), VERSION):
            raise RunError(f"{CONFIG}: {newer(version, VERSION)}") from error
        raise


def _config_of(root: dict[str, Any], text: str) -> Config:
    """Raises `RunError` for what means nothing."""
    tags, clusters, tasks, overrides, rejected, released, allowed = (_mapping_at(root, each) for each in _SECTIONS)
    check_page_names(text, CLUSTERS[0], (name for name, value in clusters.items() if isinstance(value, dict)))
    check_page_names(text, TASKS[0], (name for name, value in tasks.items() if isinstance(value, dict)))
    return Config(
        tags={name: _tags(name, value) for name, value in tags.items() if value is not None},
        clusters=_entries_but(clusters, "cluster", rejected),
        tasks=_entries_but(tasks, "task", rejected),
        overrides={name: value for name, value in overrides.items() if isinstance(value, dict)},
        ignored_rules=_ignored_rules(root),
        rejected={name: "" if value is None else str(value) for name, value in rejected.items()},
        released={name: _release(value) for name, value in released.items() if isinstance(value, dict)},
        allowed_secrets={name: _allowed(value) for name, value in allowed.items() if isinstance(value, dict)},
        forgotten=_forgotten(root),
        kept=tuple(texts_of(root.get("kept"))),
        are_summaries_titled=_checked(root, "summary_names") == "title",
        keeps_personal_data=_checked(root, "pii") == "keep",
        trusted=_listed(root, "trust"),
        sidecar=str(_checked(root, "summaries") or "").partition(":")[2].strip(),
        version=_version(root),
    )


def version_of_config(text: str) -> int:
    """The version that a configuration says it has, also one that cannot be parsed otherwise."""
    try:
        return _version(_loaded(text))
    except (yaml.YAMLError, RecursionError):
        return VERSION


def _version(root: Any) -> int:
    version = root.get("schema_version") if isinstance(root, dict) else None
    return version if isinstance(version, int) else VERSION


def _tags(name: str, value: Any) -> list[str]:
    """The tags of a page; one may stand without a list. Raises `RunError`: what cannot be read must not be replaced."""
    if isinstance(value, dict):
        raise RunError(f"{CONFIG}: {'.'.join(TAGS)}: {name} has no list of tags; correct it and run again")
    return [str(tag) for tag in value] if isinstance(value, list) else texts_of(value)


def _release(value: Mapping[str, Any]) -> Release:
    return Release(tuple(texts_of(value.get("texts"))), str(value.get("why") or ""))


def _allowed(value: Mapping[str, Any]) -> AllowedSecret:
    return AllowedSecret(str(value.get("kind") or ""), str(value.get("why") or ""))


def _loaded(text: str) -> Any:
    """What the text holds."""
    found = split_tag_lines(text)
    if found is None:
        return load_yaml(text)
    lines, root = found
    root["tags"]["guideline"] = lines.tags()
    return root


def split_tag_lines(text: str) -> tuple[TagLines, dict[str, Any]] | None:
    """The lines of tags, and what the rest of the text holds; None where only the general parser can tell them."""
    lines = tag_lines(text)
    if lines is None:
        return None
    try:
        root = load_yaml(lines.rest)
    except (yaml.YAMLError, RecursionError):
        return None
    tags = root.get("tags") if isinstance(root, dict) else None
    return (lines, root) if isinstance(tags, dict) and tags.get("guideline") == STAND_IN else None


def without_tag_lines(text: str) -> str:
    """The text without the lines of guidelines' tags; the whole where they are not in the form of a stage's."""
    lines = tag_lines(text)
    return text if lines is None else lines.rest


def _listed(root: dict[str, Any], section: str) -> tuple[str, ...]:
    """The names in a list. Raises `RunError` for anything else: whom the owner trusts is not guessed."""
    listed = root.get(section) or []
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise RunError(f"{CONFIG}: {section} is not a list of names; correct it and run again")
    return tuple(listed)


def _forgotten(root: dict[str, Any]) -> frozenset[str]:
    """The names of forgotten sessions; a person may have written an id."""
    listed = _listed(root, "forgotten")
    return frozenset(listed).union(map(forgotten_name, listed))


def _ignored_rules(root: dict[str, Any]) -> tuple[str, ...]:
    ignored = _mapping_at(root, RULES).get("ignore")
    if ignored is None:
        return ()
    if not isinstance(ignored, list) or not all(isinstance(each, str) for each in ignored):
        raise RunError(f"{CONFIG}: rules.ignore is not a list of ids; correct it and run again")
    return tuple(sorted(set(ignored)))


def what_to_write(name: str, value: Any) -> str:
    """What to write for `name` in place of a value that is none of its words; empty where it is one, or None."""
    if name == "summaries":
        kind, _, place = str(value or IN_GIT).partition(":")
        fits = (kind == IN_GIT and not place) or (kind == "sidecar" and bool(place.strip()))
        return "" if fits else f"{IN_GIT}, or sidecar:PLACE with a folder or an address in a bucket"
    return "" if value is None or value in _WORDS[name] else ", or ".join(_WORDS[name])


def _checked(root: Mapping[str, Any], name: str) -> Any:
    """The value of `name`. Raises `RunError`: what nobody knows must not be taken for one of its words."""
    value = root.get(name)
    if words := what_to_write(name, value):
        raise RunError(f"{CONFIG}: {name}: write {words}; correct it and run again")
    return value


def _entries_but(entries: Mapping[str, Any], kind: str, rejected: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        name: value for name, value in entries.items() if isinstance(value, dict) and f"{kind}:{name}" not in rejected
    }


def _mapping_at(root: dict[str, Any], section: Section) -> dict[str, Any]:
    value = root
    for depth, name in enumerate(section, start=1):
        inner = value.get(name)
        if inner is None:
            return {}
        if not isinstance(inner, dict):
            raise RunError(f"{CONFIG}: {'.'.join(section[:depth])} is not a mapping; correct it and run again")
        value = inner
    return value


def signed(entry: dict[str, Any], stage: str, engine: str, **more: Any) -> dict[str, Any]:
    """`entry` with `made_by`, whose digest shows later whether a person changed it since."""
    made_by = {"stage": stage, "engine": engine, **more, "digest": _digest(entry)}
    return {**entry, "made_by": made_by}


def is_stage_made(entry: Mapping[str, Any]) -> bool:
    """True for an entry that a stage wrote and nobody has changed since: only these may be replaced."""
    made_by = entry.get("made_by")
    if not isinstance(made_by, dict):
        return False
    return made_by.get("digest") == _digest({name: value for name, value in entry.items() if name != "made_by"})


def _digest(entry: Mapping[str, Any]) -> str:
    text = json.dumps(entry, sort_keys=True, ensure_ascii=False)
    return sha256_of(text)[:12]
