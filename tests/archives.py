"""Archives of the tests' data, unpacked."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(archive: Path, folder: Path) -> None:
    """Unpack `archive` into `folder`, with the filter for data where this Python has one (3.11 only since 3.11.4)."""
    with tarfile.open(archive) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)
        opened.extractall(folder)
