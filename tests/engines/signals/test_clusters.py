"""States of a cluster and the change that cleared them."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.cluster_states import ClusterState, cluster_states
from agent_wiki.engines.offline.signals import clusters
from tests.engines.scripted_session import Script

SHOWN = "Warning  Failed  kubelet  Error: ImagePullBackOff"
CHANGE = "kubectl set image deployment/cart cart=shop/cart:2"
HEALTHY = 'deployment "cart" successfully rolled out'


def _titles(script: Script) -> list[str]:
    return [lesson.guideline.title for lesson in clusters.lessons(MinedSession.of(script.done()))]


def test_a_state_that_a_change_cleared_is_a_lesson() -> None:
    script = Script().runs("kubectl describe pod cart-1", SHOWN).runs(CHANGE, "image updated")
    (lesson,) = clusters.lessons(MinedSession.of(script.runs("kubectl rollout status deployment/cart", HEALTHY).done()))
    assert lesson.guideline.title == "Correct image names of failing pulls"
    assert [each.quote for each in lesson.guideline.evidence] == [SHOWN, CHANGE, HEALTHY]


def test_without_proof_of_health_there_is_no_lesson() -> None:
    script = Script().runs("kubectl describe pod cart-1", SHOWN).runs(CHANGE, "image updated")
    assert not _titles(script.runs("kubectl get pods", "cart-1  0/1  ImagePullBackOff"))


def test_a_change_before_the_state_is_no_remedy() -> None:
    script = Script().runs(CHANGE, "image updated").runs("kubectl describe pod cart-1", SHOWN)
    assert not _titles(script.runs("kubectl rollout status deployment/cart", HEALTHY))


def test_another_change_is_no_remedy() -> None:
    script = (
        Script().runs("kubectl describe pod cart-1", SHOWN).runs("kubectl scale deploy/cart --replicas=2", "scaled")
    )
    assert not _titles(script.runs("kubectl rollout status deployment/cart", HEALTHY))


def test_a_dry_run_changes_nothing() -> None:
    script = Script().runs("kubectl describe pod cart-1", SHOWN).runs(CHANGE + " --dry-run=client", "updated")
    assert not _titles(script.runs("kubectl rollout status deployment/cart", HEALTHY))


def test_the_words_outside_of_a_cluster_mean_nothing() -> None:
    script = Script().runs("cat notes.md", SHOWN).runs(CHANGE, "image updated")
    assert not _titles(script.runs("kubectl rollout status deployment/cart", HEALTHY))


@pytest.mark.parametrize("state", cluster_states(), ids=lambda state: state.wording.title)
def test_every_entry_is_worded_as_a_rule_and_reads_hostile_text_quickly(state: ClusterState) -> None:
    assert 3 <= len(state.wording.title.split()) <= 7
    assert not state.wording.rule.lower().startswith(("don't", "do not", "never", "avoid"))
    state.shown.search("a " * 20_000 + "\n" * 5_000)
    state.change.search("kubectl apply " + "x" * 8_000)
