"""What `.wiki/` remembers of pages saves time and changes nothing."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from agent_wiki.pages.catalog import Catalog, RenderedPage
from agent_wiki.wiki.config import TAGS
from agent_wiki.wiki.config_edits import edit_config
from agent_wiki.wiki.page import parse_page
from agent_wiki.wiki.store import WikiFolder
from tests.wikis import Script, changed, ingest, record, rule, tree

EXAMPLE = Path(__file__).parents[2] / "wiki-example"
MEMORY = ".wiki/pages.txt"


def _script(folder: Path) -> Script:
    script = Script(folder)
    for number in range(9):
        shared = rule(f"Run check {number % 3} before a change of the cart.", title=f"Run the check {number % 3}")
        script.says(
            f"s-{number}",
            rules=[shared, rule(f"Quote argument {number} of the cart.", title=f"Quote the argument {number}")],
        )
    return script


def _retag(wiki: Path, chance: random.Random) -> None:
    ids = json.loads((wiki / "guidelines/_id_index.json").read_text(encoding="utf-8"))
    config = wiki / "_config.yaml"
    entries = {chance.choice(sorted(ids)): ["mine"]} if ids else {}
    config.write_text(edit_config(config.read_text(encoding="utf-8"), TAGS, entries), encoding="utf-8")


def _lose_a_page(wiki: Path, chance: random.Random) -> None:
    chance.choice(sorted(wiki.glob("summaries/s-*.md"))).unlink()


def _change_a_page(wiki: Path, chance: random.Random) -> None:
    path = chance.choice(sorted(wiki.glob("guidelines/*__*.md")))
    path.write_text(f"{path.read_text(encoding='utf-8')}\nMine.\n", encoding="utf-8")


def _change_a_template(wiki: Path, chance: random.Random) -> None:
    (wiki / "templates").mkdir(exist_ok=True)
    text = f"# {{{{ title }}}}\n\n{chance.random()} {{{{ rule }}}}\n"
    (wiki / "templates/guideline.md.j2").write_text(text, encoding="utf-8")


def _change_an_index(wiki: Path, chance: random.Random) -> None:
    with chance.choice(sorted(wiki.glob("*/index.md"))).open("a", encoding="utf-8") as stream:
        stream.write(chance.choice(["Mine.\n", "<<<<<<< ours\n=======\n>>>>>>> theirs\n"]))


STEPS: list[Callable[[Path, random.Random], None]] = [
    _retag,
    _lose_a_page,
    _change_a_page,
    _change_a_template,
    _change_an_index,
]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_a_wiki_is_the_same_with_and_without_what_it_remembers(tmp_path: Path, seed: int) -> None:
    chance, engine = random.Random(seed), _script(tmp_path).engine
    paths = [record(tmp_path / "t", f"s-{number}", f"2026-01-{1 + number % 4:02d}") for number in range(9)]
    chance.shuffle(paths)
    kept, forgetful = tmp_path / "kept", tmp_path / "forgetful"
    while paths:
        some = [paths.pop() for _ in range(min(len(paths), chance.randrange(1, 4)))]
        shutil.rmtree(forgetful / ".wiki", ignore_errors=True)
        for wiki in (kept, forgetful):
            ingest(some, wiki, engine)
        assert changed(tree(kept), tree(forgetful)) == []
        step, at = chance.choice(STEPS), chance.random()
        for wiki in (kept, forgetful):
            step(wiki, random.Random(at))


def _keep(wiki: Path, text: bytes) -> None:
    checksum = hashlib.blake2b(text, digest_size=32).hexdigest()
    (wiki / MEMORY).write_bytes(checksum.encode() + b"\n" + text)


def test_a_memory_from_elsewhere_or_torn_is_of_no_account(tmp_path: Path) -> None:
    engine, wiki = _script(tmp_path).engine, tmp_path / "wiki"
    ingest([record(tmp_path / "t", f"s-{number}") for number in range(3)], wiki, engine)
    whole = tree(wiki)
    memory = (wiki / MEMORY).read_bytes().partition(b"\n")[2]
    page = sorted(wiki.glob("guidelines/*__*.md"))[0]
    times = page.stat()
    page.write_bytes(page.read_bytes().replace(b"Run", b"Rum").replace(b"Quote", b"Quoth"))
    os.utime(page, ns=(times.st_atime_ns, times.st_mtime_ns))  # as an archive sets it
    _keep(wiki, memory.replace(b"layout", b"another layout", 1))
    ingest([], wiki, engine, stages=("catalog",))
    edited = page.relative_to(wiki).as_posix()  # a person's edit, which stays and is indexed by its words
    assert changed(whole, tree(wiki)) == ["_index.jsonl", "guidelines/index.md", edited, "index.md"]
    page.unlink()
    torn_ones = (
        b"",
        b"{}\n{}",
        (wiki / MEMORY).read_bytes()[:-9],
        (wiki / MEMORY).read_bytes().replace(b"Run", b"Rum"),
    )
    for torn in torn_ones:
        (wiki / MEMORY).write_bytes(torn)
        ingest([], wiki, engine, stages=("catalog",))
        assert changed(whole, tree(wiki)) == []


def test_a_page_that_would_be_rendered_from_the_same_is_not_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, wiki = _script(tmp_path).engine, tmp_path / "wiki"
    ingest([record(tmp_path / "t", f"s-{number}") for number in range(4)], wiki, engine)
    rendered: list[str] = []
    pages_of = Catalog.pages_of

    def noted(made: Catalog, each: Any) -> Iterator[RenderedPage]:
        for page in pages_of(made, each):
            rendered.extend([page.path] if page.text else [])
            yield page

    monkeypatch.setattr(Catalog, "pages_of", noted)
    ingest([record(tmp_path / "t", "s-4")], wiki, engine)
    assert sorted(path.partition("/")[0] for path in rendered) == ["guidelines", "guidelines", "summaries"]


def test_an_index_that_lies_as_it_was_written_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, wiki = _script(tmp_path).engine, tmp_path / "wiki"
    ingest([record(tmp_path / "t", f"s-{number}") for number in range(2)], wiki, engine)
    (wiki / "tasks/index.md").write_text("Mine.\n", encoding="utf-8")
    read: list[str] = []
    read_text = WikiFolder.read_text

    def noted(folder: WikiFolder, path: str, errors: Literal["strict", "replace"] = "strict") -> str | None:
        read.append(path)
        return read_text(folder, path, errors)

    monkeypatch.setattr(WikiFolder, "read_text", noted)
    ingest([record(tmp_path / "t", "s-2")], wiki, engine)
    assert {path for path in read if path.endswith("index.md")} == {"tasks/index.md"}
    assert "s-2" in (wiki / "summaries/index.md").read_text(encoding="utf-8")


def test_a_summary_has_the_tag_of_its_task_from_when_a_person_configured_that(tmp_path: Path) -> None:
    wiki, name = tmp_path / "wiki", "slugify-drops-accented-letters"
    shutil.copytree(EXAMPLE / "wiki", wiki)
    ingest([], wiki, "offline", stages=("catalog",))
    tagged = wiki.glob("summaries/*.md")
    assert [path.name for path in tagged if path.name != "index.md" and name in _tags(path)] == []
    config = wiki / "_config.yaml"
    text = config.read_text(encoding="utf-8").replace("title: Slugify drops accented letters", "title: Slugs")
    config.write_text(text, encoding="utf-8")
    report = ingest([], wiki, "offline", stages=("catalog",))
    summaries = [path for path in report.written if path.startswith("summaries/") and path != "summaries/index.md"]
    assert len(summaries) == 3
    assert all(_tags(wiki / path)[0] == name for path in summaries)


def _tags(page: Path) -> list[str]:
    return list(parse_page(page.read_text(encoding="utf-8"), "").fields["tags"])
