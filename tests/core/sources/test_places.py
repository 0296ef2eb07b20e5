"""A place that is looked for late is, for whoever reads it, one like any other."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from poolsmith.core.diagnostics.diagnostic import Location, Position, Span
from poolsmith.core.record import replace
from poolsmith.core.sources import yaml_places
from poolsmith.core.sources.source_file import SourceFile

TEXT = "a: 1\nb: {c: 2, password: hunter22}\n"
PLACE = Location(
    span=Span(path="a.yaml", start=Position(2, 5), end=Position(2, 6)),
    pointer="/b/c",
    note="told",
    source_line="b: {c: 2, password: ***}",
)


@pytest.fixture
def place():
    return SourceFile("a.yaml", TEXT, {}).locate("/b/c", "told")


@pytest.mark.parametrize(
    "asked",
    [
        lambda place: place == PLACE,
        lambda place: hash(place) == hash(PLACE),
        lambda place: len({place, PLACE}) == 1,
        lambda place: isinstance(place, Location) and place.__class__ is Location,
        lambda place: pickle.loads(pickle.dumps(place)) == PLACE,
        lambda place: copy.copy(place) == PLACE == copy.deepcopy(place),
        lambda place: replace(place, note="more") == replace(PLACE, note="more"),
        lambda place: dataclasses.replace(place, note="more") == replace(PLACE, note="more"),
        lambda place: dataclasses.asdict(place)["source_line"] == PLACE.source_line,
        lambda place: "hunter22" not in place.secrets.without("hunter22"),
        lambda place: str(place.span) == "a.yaml:2:5",
        lambda place: place.value == (Position(2, 8), Position(2, 9)),
        lambda place: not hasattr(place, "missing"),
        lambda place: repr(place).endswith("source_line='b: {c: 2, password: ***}')"),
    ],
)
def test_whatever_is_asked(place, asked):
    assert asked(place)


def test_a_place_that_was_looked_for_lets_go_of_its_file(place):
    assert place.span.start is not None
    assert not hasattr(place, "_content")


def test_nothing_is_composed_for_its_path_and_pointer(place, monkeypatch):
    monkeypatch.setattr(yaml_places.Marks, "__init__", None)

    assert (place.path, place.pointer, place.note) == ("a.yaml", "/b/c", "told")
    with pytest.raises(TypeError):
        place.span  # noqa: B018


def test_it_can_not_be_changed(place):
    with pytest.raises(dataclasses.FrozenInstanceError):
        place.note = "other"
