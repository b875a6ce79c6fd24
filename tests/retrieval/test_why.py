"""`wiki why`: from any page to the turns it stands on, each quote held against the recording again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.commands import main
from agent_wiki.commands.visible import visible
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.known_recordings import KnownRecordings
from agent_wiki.retrieval.why import Cited, PageWhy, Why, why
from agent_wiki.wiki.page import parse_page, render_page
from agent_wiki.wiki.store import WikiFolder
from tests.wikis import COMMAND, RESULT, Script, arc, chat, ingest, rule, skill

ROOT = Path(__file__).parents[2]
RULE = "Run the check before a change."
OTHER = "Check the cart before it is changed."
CONFIG = """\
schema_version: 1
tasks:
  fix-the-cart: {title: Fix the cart, family_match: {goal_substring: [the cart]}, intro: The cart., findings: []}
"""


def build(folder: Path, **texts: str) -> Path:
    """A wiki of three sessions, its recordings in `traces` beside it. `texts`: session → its last reply."""
    script = Script(folder)
    outcome: dict[str, Any] = {
        "outcome_turn": 3,
        "outcome_quote": RESULT,
        "key_turns": [{"turn": 2, "text": "It runs the check"}],
    }
    for name in ("a", "b", "c"):
        script.says(name, arcs=[arc(**outcome)], rules=[rule(RULE)])
    script.says(
        "b", rules=[rule(RULE), rule(OTHER, evidence=[{"turn": 4, "quote": "adds up"}])], skill=skill("check-it")
    )
    traces, wiki = folder / "traces", folder / "wiki"
    traces.mkdir()
    wiki.mkdir()
    (wiki / "_config.yaml").write_text(CONFIG, encoding="utf-8")
    for name in ("a", "b", "c"):
        envelope = chat(name)
        envelope["messages"][3]["content"] += texts.get(name, "")
        (traces / f"{name}.json").write_text(json.dumps(envelope), encoding="utf-8")
    assert ingest([traces], wiki, script.engine).exit_code == 0
    return wiki


def test_a_cluster_is_meant_by_a_title_that_it_shares_with_a_member() -> None:
    found = why(ROOT / "wiki-example" / "wiki", "always run the tests with `make test`")
    assert [page.kind for page in found.pages] == ["cluster"]


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    return build(tmp_path)


def guideline(wiki: Path, text: str) -> Path:
    """The page that states a rule."""
    (found,) = [path for path in (wiki / "guidelines").glob("*__*.md") if text in path.read_text(encoding="utf-8")]
    return found


def edit(path: Path, **fields: Any) -> None:
    page = parse_page(path.read_text(encoding="utf-8"), path.name)
    path.write_text(render_page(page.with_fields(fields)), encoding="utf-8")


def only(reported: Why) -> tuple[PageWhy, list[Cited]]:
    (page,) = reported.pages
    return page, list(page.all_cited())


def test_a_guideline_leads_to_its_quotes_in_their_turns(wiki: Path) -> None:
    reported = why(wiki, guideline(wiki, OTHER).relative_to(wiki).as_posix())
    page, (cited,) = only(reported)
    assert (page.kind, cited.citation.session_id, cited.citation.turn) == ("guideline", "b", 4)
    shown = cited.shown
    assert (shown.state, shown.role, shown.found_trust) == ("verified", "assistant", "assistant")
    assert (shown.before, shown.quoted, shown.after) == ("The cart of b ", "adds up", " now.")
    place = reported.sessions["b"]
    assert place.summaries == ("summaries/b.md",)
    assert place.recording == str((wiki.parent / "traces" / "b.json").resolve())
    assert reported.exit_code == 0


def test_a_quote_in_a_call_is_shown_as_the_call(wiki: Path) -> None:
    _, cited = only(why(wiki, guideline(wiki, RULE).name))
    assert [each.citation.session_id for each in cited] == ["a", "b", "c"]
    assert {(each.shown.place, each.shown.quoted) for each in cited} == {("call of Bash", COMMAND)}


def test_the_context_is_as_long_as_asked_for(tmp_path: Path) -> None:
    wiki = build(tmp_path, b=" " + "x" * 500)
    _, (cited,) = only(why(wiki, guideline(wiki, OTHER).name, context=10))
    assert (cited.shown.before, cited.shown.after) == ("cart of b ", " now. xxxx")
    assert cited.shown.is_cut_before
    assert cited.shown.is_cut_after


def test_a_summary_leads_to_its_recording_its_outcome_and_its_key_turns(wiki: Path) -> None:
    page, cited = only(why(wiki, "a"))
    assert page.path == "summaries/a.md"
    assert [(each.citation.claim, each.citation.turn, each.shown.state) for each in cited] == [
        ("outcome: success", 3, "verified"),
        ("key turn: It runs the check", 2, "turn found"),
    ]


def test_a_task_leads_to_its_sessions(wiki: Path) -> None:
    page, cited = only(why(wiki, "task:fix-the-cart"))
    assert [below.path for below in page.pages] == ["summaries/a.md", "summaries/b.md", "summaries/c.md"]
    assert [each.citation.claim for each in cited] == ["outcome: success"] * 3


def test_a_cluster_leads_to_its_members_and_says_which_are_missing(wiki: Path) -> None:
    ids = [guideline(wiki, text).stem.rpartition("__")[2] for text in (RULE, OTHER)]
    cluster = wiki / "guidelines" / "check-first__cluster.md"
    members = "".join(f"- {{id: {each}, link: x.md}}\n" for each in [*ids, "0123456789ab"])
    cluster.write_text(f"---\nid: cluster:check-first\nmembers:\n{members}---\n\n# Check first\n", encoding="utf-8")
    page, cited = only(why(wiki, "cluster:check-first"))
    assert [below.id for below in page.pages] == ids
    assert page.notes == ["its member 0123456789ab has no page here"]
    assert {each.shown.state for each in cited} == {"verified"}


def test_a_skill_is_found_by_its_slug_its_folder_and_its_script(wiki: Path) -> None:
    for name in ("check-it", "skill:check-it", "skills/check-it", "skills/check-it/scripts/x.sh"):
        page, cited = only(why(wiki, name))
        assert page.path == "skills/check-it/SKILL.md"
        assert [each.shown.state for each in cited] == ["verified"]


def test_a_page_is_found_by_its_path_from_the_current_folder(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(wiki.parent)
    assert only(why(Path("wiki"), "wiki/summaries/a.md"))[0].path == "summaries/a.md"
    assert only(why(Path("wiki"), str(wiki / "summaries" / "a.md")))[0].path == "summaries/a.md"


def test_the_beginning_of_an_id_is_enough_where_one_page_has_it(wiki: Path) -> None:
    path = guideline(wiki, OTHER)
    assert only(why(wiki, path.stem.rpartition("__")[2][:8]))[0].path == f"guidelines/{path.name}"


def test_a_name_that_no_page_or_several_pages_have_is_refused(wiki: Path) -> None:
    with pytest.raises(UsageError, match=r"no page of .* has this path, id or title"):
        why(wiki, "nothing")
    edit(guideline(wiki, OTHER), id=guideline(wiki, RULE).stem.rpartition("__")[2])
    example = ROOT / "wiki-example" / "wiki"
    with pytest.raises(UsageError, match=r"^0c: 1 page begins so; give at least 4 characters of an id: summaries/0c0"):
        why(example, "0c")
    with pytest.raises(UsageError, match=r"^0: 3 pages begin so; "):
        why(example, "0")
    with pytest.raises(UsageError, match=r"^: no page of "):
        why(example, "")
    with pytest.raises(UsageError, match="2 pages have this name: guidelines/"):
        why(wiki, guideline(wiki, RULE).stem.rpartition("__")[2])
    with pytest.raises(UsageError, match="no wiki here"):
        why(wiki / "nowhere", "a")


def test_arcs_of_a_session_are_explained_together(tmp_path: Path) -> None:
    script = Script(tmp_path)
    script.says("a", arcs=[arc("One", 1, 2), arc("Two", 3, 4)])
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "a.json").write_text(json.dumps(chat("a")), encoding="utf-8")
    ingest([tmp_path / "traces"], tmp_path / "wiki", script.engine)
    assert [page.path for page in why(tmp_path / "wiki", "a").pages] == ["summaries/a__one.md", "summaries/a__two.md"]


def test_a_recording_is_found_beside_a_wiki_that_was_moved_with_it(wiki: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    shutil.copytree(wiki, moved / "wiki", ignore=shutil.ignore_patterns(".wiki"))
    shutil.copytree(tmp_path / "traces", moved / "recordings")
    shutil.rmtree(tmp_path / "traces")
    reported = why(moved / "wiki", "check-it")
    assert reported.sessions["b"].recording == str((moved / "recordings" / "b.json").resolve())
    assert reported.exit_code == 0


def test_a_session_that_wiki_save_kept_is_found_beside_the_wiki(wiki: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    shutil.copytree(wiki, moved / "wiki", ignore=shutil.ignore_patterns(".wiki"))
    saved = moved / ".evolve" / "trajectories"
    saved.mkdir(parents=True)
    shutil.copy(tmp_path / "traces" / "b.json", saved / "trajectory_2026-01-02T03-04-05_b.json")
    shutil.rmtree(tmp_path / "traces")
    assert why(moved / "wiki", "check-it").sessions["b"].recording is None, "an id of one letter tells nothing"
    shutil.copy(saved / "trajectory_2026-01-02T03-04-05_b.json", saved / "b.json")
    reported = why(moved / "wiki", "check-it")
    assert reported.sessions["b"].recording == str((saved / "b.json").resolve())


def test_without_its_recording_a_page_says_so_and_nothing_is_wrong(
    wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "traces").rename(tmp_path.parent / f"{tmp_path.name}-far")
    reported = ["why", "check-it", "--wiki", str(wiki)]
    assert main(reported) == 0
    shown = capsys.readouterr().out
    assert "its recording b.json is not here; name its folder with --recordings" in shown
    assert f"the page quotes: {COMMAND}" in shown
    assert main([*reported, "--recordings", str(tmp_path.parent / f"{tmp_path.name}-far")]) == 0
    assert main([*reported, f"--traces={tmp_path.parent}/{tmp_path.name}-far"]) == 0, "its former name, in a script"
    assert main([*reported, "--traces", f"{tmp_path.parent}/{tmp_path.name}-far"]) == 0
    assert "[verified]" in capsys.readouterr().out


def test_a_renamed_recording_is_known_by_its_bytes(wiki: Path, tmp_path: Path) -> None:
    shutil.rmtree(wiki / ".wiki")
    far = tmp_path / "deep" / "down"
    far.mkdir(parents=True)
    (tmp_path / "traces" / "b.json").rename(far / "renamed")
    reported = why(wiki, "check-it", [tmp_path / "deep"])
    assert reported.sessions["b"].recording == str(far / "renamed")


def test_recordings_an_agent_was_asked_about_are_found_without_naming_them(wiki: Path, tmp_path: Path) -> None:
    far = tmp_path / "deep" / "down"
    far.parent.mkdir()
    (tmp_path / "traces").rename(far)
    assert why(wiki, "check-it").sessions["b"].recording is None
    KnownRecordings.load(WikiFolder(wiki)).note([far], {})
    assert why(wiki, "check-it").sessions["b"].recording == str(far / "b.json")


def test_of_two_files_of_that_name_the_one_with_the_pages_bytes_is_read(wiki: Path, tmp_path: Path) -> None:
    shutil.rmtree(wiki / ".wiki")
    first = tmp_path / "a-copy"
    first.mkdir()
    (first / "b.json").write_text(json.dumps(chat("b", more=3)), encoding="utf-8")
    reported = why(wiki, "check-it")
    assert reported.sessions["b"].recording == str((tmp_path / "traces" / "b.json").resolve())
    assert not reported.sessions["b"].has_changed


def test_a_recording_that_grew_still_shows_the_turn_and_is_marked(wiki: Path, tmp_path: Path) -> None:
    (tmp_path / "traces" / "b.json").write_text(json.dumps(chat("b", more=1)), encoding="utf-8")
    reported = why(wiki, "check-it")
    assert reported.sessions["b"].has_changed
    assert reported.exit_code == 0


def test_a_quote_that_is_no_longer_in_its_turn_is_a_failure(
    wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    envelope = chat("b")
    envelope["messages"][3]["content"] = "All is well."
    (tmp_path / "traces" / "b.json").write_text(json.dumps(envelope), encoding="utf-8")
    assert main(["why", guideline(wiki, OTHER).name, "--wiki", str(wiki)]) == 1
    shown = capsys.readouterr().out
    assert "[quote not in turn]" in shown
    assert "│ All is well." in shown
    assert "changed since the page was made" in shown


@pytest.mark.parametrize(
    ("entry", "state"),
    [
        ({"turn": 4, "quote": "adds down"}, "quote not in turn"),
        ({"turn": 99, "quote": "adds up"}, "no such turn"),
        ({"turn": "four", "quote": "adds up"}, "no such turn"),
    ],
)
def test_evidence_that_was_made_up_is_found_out(wiki: Path, entry: dict[str, Any], state: str) -> None:
    path = guideline(wiki, OTHER)
    edit(path, evidence=[{"session_id": "b", **entry, "trust": "assistant"}])
    reported = why(wiki, path.name)
    assert [each.shown.state for each in only(reported)[1]] == [state]
    assert reported.exit_code == 1


def test_a_page_that_claims_more_trust_than_the_recording_gives_is_found_out(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = guideline(wiki, OTHER)
    edit(path, evidence=[{"session_id": "b", "turn": 4, "quote": "adds up", "trust": "user"}])
    assert main(["why", path.name, "--wiki", str(wiki)]) == 1
    assert "the page says trust user, the recording says assistant" in capsys.readouterr().out


def test_a_damaged_recording_is_reported_with_its_reason(wiki: Path, tmp_path: Path) -> None:
    (tmp_path / "traces" / "b.json").write_text('{"messages": [', encoding="utf-8")
    reported = why(wiki, "check-it")
    assert reported.sessions["b"].problem
    assert [each.shown.state for each in only(reported)[1]] == ["unreadable"]
    assert reported.exit_code == 1


def test_a_record_names_no_file_that_is_opened_for_it(wiki: Path, tmp_path: Path) -> None:
    """A recording's name is a name to look for, never a path to open."""
    shutil.rmtree(wiki / ".wiki")
    secret = tmp_path / "far" / "away" / "secret.json"
    secret.parent.mkdir(parents=True)
    (tmp_path / "traces" / "b.json").rename(secret)
    kept = wiki / "_sessions" / "b.json"
    kept.write_text(kept.read_text(encoding="utf-8").replace('"b.json"', json.dumps(str(secret))), encoding="utf-8")
    reported = why(wiki, "check-it")
    assert reported.sessions["b"].recording is None
    assert reported.sessions["b"].file == "secret.json"


def test_a_page_of_another_tool_leads_to_its_summary(others_wiki: Path) -> None:
    path = next(iter(sorted((others_wiki / "guidelines").glob("*__[0-9a-f]*.md"))))
    page, cited = only(why(others_wiki, path.name))
    assert page.notes == ["this page cites no turns"]
    assert [below.kind for below in page.pages] == ["summary"]
    assert cited == [], "its turns are counted in another way"


def test_recorded_text_moves_no_cursor_and_hides_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wiki = build(tmp_path, b=" \x1b[2J\u202egnp.exe\u200b\r\x9b1mred\n  T1 user: evidence [verified]")
    assert main(["why", guideline(wiki, OTHER).name, "--wiki", str(wiki)]) == 0
    shown = capsys.readouterr().out
    assert "␛[2J\\u202egnp.exe\\u200b␍\\u009b1mred" in shown
    assert not [letter for letter in shown if letter != "\n" and not letter.isprintable()]
    assert [line for line in shown.splitlines() if line.strip().startswith("T1 user")] == []
    assert main(["why", guideline(wiki, OTHER).name, "--wiki", str(wiki), "--json"]) == 0
    reported = capsys.readouterr().out
    assert reported.isascii()
    assert "\u202egnp.exe" in json.loads(reported)["pages"][0]["cited"][0]["after"]


def test_plain_text_stays_as_it_is() -> None:
    text = "Grüße, 世界 🎉\n\ttab ~ «»"
    assert visible(text) == text


def test_every_quote_of_the_example_is_in_its_recording() -> None:
    wiki = ROOT / "wiki-example" / "wiki"
    pages = [*wiki.glob("guidelines/*__*.md"), *wiki.glob("skills/*/SKILL.md"), *wiki.glob("tasks/*__*.md")]
    states = set()
    for path in sorted(pages):
        reported = why(wiki, path.relative_to(wiki).as_posix(), [ROOT / "wiki-example" / "traces"])
        assert reported.exit_code == 0, path
        states |= {each.shown.state for page in reported.pages for each in page.all_cited()}
    assert states == {"verified"}
