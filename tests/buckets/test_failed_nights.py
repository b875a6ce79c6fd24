"""An object is set aside after three nights in which it failed, however many runs each of them took."""

from __future__ import annotations

from pathlib import Path

from tests.buckets.nights import night, session_bytes
from tests.buckets.stores import Bucket
from tests.wikis import Script


def _unreadable(key: str) -> None:
    if key == "refused.json":
        raise OSError("403 Forbidden: InvalidObjectState")


def test_the_runs_of_one_night_count_once_and_each_says_what_failed(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    bucket.put("good.json", session_bytes("good"))
    bucket.put("refused.json", session_bytes("refused"))
    bucket.put("cut.json", b'{"messages": [')
    bucket.breaks = _unreadable
    for name in ("Monday", "Tuesday", "Wednesday"):
        for _ in range(3):
            report = night(bucket, tmp_path / "wiki", script, night=name)
            assert (report.exit_code, len(report.failures), report.set_aside) == (1, 2, [])
    report = night(bucket, tmp_path / "wiki", script, night="Thursday")
    assert (report.exit_code, report.failures, len(report.set_aside)) == (0, [], 2)


def test_a_new_version_of_an_object_has_failed_once_in_the_night_in_which_it_fails(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    for content in (b'{"messages": [', b'{"messages": [{'):
        bucket.put("cut.json", content)
        for name in ("Monday", "Tuesday", "Wednesday"):
            assert night(bucket, tmp_path / "wiki", script, night=name).exit_code == 1
