"""A record does what the dataclass of the same words does."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Generic, Protocol, TypeVar, runtime_checkable

import pytest

from poolsmith.core import record as records
from poolsmith.core.record import record

T = TypeVar("T")


@record
class Pool:
    name: str
    labels: dict[str, str] = field(default_factory=dict, compare=False)
    size: int = 1
    note: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    name: str
    labels: dict[str, str] = field(default_factory=dict, compare=False)
    size: int = 1
    note: str = field(default="", repr=False)


@record(kw_only=False, order=True)
class Position:
    line: int
    column: int = 0

    @property
    def text(self) -> str:
        return f"{self.line}:{self.column}"


@record
class Mark(Position):
    file: str = "a.yaml"


@record(frozen=False, kw_only=False)
class Counter:
    found: list[int] = field(default_factory=list)
    total: int = 0

    def __post_init__(self) -> None:
        self.total += len(self.found)


@record(slots=False)
class Squared:
    side: int
    unit: str = "m"

    @cached_property
    def area(self) -> int:
        return self.side**2


@record(eq=False)
class Handle:
    name: str


@record(kw_only=False)
class Box(Generic[T]):
    content: T


@runtime_checkable
class Named(Protocol):
    name: str


def test_it_is_made_compared_hashed_and_shown_as_a_dataclass():
    pool, twin = Pool(name="a", size=2), Twin(name="a", size=2)

    assert repr(pool) == repr(twin).replace("Twin", "Pool") == "Pool(name='a', labels={}, size=2)"
    assert hash(pool) == hash(twin)
    assert pool == Pool(name="a", size=2, labels={"x": "y"})
    assert pool != Pool(name="b", size=2)
    assert pool != twin
    assert pool.labels is not Pool(name="a").labels
    assert isinstance(pool, Named)


def test_the_tools_of_dataclasses_take_it():
    pool = Pool(name="a", labels={"x": "y"})

    assert is_dataclass(Pool)
    assert is_dataclass(pool)
    declared, expected = fields(Pool), fields(Twin)
    for attribute in ("name", "type", "default", "default_factory", "compare", "repr", "kw_only", "init", "metadata"):
        assert [getattr(one, attribute) for one in declared] == [getattr(one, attribute) for one in expected]
    assert replace(pool, size=7) == Pool(name="a", size=7)
    assert asdict(pool) == {"name": "a", "labels": {"x": "y"}, "size": 1, "note": ""}


@pytest.mark.parametrize("one", [Pool(name="a", labels={"x": "y"}), Mark(1, 2, file="b"), Squared(side=3), Box((1,))])
def test_it_is_copied_and_goes_to_other_processes(one):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(one, protocol)) == one
    assert copy.copy(one) == one
    assert copy.deepcopy(one) == one
    assert asdict(copy.deepcopy(one)) == asdict(one)


@pytest.mark.parametrize("one", [Pool(name="a"), Squared(side=3)])
def test_what_is_frozen_is_neither_set_nor_deleted(one):
    first = fields(one)[0].name
    with pytest.raises(FrozenInstanceError, match=first):
        setattr(one, first, 1)
    with pytest.raises(FrozenInstanceError, match=first):
        delattr(one, first)


def test_what_is_not_frozen_changes_and_has_no_hash():
    counter = Counter([1, 2])
    counter.total += 1

    assert counter == Counter([1, 2], 1)
    assert counter.total == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)


def test_slots_hold_no_other_attribute_and_no_dictionary():
    assert not hasattr(Mark(1), "__dict__")
    assert Mark.__slots__ == ("file",)
    with pytest.raises(AttributeError):
        Counter().other = 1  # type: ignore[attr-defined]


def test_without_slots_it_remembers_properties_and_shows_defaults_in_the_class():
    squared = Squared(side=3)

    assert (squared.area, squared.area) == (9, 9)
    assert Squared.unit == "m"
    assert squared == Squared(side=3)


def test_a_record_of_a_record_has_the_fields_of_both():
    assert [one.name for one in fields(Mark)] == ["line", "column", "file"]
    assert Mark(1, file="b").text == "1:0"
    assert Mark(1) != Position(1)
    assert Mark.__match_args__ == ("line", "column")
    match Mark(3, 4):
        case Position(line, column):
            assert (line, column) == (3, 4)


def test_order_is_that_of_the_fields():
    assert sorted([Position(2, 1), Position(1, 9), Position(1)]) == [Position(1), Position(1, 9), Position(2, 1)]
    assert Position(1) <= Position(1) < Position(2)
    with pytest.raises(TypeError):
        assert Position(1) < Mark(2)


def test_without_eq_an_object_equals_itself_only():
    one, other = Handle(name="a"), Handle(name="a")

    assert len({one, one, other}) == 2


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (Pool, "Pool.__init__() missing 1 required keyword-only argument: 'name'"),
        (lambda: Pool("a"), "Pool.__init__() takes 1 positional argument but 2 were given"),
        (lambda: Position(1, 2, 3), "Position.__init__() takes from 2 to 3 positional arguments but 4 were given"),
        (lambda: Position(1, size=2), "Position.__init__() got an unexpected keyword argument 'size'"),
    ],
)
def test_wrong_calls_name_the_record(make, says):
    with pytest.raises(TypeError) as caught:
        make()

    assert str(caught.value) == says


@pytest.mark.parametrize("kw_only", [True, False])
def test_the_first_objects_and_later_ones_take_the_same_calls(kw_only):
    def declare(make):
        class Part:
            name: str
            labels: list[str] = field(default_factory=list)
            size: int = 1

            def __post_init__(self):
                self.labels.append(self.name)

        return make(kw_only=kw_only, frozen=False)(Part)

    def told(make):
        try:
            return repr(make()).rpartition(".")[2]
        except TypeError as error:
            return str(error).rpartition(".")[2]

    calls = [
        lambda cls: cls(name="a"),
        lambda cls: cls(name="a", labels=["b"], size=2),
        lambda cls: cls("a"),
        lambda cls: cls("a", ["b"], size=3),
        lambda cls: cls(),
        lambda cls: cls(size=2),
        lambda cls: cls(other=1),
        lambda cls: cls(name="a", other=1),
        lambda cls: cls("a", name="b"),
        lambda cls: cls("a", [], 1, 2),
    ]
    later = declare(record)
    for _ in range(records._FEW + 1):
        later(name="a")
    for call in calls:
        wanted = told(lambda call=call: call(declare(dataclass)))
        assert [told(lambda call=call, cls=cls: call(cls)) for cls in (declare(record), later)] == [wanted, wanted]
    one, other = declare(record)(name="a"), declare(record)(name="b")
    assert one.labels is not other.labels


def test_a_default_that_all_objects_would_share_is_refused():
    @record
    class Shared:
        names: list[str] = []  # noqa: RUF012 - the mistake

    with pytest.raises(TypeError, match=r"Shared\.names.*factory"):
        Shared()


def test_nothing_is_compiled_before_the_first_object(monkeypatch):
    def refuse(*_arguments):
        raise AssertionError("compiled")

    monkeypatch.setattr(dataclasses, "_create_fn", refuse, raising=False)
    monkeypatch.setattr("builtins.exec", refuse)

    @record(kw_only=False, order=True)
    class Quiet:
        first: int
        second: int = 2

    monkeypatch.undo()
    assert Quiet(1) < Quiet(2)


@pytest.mark.parametrize(
    ("item", "changes"),
    [
        (Pool(name="a", labels={"x": "y"}), {"size": 3}),
        (Mark(line=1, file="b.yaml"), {"column": 2}),
        (Counter([1, 2]), {"total": 5}),
        (Squared(side=2), {"side": 3}),
        (Handle(name="a"), {"name": "b"}),
        (Box([1]), {}),
    ],
    ids=str,
)
def test_the_quick_replace_makes_what_that_of_dataclasses_makes(item, changes):
    made, wanted = records.replace(item, **changes), replace(item, **changes)

    assert type(made) is type(wanted)
    assert asdict(made) == asdict(wanted)
    assert made is not item
    with pytest.raises(TypeError):
        records.replace(item, **changes, unknown=1)
