"""Rows of a Parquet file as JSON values, one by one. pyarrow (the extra `parquet`) is imported for such a file only."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import IO, Any

from agent_wiki.errors import UnreadableRecording

MAGIC = b"PAR1"

_ROWS_AT_A_TIME = 8  # a row may hold a whole session
_LARGE_BYTES = 640 << 20  # as for archives: a file up to this size is read, however well it is packed
_MOST_TIMES = 100
_DEEPEST = 100


def rows(stream: IO[bytes], name: str, packed_bytes: int) -> Iterator[dict[str, Any]]:
    """Each row by the names of its columns. A null inside a value is left out: the columns cannot tell it from absent.

    Raises `UnreadableRecording` for a damaged file, one that unpacks to far more than its size, and without pyarrow.
    """
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        reason = "a Parquet file: reading it needs the extra `parquet` (pip install 'agent-wiki[parquet]')"
        raise UnreadableRecording(name, reason, is_foreign=True) from error
    try:
        table = parquet.ParquetFile(stream)
        groups = (table.metadata.row_group(at) for at in range(table.metadata.num_row_groups))
        if sum(group.total_byte_size for group in groups) > max(_LARGE_BYTES, _MOST_TIMES * packed_bytes):
            raise UnreadableRecording(
                name, f"unpacks to more than {_LARGE_BYTES:,} bytes and {_MOST_TIMES} times its size"
            )
        for batch in table.iter_batches(batch_size=_ROWS_AT_A_TIME):
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                yield {str(column): _plain(value) for column, value in row.items()}
    except (arrow.ArrowException, OSError, ValueError, OverflowError, RecursionError, KeyError) as error:
        raise UnreadableRecording(name, f"damaged Parquet file: {_first_line(error)}") from error


def _plain(value: Any, depth: int = 0) -> Any:
    """A value of a column as JSON has it."""
    if depth > _DEEPEST:
        raise RecursionError(f"nested deeper than {_DEEPEST} levels")
    if isinstance(value, dict):
        return {str(key): _plain(each, depth + 1) for key, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [_plain(each, depth + 1) for each in value]
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Decimal):
        return float(value)
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).partition("\n")[0][:200]
