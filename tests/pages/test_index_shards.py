"""The index of a large wiki in pieces, each small enough to be read."""

from __future__ import annotations

import json
from typing import Any

from agent_wiki.pages.index_shards import CONTENTS, MOST_ROWS, MOST_SHARDS, MOST_WHOLE, Shards, is_shard, sessions_of

Row = dict[str, Any]


def _row(number: int, *tags: str, kind: str = "guideline", sessions: int = 1) -> Row:
    link = f"guidelines/x__{number:012x}.md"
    return {"kind": kind, "id": f"{number:012x}", "tags": list(tags), "link": link, "support": {"sessions": sessions}}


def shards(rows: list[Row]) -> dict[str, str]:
    made = Shards()
    for row in rows:
        made.add(row, sessions_of(row))
    return made.files([json.dumps(row) for row in rows])


def _rows(text: str) -> list[Row]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_small_wiki_has_no_shards() -> None:
    assert shards([_row(number, "git") for number in range(MOST_WHOLE)]) == {}


def test_every_row_is_with_each_of_its_tags_and_the_table_counts_them() -> None:
    rows = [_row(number, "git" if number % 2 else "go", f"topic-{number % 9}") for number in range(MOST_WHOLE + 1)]
    files = shards(rows)
    contents = {entry["tag"]: entry for entry in _rows(files[CONTENTS])}
    assert {f"_index/{tag}.jsonl" for tag in contents} == files.keys() - {CONTENTS}
    assert contents["topic-3"]["rows"] == len(_rows(files["_index/topic-3.jsonl"])) == 56
    assert rows[3] in _rows(files["_index/topic-3.jsonl"])
    assert contents["git"] == {"tag": "git", "rows": 250, "link": "_index/git.jsonl", "shown": MOST_ROWS}


def test_of_too_many_rows_the_best_supported_stay_in_the_order_of_the_index() -> None:
    rows = [_row(0, "go", kind="skill", sessions=0), *(_row(n, "go", sessions=n) for n in range(1, 1001))]
    ids = [row["id"] for row in _rows(shards(rows)["_index/go.jsonl"])]
    assert len(ids) == MOST_ROWS
    assert ids == [f"{number:012x}" for number in (0, *range(902, 1001))]


def test_the_table_is_bounded_however_many_tags_there_are() -> None:
    rows = [_row(number, f"tag {number}", f"pair {number // 2}") for number in range(5000)] + [_row(5001)]
    files = shards(rows)
    contents = _rows(files[CONTENTS])
    assert len(contents) == MOST_SHARDS + 1
    assert contents[-1]["tag"] == "_other"
    assert all(len(_rows(text)) <= MOST_ROWS for path, text in files.items() if path != CONTENTS)


def test_tags_become_file_names_that_cannot_lead_anywhere() -> None:
    rows = [_row(number, "../../etc/passwd", "Ünï côde", "_contents") for number in range(MOST_WHOLE + 1)]
    names = {path.removeprefix("_index/") for path in shards(rows)}
    assert names == {"etc-passwd.jsonl", "uni-code.jsonl", "contents.jsonl", "_contents.jsonl"}
    assert all(is_shard(name) for name in names)
    assert not is_shard("notes.md")
    assert not is_shard("../x.jsonl")
