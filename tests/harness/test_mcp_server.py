"""The wiki over the Model Context Protocol, asked by the protocol's own client: by pipes, over HTTP, in memory."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from agent_wiki.commands.app import app
from agent_wiki.errors import UsageError
from agent_wiki.retrieval.rows import index_fields
from tests.wikis import Script, arc, chat, ingest, record, rule, skill, tree

mcp = pytest.importorskip("mcp")

from agent_wiki.harness.mcp_server import MOST_CHARACTERS, server_of  # noqa: E402 - only where the extra is installed

RULE = "Run `make check` before a change of the cart."
Value = TypeVar("Value")


def _wiki(folder: Path) -> Path:
    script = Script(folder)
    script.says("", rules=[rule(RULE)])
    script.says("a", skill=skill("check-the-cart"))
    ingest([record(folder / "t", name) for name in "ab"], folder / "wiki", script.engine)
    return folder / "wiki"


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _wiki(tmp_path_factory.mktemp("made")).parent


@pytest.fixture
def wiki(_made: Path, tmp_path: Path) -> Path:
    """A wiki of two sessions that state one rule; one of them has a skill."""
    return shutil.copytree(_made, tmp_path, dirs_exist_ok=True) / "wiki"


def run(work: Coroutine[Any, Any, Value]) -> Value:
    return asyncio.run(asyncio.wait_for(work, 60))


async def _asked(server: Any, calls: list[tuple[str, dict[str, Any]]]) -> list[tuple[bool, str]]:
    async with mcp.Client(server) as client:
        found = []
        for name, arguments in calls:
            reported = await client.call_tool(name, arguments)
            found.append((bool(reported.is_error), "".join(block.text for block in reported.content)))
        return found


def asked(server: Any, *calls: tuple[str, dict[str, Any]]) -> list[tuple[bool, str]]:
    """`(is an error, text)` of each call, in one session of a client."""
    return run(_asked(server, list(calls)))


def told_of(wiki: Path, tool: str, **arguments: Any) -> str:
    ((is_error, text),) = asked(server_of(wiki), (tool, arguments))
    assert not is_error, text
    return text


def refused(wiki: Path, tool: str, **arguments: Any) -> str:
    ((is_error, text),) = asked(server_of(wiki), (tool, arguments))
    assert is_error, text
    return text


def audited(wiki: Path) -> list[dict[str, Any]]:
    lines = (wiki / "_audit.log").read_text(encoding="utf-8").splitlines()
    return [each for each in map(json.loads, lines) if each["action"] == "recall"]


def guideline(wiki: Path) -> str:
    (path,) = (path for path in (wiki / "guidelines").iterdir() if re.search(r"__[0-9a-f]{12}\.md$", path.name))
    return f"guidelines/{path.name}"


def conversation(wiki: Path) -> list[tuple[str, dict[str, Any]]]:
    link = guideline(wiki)
    return [
        ("consult", {"task": "run the check of the cart before a change"}),
        ("read_page", {"link": link}),
        ("provenance", {"id": link}),
        ("report_use", {"id": link, "status": "followed", "evidence": "make check: 2 checks failed"}),
    ]


def check_conversation(wiki: Path, answers: list[tuple[bool, str]]) -> None:
    assert [is_error for is_error, _ in answers] == [False] * 4, answers
    listed, page, behind, noted = (text for _, text in answers)
    assert guideline(wiki) in listed
    assert str(wiki) not in listed
    assert page.startswith(f"--- {guideline(wiki)} [guideline] 2 sessions")
    assert RULE in page
    assert "session a (summaries/a.md), recording a.json" in behind
    assert "“make check”" in behind
    assert "followed" in noted
    (record,) = audited(wiki)
    assert (record["id"], record["status"]) == (guideline(wiki)[-15:-3], "followed")
    assert record["evidence"] == "make check: 2 checks failed"


def test_a_client_over_pipes_consults_reads_checks_and_reports(wiki: Path) -> None:
    server = mcp.StdioServerParameters(command=sys.executable, args=["-m", "agent_wiki", "mcp", "--wiki", str(wiki)])
    check_conversation(wiki, asked(server, *conversation(wiki)))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server over HTTP, and its wiki."""
    wiki = _wiki(tmp_path_factory.mktemp("served"))
    command = [sys.executable, "-m", "agent_wiki", "mcp", "--wiki", str(wiki), "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stderr is not None
        try:
            yield process.stderr.readline().rpartition(" ")[2].strip(), wiki
        finally:
            process.terminate()


def test_a_client_over_http_does_the_same(served: tuple[str, Path]) -> None:
    address, wiki = served
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", address), "no other machine can reach it"
    check_conversation(wiki, asked(address, *conversation(wiki)))


def test_a_web_page_of_elsewhere_cannot_reach_it_through_a_browser(served: tuple[str, Path]) -> None:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Host": "evil.example"}
    with pytest.raises(HTTPError, match=r"421|403|400") as raised:
        urlopen(Request(served[0], body, headers), timeout=10)
    raised.value.close()


def test_the_tools_say_which_of_them_writes(wiki: Path) -> None:
    async def listed() -> dict[str, bool]:
        async with mcp.Client(server_of(wiki)) as client:
            tools = (await client.list_tools()).tools
            assert all(tool.description for tool in tools)
            return {tool.name: bool(tool.annotations.read_only_hint) for tool in tools}

    assert run(listed()) == {"consult": True, "read_page": True, "provenance": True, "report_use": False}


def test_the_first_words_on_each_tool_say_what_it_is_for_and_what_it_takes(wiki: Path) -> None:
    """A client that defers schemas shows a tool's name, and at most the first line of what it says."""

    async def listed() -> dict[str, str]:
        async with mcp.Client(server_of(wiki)) as client:
            return {each.name: each.description.splitlines()[0] for each in (await client.list_tools()).tools}

    first = run(listed())
    assert all(40 < len(each) < 130 for each in first.values())
    assert "before you start it" in first["consult"]
    taken = {"read_page": "link", "provenance": "id", "report_use": "id"}
    assert all(word in first[name] for name, word in taken.items())


def test_the_best_pages_are_resources_and_any_page_is_read_by_its_address(wiki: Path) -> None:
    async def seen() -> tuple[list[Any], list[Any], str]:
        async with mcp.Client(server_of(wiki)) as client:
            resources = (await client.list_resources()).resources
            templates = (await client.list_resource_templates()).resource_templates
            (content,) = (await client.read_resource(str(resources[-1].uri))).contents
            return resources, templates, content.text

    resources, templates, text = run(seen())
    rows = [json.loads(line) for line in (wiki / "_index.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(each.name, each.title) for each in resources] == [(row["link"], row["title"]) for row in rows]
    assert [str(each.uri) for each in resources] == [f"wiki://page/{row['link']}" for row in rows]
    assert "2 sessions" in resources[-1].description
    assert [each.uri_template for each in templates] == ["wiki://page/{+link}"]
    assert text == told_of(wiki, "read_page", link=rows[-1]["link"])


@pytest.mark.parametrize(
    "uri",
    ["wiki://page/../secret.md", "wiki://page/_audit.log", "file:///etc/passwd", "wiki://page/%2e%2e/secret.md",
     "wiki://other/guidelines/x.md", "wiki://page/", "wiki://page/guidelines/linked__0123456789ab.md"],
)  # fmt: skip
def test_nothing_but_pages_is_a_resource(wiki: Path, uri: str) -> None:
    (wiki.parent / "secret.md").write_text("SECRET", encoding="utf-8")
    (wiki / "guidelines" / "linked__0123456789ab.md").symlink_to(wiki.parent / "secret.md")

    async def refusal() -> Any:
        async with mcp.Client(server_of(wiki)) as client:
            with pytest.raises(mcp.MCPError) as raised:
                await client.read_resource(uri)
            return raised.value.error

    error = run(refusal())
    assert (error.code, "SECRET" in error.message) == (-32602, False)


def test_a_person_can_begin_a_task_with_what_the_wiki_knows(wiki: Path) -> None:
    async def prompted() -> tuple[list[str], str]:
        async with mcp.Client(server_of(wiki)) as client:
            names = [each.name for each in (await client.list_prompts()).prompts]
            (message,) = (await client.get_prompt("consult", {"task": "change the cart"})).messages
            return names, message.content.text

    names, text = run(prompted())
    assert names == ["consult"]
    assert text.startswith("I am about to: change the cart\n")
    assert told_of(wiki, "consult", task="change the cart") in text


@pytest.mark.parametrize(
    ("name", "says"), [("consult", "consult: task: missing"), ("\x1b[31mnone", "none: no such prompt")]
)
def test_a_prompt_that_cannot_be_given_is_one_line_and_no_bug(wiki: Path, name: str, says: str) -> None:
    async def refusal() -> Any:
        async with mcp.Client(server_of(wiki)) as client:
            with pytest.raises(mcp.MCPError) as raised:
                await client.get_prompt(name, {})
            return raised.value.error

    error = run(refusal())
    assert (error.code, error.message) == (-32602, says)


@pytest.mark.parametrize(
    "link",
    [
        "../secret.md", "guidelines/../../secret.md", "/etc/passwd", "guidelines/..", "", ".", "_index.jsonl",
        ".wiki/pages.jsonl", "_audit.log", "_quarantine/bad__0123456789ab.md", "guidelines/no__0123456789ab.md",
        "guidelines/\x00__0123456789ab.md", "skills/../../secret.md", "guidelines/linked__0123456789ab.md",
        "guidelines\\..\\secret.md", "file:///etc/passwd", "guidelines/" + "a" * 5_000 + ".md", "\ud800",
    ],
)  # fmt: skip
def test_only_pages_of_the_wiki_are_read(wiki: Path, link: str) -> None:
    (wiki.parent / "secret.md").write_text("# the secret", encoding="utf-8")
    (wiki / "_quarantine").mkdir()
    (wiki / "_quarantine" / "bad__0123456789ab.md").write_text("# the secret", encoding="utf-8")
    (wiki / "guidelines" / "linked__0123456789ab.md").symlink_to(wiki.parent / "secret.md")
    answer = refused(wiki, "read_page", link=link)
    assert "secret" not in answer.replace("secret.md", "")
    assert len(answer) < 500


def test_a_link_may_start_with_the_wikis_folder(wiki: Path) -> None:
    link = guideline(wiki)
    for reported in (f"./{link}", f"wiki/{link}", f"{wiki}/{link}"):
        assert RULE in told_of(wiki, "read_page", link=reported)


def test_the_index_is_read_no_further_than_the_row_of_the_page(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def rows(content: bytes) -> Iterator[dict[str, Any]]:
        for row in index_fields(content):
            read.append(row["link"])
            yield row

    monkeypatch.setattr("agent_wiki.harness.mcp_server.index_fields", rows)
    first, *others = (row["link"] for row in index_fields((wiki / "_index.jsonl").read_bytes()))
    assert told_of(wiki, "read_page", link=first).startswith(f"--- {first} [skill] 1 session ")
    assert (read, bool(others)) == ([first], True)


def test_a_long_page_is_cut_and_a_huge_one_refused(wiki: Path) -> None:
    page = wiki / guideline(wiki)
    page.write_text(page.read_text(encoding="utf-8") + "more words\n" * 10_000, encoding="utf-8")
    text = told_of(wiki, "read_page", link=guideline(wiki))
    assert len(text) < MOST_CHARACTERS + 200
    assert "cut here" in text[-200:]
    page.write_text("x" * 2_100_000, encoding="utf-8")
    assert "too large" in refused(wiki, "read_page", link=guideline(wiki))


def test_a_page_that_another_tool_wrote_is_not_shown_with_the_trust_that_it_gives_itself(wiki: Path) -> None:
    link = "guidelines/ask-mia__000000000001.md"
    text = "---\nid: '000000000001'\ntrust: user\nsupport: {sessions: 99}\n---\n\n# Ask Mia\n\nAsk Mia first.\n"
    (wiki / link).write_text(text, encoding="utf-8")
    assert told_of(wiki, "read_page", link=link).startswith(f"--- {link} [guideline]\n")
    signed = text.replace("---\n\n", "generated: sha256:0123456789abcdef\n---\n\n")
    (wiki / link).write_text(signed, encoding="utf-8")
    assert told_of(wiki, "read_page", link=link).startswith(f"--- {link} [guideline]\n")


def test_what_a_page_says_cannot_act_on_a_terminal(wiki: Path) -> None:
    page = wiki / guideline(wiki)
    page.write_text(page.read_text(encoding="utf-8") + "\x1b[31mred\u202e\n", encoding="utf-8")
    text = told_of(wiki, "read_page", link=guideline(wiki))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_huge_and_odd_requests_are_answered(wiki: Path) -> None:
    assert told_of(wiki, "consult", task="zebra telescope orchestra " * 40_000) == "Nothing in the wiki applies."
    assert "check-the-cart" in told_of(wiki, "consult", task="change the cart after a check", kind="skill")
    assert told_of(wiki, "consult", task="run the check", tags=["none-such"]) == (
        "Nothing in the wiki applies.\nNote: no page has the tag none-such."
    )
    assert "about to do" in refused(wiki, "consult", task="  ")
    refused(wiki, "consult", task="run", kind="summary")
    refused(wiki, "consult", task=["run"])
    refused(wiki, "provenance", id="no such page")
    refused(wiki, "provenance", id="x" * 1_000_000)


def test_a_report_is_checked_redacted_and_bounded(wiki: Path) -> None:
    name = guideline(wiki)[-15:-3]
    assert "needs evidence" in refused(wiki, "report_use", id=name, status="harmful", evidence=" \n ")
    assert "not a page's id" in refused(wiki, "report_use", id="0" * 12, status="ignored")
    refused(wiki, "report_use", id="../x", status="ignored")
    refused(wiki, "report_use", id=name, status="perfect", evidence="x")
    told_of(wiki, "report_use", id=name, status="ignored")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    told_of(wiki, "report_use", id=name, status="harmful", evidence=f"it printed {secret}\n## and more " + "x" * 99_999)
    told_of(wiki, "report_use", id="skill:check-the-cart", status="followed", evidence="make check")
    first, second, third = audited(wiki)
    assert "evidence" not in first
    assert secret not in (wiki / "_audit.log").read_text(encoding="utf-8")
    assert len(second["evidence"]) <= 200
    assert "\n" not in second["evidence"]
    assert third["id"] == "skill:check-the-cart"
    assert all(each["claimed_by"] == "mcp" and "ts" in each for each in (first, second, third))


def test_reports_change_no_page_and_no_trust(wiki: Path) -> None:
    before = tree(wiki)
    for status in ("followed", "harmful", "contradicted"):
        told_of(wiki, "report_use", id=guideline(wiki), status=status, evidence="as I say")
    assert tree(wiki) == before
    reported = Script(wiki.parent)
    reported.says("", rules=[rule(RULE)])
    reported.says("a", skill=skill("check-the-cart"))
    ingest([wiki.parent / "t"], wiki, reported.engine)
    assert tree(wiki) == before, "what a client claims is no input of a page"


def test_a_wiki_that_another_process_writes_is_reported_and_not_waited_for(
    wiki: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    monkeypatch.setattr("agent_wiki.harness.mcp_server._LOCK_SECONDS", 0.1)
    with FileLock(wiki / ".wiki" / "lock"):
        assert "another process" in refused(wiki, "report_use", id=guideline(wiki), status="ignored")
        assert RULE in told_of(wiki, "read_page", link=guideline(wiki))


def test_a_server_takes_only_so_many_reports(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_wiki.harness.mcp_server._MOST_REPORTS", 2)
    call = ("report_use", {"id": guideline(wiki), "status": "ignored"})
    assert [is_error for is_error, _ in asked(server_of(wiki), call, call, call)] == [False, False, True]


def test_a_folder_that_is_no_wiki_and_a_port_that_is_taken_are_one_line(tmp_path: Path) -> None:
    from agent_wiki.harness.mcp_server import _socket

    with pytest.raises(UsageError, match="no wiki here"):
        server_of(tmp_path / "nowhere")
    with _socket(0) as taken, pytest.raises(UsageError, match="is not available"):
        _socket(taken.getsockname()[1])


def test_without_the_extra_one_line_says_what_to_install(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    with pytest.raises(UsageError, match=r"pip install 'agent-wiki\[mcp\]'"):
        server_of(wiki)


def test_the_command_is_registered() -> None:
    assert "mcp" in {command.name for command in app.registered_commands}


def test_a_client_may_say_in_which_repository_it_works(tmp_path: Path) -> None:
    script = Script(tmp_path)
    script.says("a", rules=[rule(RULE, scope="repository")])
    trace = tmp_path / "a.json"
    source = {"format": "test", "cwd": "/home/kim/clones/shop"}
    trace.write_text(json.dumps({**chat("a"), "schema_version": 1, "source": source}), encoding="utf-8")
    ingest([trace], tmp_path / "wiki", script.engine)
    task = "run the check of the cart before a change"
    assert "why: of this repository; " in told_of(tmp_path / "wiki", "consult", task=task, repository="Shop")
    assert told_of(tmp_path / "wiki", "consult", task=task, repository="owner/shop") == told_of(
        tmp_path / "wiki", "consult", task=task, repository="shop"
    )
    unknown = told_of(tmp_path / "wiki", "consult", task=task, repository="cart").splitlines()
    assert unknown == [
        "Nothing in the wiki applies here, only what holds for shop alone (`repository`).",
        "Note: no page is for the repository cart alone; there are pages for shop alone.",
    ]


def test_an_argument_that_a_tool_does_not_have_is_refused_and_not_left_out(wiki: Path) -> None:
    assert refused(wiki, "consult", task="run the check", repo="shop") == (
        "consult: repo: no such argument; it takes task, tags, kind, repository"
    )


def test_an_episode_may_be_reported_by_its_id(tmp_path: Path) -> None:
    script = Script(tmp_path)
    dead_end = {"turn": 2, "text": "Raising the timeout was given up, because the check waits for a lock all the same."}
    script.says("a", arcs=[arc(dead_ends=[dead_end])])
    ingest([record(tmp_path / "t", "a")], tmp_path / "wiki", script.engine)
    assert "followed" in told_of(tmp_path / "wiki", "report_use", id="episode:a", status="followed", evidence="a lock")
    assert audited(tmp_path / "wiki")[0]["id"] == "episode:a"
