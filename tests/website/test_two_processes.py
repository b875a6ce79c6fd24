"""Two processes make the site that one makes, and find the secrets that one finds, also where the copy dies."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from benchmarks.generated_wiki import generate

from agent_wiki.commands import main
from agent_wiki.errors import RunError
from agent_wiki.pipeline import leaks
from agent_wiki.site import page_writer
from agent_wiki.site.build import build_site
from tests.processes import exit_codes, started

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="one process does it there")


def _build_in_two(wiki: Path, folder: Path, dies_at: int) -> None:
    """Build a site in two processes; the copy is killed before it writes its n-th page. 0: it lives."""
    patch, run, written = pytest.MonkeyPatch(), os.getpid(), [0]
    for module in (leaks, page_writer):
        patch.setattr(module, "_FEWEST", 1)
    patch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    make = page_writer.PageWriter.render

    def render(*words: object) -> None:
        written[0] += 1
        make(*words)  # type: ignore[arg-type]
        if os.getpid() != run and written[0] == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    patch.setattr(page_writer.PageWriter, "render", render)
    try:
        report = build_site(wiki, folder / "site")
        (folder / "said").write_text(f"{report.written} written, {written[0]} here", encoding="utf-8")
    except RunError as error:
        (folder / "said").write_text(str(error), encoding="utf-8")


def _in_two(wiki: Path, folder: Path, dies_at: int) -> str:
    folder.mkdir()
    assert exit_codes(started(_build_in_two, wiki, folder, dies_at)) == [0]
    return (folder / "said").read_text(encoding="utf-8")


def _bytes_of(site: Path) -> dict[str, bytes]:
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in site.rglob("*") if path.is_file()}


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    generate(tmp_path / "wiki", 4)
    assert main(["catalog", "--wiki", str(tmp_path / "wiki")]) == 0
    return tmp_path / "wiki"


@pytest.mark.long
def test_two_processes_make_what_one_makes_and_what_a_killed_copy_did_not_say_is_made_here(
    wiki: Path, tmp_path: Path
) -> None:
    files = build_site(wiki, tmp_path / "one", is_published=False).files
    said = _in_two(wiki, tmp_path / "both", 0)
    assert _bytes_of(tmp_path / "both" / "site") == _bytes_of(tmp_path / "one")
    assert int(said.split()[-2]) < files  # the copy did some
    _in_two(wiki, tmp_path / "killed", 2)
    assert _bytes_of(tmp_path / "killed" / "site") == _bytes_of(tmp_path / "one")


def test_both_look_for_secrets(wiki: Path, tmp_path: Path) -> None:
    for page in (wiki / "guidelines").glob("*.md"):
        with page.open("a", encoding="utf-8") as stream:
            stream.write("\nexport GITHUB_TOKEN=" + "ghp_" + "a1B2c3D4e5F6" * 3 + "\n")
    assert "github-token" in _in_two(wiki, tmp_path / "two", 0)
    assert not (tmp_path / "two" / "site").exists()
