"""A bucket listed although some of its keys are no paths: they have an empty segment, `.`, `..` or a control character.

One such key spoils the client's answer for up to a thousand. boto3, where it is installed, takes any key of S3. Without
it the bucket is listed folder by folder; of a folder in which such a key lies, what comes before its thousand and after
its name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import field
from importlib.util import find_spec
from typing import Any

from agent_wiki.trajectory.lazily import dataclass

_BELOW = "a key below it has an empty segment, ., .. or a control character"
_ADVICE = f"{_BELOW}; with boto3 (pip install boto3) all others in it are read"
_REFUSED = "the client takes no key with an empty segment, ., .. or a control character"
_AFTER_EMPTY = "0"  # the first sign after the `/` that follows an empty segment
_NO_NAME = re.compile(r"|\.|\.\.|[^\0-\x1f\x7f]*[\0-\x1f\x7f].*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Walked:
    """What the store says of each object by key, and what may be there besides, as address → why it is not given.

    `unknown`: those of these addresses of which nobody knows how much lies there.
    """

    found: dict[str, Any] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)


def walked(store: Any, root: str, key: str, timeout_seconds: float) -> Walked:
    """All objects below a folder of a bucket that can be listed. Raises what the client raises for other reasons."""
    if root.startswith("s3:") and find_spec("boto3") is not None:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return _by_boto3(root, key, timeout_seconds)
        except (BotoCoreError, ClientError):
            pass  # it finds no credentials where the client does, or another server
    return _by_folder(store, root, key)


def _by_folder(store: Any, root: str, start: str) -> Walked:
    from obstore.exceptions import InvalidPathError

    made = Walked()
    reason = _ADVICE if root.startswith("s3:") else _BELOW
    waiting = [start]
    while waiting:
        key = waiting.pop()
        try:
            found = store.list_with_delimiter(key or None)
        except (InvalidPathError, ValueError):  # the latter: of a name that was asked for
            address = f"{root}/{key}/"
            made.lost[address] = reason
            around = list(_around(store, key, InvalidPathError))
            made.found.update((each["path"], each) for each in around if each is not None)
            if None in around:
                made.unknown.add(address)
            continue
        made.found.update((each["path"], each) for each in found["objects"])
        if key in found["common_prefixes"]:
            made.lost[f"{root}/{key}/"] = reason
        waiting += [below for below in found["common_prefixes"] if below != key]
    return made


def _around(store: Any, key: str, invalid: type[Exception]) -> Iterator[Any]:
    """Objects in a folder in which a key is no path: those in answers before it, and those after an empty segment.

    None among them: there is another such key, and how much lies behind it cannot be asked.
    """
    after = f"{key}/{_AFTER_EMPTY}".lstrip("/")
    for offset in (None, after):
        try:
            for chunk in store.list(key or None, offset=offset, chunk_size=1):  # else some of an answer are lost
                yield from chunk
        except (invalid, ValueError):
            if offset is not None:
                yield None
    try:  # the one key that is as long as the offset is not after it
        yield store.head(after)
    except (FileNotFoundError, ValueError):
        return


def _by_boto3(root: str, key: str, timeout_seconds: float) -> Walked:
    made = Walked()
    pages = _client(timeout_seconds).get_paginator("list_objects_v2")
    bucket, below = root.partition("://")[2], f"{key}/" if key else ""
    for page in pages.paginate(Bucket=bucket, Prefix=below):
        for each in page.get("Contents", ()):
            if (refused := _first_without_name(each["Key"])) is not None:
                made.lost[f"{root}/{refused}"] = _REFUSED
            elif path := each["Key"].removesuffix("/"):
                status = {"last_modified": each["LastModified"], "size": each["Size"], "e_tag": each.get("ETag")}
                made.found[path] = {"path": path, **status}
    return made


def _first_without_name(key: str) -> str | None:
    """The key, or the folder of its first segment that has no name; None where each has one."""
    segments = key.removesuffix("/").split("/")
    for position, segment in enumerate(segments, start=1):
        if _NO_NAME.fullmatch(segment):
            return key if position == len(segments) else "/".join([*segments[:position], ""])
    return None


def _client(timeout_seconds: float) -> Any:
    """A client with the address and the region that obstore reads from the environment."""
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config

    endpoint, region = (
        next(filter(None, map(os.environ.get, names)), None)
        for names in (("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"), ("AWS_REGION", "AWS_DEFAULT_REGION"))
    )
    is_public = os.environ.get("AWS_SKIP_SIGNATURE", "").lower() in ("true", "1", "yes", "on")
    options = {"signature_version": UNSIGNED} if is_public else {}
    config = Config(connect_timeout=timeout_seconds, read_timeout=timeout_seconds, **options)
    return boto3.client("s3", endpoint_url=endpoint, region_name=region, config=config)
