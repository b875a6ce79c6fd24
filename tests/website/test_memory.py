"""A site is not made again where nothing is new, nothing that is new is missed, and no memory is needed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from benchmarks.generated_wiki import generate

from agent_wiki.commands import main
from agent_wiki.errors import RunError
from agent_wiki.pipeline.allowed_secrets import allow_secrets
from agent_wiki.pipeline.forget_machinery import SITE_MEMORY, cached_files
from agent_wiki.site import build
from agent_wiki.site.build import build_site


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small wiki and its site."""
    folder = tmp_path_factory.mktemp("made")
    generate(folder / "wiki", 2)
    assert main(["catalog", "--wiki", str(folder / "wiki")]) == 0
    build_site(folder / "wiki", folder / "site")
    return folder


@pytest.fixture
def wiki(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made / "wiki", tmp_path / "wiki")
    build_site(tmp_path / "wiki", tmp_path / "site")
    return tmp_path / "wiki"


def _bytes_of(site: Path) -> dict[str, bytes]:
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in site.rglob("*") if path.is_file()}


def test_without_news_no_page_is_read_and_without_the_memory_the_bytes_are_the_same(
    wiki: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = wiki.parent / "site"
    first = build_site(wiki, site)
    with monkeypatch.context() as patched:
        patched.delattr(build, "read_contents")
        patched.delattr(build, "refuse_leaks")
        again = build_site(wiki, site)
    assert (again.written, again.files, again.sessions) == (0, first.files, 2)
    (wiki / ".wiki" / SITE_MEMORY).unlink()
    assert build_site(wiki, site).written == 0
    assert _bytes_of(site) == _bytes_of(made / "site")


def test_a_change_that_keeps_size_and_time_is_noticed_in_the_wiki_and_in_the_site(wiki: Path) -> None:
    site = wiki.parent / "site"
    page = next((wiki / "guidelines").glob("set-*.md"))
    for path, word in ((page, b"before step"), (site / "index.html", b"What the wiki knows")):
        status, content = path.stat(), path.read_bytes()
        path.write_bytes(content.replace(word, word[::-1]))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert path.stat().st_size == status.st_size
    build_site(wiki, site)
    shown = (site / "guidelines" / f"{page.stem}.html").read_text(encoding="utf-8")
    assert "pets erofeb" in shown
    assert b"What the wiki knows" in (site / "index.html").read_bytes()


def test_of_files_known_as_clean_the_changed_one_is_looked_at_again(wiki: Path) -> None:
    page = next((wiki / "guidelines").glob("set-*.md"))
    with page.open("a", encoding="utf-8") as stream:
        stream.write("\nexport GITHUB_TOKEN=" + "ghp_" + "a1B2c3D4e5F6" * 3 + "\n")
    for _ in range(2):
        with pytest.raises(RunError, match=page.name):
            build_site(wiki, wiki.parent / "site")


def test_what_was_not_looked_at_does_not_count_as_clean(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "wiki", tmp_path / "wiki", ignore=shutil.ignore_patterns(".wiki"))
    (tmp_path / "wiki" / "notes.md").write_text("key " + "ghp_" + "a1B2c3D4e5F6" * 3 + "\n", encoding="utf-8")
    build_site(tmp_path / "wiki", tmp_path / "site", is_published=False)
    with pytest.raises(RunError, match=r"notes\.md"):
        build_site(tmp_path / "wiki", tmp_path / "site")


def test_another_title_or_version_finds_nothing_known(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = wiki.parent / "site"
    assert build_site(wiki, site, title="Ours").written > 10
    monkeypatch.setattr("agent_wiki.site.memory.program_digest", lambda: "another")
    monkeypatch.setattr(build, "refuse_leaks", lambda _wiki, _what, clean: pytest.fail(str(clean)) if clean else set())
    assert build_site(wiki, site, title="Ours").written == 0


def test_a_wiki_that_cannot_be_written_to_has_a_site_all_the_same(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "wiki", tmp_path / "wiki", ignore=shutil.ignore_patterns(".wiki"))
    (tmp_path / "wiki" / ".wiki").write_text("a file in the way", encoding="utf-8")
    assert build_site(tmp_path / "wiki", tmp_path / "site").written > 10


def test_the_memory_is_forgotten_with_the_words_of_pages(wiki: Path) -> None:
    assert f".wiki/{SITE_MEMORY}" in cached_files(wiki)


def test_what_only_an_exception_lets_pass_is_looked_at_again_when_the_exception_goes(wiki: Path) -> None:
    notes, config = wiki / "notes.md", wiki / "_config.yaml"
    notes.write_text("key " + "ghp_" + "a1B2c3D4e5F6" * 3 + "\n", encoding="utf-8")
    before = config.read_text(encoding="utf-8")
    allow_secrets(wiki, ["notes.md:1"], "made up")
    build_site(wiki, wiki.parent / "site")
    config.write_text(before, encoding="utf-8")
    with pytest.raises(RunError, match=r"notes\.md"):
        build_site(wiki, wiki.parent / "site")
