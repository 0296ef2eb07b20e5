"""Types of CEL, and when one may stand for another: unification as cel-go does it."""

from __future__ import annotations

from functools import cache

from poolsmith.core.record import record

_SCALARS = frozenset({"bool", "bytes", "double", "int", "string", "uint"})
_ALIASES = {
    "Duration": "google.protobuf.Duration",
    "Timestamp": "google.protobuf.Timestamp",
}
_WILD = ("dyn", "!error!")


@record(kw_only=False)
class Type:
    """A name with parameters; names in `<>` are type parameters, `_var` ones are yet to be found."""

    name: str
    params: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.params))})" if self.params else self.name

    @property
    def is_parameter(self) -> bool:
        """A name that stands for any one type."""
        return self.name.startswith(("<", "_var"))


BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES, NULL, DYN = Type("string"), Type("bytes"), Type("null_type"), Type("dyn")
ERROR = Type("!error!")
TIMESTAMP, DURATION = Type("google.protobuf.Timestamp"), Type("google.protobuf.Duration")


def list_of(element: Type) -> Type:
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    return Type("optional_type", (value,))


def type_of(value: Type) -> Type:
    return Type("type", (value,))


def unwrapped(one: Type) -> tuple[Type, bool]:
    """What an optional holds, and whether it is one."""
    return (one.params[0], True) if one.name == "optional_type" and one.params else (one, False)


@cache
def read_type(text: str) -> Type:
    """A type as declarations spell it."""
    name, opening, rest = text.partition("(")
    if not opening:
        if name.startswith("authz."):
            name = "kubernetes.authorization." + name.removeprefix("authz.")
        return Type(_ALIASES.get(name, name))
    return Type(name, tuple(read_type(one) for one in split_types(rest[:-1])))


def split_types(text: str) -> list[str]:
    """Types between commas that stand in no inner parentheses."""
    out, depth, start = [], 0, 0
    for at, one in enumerate(text):
        depth += (one == "(") - (one == ")")
        if one == "," and depth == 0:
            out.append(text[start:at].strip())
            start = at + 1
    rest = text[start:].strip()
    return [*out, rest] if rest else out


class Unifier:
    """What is known of type variables so far; a failed attempt leaves no trace."""

    def __init__(self) -> None:
        self._known: dict[Type, Type] = {}
        self._log: list[tuple[Type, Type | None]] = []
        self._count = 0

    def fresh(self) -> Type:
        self._count += 1
        return Type(f"_var{self._count}")

    def assignable(self, one: Type, other: Type) -> bool:
        return self.all_assignable((one,), (other,))

    def all_assignable(self, ones: tuple[Type, ...], others: tuple[Type, ...]) -> bool:
        """Whether each of the first may be passed where each of the second is wanted."""
        mark = len(self._log)
        if self._each(ones, others):
            return True
        while len(self._log) > mark:
            name, before = self._log.pop()
            if before is None:
                del self._known[name]
            else:
                self._known[name] = before
        return False

    def join(self, one: Type, other: Type) -> Type:
        """The more general of two types that agree."""
        return one if _covers(one, other) else other

    def resolve(self, one: Type, *, free: bool = False) -> Type:
        """With all that is known filled in; free: unknown variables become dyn."""
        seen = 0
        while (found := self._known.get(one)) is not None and seen < 64:  # noqa: PLR2004
            one, seen = found, seen + 1
        if one.params:
            return Type(one.name, tuple(self.resolve(item, free=free) for item in one.params))
        return DYN if free and one.is_parameter else one

    def _each(self, ones: tuple[Type, ...], others: tuple[Type, ...]) -> bool:
        return len(ones) == len(others) and all(map(self._fits, ones, others))

    def _bind(self, name: Type, value: Type) -> None:
        self._log.append((name, self._known.get(name)))
        self._known[name] = value

    def _fits(self, one: Type, other: Type) -> bool:
        if other.is_parameter:
            valid, known = self._substitutes(one, other)
            if valid or known:
                return valid
        if one.is_parameter:
            return self._substitutes(other, one)[0]
        if one.name in _WILD or other.name in _WILD:
            return True
        if one.name == "null_type" or other.name == "null_type":
            return _nullable(other if one.name == "null_type" else one)
        if one.name == "type":
            return other.name == "type"
        return one.name == other.name and self._each(one.params, other.params)

    def _substitutes(self, value: Type, name: Type) -> tuple[bool, bool]:
        if value == name:
            return True, True
        known = self._known.get(name)
        if known is not None:
            if value == known:
                return True, True
            if self._fits(value, known):
                wider = self.join(value, known)
                if self._apart(name, wider):
                    self._bind(name, wider)
                return True, True
            return False, True
        if self._apart(name, value):
            self._bind(name, value)
            return True, False
        return False, False

    def _apart(self, name: Type, within: Type) -> bool:
        if name == within:
            return False
        if within.is_parameter:
            known = self._known.get(within)
            return known is None or self._apart(name, known)
        return all(self._apart(name, one) for one in within.params)


def _nullable(one: Type) -> bool:
    return one.name not in _SCALARS and one.name not in ("list", "map", "type")


def _covers(one: Type, other: Type) -> bool:
    if one.name == "dyn" or one.is_parameter:
        return True
    if other.name == "dyn" or other.is_parameter:
        return False
    if one.name != other.name:
        return False
    return one.name == "type" or (len(one.params) == len(other.params) and all(map(_covers, one.params, other.params)))
