"""Shares of a listing, and how a job of a cluster knows which share is its own."""

from __future__ import annotations

from typing import Any

import pytest

from agent_wiki.asking.options import AskingOptions
from agent_wiki.errors import UsageError
from agent_wiki.pipeline.ingest import Options
from agent_wiki.pipeline.inputs import Selection
from agent_wiki.pipeline.mine_shard import share_of
from agent_wiki.pipeline.shards import Shard, shard_named, shard_of_name

_KUBERNETES = {"JOB_COMPLETION_INDEX": "2", "JOB_COMPLETIONS": "4"}
_SLURM = {"SLURM_ARRAY_TASK_ID": "12", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_COUNT": "4"}
_STEPPED = {  # --array=5-11:2
    "SLURM_ARRAY_TASK_ID": "9",
    "SLURM_ARRAY_TASK_MIN": "5",
    "SLURM_ARRAY_TASK_MAX": "11",
    "SLURM_ARRAY_TASK_STEP": "2",
    "SLURM_ARRAY_TASK_COUNT": "4",
}
_BATCH = {"AWS_BATCH_JOB_ARRAY_INDEX": "2", "AWS_BATCH_JOB_ARRAY_SIZE": "4"}
_CI = {"CI_NODE_INDEX": "3", "CI_NODE_TOTAL": "4"}


@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_recording_is_in_exactly_one_share_and_no_share_has_most(count: int) -> None:
    names = [f"team/ä {number}/session.jsonl" for number in range(300)]
    shards = [Shard(number, count) for number in range(1, count + 1)]
    shares = [[name for name in names if shard.has(name)] for shard in shards]
    assert sorted(name for share in shares for name in share) == sorted(names)
    assert max(map(len, shares)) < 1.4 * len(names) / count


def test_a_share_is_the_same_on_every_machine() -> None:
    assert [Shard(number, 3).has("runs/one/run.traj.json") for number in (1, 2, 3)] == [True, False, False]
    assert any(Shard(number, 3).has("\udcff.jsonl") for number in (1, 2, 3))  # a name that is not UTF-8


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("3/4", {}),
        ("auto", _KUBERNETES),
        ("auto", _SLURM),
        ("auto", {**_SLURM, "SLURM_ARRAY_TASK_STEP": "1", "SLURM_ARRAY_TASK_MAX": "13"}),
        ("auto", _STEPPED),
        ("auto", {**_STEPPED, "SLURM_ARRAY_TASK_MAX": "12"}),  # --array=5-12:2
        ("auto/4", _STEPPED),
        ("auto", _BATCH),
        ("auto", _CI),
        ("auto", {**_KUBERNETES, **_CI}),
        ("auto", {**_KUBERNETES, "CI_NODE_TOTAL": "1"}),  # as GitLab has it in a job that is not parallel
        ("auto/4", {"JOB_COMPLETION_INDEX": "2"}),
        ("auto/4", _SLURM),
        ("3/4", {**_SLURM, "SLURM_ARRAY_TASK_ID": "0"}),
    ],
)
def test_the_third_of_four(text: str, environment: dict[str, str]) -> None:
    assert shard_named(text, environment) == Shard(3, 4)


@pytest.mark.parametrize(("first", "step"), [(0, 1), (5, 2), (5, 7)])
def test_the_jobs_of_an_array_are_each_shard_once(first: int, step: int) -> None:
    indexes = range(first, first + 3 * step, step)
    array = {"COUNT": "3", "MIN": str(first), "MAX": str(indexes[-1]), "STEP": str(step)}
    shared = {f"SLURM_ARRAY_TASK_{name}": value for name, value in array.items()}
    found = [shard_named("auto", {**shared, "SLURM_ARRAY_TASK_ID": str(index)}) for index in indexes]
    assert found == [Shard(1, 3), Shard(2, 3), Shard(3, 3)]


def test_an_array_of_one_job_needs_no_step() -> None:
    array = {"ID": "7", "COUNT": "1", "MIN": "7", "MAX": "7", "STEP": "0"}
    assert shard_named("auto", {f"SLURM_ARRAY_TASK_{name}": each for name, each in array.items()}) == Shard(1, 1)


@pytest.mark.parametrize(
    ("text", "environment", "reason"),
    [
        ("", {}, "neither i/n, such as 1/4"),
        ("3", {}, "neither i/n"),
        ("x/4", {}, "neither i/n"),
        ("-1/4", {}, "neither i/n"),
        ("1/4/2", {}, "neither i/n"),
        ("0/4", {}, "there is no shard 0/4; of n shards they are 1/n to n/n"),
        ("5/4", {}, "there is no shard 5/4"),
        ("1/0", {}, "there is no shard 1/0"),
        ("auto", {}, "no job of an array"),
        ("auto", {"CI_NODE_TOTAL": "4"}, "no job of an array"),
        ("auto", {"JOB_COMPLETION_INDEX": "2"}, "Kubernetes says which shard this is, not of how many: --shard auto/N"),
        ("auto", {**_KUBERNETES, "CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "4"}, "Kubernetes says 3/4; CI says 2/4; name"),
        ("auto/4", {**_SLURM, "SLURM_ARRAY_TASK_COUNT": "1"}, "SLURM_ARRAY_TASK_COUNT says 1; name the shard"),
        ("auto", {**_SLURM, "SLURM_ARRAY_TASK_ID": "15"}, "SLURM_ARRAY_TASK_ID=15: there is no shard 6/4"),
        ("auto", {**_STEPPED, "SLURM_ARRAY_TASK_ID": "8"}, "SLURM_ARRAY_TASK_ID=8: not 5 and a multiple of 2"),
        ("auto", {**_STEPPED, "SLURM_ARRAY_TASK_ID": "3"}, "SLURM_ARRAY_TASK_ID=3: there is no shard 0/4"),
        ("auto", {**_STEPPED, "SLURM_ARRAY_TASK_ID": "13"}, "SLURM_ARRAY_TASK_ID=13: there is no shard 5/4"),
        ("auto", {**_STEPPED, "SLURM_ARRAY_TASK_STEP": "x"}, "SLURM_ARRAY_TASK_STEP=x is no number"),
        ("auto", {**_STEPPED, "SLURM_ARRAY_TASK_MAX": "13"}, "SLURM_ARRAY_TASK_COUNT=4: from 5 to 13 by 2 there are 5"),
        ("auto", {**_CI, "CI_NODE_INDEX": "0"}, "CI_NODE_INDEX=0: there is no shard 0/4"),
        ("auto", {**_BATCH, "AWS_BATCH_JOB_ARRAY_SIZE": "x"}, "AWS_BATCH_JOB_ARRAY_SIZE=x is no number"),
    ],
)
def test_anything_else_is_refused_in_one_line(text: str, environment: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError, match=r"^--shard ") as caught:
        shard_named(text, environment)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "shard"), [("shard-3-of-4", Shard(3, 4)), ("shard-3", None), ("shard-3-of-04", None)])
def test_a_shard_is_known_by_the_name_of_its_output(name: str, shard: Shard | None) -> None:
    assert shard_of_name(name) == shard
    assert shard is None or shard.name == name


def test_shards_share_money_requests_and_objects(tmp_path: Any) -> None:
    asking = AskingOptions(max_usd=10.0, concurrency=9, journal_store="s3://b/journal/")
    share = share_of(Options(tmp_path, asking=asking, selection=Selection(most=10)), Shard(2, 4))
    assert (share.asking.max_usd, share.asking.concurrency, share.selection.most) == (2.5, 3, 3)
    assert share.asking.journal_store == "s3://b/journal/shard-2-of-4"
    unlimited = share_of(Options(tmp_path), Shard(2, 4))
    assert unlimited.selection.most is None
    assert unlimited.asking == AskingOptions(concurrency=2)


@pytest.mark.parametrize(("most", "shares"), [(10, [3, 3, 2, 2]), (4, [1, 1, 1, 1]), (2, [1, 1, 0, 0])])
def test_shards_together_send_no_more_requests_than_one_run_may(most: int, shares: list[int], tmp_path: Any) -> None:
    options = Options(tmp_path, asking=AskingOptions(max_calls=most))
    assert [share_of(options, Shard(number, 4)).asking.max_calls for number in range(1, 5)] == shares
