"""What `.wiki/` keeps of guidelines that were compared saves time and changes nothing."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path

from agent_wiki.pipeline.comparisons_cache import NAME
from agent_wiki.pipeline.forget import forget
from agent_wiki.pipeline.report import Report
from tests.wikis import Script, changed, ingest, record, rule, tree

_WORDINGS = ["Run `make schema` before the tests of the ledger.", "Before testing the ledger, run `make schema`."]


def _wiki(folder: Path) -> tuple[Script, Path]:
    script = Script(folder)
    for number in range(6):
        wording = rule(_WORDINGS[number % 2], title="Make the schema")
        script.says(f"s-{number}", rules=[wording, rule(f"Quote argument {number} of the cart.")])
    return script, folder / "wiki"


def _whole(kept: dict[str, object]) -> bytes:
    content = json.dumps(kept).encode()
    return sha256(content).hexdigest().encode() + b"\n" + content


def test_a_torn_or_older_memory_is_of_no_account(tmp_path: Path) -> None:
    script, wiki = _wiki(tmp_path)
    paths = [record(tmp_path / "t", f"s-{number}") for number in range(6)]
    ingest(paths[:5], wiki, script.engine)
    memory = wiki / ".wiki" / NAME
    whole = memory.read_bytes()
    kept = json.loads(whole.partition(b"\n")[2])
    assert any(kept["alike"].values())
    for lines in kept["lines"]:
        kept["lines"][lines] = "wrong\t\t\t\t\t"
    older = _whole({**kept, "version": [0, "of another program"]})
    ingest(paths, tmp_path / "other", script.engine)
    for number, damaged in enumerate((b"", whole[:-9], whole.replace(b"schema", b"schemb"), older, _whole({}), None)):
        copy = tmp_path / f"copy-{number}"
        shutil.copytree(wiki, copy)
        if damaged is None:
            (copy / ".wiki" / NAME).unlink()
        else:
            (copy / ".wiki" / NAME).write_bytes(damaged)
        ingest(paths[5:], copy, script.engine)
        assert changed(tree(tmp_path / "other"), tree(copy)) == []
        assert (copy / ".wiki" / NAME).read_bytes() == (tmp_path / "other" / ".wiki" / NAME).read_bytes()


def test_it_does_not_remember_a_forgotten_session(tmp_path: Path) -> None:
    script, wiki = _wiki(tmp_path)
    ingest([record(tmp_path / "t", f"s-{number}") for number in range(6)], wiki, script.engine)
    report = Report("forget", str(wiki))
    forget(wiki, ["s-1"], report, lambda _what, _done, _of: None)
    assert f".wiki/{NAME}" in report.removed
    assert not (wiki / ".wiki" / NAME).exists()


def test_it_has_nothing_of_guidelines_that_are_gone(tmp_path: Path) -> None:
    script, wiki = _wiki(tmp_path)
    ingest([record(tmp_path / "t", f"s-{number}") for number in range(6)], wiki, script.engine)
    assert "cart" in (wiki / ".wiki" / NAME).read_text(encoding="utf-8")
    for path in sorted((wiki / "_sessions").glob("*.json"))[:5]:
        path.unlink()
    ingest([], wiki, script.engine)
    kept = json.loads((wiki / ".wiki" / NAME).read_bytes().partition(b"\n")[2])
    assert len(kept["lines"]) == 2
