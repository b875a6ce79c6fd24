"""Addresses in text: which are outside, and which everybody knows as indexes of packages or hosts of source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.trajectory.lazily import regex

# With its scheme, or without it (as pages show addresses), then with a path.
ADDRESS = regex(
    r"(?:(?:git\+)?[a-z][a-z0-9+-]*://)(?:[^\s/@'\"`<>]{1,80}@)?(\[[0-9a-f:]+\]|[\w.-]+)(?::\d+)?"
    r"|(?<![\w/.@~$-])(?:git\+)?((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?=/[^\s'\"`)]|\?)",
    re.IGNORECASE,
)
_INSIDE = regex(
    r"^(?:localhost|0\.0\.0\.0|127(?:\.\d+){3}|10(?:\.\d+){3}|192\.168(?:\.\d+){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2}"
    r"|169\.254(?:\.\d+){2}|\[?::1\]?|host\.docker\.internal|.*\.(?:local|internal|localhost|test|lan|svc|intranet))$",
    re.IGNORECASE,
)
_SOURCE_HOSTS = (
    "github.com", "githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org", "sr.ht", "huggingface.co",
)  # fmt: skip
_INDEXES = (
    "pypi.org", "pythonhosted.org", "pytorch.org", "npmjs.org", "npmjs.com", "yarnpkg.com", "rubygems.org", "crates.io",
    "golang.org", "pkg.go.dev", "maven.org", "maven.apache.org", "anaconda.org", "anaconda.com", "debian.org",
    "ubuntu.com", "alpinelinux.org", "fedoraproject.org", "archlinux.org", "packagist.org", "nuget.org", "jsr.io",
    "nvidia.com", "microsoft.com", "docker.com", "kubernetes.io", "nodesource.com", "postgresql.org", "python.org",
    "nodejs.org", "google.com", "apache.org", "gnu.org", "hex.pm", "hackage.haskell.org", "conda.io", "jetbrains.com",
)  # fmt: skip


def hosts_in(text: str) -> Iterator[str]:
    """The host of each address in a text, in lower case."""
    return ((match[1] or match[2]).lower().strip(".") for match in ADDRESS.finditer(text))


def is_outside(host: str) -> bool:
    """Whether a host is on the public network, as far as its name shows. A name without a dot is a neighbour's."""
    return ("." in host or ":" in host) and not _INSIDE.match(host)


def outside_hosts(text: str) -> list[str]:
    """The public hosts that a text names."""
    return [host for host in hosts_in(text) if is_outside(host)]


def is_known_source(host: str) -> bool:
    """Whether a host is a public index of packages or a host of source code."""
    return any(host == each or host.endswith(f".{each}") for each in (*_SOURCE_HOSTS, *_INDEXES))
