"""What git keeps of a wiki's files: asked of git itself, for the syntax of its answers is known here alone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

_SECONDS = 600


def ask_git(wiki: Path, *arguments: str, given: bytes = b"") -> tuple[bytes, str]:
    """What git prints in a wiki's folder, and why it failed in one line, "" where it did not."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=wiki, input=given, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return b"", str(error)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").split("\n")
        return b"", lines[0].strip() or f"git {arguments[0]} ended with {done.returncode}"
    return done.stdout, ""


def git_output(wiki: Path, *arguments: str, given: bytes = b"") -> bytes:
    """The same where a failure says no more than that there is nothing to know."""
    return ask_git(wiki, *arguments, given=given)[0]


def commit_of(wiki: Path, name: str) -> str:
    """The commit that a name stands for; "" where there is none, or no repository."""
    if name.startswith("-"):
        return ""
    return git_output(wiki, "rev-parse", "--quiet", "--verify", f"{name}^{{commit}}").decode().strip()


def paths_at(wiki: Path, commit: str) -> list[str]:
    """The path in the wiki of each file that a commit has there."""
    output = git_output(wiki, "ls-tree", "-r", "--name-only", "-z", commit)
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]


def texts_at(wiki: Path, asked: Sequence[tuple[str, str]]) -> Iterator[str | None]:
    """The text of each file, by revision and path in the wiki, in order; None where the revision has none."""
    given = "".join(f"{revision}:./{path}\n" for revision, path in asked)
    output, at = git_output(wiki, "cat-file", "--batch", given=given.encode("utf-8", "surrogateescape")), 0
    for _ in asked:
        end = output.find(b"\n", at)
        fields = output[at:end].split(b" ")
        at = end + 1
        if end < 0:
            return
        size = int(fields[2]) if len(fields) == 3 and fields[1] == b"blob" else None
        yield None if size is None else output[at : at + size].decode("utf-8", "replace")
        at += 0 if size is None else size + 1
