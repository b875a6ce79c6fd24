"""A word that zsh takes for a pattern of files, and the quotes that it needs."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import known_remedies
from tests.engines.scripted_session import Script


def _titles(script: Script) -> list[str]:
    return [lesson.guideline.title for lesson in known_remedies.lessons(MinedSession.of(script.done()))]


def test_the_command_is_blamed_whose_word_the_error_quotes() -> None:
    script = Script().runs("gh api items?page=2 | node read.js", "zsh:1: no matches found: items?page=2", failed=True)
    script.runs("gh api 'items?page=2' | node read.js", "ok")
    (lesson,) = known_remedies.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.rationale.startswith("`gh api")


def test_the_word_that_zsh_stumbled_over_is_to_be_quoted_whatever_else_is() -> None:
    script = Script().runs(
        "curl -s shop.test/api?a=1 | jq '.[0]'", "zsh:1: no matches found: shop.test/api?a=1", failed=True
    )
    assert _titles(script.runs("curl -s 'shop.test/api?a=1' | jq '.[0]'")) == ["Quote wildcards in zsh"]


def test_a_word_between_the_quotes_of_others_was_in_none() -> None:
    line = "gh repo view --jq '.name' && gh api items?page=2 --jq '.[0]'"
    script = Script().runs(line, "till\n(eval):1: no matches found: items?page=2", failed=True)
    assert _titles(script.runs("gh api 'items?page=2' --jq '.[0]'")) == ["Quote wildcards in zsh"]


@pytest.mark.parametrize("line", ["jest --only='*.spec.ts'", "P='*.spec.ts'; jest ${~P}", 'eval "jest *.spec.ts"'])
def test_a_word_that_was_in_quotes_all_along_teaches_nothing(line: str) -> None:
    script = Script().runs(line, "zsh:1: no matches found: *.spec.ts", failed=True)
    assert not _titles(script.runs("jest --only '*.spec.ts'"))


@pytest.mark.parametrize(("line", "expected"), [("wc -l '*.css'", 1), ('echo "a" && wc -l *.css && echo "b"', 0)])
def test_a_word_between_two_pairs_of_quotes_stands_in_none(line: str, expected: int) -> None:
    script = Script().runs("wc -l *.css", "zsh: no matches found: *.css", failed=True).runs(line, "0")
    assert len(_titles(script)) == expected


def test_another_program_that_is_given_the_word_in_quotes_shows_nothing() -> None:
    script = Script().runs("ls -la *.jpg", "(eval):1: no matches found: *.jpg", failed=True)
    assert not _titles(script.runs('ls -la /shop; find /shop -name "*.jpg"', "cart.jpg"))
