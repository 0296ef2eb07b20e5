"""Secrets of a text that is no YAML: in which lines they stand, and what is shown of these."""

from __future__ import annotations

import pytest

from poolsmith.core.sources import secret_scalars
from poolsmith.core.sources.secret_scalars import secrets_of_text


def test_a_line_with_a_secret_is_hidden_and_its_neighbours_are_not():
    found = secrets_of_text("name: a\npassword: hunter2hunter2\nport: 1\n]: [\n")

    assert set(found.lines) == {2}
    assert "hunter2hunter2" not in found.shown(2, "password: hunter2hunter2")
    assert "hunter2hunter2" in found.texts


@pytest.mark.parametrize(
    "line", ["PASSWORD: hunter2hunter2", "PA\u017f\u017fWORD: hunter2hunter2", "TO\u212aEN: abcdefabcdef"]
)
@pytest.mark.parametrize("other", ["port: 1", "note: \u00e4"])
def test_a_word_in_any_case_is_found_as_the_same_expression_finds_it(line, other):
    text = f"name: a\n{line}\n{other}\n"

    assert [secret_scalars._has_a_word(one) for one in text.split("\n")] == [
        secret_scalars._WORTH_A_LOOK.search(one) is not None for one in text.split("\n")
    ]
    assert secret_scalars._has_a_word(text)
