"""What former versions of this package wrote as skills or plugin, by digest: nobody's work, so it is replaced.

Before such a file is changed or taken out, the digest of what it was is added here.
"""

from __future__ import annotations

import hashlib

_DIGITS = 16
_SHIPPED = {
    "wiki-catalog/SKILL.md": ("e32bd01efee94913", "f546cfb7319baf43"),
    "wiki-consolidate-clusters/SKILL.md": ("024af0eb544c0cf8", "87fb2ae14d1901f0"),
    "wiki-consult/SKILL.md": (
        "026c60e3ca3e7de6",
        "311c6bf77de9a2df",
        "57a59f546e1bd4fd",
        "afd4ce1b05de465b",
        "e1faa5de97c0f0c9",
    ),
    "wiki-discover-tasks/SKILL.md": ("1bef9acc710d0730", "85ae8705cfdff09c"),
    "wiki-extract-guidelines/SKILL.md": ("37744aac24bceb95", "3f7c05200d851abd"),
    "wiki-ingest/SKILL.md": ("15ab6567d88178e0", "6bcffa97dcaad0c4", "d6f9ad4c80a8ac46"),
    "wiki-summarize/SKILL.md": ("46524fc9420c1c53", "fa991b8b4c945d7a"),
    "wiki-synthesize-skill/SKILL.md": ("5892503a1aacdd4d", "e67bef32e0509185"),
}
_WRITTEN = {".codex-plugin/plugin.json": ("db3d1c17f84d2e52",)}  # by `wiki plugin`

FORMER_PATHS = frozenset(_SHIPPED)
"""The paths, `<skill>/<file>`, that any former version had."""


def was_shipped(path: str, content: bytes) -> bool:
    """Whether a former version wrote this very content at the path."""
    return hashlib.sha256(content).hexdigest()[:_DIGITS] in {**_SHIPPED, **_WRITTEN}.get(path, ())
