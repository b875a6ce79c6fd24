"""What of each prompt a service would have in its cache, when questions come in a known order."""

from __future__ import annotations

from agent_wiki.engines.cache_forecast import CacheForecast, Piece, Tokens


def _pieces(*told: tuple[str, int, bool]) -> list[tuple[Piece, int]]:
    return [(Piece(text, "5m" if is_marked else None), tokens) for text, tokens, is_marked in told]


def test_a_prefix_is_written_once_and_read_by_the_next_question_of_the_same_model() -> None:
    cache = CacheForecast()
    head, session = ("head", 2_000, True), ("session", 5_000, True)
    assert cache.tokens("m", _pieces(head, session, ("a", 10, False))) == Tokens(10, 7_000, 0)
    assert cache.tokens("m", _pieces(head, session, ("b", 20, False))) == Tokens(20, 0, 7_000)
    assert cache.tokens("m", _pieces(head, ("another", 300, True), ("a", 10, False))) == Tokens(10, 300, 2_000)
    assert cache.tokens("n", _pieces(head, session, ("a", 10, False))) == Tokens(10, 7_000, 0)


def test_what_is_too_short_to_be_kept_is_plain() -> None:
    cache = CacheForecast()
    for _ in range(2):
        assert cache.tokens("m", _pieces(("head", 900, True), ("a", 10, False))) == Tokens(910, 0, 0)
