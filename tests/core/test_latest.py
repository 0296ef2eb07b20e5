"""Answers that are kept: each is made once, and the one that was not asked for longest is made anew."""

from __future__ import annotations

from poolsmith.core.latest import Latest


def test_the_oldest_answer_is_made_anew() -> None:
    made: list[str] = []
    latest = Latest(2)

    def ask(key: str) -> str:
        return latest.of(key, lambda: made.append(key) or key.upper())

    assert [ask(key) for key in "abacab"] == list("ABACAB")
    assert made == ["a", "b", "c", "b"]


def test_none_is_an_answer() -> None:
    latest = Latest(2)
    assert latest.of("a", lambda: None) is None
    assert latest.of("a", lambda: 1) is None
