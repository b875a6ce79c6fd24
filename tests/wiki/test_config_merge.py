"""`_config.yaml` of two branches in one: git's own line merge, then the order and the bytes of one wiki."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki.wiki.config import CLUSTERS, TAGS, TASKS, is_stage_made, parse_config, signed
from agent_wiki.wiki.config_edits import edit_config
from agent_wiki.wiki.config_merge import merged_config
from agent_wiki.wiki.templates import Templates

IDS = [f"{number:012x}" for number in (3, 10, 77, 900, 4096)]
TEMPLATE = Templates(Path("nowhere")).render("config.yaml")


def _git_merged(folder: Path, ours: str, base: str, theirs: str, *words: str) -> str:
    """What git makes of three texts: with `--union` as the attribute does, else with conflict markers."""
    for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
        (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["git", "merge-file", "-p", *words, "ours", "base", "theirs"], cwd=folder, capture_output=True, check=False
    )
    return done.stdout.decode()


def _cluster(members: list[str]) -> dict[str, Any]:
    entry = {"title": "One: rule, #1", "takeaway": "It's so.", "members": members, "tags": []}
    return signed(entry, "consolidate-clusters", "offline")


def _task(sessions: list[str]) -> dict[str, Any]:
    return signed({"title": "A task", "findings": ["a: b", "c"], "sessions": sessions}, "discover-tasks", "offline")


def _with_stages(text: str, stages: dict[str, Any]) -> str:
    for section, name in ((TAGS, "tags"), (CLUSTERS, "clusters"), (TASKS, "tasks")):
        text = edit_config(text, section, stages[name])
    return text


def _stages(tags: set[str], clusters: set[str], tasks: set[str]) -> dict[str, Any]:
    return {
        "tags": {name: ["git", name] for name in tags},
        "clusters": {name: _cluster(sorted(IDS[:2])) for name in clusters},
        "tasks": {name: _task(["s-1", "s-2"]) for name in tasks},
    }


STAGES = st.builds(
    _stages, st.sets(st.sampled_from(IDS)), st.sets(st.sampled_from("abcd")), st.sets(st.sampled_from("abcd"))
)
OWNERS = st.lists(
    st.sampled_from(
        [
            ("clusters", "  # why: {N}"),
            ("clusters", "  mine-{N}: {{title: Mine, members: [{ID}]}}"),
            (
                "clusters",
                "  block-{N}:\n    title: Block\n    description: |\n      x: {N}\n      x: y\n    slug: {N}",
            ),
            ("tasks", "  # look: at {N}"),
            ("tasks", "  own-{N}:\n    title: Photos # of {N}\n    family_match:\n      goal_substring: [photo-{N}]"),
            ("session_family_overrides", "  s-{N}: {{family: photos, trial: {N}}}"),
            ("session_family_overrides", "  # pinned {N}"),
        ]
    ),
    max_size=4,
)


def _written_by_owner(text: str, lines: list[tuple[str, str]], name: str) -> str:
    for number, (section, line) in enumerate(lines):
        written = line.format(N=f"{name}{number}", ID=IDS[0])
        before, head, after = re.split(rf"(?m)^({section}:)(?: {{}})?$", text, maxsplit=1)
        text = f"{before}{head}\n{written}{after}"
    return text


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(
    base=STAGES,
    ours=STAGES,
    theirs=STAGES,
    mine=OWNERS,
    yours=OWNERS,
    words=st.sampled_from([["--union"], [], ["--diff3"]]),
)
def test_lines_of_both_owners_stay_and_entries_of_stages_stand_as_in_one_wiki(
    tmp_path_factory: pytest.TempPathFactory,
    base: dict[str, Any],
    ours: dict[str, Any],
    theirs: dict[str, Any],
    mine: list[tuple[str, str]],
    yours: list[tuple[str, str]],
    words: list[str],
) -> None:
    folder = tmp_path_factory.getbasetemp()
    start = _with_stages(TEMPLATE, base)
    left = _written_by_owner(_with_stages(start, ours), mine, "m")
    right = _written_by_owner(_with_stages(start, theirs), yours, "y")
    text = _git_merged(folder, left, start, right, *words)
    known = {name: [["git", name]] for name in IDS}
    merged = merged_config(text, known)
    config, left_config, right_config = parse_config(merged), parse_config(left), parse_config(right)
    for name in ("tags", "clusters", "tasks", "overrides"):
        both = {**getattr(left_config, name), **getattr(right_config, name)}
        assert getattr(config, name) == both
    lines = merged.splitlines()
    for line in {*left.splitlines(), *right.splitlines()}:
        if "#" in line:
            assert line in lines
    assert all(lines.count(line) == 1 for line in TEMPLATE.splitlines() if line.startswith("  #"))
    assert merged_config(merged, known) == merged
    if not mine and not yours:
        assert merged == _with_stages(TEMPLATE, {name: {**base[name], **ours[name], **theirs[name]} for name in base})


def test_a_configuration_without_conflicts_keeps_every_byte() -> None:
    text = _with_stages(TEMPLATE, _stages(set(IDS), {"a"}, {"b"})) + "\nowners: {a: 1}\n# the end"
    assert merged_config(text, {name: [["git", name]] for name in IDS}) == text + "\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        ("kept: [a, b]", "kept: [a, c]", "kept: [a, b, c]"),
        ("rejected: {}", "rejected:\n  x: wrong", "rejected:\n  x: wrong"),
        ("schema_version: 1", "schema_version: 1", "schema_version: 1"),
        ("mood: good", "mood: bad", "# mood: bad\nmood: good"),
        ("rules:\n  ignore: [a]", "rules:\n  ignore: [b]", "rules:\n  ignore: [a, b]"),
    ],
)
def test_what_both_sides_say_of_one_thing_stands_once(ours: str, theirs: str, merged: str) -> None:
    conflict = f"<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other\n"
    assert merged_config(conflict, {}) == f"{merged}\n"
    assert merged_config(f"{ours}\n{theirs}\n", {}) == f"{merged}\n"


def test_of_two_lines_of_tags_a_persons_stays_and_of_stages_that_of_the_session_that_speaks() -> None:
    first, second = IDS[:2]
    lines = [f"    {first}: [mine]", f"    {first}: [git]", f"    {second}: [late]", f"    {second}: [early]"]
    text = "tags:\n  guideline:\n" + "\n".join(lines) + "\n"
    merged = merged_config(text, {first: [["git"]], second: [["early"], ["late"]]})
    assert parse_config(merged).tags == {first: ["mine"], second: ["early"]}


def test_of_two_entries_of_stages_the_one_over_more_sessions_stays() -> None:
    small, large = _task(["s-1", "s-2"]), _task(["s-1", "s-3", "s-4"])
    for one, other in ((small, large), (large, small)):
        both = edit_config(TEMPLATE, TASKS, {"t": one}) + edit_config("", TASKS, {"t": other})
        assert parse_config(merged_config(both, {})).tasks == {"t": large}


def test_an_entry_that_an_owner_took_over_on_one_side_stays_the_owners() -> None:
    owned = "tasks:\n  t: {title: Ours, sessions: [s-1]}\n"
    for text in (owned + edit_config("", TASKS, {"t": _task(["s-1", "s-2"])}),
                 edit_config("", TASKS, {"t": _task(["s-1", "s-2"])}) + owned):  # fmt: skip
        entry = parse_config(merged_config(text, {})).tasks["t"]
        assert entry["title"] == "Ours"
        assert not is_stage_made(entry)


def test_an_edit_leaves_one_entry_of_a_name_that_stands_twice() -> None:
    text = "clusters:\n  a: {title: One}\n  # of b\n  b: {title: B}\n  a:\n    title: Two\n"
    assert edit_config(text, CLUSTERS, {"a": {"title": "New"}}) == (
        "clusters:\n  a: {title: New}\n  # of b\n  b: {title: B}\n"
    )
    assert edit_config(text, CLUSTERS, {"a": None}) == "clusters:\n  # of b\n  b: {title: B}\n"
