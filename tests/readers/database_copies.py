"""A copy of a database as a client leaves it: its latest change is in the log beside it."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path


def copied_with_log(database: Path, copy: Path, change: str) -> Path:
    """`copy`, made while the `change` is only in the log, in a folder of its own."""
    copy.parent.mkdir()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(change)
        connection.commit()
        shutil.copy(database, copy)
        shutil.copy(f"{database}-wal", f"{copy}-wal")
    return copy
