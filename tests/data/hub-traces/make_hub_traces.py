"""Makes sessions.parquet of two sessions of the example, with the library `datasets` (which asks for `teich`)."""

from __future__ import annotations

from pathlib import Path

from datasets import load_dataset

TRACES = Path(__file__).parents[3] / "wiki-example" / "traces"
FILES = [str(TRACES / name) for name in ("codex-titlecase.jsonl", "claude-truncate.jsonl")]

table = load_dataset("json", data_files=FILES, split="train")
table = table.remove_columns("tools").map(lambda row: {"file_path": Path(row["file_path"]).name})
table.to_parquet(Path(__file__).with_name("sessions.parquet"))
