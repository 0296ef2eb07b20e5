"""Records: dataclasses that cost little to declare, for a program that declares hundreds and starts often.

`@dataclass` compiles up to eleven methods of each class while its module is imported. `@record` compiles none: a method
is made when it is first called, from parts that all records share. `field`, `fields`, `replace`, `asdict` and
`is_dataclass` of `dataclasses`, `copy` and `pickle` take records as they take dataclasses. `ClassVar`, `InitVar`,
`field(init=False)` and comparison methods of the class's own are not known here.
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, Field, FrozenInstanceError, field
from functools import cache, partial
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform, overload

from poolsmith.core.own_modules import kept_method

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import CodeType

_Class = TypeVar("_Class", bound=type)
_Record = TypeVar("_Record")

_FEW = 8
"""Objects of a record that are made before it gets an `__init__` of its own."""


@overload
def record(cls: _Class, /) -> _Class: ...
@overload
def record(
    *, frozen: bool = True, kw_only: bool = True, slots: bool = True, eq: bool = True, order: bool = False
) -> Callable[[_Class], _Class]: ...
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: type | None = None, /, **how: bool) -> Any:
    """Make a class with annotated fields a record. The words mean what they mean to `@dataclass`.

    The record is a new class made from the old one, so its methods can't call `super()` without arguments.
    """
    if cls is None:
        return partial(record, **how)
    members = dict(vars(cls))
    for name in ("__dict__", "__weakref__"):
        members.pop(name, None)
    members |= {"__qualname__": cls.__qualname__, "__annotations__": cls.__annotations__}
    _body(members, cls.__mro__[1:], **how)
    return type(cls)(cls.__name__, cls.__bases__, members)


def _body(
    members: dict[str, Any],
    above: tuple[type, ...] = (),
    *,
    frozen: bool = True,
    kw_only: bool = True,
    slots: bool = True,
    eq: bool = True,
    order: bool = False,
) -> None:
    """What stands in the body of a class becomes that of a record below the classes `above`; what is there stays."""
    own = {name: members.pop(name, MISSING) for name in members.get("__annotations__", ())}
    fields = _Fields(own, kw_only=kw_only)
    has_more = any("__dataclass_fields__" in vars(base) for base in above)
    begun: tuple[str, ...] = next((base.__match_args__ for base in above if hasattr(base, "__match_args__")), ())
    made: dict[str, Any] = {
        "__dataclass_fields__": fields,
        "__match_args__": begun + (() if kw_only else tuple(own)),
        "__init__": fields.at_first_call("__init__", _init) if has_more else fields.first_inits(),
        "__repr__": _repr,
    }
    if slots:
        inherited = {name for base in above for name in getattr(base, "__slots__", ())}
        made["__slots__"] = tuple(name for name in own if name not in inherited)
        made["__getstate__"], made["__setstate__"] = _getstate, _setstate
    else:
        defaults = {name: value.default if isinstance(value, Field) else value for name, value in own.items()}
        made |= {name: value for name, value in defaults.items() if value is not MISSING}
    if frozen:
        made["__setattr__"] = made["__delattr__"] = _refuse
    if eq:
        made["__eq__"] = fields.at_first_call("__eq__", _comparison)
        made["__hash__"] = fields.at_first_call("__hash__", _hash) if frozen else None
    if order:
        made |= {sign: fields.at_first_call(sign, _comparison) for sign in _SIGNS}
    for name, value in made.items():
        members.setdefault(name, value)


record.body = _body  # type: ignore[attr-defined]  # for classes that are made once (`core/facts/lean_code.py`)


class _Fields:
    """`__dataclass_fields__` of one record, made when it is first asked for; from it, the record's methods."""

    def __init__(self, own: dict[str, Any], *, kw_only: bool) -> None:
        self.own = own
        self.kw_only = kw_only

    def __set_name__(self, record: type, name: str) -> None:
        self.record: Any = record

    def __get__(self, _instance: object, _class: type) -> dict[str, Field[Any]]:
        fields: dict[str, Field[Any]] = {}
        for base in reversed(self.record.__mro__[1:]):
            fields |= getattr(base, "__dataclass_fields__", {})
        for name, hint in self.record.__annotations__.items():
            value = self._own_value(name)
            made: Field[Any] = value if isinstance(value, Field) else field(default=value)
            made.name, made.type, made.kw_only = name, hint, self.kw_only
            made._field_type = dataclasses._FIELD  # type: ignore[attr-defined]  # noqa: SLF001 - how `fields` knows it
            fields[name] = made
        self.record.__dataclass_fields__ = fields
        return fields

    def _own_value(self, name: str) -> Any:
        value = self.own[name]
        if type(value).__hash__ is None:
            raise TypeError(f"all objects would share one `{self.record.__qualname__}.{name}`; give it a factory")
        return value

    def _given_by_nobody(self) -> tuple[dict[str, Any], dict[str, Callable[[], Any]]]:
        """Values of fields that need none to be given, MISSING where a factory makes it; and the factories."""
        values, factories = {}, {}
        for name in self.own:
            value = self._own_value(name)
            if isinstance(value, Field):
                if value.default_factory is not MISSING:
                    factories[name] = value.default_factory
                elif value.default is MISSING:
                    continue
                value = value.default
            elif value is MISSING:
                continue
            values[name] = value
        return values, factories

    def first_inits(self) -> Callable[..., None]:
        """`__init__` of the first few objects. Of most records a run makes no more, and to compile it takes longer."""
        left, own, put = _FEW, self.own, object.__setattr__
        values: dict[str, Any] = {}
        ends: Callable[[Any], None] | None = None

        def first(item: Any, /, *args: Any, **kwargs: Any) -> None:
            nonlocal left, values, ends
            if left == _FEW:
                values, factories = self._given_by_nobody()
                ends = _ending(self.record, factories)
            left -= 1
            found = {**values, **kwargs}
            is_right = left >= 0
            if args:
                names = () if self.kw_only else tuple(own)[: len(args)]
                found.update(zip(names, args, strict=False))
                is_right = is_right and len(names) == len(args) and kwargs.keys().isdisjoint(names)
            if not is_right or found.keys() != own.keys():
                self.record.__init__ = _init(self, "__init__")
                item.__init__(*args, **kwargs)
                return
            for name in own:
                put(item, name, found[name])
            if ends is not None:
                ends(item)

        return first

    def at_first_call(self, name: str, make: Callable[[_Fields, str], FunctionType]) -> Callable[..., Any]:
        """A method that makes itself, takes its place in the class, and is called."""

        def first(*args: Any, **kwargs: Any) -> Any:
            method = make(self, name)
            setattr(self.record, name, method)
            return method(*args, **kwargs)

        return first

    def compared(self) -> tuple[list[str], str, str]:
        """The names of the fields that count, and what stands for their values in the text of a method."""
        names = [name for name, one in self.record.__dataclass_fields__.items() if one.compare]
        return names, *_told_apart(len(names))

    def method(self, text: str, names: list[str], scope: dict[str, Any], **counts: Any) -> FunctionType:
        """A function from `text`, in which `field0`, `field1` and so on stand for `names`."""
        code = _compiled(text)
        real = {f"field{index}": name for index, name in enumerate(names)}
        code = code.replace(
            co_varnames=tuple([real.get(name, name) for name in code.co_varnames]),
            co_names=tuple([real.get(name, name) for name in code.co_names]),
            co_consts=tuple([real.get(value, value) for value in code.co_consts]),
            co_qualname=f"{self.record.__qualname__}.{code.co_name}",
            **counts,
        )
        return FunctionType(code, scope)


@cache
def _compiled(text: str) -> CodeType:
    """The code of a method, once for all records that have as many fields."""
    return kept_method(text) or method_code(text)


def method_code(text: str) -> CodeType:
    """What the compiler makes of it."""
    scope: dict[str, Any] = {}
    exec(text, scope)  # noqa: S102 - text of our own
    (code,) = [value.__code__ for value in scope.values() if isinstance(value, FunctionType)]
    return code


def _init(fields: _Fields, _name: str) -> FunctionType:
    declared = fields.record.__dataclass_fields__.values()
    ordered = [one for one in declared if not one.kw_only]
    count = len(ordered)
    ordered += [one for one in declared if one.kw_only]
    names = [one.name for one in ordered]
    made = {one.name: one.default_factory for one in ordered if one.default_factory is not MISSING}
    ends = _ending(fields.record, made)
    init = fields.method(
        _init_text(len(names), has_end=ends is not None),
        names,
        {"put": object.__setattr__, "ends": ends},
        co_argcount=1 + count,
        co_kwonlyargcount=len(names) - count,
    )
    defaults = {one.name: one.default for one in ordered if one.default is not MISSING}
    defaults |= dict.fromkeys(made, MISSING)
    init.__defaults__ = tuple([defaults[name] for name in names[:count] if name in defaults])
    init.__kwdefaults__ = {name: defaults[name] for name in names[count:] if name in defaults}
    return init


@cache
def _init_text(count: int, *, has_end: bool) -> str:
    """For so many fields. What is frozen can't be set in the plain way, so nothing is: one text does for all."""
    parameters = "".join([f", field{index}" for index in range(count)])
    puts = [f"put(self, 'field{index}', field{index})" for index in range(count)]
    return f"def __init__(self{parameters}): " + "; ".join([*puts, *["ends(self)"] * has_end] or ["pass"])


def method_texts(most: int) -> Iterator[str]:
    """Of all methods of records that have up to so many fields, but of those that sort."""
    for count in range(most + 1):
        for has_end in (False, True):
            yield _init_text(count, has_end=has_end)
        own, others = _told_apart(count)
        yield _hash_text(own)
        yield _comparison_text("__eq__", own, others)


def _told_apart(count: int) -> tuple[str, str]:
    """What stands for the values of so many fields of an object, and of another one."""
    own, others = ("".join(f"{one}.field{index}, " for index in range(count)) for one in ("self", "other"))
    return f"({own})", f"({others})"


def _hash_text(own: str) -> str:
    return f"def __hash__(self): return hash({own})"


def _comparison_text(name: str, own: str, others: str) -> str:
    compared = f"{own} {_SIGNS[name]} {others}"
    return f"def {name}(self, other): return {compared} if other.__class__ is self.__class__ else unlike"


def _ending(record: Any, factories: Mapping[str, Callable[[], Any]]) -> Callable[[Any], None] | None:
    """What `__init__` does after the fields are set: fields that got no value get one from their factory."""
    then = getattr(record, "__post_init__", None)
    if not factories:
        return then

    def end(self: Any) -> None:
        for name, make in factories.items():
            if getattr(self, name) is MISSING:
                object.__setattr__(self, name, make())
        if then is not None:
            then(self)

    return end


def _hash(fields: _Fields, _name: str) -> FunctionType:
    names, own, _ = fields.compared()
    return fields.method(_hash_text(own), names, {"hash": hash})


_SIGNS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def _comparison(fields: _Fields, name: str) -> FunctionType:
    names, own, others = fields.compared()
    return fields.method(_comparison_text(name, own, others), names, {"unlike": NotImplemented})


@cache
def _reader(record: Any) -> tuple[tuple[str, ...], Callable[[Any], Iterable[Any]]]:
    """The names of its fields, and what reads all of them at once."""
    names = tuple(record.__dataclass_fields__)
    return names, attrgetter(*names) if len(names) > 1 else _getstate


def replace(item: _Record, /, **changes: Any) -> _Record:
    """As that of `dataclasses`, for records, in half of the time: plans are changed by many passes."""
    made: type[_Record] = item.__class__
    names, read = _reader(made)  # type: ignore[arg-type]
    return made(**dict(zip(names, read(item), strict=True)) | changes)


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, field in self.__dataclass_fields__.items() if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__dataclass_fields__]


def _setstate(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        object.__setattr__(self, name, value)


def _refuse(self: object, name: str, *_value: object) -> None:
    raise FrozenInstanceError(f"can't set or delete `{name}`: {type(self).__qualname__} is frozen")
