"""Sum one column of a CSV file by another, for rows where a third has a given value.

Usage: sum_csv_column.py FILE KEY VALUE [--where COLUMN=TEXT]
"""

import argparse
import csv
import sys
from collections import defaultdict
from decimal import Decimal

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file")
parser.add_argument("key", help="column to group by")
parser.add_argument("value", help="column to sum")
parser.add_argument("--where", help="COLUMN=TEXT that a row must have")
arguments = parser.parse_args()

column, _, wanted = (arguments.where or "").partition("=")
sums = defaultdict(Decimal)
with open(arguments.file, newline="", encoding="utf-8") as stream:
    for row in csv.DictReader(stream):
        if not column or row[column] == wanted:
            sums[row[arguments.key]] += Decimal(row[arguments.value])

writer = csv.writer(sys.stdout, lineterminator="\n")
writer.writerow([arguments.key, arguments.value])
writer.writerows((key, f"{total:.2f}") for key, total in sorted(sums.items()))
