"""Secrets of a text that is no YAML: in which lines they stand, and what is shown of these."""

from __future__ import annotations

from poolsmith.core.sources.secret_scalars import secrets_of_text


def test_a_line_with_a_secret_is_hidden_and_its_neighbours_are_not():
    found = secrets_of_text("name: a\npassword: hunter2hunter2\nport: 1\n]: [\n")

    assert set(found.lines) == {2}
    assert "hunter2hunter2" not in found.shown(2, "password: hunter2hunter2")
    assert "hunter2hunter2" in found.texts
