"""An object is set aside after three nights in which it failed, however many runs each of them took."""

from __future__ import annotations

from pathlib import Path

from agent_wiki.pipeline import bucket_state
from tests.buckets.nights import night, session_bytes
from tests.buckets.stores import Bucket
from tests.planted import vendor_keys
from tests.wikis import Script, tree


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


def test_an_object_whose_key_holds_a_secret_is_set_aside_and_the_secret_is_not_written_down(
    tmp_path: Path, script: Script, bucket: Bucket
) -> None:
    secret, wiki = vendor_keys()["github"], tmp_path / "wiki"
    bucket.put("good.json", session_bytes("good"))
    bucket.put(f"{secret}/fine.json", session_bytes("fine"))
    bucket.put(f"{secret}/cut.json", b'{"messages": [')
    bucket.put(f"{secret}/cut too.json", b'{"messages": [')
    for name in ("Monday", "Tuesday", "Wednesday"):
        for _ in range(2):
            report = night(bucket, wiki, script, night=name)
            assert (report.exit_code, len(report.failures), report.set_aside) == (1, 2, [])
    for _ in range(2):
        report = night(bucket, wiki, script, night="Thursday")
        assert (report.exit_code, report.failures, len(report.set_aside)) == (0, [], 2)
    assert not any(secret.encode() in content for content in tree(wiki).values())
    bucket.put(f"{secret}/cut.json", session_bytes("mended"))
    bucket.store.delete(f"{secret}/cut too.json")
    report = night(bucket, wiki, script, night="Friday")
    assert (report.exit_code, report.warnings, report.set_aside) == (0, [], [])
    assert b"REDACTED" not in tree(wiki)[bucket_state.NAME]


def test_no_digest_of_a_secret_is_kept() -> None:
    secret = vendor_keys()["github"]
    one, other = (f"s3://b/{each}/a.json" for each in (secret, f"{secret[:-4]}{secret[-4:][::-1]}"))

    def kept(address: str, etag: str = "e") -> str:
        return bucket_state.kept_key(address, lambda: (1, etag))

    assert one != other
    assert kept(one) == kept(other) != kept(one, "f")
    assert kept(one).startswith("s3://b/[REDACTED:github-token]/a.json#")
    assert kept("s3://b/a.json") == "s3://b/a.json"
