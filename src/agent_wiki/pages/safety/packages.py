"""Packages from addresses that are neither a public index nor a host of source code."""

from __future__ import annotations

from collections.abc import Iterator

from agent_wiki.pages.safety.finding import SafetyFinding, finding
from agent_wiki.pages.safety.reading import Passage
from agent_wiki.pages.safety.signs import SignFamily, Signs, advised, sign
from agent_wiki.shell.hosts import hosts_in, is_outside

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
_REST = r"[^\n`;|&]{1,300}"
_SIGNS = Signs(
    sign(
        "runs/unknown-package",
        "install add get tap dpkg rpm ~i~; / ://",
        r"\b(?:(?:python[\d.]* -m )?pip[\d.]*|uv(?: pip)?|pipx|poetry|npm|pnpm|yarn|bun|gem|cargo|go|conda|mamba|brew"
        r"|apt(?:-get)?|apk|dnf|yum|snap|helm|code|claude|gemini)\s+(?:global\s+)?"
        r"(?:(?:un)?install|add|i|get|tap|tool install|plugin (?:add|install|marketplace add)|mcp add"
        rf"|extensions install|--install-extension|repo add)\b{_REST}"
        rf"|\b(?:dpkg\s+-i|rpm\s+-[iU]\w*|add-apt-repository|apt-add-repository)\s{_REST}",
    ),
    sign(
        "runs/unknown-package",
        "config index registry find-links sources goproxy insteadof go~env mcpservers mcp_servers",
        r"(?:\b(?:npm|pnpm|yarn|pip[\d.]*|poetry|bundle|gem|cargo|go env)\s+(?:config|sources?"
        r"|-w)\b|--(?:extra-)?index-url"
        r"|--default-index|--find-links|--registry|--index|\bregistry\s*=|\bindex-url\s*=|\bPIP_(?:EXTRA_)?INDEX_URL="
        r"|\bmcp_?Servers\b"
        rf"|\bUV_INDEX\w*=|\bGOPROXY=|\bNPM_CONFIG_REGISTRY=|\binsteadOf\b|sources\.list){_REST}",
    ),
)


def findings(passage: Passage) -> Iterator[SafetyFinding]:
    """The installations that a text advises from addresses nobody knows."""
    for rule, match in advised(passage, _SIGNS):
        if any(is_outside(host) and not _is_known_source(host) for host in hosts_in(match.group())):
            yield finding(rule, match.group())


FAMILY = SignFamily(findings, _SIGNS)


def _is_known_source(host: str) -> bool:
    """Whether a host is a public index of packages or a host of source code."""
    return any(host == each or host.endswith(f".{each}") for each in (*_SOURCE_HOSTS, *_INDEXES))
