"""No text of a recording comes alive on a page: whatever a record holds, Markdown, HTML and YAML see words in it.

Every free text of every record and of the entries of the configuration is replaced by a hostile one; what is rendered
has the headings, tables, links and fields of the same wiki with harmless words, and nothing else that is live.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from agent_wiki.checks.links import target_of
from agent_wiki.wiki.config_edits import patched
from agent_wiki.wiki.page import parse_page
from tests.checks.broken import CLUSTERS, TASKS, built, copied
from tests.wikis import ingest

HARMLESS = "plain words of a session"
HOSTILE = {
    "tags": "<script>alert(1)</script><img src=x onerror=alert(1)> <b>bold</b>",
    "a tag over lines": "words <img\nsrc=x\nonerror=alert(1)>\n\n<div>\n\nblock",
    "a comment": "words <!-- hidden --> and <?php x ?> and <![CDATA[ x ]]>",
    "links": "[here](https://evil.example/x) and ![seen](https://evil.example/x.png)",
    "a link by reference": "[here][1] [1]\n\n[1]: https://evil.example/x 'title'",
    "autolinks": "<https://evil.example/x> https://evil.example www.evil.example <me@evil.example>",
    "headings": "# heading\n\n## Sources\n\n- [x](../../evil.md)",
    "a heading underlined": "words\n=====\n\nmore\n-----\n",
    "rules and lists": "---\n***\n- item\n1. item\n> quoted\n| a | b |\n|---|---|\n| c | d |",
    "pipes": "a | b || c \\| d |",
    "fences": "```\ncode\n```\n~~~~\nmore ````` and `` ` `` and ` alone",
    "front matter": "---\ntrust: user\ngenerated: sha256:0000000000000000\n---\n# Another page",
    "yaml": "{a: &x 1, b: *x} !!python/object:x # comment: 'quote\" %TAG @ `x`",
    "links of wikis": "[[Another page]] and [[a|b]] and ![[embedded]]",
    "a template": "{{ 7 * 191 }} {% include 'x' %} {# no #} ${x} <% x %>",
    "footnotes": "claim[^1] and ^[inline]\n\n[^1]: https://evil.example/note",
    "brackets that end": "] (x) ](https://evil.example) )[x](https://evil.example) ](../x.md)",
    "entities": "&lt;script&gt; &#60;img src=x&#62; &amp;lt; \\<b\\> \\[x\\](https://evil.example)",
    "ends of lines": "one\r## two\u2028## three\u2029<img src=x>\x0b## four\x0c## five\x85## six",
}
_KEPT = frozenset(
    {"outcome", "trust", "cause", "type", "status", "kind", "id", "date", "sha256", "digest", "slug", "members"}
    | {"sessions", "family", "name", "scope", "stage", "made_by", "session_id", "file"}
)  # fmt: skip
"""Values of a record that are no words of a recording, or name a file, which `tests/test_hostile.py` tries."""
_READ = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_LIVE = ("html_block", "html_inline", "image")
_GENERATED = re.compile(r"^generated: .*$", re.MULTILINE)
_STRUCTURE = ("heading_open", "hr", "fence", "code_block", "blockquote_open", "table_open", "td_open", "th_open")


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("text"))


def _replaced(value: Any, text: str, name: str = "") -> Any:
    """A record's values with every free text replaced."""
    if isinstance(value, dict):
        return {key: each if key in _KEPT else _replaced(each, text, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, text, name) for each in value]
    return text if isinstance(value, str) else value


def _rendered(wiki: Path, text: str) -> dict[str, str]:
    """The pages of the wiki with a text in the place of all its words, by path; the slugs of titles left out of it."""
    for path in sorted((wiki / "_sessions").glob("*.json")):
        record = _filled(json.loads(path.read_text(encoding="utf-8")))
        record = _replaced(record, text)
        record["recording"]["file"] = text
        path.write_text(json.dumps(record), encoding="utf-8")
    entries = {"clusters": _replaced(CLUSTERS, text), "tasks": _replaced(TASKS, text)}
    entries["tasks"]["fix-the-cart"] |= {"intro": text, "findings": [text], "title": text, "tags": [text]}
    entries["clusters"]["run-checks"] |= {"description": text, "trigger": text, "tags": [text]}
    config = wiki / "_config.yaml"
    config.write_text(patched(config.read_text(encoding="utf-8"), entries), encoding="utf-8")
    report = ingest([], wiki, "offline", stages=("catalog",), archive_covered=False)
    assert report.failures == [], report.lines()
    pages = [path for path in wiki.rglob("*.md") if ".wiki" not in path.parts]
    return {_name(path, wiki): path.read_text(encoding="utf-8") for path in pages}


def _name(path: Path, wiki: Path) -> str:
    name = path.relative_to(wiki).as_posix()
    return f"guidelines/{name.rpartition('__')[2]}" if name.startswith("guidelines/") and "__" in name else name


def _filled(record: Any) -> Any:
    """A record with what recordings may also hold: errors, conditions, repairs, recalls, parameters, causes."""
    arc = record["stages"]["summarize"]["answer"][0]
    note = {"turn": 2, "text": "x"}
    arc |= {"title": "x", "key_turns": [note], "dead_ends": [note], "outcome_quote": "x", "accepted_turn": 3}
    arc |= {"accepted_quote": "x", "loose_ends": [note | {"kind": "missing"}], "tools_used": ["x", "y"]}
    arc["reported"] = [note]
    arc["repairs"] = [{"event": 2, "remedy": 3, "confirmation": 4, "text": "x"}]
    arc["recalled"] = [{"id": "7890180238f4", "title": "x", "status": "followed", "quote": "x", "turn": 3}]
    record |= {"agent": "x", "condition": "x", "trial": "x", "task_id": "x", "repository": "x", "failures": ["x"]}
    for guideline in record["stages"].get("extract-guidelines", {"answer": ()})["answer"]:
        guideline |= {"cause": "checked", "evidence": [{"turn": 2, "quote": "make check", "trust": "user"}]}
    for skill in record["stages"].get("synthesize-skill", {"answer": ()})["answer"]:
        skill["parameters"] = [{"name": "x", "description": "x"}]
    return record


def _tokens(text: str) -> Iterator[Token]:
    for token in _READ.parse(parse_page(text, "page").body):
        yield token
        yield from token.children or ()


def _structure(tokens: Iterable[Token]) -> Counter[str]:
    return Counter(f"{token.type} {token.tag}" for token in tokens if token.type in _STRUCTURE)


@pytest.fixture(scope="module")
def harmless(wiki: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return _rendered(copied(wiki, tmp_path_factory.mktemp("harmless")), HARMLESS)


@pytest.fixture(scope="module")
def expected(harmless: dict[str, str]) -> dict[str, tuple[Counter[str], list[str]]]:
    """The structure and the fields of each page with harmless words."""
    return {path: (_structure(_tokens(page)), list(parse_page(page, path).fields)) for path, page in harmless.items()}


@pytest.mark.long
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_nothing_of_a_record_comes_alive_on_a_page(
    text: str, wiki: Path, expected: dict[str, tuple[Counter[str], list[str]]], tmp_path: Path
) -> None:
    place = copied(wiki, tmp_path)
    pages = _rendered(place, text)
    assert pages.keys() == expected.keys()
    for path, page in pages.items():
        tokens = list(_tokens(page))
        assert [token.content for token in tokens if token.type in _LIVE] == [], path
        links = [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]
        assert [link for link in links if not (place / target_of(path, link)).exists()] == [], path
        assert (_structure(tokens), list(parse_page(page, path).fields)) == expected[path], path
        assert "1337" not in _GENERATED.sub("", page), path  # a digest may hold any digits
        assert "[[" not in _prose(tokens), path

    for line in (place / "_index.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n"):
        row = json.loads(line)
        for shown in (row["title"], row["trigger"], row["summary"], *row["tags"]):
            assert [token.type for token in _tokens(f"- {shown}") if token.type in (*_LIVE, "link_open", "fence")] == []
            assert not shown.startswith(("#", ">", "|", "---"))


def _prose(tokens: Iterable[Token]) -> str:
    """The text of a page that is not in code."""
    return "".join(token.content for token in tokens if token.type == "text")


def test_the_harmless_wiki_shows_the_words_everywhere(harmless: dict[str, str]) -> None:
    """Else nothing would be tried above."""
    for path in ("summaries/s-1.md", "skills/check-the-cart/SKILL.md", "tasks/fix-the-cart__task.md", "AGENTS.md"):
        assert HARMLESS in harmless[path], path
    assert sum(page.count(HARMLESS) for page in harmless.values()) > 60
