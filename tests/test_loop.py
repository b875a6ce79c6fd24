"""The whole loop: sessions make a wiki, a later one reads it, and what came of that changes what the next is told.

The later sessions are made here in the form of Claude Code; what they saw of the wiki is what the wiki's own commands,
server and files gave.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.harness.mcp_server import WikiTools
from agent_wiki.retrieval import consult
from agent_wiki.wiki.page import Page, parse_page
from tests.readers.claude_lines import assistant, call, result, text, user
from tests.wikis import changed, ingest, tree

TRACES = Path(__file__).parent.parent / "wiki-example" / "traces"
TASK = "the shell finds no pip, install the package; the shell does not find pytest either, run the tests"
COMMAND = "python3 -m pip"
NAME = "a011f6d379b6"
Line = dict[str, Any]
Shown = Callable[[Path, Path], tuple[Line, str]]


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two recordings of sessions that had no wiki."""
    folder = tmp_path_factory.mktemp("earlier")
    return [session(folder, f"earlier-{day}", None, day=day) for day in (1, 2)]


@pytest.fixture(scope="module")
def built(earlier: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's wiki, made anew, with two sessions more: each states the rule that the later ones read."""
    wiki = tmp_path_factory.mktemp("loop") / "wiki"
    assert ingest([TRACES, *earlier], wiki, "offline").failures == []
    return wiki


@pytest.fixture
def wiki(built: Path, tmp_path: Path) -> Path:
    shutil.copytree(built, tmp_path / "wiki")
    return tmp_path / "wiki"


def guideline(wiki: Path) -> Path:
    (found,) = (wiki / "guidelines").glob(f"*__{NAME}.md")
    return found


def page(wiki: Path, path: Path | str) -> Page:
    file = wiki / path
    return parse_page(file.read_text(encoding="utf-8"), str(path))


def row(wiki: Path) -> dict[str, Any]:
    rows = map(json.loads, (wiki / "_index.jsonl").read_text(encoding="utf-8").splitlines())
    return next(each for each in rows if each["id"] == NAME)


def tier_of(wiki: Path) -> str:
    """The priority under which the guidelines' index lists the page."""
    text = (wiki / "guidelines" / "index.md").read_text(encoding="utf-8")
    sections = text[text.index("## By use") :].split("\n### ")
    (tier,) = (section.partition("\n")[0] for section in sections[1:] if NAME in section)
    return tier


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 0
    return capsys.readouterr().out


def session(folder: Path, name: str, shown: tuple[Line, str] | None, *, works: bool = True, day: int = 5) -> Path:
    """A recording: a command is missing; the wiki is asked, unless `shown` is None; its command works or fails."""
    made = {"sessionId": name, "timestamp": f"2026-12-{day:02}T03:04:05.678Z"}
    lines = [
        user("Install the mapkit wheel for the tests", **made),
        assistant("m1", call("c1", command="pip install dist/mapkit.whl"), **made),
        user([result("c1", "Exit code 127\nbash: line 1: pip: command not found", is_error=True)], **made),
    ]
    if shown is not None:
        lines.append(assistant("m2", {**shown[0], "id": "c2"}, **made))
        lines.append(user([result("c2", [{"type": "text", "text": shown[1]}])], **made))
    lines.append(assistant("m3", call("c3", command=f"{COMMAND} install dist/mapkit.whl"), **made))
    if works:
        lines.append(user([result("c3", "Successfully installed mapkit-1.0")], **made))
        lines.append(assistant("m4", text("The wheel is installed."), **made))
        lines.append(user("Great, thank you.", **made))
    else:
        lines.append(
            user([result("c3", "Exit code 1\nERROR: mapkit.whl is not a supported wheel", is_error=True)], **made)
        )
        lines.append(assistant("m4", text("I could not install the wheel."), **made))
        lines.append(user("That is wrong, the wheel is fine. Stop here.", **made))
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


def by_file(_wiki: Path, where: Path) -> tuple[Line, str]:
    return call("", "Read", file_path=str(where)), where.read_text(encoding="utf-8")


def by_cat(_wiki: Path, where: Path) -> tuple[Line, str]:
    return call("", command=f"cat {where}"), where.read_text(encoding="utf-8")


def by_sed(wiki: Path, where: Path) -> tuple[Line, str]:
    command = f"cd {wiki} && sed -n '1,60p' guidelines/{where.name} | head -60"
    return call("", command=command), "\n".join(where.read_text(encoding="utf-8").split("\n")[:60])


def by_glob(wiki: Path, where: Path) -> tuple[Line, str]:
    return call("", command=f"head -40 {wiki}/guidelines/call-python3-m-pip*.md"), where.read_text(encoding="utf-8")


def by_grep(wiki: Path, where: Path) -> tuple[Line, str]:
    lines = [f"{where}:{line}" for line in where.read_text(encoding="utf-8").split("\n") if COMMAND in line]
    return call("", command=f"grep -r '{COMMAND}' {wiki}/guidelines"), "\n".join(lines)


def by_server_page(wiki: Path, where: Path) -> tuple[Line, str]:
    link = f"guidelines/{where.name}"
    return call("", "mcp__wiki__read_page", link=link), WikiTools(wiki).read_page(link)


def by_server_consult(wiki: Path, _where: Path) -> tuple[Line, str]:
    return call("", "mcp__agent-wiki__consult", task=TASK), WikiTools(wiki).consult(TASK)


WAYS: dict[str, Shown] = {
    way.__name__: way for way in (by_file, by_cat, by_sed, by_glob, by_grep, by_server_page, by_server_consult)
}


def check_followed(wiki: Path, before: Page, name: str) -> None:
    """The use counts, and the support does not."""
    summary = page(wiki, f"summaries/{name}.md")
    recalled = {each["id"]: each for each in summary.fields["recalled_guidelines"]}
    assert recalled[NAME]["status"] == "followed"
    assert COMMAND in recalled[NAME]["evidence"]
    assert summary.fields["wiki_consulted"] is True
    assert NAME not in summary.fields.get("contributed_guidelines", [])
    after = page(wiki, guideline(wiki))
    assert after.fields["support"] == before.fields["support"]
    assert after.fields["trust"] == before.fields["trust"]
    assert after.fields["evidence"] == before.fields["evidence"]
    assert f"](../summaries/{name}.md)" in (after.section("Used by") or "")
    assert row(wiki)["used"] == {"followed": 1}


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_a_page_that_was_read_and_helped_is_used_and_not_confirmed(wiki: Path, tmp_path: Path, way: str) -> None:
    before = page(wiki, guideline(wiki))
    shown = WAYS[way](wiki, guideline(wiki))
    ingest([session(tmp_path / "later", "later", shown)], wiki, "offline")
    check_followed(wiki, before, "later")


@pytest.mark.parametrize("options", [(), ("--read",), ("--json",)])
def test_so_is_what_wiki_consult_printed(
    wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    before = page(wiki, guideline(wiki))
    out = printed(capsys, "consult", TASK, "--wiki", str(wiki), *options)
    words = " ".join(("wiki consult", f"'{TASK}'", "--wiki", str(wiki), *options))
    ingest([session(tmp_path / "later", "later", (call("", command=words), out))], wiki, "offline")
    check_followed(wiki, before, "later")


def test_without_the_wiki_the_same_session_is_one_more_that_states_the_rule(wiki: Path, tmp_path: Path) -> None:
    ingest([session(tmp_path / "later", "later", None)], wiki, "offline")
    assert page(wiki, guideline(wiki)).fields["support"]["sessions"] == 3, "or the tests above would prove nothing"
    assert "used" not in row(wiki)


def test_a_skill_call_counts_as_a_use_of_the_skill(wiki: Path, tmp_path: Path) -> None:
    skill = wiki / "skills" / "convert-jsonl-to-csv" / "SKILL.md"
    body = page(wiki, skill).body
    command = next(line.strip() for line in body.split("\n") if "python3" in line and "`" not in line)
    made = {"sessionId": "later", "timestamp": "2026-12-05T03:04:05.678Z"}
    lines = [
        user("Turn events.jsonl into a table.", **made),
        assistant("m1", call("c1", "Skill", skill="convert-jsonl-to-csv"), **made),
        user([result("c1", "Launching skill: convert-jsonl-to-csv")], **made),
        user(
            [{"type": "text", "text": f"Base directory for this skill: {skill.parent}\n\n{body}"}], isMeta=True, **made
        ),
        assistant("m2", call("c2", command=command), **made),
        user([result("c2", "12 rows")], **made),
        assistant("m3", text("Done."), **made),
        user("Great, thank you.", **made),
    ]
    path = tmp_path / "later.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    before = page(wiki, skill).fields["metadata"]["support"]
    ingest([path], wiki, "offline")
    (recalled,) = page(wiki, "summaries/later.md").fields["recalled_guidelines"]
    assert (recalled["id"], recalled["status"]) == ("skill:convert-jsonl-to-csv", "followed")
    assert "](../../summaries/later.md)" in (page(wiki, skill).section("Used by") or "")
    assert page(wiki, skill).fields["metadata"]["support"] == before


def test_use_moves_the_tier_and_the_place_in_consult(wiki: Path, tmp_path: Path) -> None:
    link = f"guidelines/{guideline(wiki).name}"
    place = [hit.link for hit in consult(wiki, TASK)].index(link)
    assert place < len(consult(wiki, TASK)) - 1, "or it could not sink"
    shown = by_file(wiki, guideline(wiki))
    for day, works, used, wanted in (
        (5, True, {"followed": 1}, "normal"),
        (6, True, {"followed": 2}, "high"),
        (7, False, {"followed": 2, "harmful": 1}, "disputed"),
        (8, False, {"followed": 2, "harmful": 2}, "disputed"),
        (9, False, {"followed": 2, "harmful": 3}, "disputed"),
    ):
        path = session(tmp_path / "later", f"later-{day}", shown, works=works, day=day)
        ingest([path], wiki, "offline")
        assert row(wiki)["used"] == used
        assert row(wiki)["support"]["sessions"] == 2
        assert tier_of(wiki) == wanted
    hits = consult(wiki, TASK)
    assert [hit.link for hit in hits if hit.has_sunk] == [link]
    assert hits[-1].link == link


def test_the_review_lists_a_page_that_did_harm(wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert NAME not in printed(capsys, "review", "--wiki", str(wiki))
    shown = by_server_page(wiki, guideline(wiki))
    ingest([session(tmp_path / "later", "later", shown, works=False)], wiki, "offline")
    assert guideline(wiki).name in printed(capsys, "review", "--wiki", str(wiki))


@pytest.fixture(scope="module")
def later(built: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Recordings of sessions that read the wiki, helped and harmed."""
    folder = tmp_path_factory.mktemp("later")
    return [
        session(folder, "later-1", by_file(built, guideline(built)), day=5),
        session(folder, "later-2", by_server_consult(built, guideline(built)), day=6),
        session(folder, "later-3", by_grep(built, guideline(built)), works=False, day=7),
    ]


@pytest.mark.long
def test_readers_before_writers_make_the_same_wiki(
    wiki: Path, tmp_path: Path, earlier: list[Path], later: list[Path]
) -> None:
    ingest(later, wiki, "offline")
    reversed_wiki = tmp_path / "reversed"
    for path in reversed(later):
        ingest([path], reversed_wiki, "offline")
    ingest([TRACES, *earlier], reversed_wiki, "offline")
    assert changed(tree(wiki), tree(reversed_wiki)) == []
