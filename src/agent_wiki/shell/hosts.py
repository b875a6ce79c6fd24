"""Addresses in text: their hosts, and which are outside this machine and its network."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.trajectory.lazily import regex

# With its scheme, or without it (as pages show addresses), then with a path or, as the value of a setting, a slash.
ADDRESS = regex(
    r"(?:(?:git\+)?[a-z][a-z0-9+-]*://)(?:[^\s/@'\"`<>]{1,80}@)?(\[[0-9a-f:]+\]|[\w.-]+)(?::\d+)?"
    r"|(?<![\w/.@~$-])(?:git\+)?((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?"
    r"(?=/[^\s'\"`)]|\?)"
    r"|(?<==)((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24})(?::\d+)?(?=/)",
    re.IGNORECASE,
)
_INSIDE = regex(
    r"^(?:localhost|0\.0\.0\.0|127(?:\.\d+){1,3}|10(?:\.\d+){3}|192\.168(?:\.\d+){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2}"
    r"|169\.254(?:\.\d+){2}|\[?::1\]?|host\.docker\.internal|.*\.(?:local|internal|localhost|test|lan|svc|intranet))$",
    re.IGNORECASE,
)


def hosts_in(text: str) -> Iterator[str]:
    """The host of each address in a text, in lower case."""
    return ((match[1] or match[2] or match[3]).lower().strip(".") for match in ADDRESS.finditer(text))


def is_outside(host: str) -> bool:
    """Whether a host is on the public network, as far as its name shows. A name without a dot is a neighbour's."""
    return ("." in host or ":" in host) and not _INSIDE.match(host)


def outside_hosts(text: str) -> list[str]:
    """The public hosts that a text names."""
    return [host for host in hosts_in(text) if is_outside(host)]
