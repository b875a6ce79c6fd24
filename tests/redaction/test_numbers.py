"""Each secret of a session has one number there, whatever says it and in whatever form."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from agent_wiki.pipeline.mine import trajectories_of
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory import Trajectory, envelope_chunks
from agent_wiki.trajectory.evidence import is_verbatim
from tests.planted import given_secrets, vendor_keys
from tests.wikis import Script, changed, ingest, record, rule, tree

ONE, OTHER = vendor_keys()["github"], vendor_keys()["github app"]
PASSWORD = given_secrets()[0][1]


def _read(path: Path) -> Trajectory:
    (trajectory,) = trajectories_of(Recording(path, path.name), "0")
    assert isinstance(trajectory, Trajectory)
    return trajectory


def _session(tmp_path: Path, *contents: str, name: str = "a.json") -> Trajectory:
    arguments = json.dumps({"token": ONE, "command": f"login {OTHER}"})
    call = {"id": "c", "type": "function", "function": {"name": "Bash", "arguments": arguments}}
    messages: list[dict[str, Any]] = [{"role": "user", "content": text} for text in contents]
    messages += [{"role": "assistant", "content": None, "tool_calls": [call]}]
    messages += [{"role": "tool", "tool_call_id": "c", "content": "Done."}]
    path = tmp_path / name
    path.write_text(json.dumps({"session_id": "a", "messages": messages}), encoding="utf-8")
    return _read(path)


def test_the_same_value_has_the_same_number_in_each_form_another_value_another_and_file_names_too(
    tmp_path: Path,
) -> None:
    first, second = ONE[:9], ONE[9:]
    said = [f"use {OTHER}", f"\x1b[33m{ONE}\x1b[0m and {first}\u200b{second}", f"DB_PASSWORD={PASSWORD} or {ONE}"]
    trajectory = _session(tmp_path, *said, name=f"of {ONE}.json")
    assert [each.content for each in trajectory.messages[:3]] == [
        "use [REDACTED:github-token:1]",
        "\x1b[33m[REDACTED:github-token:2]\x1b[0m and [REDACTED:github-token:2]",
        "DB_PASSWORD=[REDACTED:password:3] or [REDACTED:github-token:2]",
    ]
    assert json.loads(trajectory.messages[3].tool_calls[0].arguments) == {
        "token": "[REDACTED:github-token:2]",
        "command": "login [REDACTED:github-token:1]",
    }
    assert trajectory.source.file == "of [REDACTED:github-token:2].json"


def test_a_saved_session_keeps_its_numbers_and_what_is_found_later_gets_the_next(tmp_path: Path) -> None:
    trajectory = _session(tmp_path, f"use {OTHER}")
    saved = tmp_path / "saved.json"
    saved.write_text("".join(envelope_chunks(trajectory)), encoding="utf-8")
    assert "".join(envelope_chunks(_read(saved))) == saved.read_text(encoding="utf-8")
    later = saved.read_text(encoding="utf-8").replace('"Done."', f'"Done with {vendor_keys()["npm"]}."')
    saved.write_text(later, encoding="utf-8")
    assert "[REDACTED:npm-token:3]" in str(_read(saved).messages[-1].content)


def test_a_session_that_grows_keeps_its_numbers_and_the_order_of_recordings_changes_nothing(tmp_path: Path) -> None:
    script = Script(tmp_path)
    script.says("", rules=[rule("Run the check before a change.")])
    one = record(tmp_path / "t", "a", request=f"Fix {ONE} and {OTHER}.")
    other = record(tmp_path / "t", "b", request=f"Fix {OTHER} and {ONE}.")
    ingest([one, other], tmp_path / "forth", script.engine)
    ingest([other, one], tmp_path / "back", script.engine)
    assert changed(tree(tmp_path / "forth"), tree(tmp_path / "back")) == []
    grown = record(tmp_path / "grown", "a", more=1, request=f"Fix {ONE} and {OTHER}.")
    assert [_read(each).messages[0].content for each in (one, grown, other)] == [
        "Fix [REDACTED:github-token:1] and [REDACTED:github-token:2]."
    ] * 3


def test_a_number_reaches_the_pages_and_no_digest_of_a_secret_does(tmp_path: Path) -> None:
    script = Script(tmp_path)
    cited = [{"turn": 1, "quote": "DB_PASSWORD=[REDACTED:password:1]"}]
    script.says("", rules=[rule("Run the check before a change.", evidence=cited)])
    wiki = tmp_path / "wiki"
    ingest([record(tmp_path / "t", "a", request=f"Fix it. DB_PASSWORD={PASSWORD}")], wiki, script.engine)
    written = b"".join(path.read_bytes() for path in wiki.rglob("*") if path.is_file())
    assert b"DB_PASSWORD=[REDACTED:password:1]" in written
    digests = [hashlib.new(name, PASSWORD.encode()).hexdigest()[:8] for name in ("md5", "sha1", "sha256")]
    assert not any(digest.encode() in written for digest in digests)


def test_a_quote_of_an_earlier_version_which_had_no_numbers_is_still_verbatim(tmp_path: Path) -> None:
    trajectory = _session(tmp_path, f"use {OTHER} now")
    assert is_verbatim(trajectory, 1, "use [REDACTED:github-token] now")
    assert is_verbatim(trajectory, 1, "use [REDACTED:github-token:1] now")
    assert not is_verbatim(trajectory, 1, "use [REDACTED:github-token:2] now")
    assert not is_verbatim(trajectory, 1, "use [REDACTED:npm-token] now")
