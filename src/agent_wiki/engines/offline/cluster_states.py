"""States of a Kubernetes cluster that name their own cause, and the change that clears each of them."""

from __future__ import annotations

from agent_wiki.engines.offline.lessons import WordedEntry
from agent_wiki.engines.offline.tables import AnyOf, entries


class ClusterState(WordedEntry):
    """One entry of `tables/kubernetes.toml`, which says what each field means."""

    shown: AnyOf
    change: AnyOf


def cluster_states() -> tuple[ClusterState, ...]:
    """All of them, in the order of the table."""
    return entries("kubernetes", ClusterState)
