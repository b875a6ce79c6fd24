"""`wiki lock`: a command that runs while this machine alone builds the wiki."""

from __future__ import annotations

import os
import socket
import sys
from typing import Annotated

import typer

from agent_wiki.commands.visible import visible

_MOST_LEASE = 7 * 86_400  # seconds: what says more is no lock to `pipeline/bucket_lock.py`
EXIT_LOCKED = 75
"""As `sysexits.h` has it for what may go better later."""


def lock(
    address: Annotated[str, typer.Argument(help="The lock: an object in a bucket, as s3://BUCKET/PREFIX/_wiki.lock.")],
    command: Annotated[list[str], typer.Argument(help="The command and its words, behind a --.")],
    owner: Annotated[
        str, typer.Option("--owner", help="What others read of who holds the lock.", show_default="machine and process")
    ] = "",
    lease: Annotated[
        int,
        typer.Option(
            "--lease", min=1, max=_MOST_LEASE, help="Seconds after which the lock of a machine that died runs out."
        ),
    ] = 600,
) -> None:
    """Run a command while holding a lock in a bucket, so that two machines never build one wiki at the same time.

    The lock is renewed as long as the command runs, and released at its end. SIGTERM and SIGINT are passed on to it; if
    `wiki lock` itself is killed, the command is ended.
    The exit code is the command's; 75 when another holds the lock: then nothing was run.
    """
    from agent_wiki.errors import WikiLocked
    from agent_wiki.pipeline.bucket_lock import BucketLock
    from agent_wiki.pipeline.while_locked import LockedCommand
    from agent_wiki.readers.stored_objects import bucket_path

    held = BucketLock(bucket_path(address), owner or f"{socket.gethostname()}, process {os.getpid()}", lease)
    try:
        raise typer.Exit(LockedCommand(held).run(command))
    except WikiLocked as error:
        sys.stderr.write(visible(f"wiki: {error}\n"))
        raise typer.Exit(EXIT_LOCKED) from error
