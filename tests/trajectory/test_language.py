"""Whether words are English, by their letters and the commonest words."""

from __future__ import annotations

import pytest

from agent_wiki.trajectory.language import is_english


@pytest.mark.parametrize(
    "words",
    [
        "please add a lamp to the page of the shop",
        "fix lamp page",
        "sudo chown -R shop:shop /srv/shop/lamps /srv/shop/cables",
        "run tests/test_lamps.py",
        "",
        "why does the lamp hang?",
    ],
)
def test_english_and_what_names_things(words: str) -> None:
    assert is_english(words)


@pytest.mark.parametrize(
    "words",
    [
        "ajoute une lampe sur la page du magasin",
        "füge der Seite des Ladens eine Lampe hinzu",
        "добавь лампу на страницу магазина",
        "ランプを追加してください",
        "가게 페이지에 램프를 추가해줘",
        "สวัสดี",
        "दुकान के पन्ने पर दीया जोड़ो",
        "añade una lámpara en la página de la tienda",
    ],
)
def test_other_languages(words: str) -> None:
    assert not is_english(words)
