"""Load a CSV file into a table of an SQLite database, replacing the table.

Usage: load_csv_into_sqlite.py CSV DATABASE TABLE
"""

import csv
import sqlite3
import sys

source, database, table = sys.argv[1:4]
with open(source, newline="", encoding="utf-8") as stream:
    header, *rows = csv.reader(stream)
connection = sqlite3.connect(database)
columns = ", ".join(f'"{name}"' for name in header)
connection.execute(f'drop table if exists "{table}"')
connection.execute(f'create table "{table}" ({columns})')
connection.executemany(f'insert into "{table}" values ({", ".join("?" * len(header))})', rows)
connection.commit()
print(f"{len(rows)} rows in {table}")
