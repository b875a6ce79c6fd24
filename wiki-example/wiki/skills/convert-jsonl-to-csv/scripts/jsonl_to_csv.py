"""Turn a JSON Lines file into a CSV file, nested fields as dotted columns.

Usage: jsonl_to_csv.py SOURCE TARGET
"""

import argparse
import csv
import json
from pathlib import Path


def flat(record, prefix=""):
    """Yield (dotted name, value) for every leaf of a record."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("source")
parser.add_argument("target")
arguments = parser.parse_args()

lines = Path(arguments.source).read_text(encoding="utf-8").splitlines()
rows = [dict(flat(json.loads(line))) for line in lines if line.strip()]
columns = list(dict.fromkeys(name for row in rows for name in row))
Path(arguments.target).parent.mkdir(parents=True, exist_ok=True)
with open(arguments.target, "w", newline="", encoding="utf-8") as stream:
    writer = csv.DictWriter(stream, columns)
    writer.writeheader()
    writer.writerows(rows)
print(f"{len(rows)} rows, {len(columns)} columns")
