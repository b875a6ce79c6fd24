"""`wiki config patch`: one's own entries in the configuration, and all else as it was."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.commands import main
from agent_wiki.errors import RunError
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.config_edits import patched
from agent_wiki.wiki.yaml_syntax import dump_yaml, load_yaml
from tests.wikis import Script, changed, chat, ingest, record, rule, tree

TEXT = """\
# The taxonomy.
schema_version: 1
tags:
  guideline: {}  # none yet
clusters:
  # about b
  b:
    title: B  # mine
    members: [x, y]
    note: {kept: yes it is}
tasks: {}
"""


def test_mappings_merge_at_every_depth_and_comments_stay() -> None:
    patch = {"clusters": {"b": {"title": "B2", "takeaway": "T"}, "c": {"title": "C"}}, "tasks": {"t": {"title": "T"}}}
    edited = patched(TEXT, patch)
    assert load_yaml(edited)["clusters"] == {
        "b": {"title": "B2", "members": ["x", "y"], "note": {"kept": "yes it is"}, "takeaway": "T"},
        "c": {"title": "C"},
    }
    for line in ("# The taxonomy.", "  guideline: {}  # none yet", "  # about b", "    note: {kept: yes it is}"):
        assert f"{line}\n" in edited
    assert parse_config(edited).tasks == {"t": {"title": "T"}}


def test_null_takes_a_key_out_and_a_list_replaces_a_list() -> None:
    edited = patched(TEXT, {"clusters": {"b": {"note": None, "members": ["z"], "gone": None}}, "none": None})
    assert load_yaml(edited)["clusters"] == {"b": {"title": "B", "members": ["z"]}}
    assert "none" not in load_yaml(edited)
    assert load_yaml(patched(TEXT, {"clusters": {"b": None}}))["clusters"] == {}
    assert "clusters" not in load_yaml(patched(TEXT, {"clusters": None}))


def test_what_is_so_already_changes_no_byte() -> None:
    assert patched(TEXT, {}) == TEXT
    assert patched(TEXT, {"clusters": {"b": {"title": "B", "members": ["x", "y"]}}, "tasks": {}}) == TEXT


def test_sections_that_nobody_knows_and_any_style_are_taken() -> None:
    for text in (
        "",
        "# nothing\n",
        "{}\n",
        "{tasks: {}, clusters: {a: {title: A}}}\n",
        "clusters:\n",
        TEXT.rstrip("\n"),
    ):
        edited = patched(text, {"mine": {"deep": {"er": [1, {"a": "b"}]}}, "clusters": {"n": {"title": "N"}}})
        told = load_yaml(edited)
        assert told["mine"] == {"deep": {"er": [1, {"a": "b"}]}}, text
        assert told["clusters"]["n"] == {"title": "N"}, text


@pytest.mark.parametrize("patch", [{"clusters": 3}, {"tags": {"guideline": ["x"]}}])
def test_what_would_be_no_configuration_is_refused(patch: dict[str, Any]) -> None:
    with pytest.raises(RunError, match="not a mapping"):
        patched(TEXT, patch)


_NAMES = st.sampled_from(["a", "b", "no", "12", "x y", "ä", "title"])
_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["", "no", "a: b", "#c", "1.0", "é\n"])
)
_LEAVES_OR_LISTS = st.one_of(_LEAVES, st.lists(st.sampled_from(["p", "q: r"]), max_size=2))
_TREES = st.recursive(_LEAVES_OR_LISTS, lambda inner: st.dictionaries(_NAMES, inner, max_size=3), max_leaves=8)
_MAPPINGS = st.dictionaries(_NAMES, _TREES, max_size=4)


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without_nulls(each) for name, each in value.items() if each is not None}


def _merge(value: Any, patch: Any) -> Any:
    """RFC 7396, as it is written there."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(value) if isinstance(value, dict) else {}
    for name, each in patch.items():
        if each is None:
            merged.pop(name, None)
        else:
            merged[name] = _merge(merged.get(name), each)
    return merged


@given(_MAPPINGS.map(_without_nulls), _MAPPINGS)
def test_a_patch_is_a_merge_patch_whatever_it_holds(standing: dict[str, Any], patch: dict[str, Any]) -> None:
    text = "# kept\n" + dump_yaml({"tasks": {}, **standing})
    edited = patched(text, patch)
    assert (load_yaml(edited) or {}) == _merge({"tasks": {}, **standing}, patch)
    assert edited.startswith("# kept\n")
    assert patched(edited, patch) == edited


def _patch(folder: Path, text: str, *words: str) -> int:
    file = folder / "patch.yaml"
    file.write_text(text, encoding="utf-8")
    return main(["config", "patch", str(file), "--wiki", str(folder / "wiki"), *words])


def test_a_patched_cluster_gets_its_page_at_once_and_no_stage_writes_over_it(tmp_path: Path) -> None:
    script = Script(tmp_path)
    for name, words in (("a", "first"), ("b", "once more")):
        script.says(
            name, rules=[rule(f"Run `make check` {words} before you change the cart.", title="Run make check now")]
        )
    script.told["consolidate-clusters"] = {}
    paths = [record(tmp_path, "a"), record(tmp_path, "b")]
    wiki = tmp_path / "wiki"
    ingest(paths, wiki, script.engine)
    members = sorted(json.loads((wiki / "guidelines" / "_id_index.json").read_text(encoding="utf-8")))
    told = {"title": "Check", "description": "D.", "takeaway": "Check first.", "members": members, "tags": ["checks"]}
    assert _patch(tmp_path, json.dumps({"clusters": {"check": told}})) == 0
    assert (wiki / "guidelines" / "check__cluster.md").is_file()
    before = tree(wiki)
    ingest(paths, wiki, script.engine, rewrite=True)
    assert changed(before, tree(wiki)) == []


def test_a_stages_entry_that_is_patched_is_a_persons_from_then_on(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    paths = [tmp_path / f"{name}.json" for name in "abc"]
    for path in paths:
        source = {"format": "test", "task_id": "cart-rounding"}
        path.write_text(json.dumps({"schema_version": 1, **chat(path.stem), "source": source}), encoding="utf-8")
    ingest(paths, wiki, "offline")
    (slug,) = parse_config((wiki / "_config.yaml").read_text(encoding="utf-8")).tasks
    assert _patch(tmp_path, json.dumps({"tasks": {slug: {"title": "My own words"}}})) == 0
    ingest(paths, wiki, "offline", rewrite=True)
    assert parse_config((wiki / "_config.yaml").read_text(encoding="utf-8")).tasks[slug]["title"] == "My own words"


@pytest.mark.parametrize(
    ("text", "told"),
    [("x: 1\ny: [}", "patch.yaml:2: "), ("x: 1\n\ty: 2", "patch.yaml:2: "), ("- a", "a patch is a mapping")],
)
def test_a_patch_that_cannot_be_read_names_its_line(
    tmp_path: Path, text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _patch(tmp_path, text) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "wiki").exists()


def test_a_refused_patch_and_a_dry_run_write_nothing(tmp_path: Path) -> None:
    assert main(["init", "--wiki", str(tmp_path / "wiki")]) == 0
    before = tree(tmp_path / "wiki")
    assert _patch(tmp_path, "clusters: 3") == 2
    assert _patch(tmp_path, "kept: [a.md]", "--dry-run") == 0
    assert changed(before, tree(tmp_path / "wiki")) == []


def test_a_patch_is_read_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patch = b'{"rules": {"ignore": ["a", "b"]}}'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(patch), encoding="utf-8"))
    assert main(["config", "patch", "--wiki", str(tmp_path / "wiki")]) == 0
    written = load_yaml((tmp_path / "wiki" / "_config.yaml").read_text(encoding="utf-8"))
    assert written["rules"] == {"ignore": ["a", "b"]}
