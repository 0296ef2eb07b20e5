"""Lean code does what the module's own code does."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
import re
import types
from dataclasses import is_dataclass
from pathlib import Path

import pytest

import poolsmith
from poolsmith.core.facts.lean_code import _ANY_PARAMETER, _Lean, lean_code

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(poolsmith.__path__, "poolsmith.")
    if not module.name.endswith("__main__")
)
_RULE = """
from __future__ import annotations
import typing
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, cast, overload
from poolsmith.core.record import field, record
if TYPE_CHECKING:
    from nowhere import Nothing
else:
    Nothing = 7
T = TypeVar("T")
Rows = dict[str, Any]
class Shown(Protocol[T]):
    def show(self) -> str: return "shown"
class Thing(Shown["Nothing"], Generic[T]):
    pass
class Place(NamedTuple):
    \"\"\"Where.\"\"\"
    path: str
    line: int = 1
    def told(self) -> str:
        return f"{self.path}:{self.line}"
@record
class Plain:
    \"\"\"Words.\"\"\"
    name: str
    parts: list[Place] = field(default_factory=list)
    count: int = 0
    @property
    def is_large(self) -> bool: return self.count > 3
@record(frozen=False, kw_only=False, order=True)
class Changing:
    one: int
    def __post_init__(self) -> None: self.one += 1
@record
class Below(Plain):
    more: str = ""
@overload
def first(a: int) -> int: ...
@overload
def first(a: str) -> str: ...
def first(a: Any, *rest: Any, key: Any = None, **more: Nothing) -> Any:
    def inner(b: int = 4) -> int: return cast("int", b)
    return a, rest, key, more, inner()
"""


@pytest.fixture(params=[False, True], ids=["own", "lean"])
def module(request):
    made = types.ModuleType("a_module")
    code = lean_code(_RULE, "a_module.py") if request.param else compile(_RULE, "a_module.py", "exec")
    exec(code, vars(made))
    return made


def test_both_do_the_same(module):
    assert module.Nothing == 7 or isinstance(module, types.ModuleType)
    assert module.first(1, 2, key=3, a_word=4) == (1, (2,), 3, {"a_word": 4}, 4)
    assert module.Thing().show() == "shown"
    assert module.Thing[int]
    assert module.Shown["Place"]
    place = module.Place("a")
    assert (place, place.told(), module.Place._fields) == (("a", 1), "a:1", ("path", "line"))
    assert (module.Place.__doc__, module.Place._field_defaults, repr(place)) == (
        "Where.",
        {"line": 1},
        "Place(path='a', line=1)",
    )
    assert place._replace(line=2) == ("a", 2)
    with pytest.raises(TypeError, match="path"):
        module.Place()


def test_records_are_the_same(module):
    plain = module.Plain(name="a", count=4)

    assert repr(plain) == "Plain(name='a', parts=[], count=4)"
    assert (plain.is_large, module.Plain.__doc__, module.Plain.__slots__) == (
        True,
        "Words.",
        ("name", "parts", "count"),
    )
    assert module.Plain(name="a").parts is not module.Plain(name="a").parts
    assert module.Below(name="b", more="c").more == "c"
    assert module.Below.__slots__ == ("more",)
    assert module.Changing(1).one == 2
    assert module.Changing(1) < module.Changing(2)
    assert module.Changing.__match_args__ == ("one",)
    with pytest.raises(AttributeError, match="frozen"):
        plain.name = "b"
    with pytest.raises(TypeError):
        module.Plain()
    with pytest.raises(TypeError, match="unhashable"):
        hash(module.Changing(1))


def shape(value, name):
    """What tells one member of a module from another, without the module that it is of."""
    if not isinstance(value, type):
        return "" if type(value).__name__ in ("NoneType", "TypeVar", "ParamSpec") else type(value).__name__
    fields = (
        [(one.name, one.kw_only, re.sub(" at 0x[0-9a-f]+", "", repr(one.default))) for one in dataclasses.fields(value)]
        if is_dataclass(value)
        else []
    )
    names = value._fields if issubclass(value, tuple) else ()
    parts = {key for key in vars(value) if not key.startswith("_") and key not in names}
    slots = () if issubclass(value, tuple) else getattr(value, "__slots__", None) or ()
    words = value.__doc__ or ""
    said = "" if words.startswith(f"{value.__name__}(") else words  # `typing` writes one where a tuple has none
    return value.__qualname__, said, parts, fields, slots, value.__hash__ is None


@pytest.mark.rows(40, "each module runs once more")
@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_the_same_members(name):
    own = importlib.import_module(name)
    source = Path(own.__file__)
    made = types.ModuleType(name)
    made.__file__, made.__package__, made.__path__ = own.__file__, own.__package__, getattr(own, "__path__", [])
    exec(lean_code(source.read_text("utf-8"), str(source)), vars(made))
    names = vars(types.ModuleType)["__dict__"].__get__(own)
    missing = {key for key in names if key not in vars(made)} - {"TYPE_CHECKING", "Any", "Protocol", "Generic"}

    for key, value in vars(made).items():
        if not key.startswith("__") and key in names and getattr(names[key], "__module__", "") == name:
            assert shape(value, name) == shape(names[key], name), key
    of_typing = {
        "cast",
        "Final",
        "NamedTuple",
        "TypeVar",
        "ParamSpec",
        "overload",
        "dataclass_transform",
        "Concatenate",
    }
    assert {
        key for key in missing if not key.startswith("__") and not isinstance(names[key], types.ModuleType)
    } <= of_typing, "nothing is left out but what checkers read"


def above_a_protocol(text):
    """The classes of a module that are protocols, and have something above them when the module runs."""
    for node in ast.walk(_Lean().visit(ast.parse(text))) if "Protocol" in text else ():
        if isinstance(node, ast.ClassDef) and node.bases and ast.unparse(node.body[-1]) == _ANY_PARAMETER:
            yield node.name


def test_no_module_builds_on_a_protocol_of_another():
    """Of a module that is not kept, `typing` would refuse it below one that is."""
    paths = Path(poolsmith.__file__).parent.rglob("*.py")

    assert list(above_a_protocol("class A(B['C'], Protocol): pass")) == ["A"]
    assert [name for path in paths for name in above_a_protocol(path.read_text("utf-8"))] == [], "type checkers only"
