"""Shards: which share of the recordings a machine mines where several do, and how a job of a cluster knows its own.

A share is a filter over the full listing: what lies beside a recording is found wherever its own share is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace

from agent_wiki.asking.options import AskingOptions
from agent_wiki.errors import UsageError
from agent_wiki.trajectory.lazily import dataclass

_AUTO = "auto"
_NAME = re.compile(r"shard-([1-9]\d*)-of-([1-9]\d*)")
_GIVEN = re.compile(r"(auto|\d+)(?:/(\d+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` shares. `number` is counted from 1, as `str()` shows it: 1/4 to 4/4."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def name(self) -> str:
        """What its output is called."""
        return f"shard-{self.number}-of-{self.count}"

    def has(self, within: str) -> bool:
        """Whether a recording is in this share, by its path below the folder or address that was named."""
        digest = hashlib.sha256(within.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.number - 1

    def part_of(self, whole: int) -> int:
        """This share of a number, rounded up."""
        return -(-whole // self.count)

    def portion_of(self, whole: int) -> int:
        """This share of a limit that all shards together have to keep: the first ones get what is left over."""
        return whole // self.count + (self.number <= whole % self.count)

    def asking(self, options: AskingOptions) -> AskingOptions:
        """How this share asks models, so that all of them together spend and send what one run may.

        Its journal has a place of its own in a store: what is paid into one place counts against one limit.
        """
        limit = None if options.max_usd is None else options.max_usd / self.count
        calls = None if options.max_calls is None else self.portion_of(options.max_calls)
        store = options.journal_store and f"{options.journal_store.rstrip('/')}/{self.name}"
        concurrency = self.part_of(options.concurrency)
        return replace(options, max_usd=limit, max_calls=calls, concurrency=concurrency, journal_store=store)


def shard_of_name(name: str) -> Shard | None:
    """The shard whose output has this name; None for any other name."""
    found = _NAME.fullmatch(name)
    return Shard(int(found[1]), int(found[2])) if found else None


def shard_named(text: str, environment: Mapping[str, str]) -> Shard:
    """The shard that a person named: `i/n`, `auto`, or `auto/n` where the environment does not give the number.

    Raises `UsageError`.
    """
    found = _GIVEN.fullmatch(text)
    count = int(found[2]) if found and found[2] else None
    if found and found[1] == _AUTO:
        return _shard_of_environment(count, environment)
    if not found or count is None:
        raise UsageError(f"--shard {text}: neither i/n, such as 1/4 for the first of four, nor {_AUTO}")
    return _checked(Shard(int(found[1]), count), f"--shard {text}")


def _checked(shard: Shard, source: str) -> Shard:
    if not 1 <= shard.number <= shard.count:
        raise UsageError(f"{source}: there is no shard {shard}; of n shards they are 1/n to n/n")
    return shard


@dataclass(frozen=True, slots=True)
class _JobArray:
    """The variables in which a scheduler says which job of an array this is.

    `first` is the first index. Of an array whose indexes are not each one more than the last, `step` says how much
    more, and `last` which is the last.
    """

    name: str
    index: str
    count: str
    first: int | str
    last: str = ""
    step: str = ""


_JOB_ARRAYS = (
    _JobArray("Kubernetes", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", 0),
    _JobArray(
        "Slurm",
        "SLURM_ARRAY_TASK_ID",
        "SLURM_ARRAY_TASK_COUNT",
        "SLURM_ARRAY_TASK_MIN",
        "SLURM_ARRAY_TASK_MAX",
        "SLURM_ARRAY_TASK_STEP",
    ),
    _JobArray("AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE", 0),
    _JobArray("CI", "CI_NODE_INDEX", "CI_NODE_TOTAL", 1),
)


def _shard_of_environment(count: int | None, environment: Mapping[str, str]) -> Shard:
    arrays = [array for array in _JOB_ARRAYS if environment.get(array.index)]
    if not arrays:
        names = ", ".join(array.index for array in _JOB_ARRAYS)
        raise UsageError(f"--shard {_AUTO}: this is no job of an array that is known (none of {names} is set)")
    found = {array: _shard_in(array, count, environment) for array in arrays}
    if len(set(found.values())) > 1:
        said = "; ".join(f"{array.name} says {shard}" for array, shard in found.items())
        raise UsageError(f"--shard {_AUTO}: {said}; name the one that counts, such as --shard {found[arrays[0]]}")
    return found[arrays[0]]


def _shard_in(array: _JobArray, count: int | None, environment: Mapping[str, str]) -> Shard:
    stated = _number(array.count, environment) if environment.get(array.count) else None
    if count is None and stated is None:
        raise UsageError(f"--shard {_AUTO}: {array.name} says which shard this is, not of how many: --shard {_AUTO}/N")
    if count is not None and stated is not None and count != stated:
        raise UsageError(f"--shard {_AUTO}/{count}: {array.count} says {stated}; name the shard, such as 1/{count}")
    shard = Shard(_position(array, stated, environment) + 1, count or stated or 0)
    return _checked(shard, f"--shard {_AUTO}: {array.index}={environment[array.index]}")


def _position(array: _JobArray, stated: int | None, environment: Mapping[str, str]) -> int:
    """Which job of the array this is, counted from 0. Raises `UsageError`, also where indexes are not evenly spaced."""
    first = array.first if isinstance(array.first, int) else _number(array.first, environment)
    step = max(_number(array.step, environment), 1) if environment.get(array.step) else 1  # one job needs none
    if environment.get(array.last) and stated is not None:
        last = _number(array.last, environment)
        between = (last - first) // step + 1
        if between != stated:
            said = f"{array.count}={stated}: from {first} to {last} by {step} there are {between}"
            raise UsageError(f"--shard {_AUTO}: {said}; name the shard, such as 1/{stated}")
    position, rest = divmod(_number(array.index, environment) - first, step)
    if rest:
        said = f"{array.index}={environment[array.index]}: not {first} and a multiple of {step}"
        raise UsageError(f"--shard {_AUTO}: {said} ({array.step})")
    return position


def _number(name: str, environment: Mapping[str, str]) -> int:
    value = environment.get(name, "")
    if not (value.isascii() and value.isdigit()):
        raise UsageError(f"--shard {_AUTO}: {name}={value} is no number")
    return int(value)
