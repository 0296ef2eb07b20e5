"""Random questions to any evaluator of CEL: expressions of known types over a small object, by number.

The same number gives the same question everywhere. Nested loops, macros with one and two variables, optionals, bodies
for what an optional holds, lists, maps, texts, numbers, times, variables of a policy; some paths lead nowhere, and some
values are not what they claim to be.
"""

from __future__ import annotations

import random

from kubernetes.cel.random_objects import (
    CERTAIN,
    COMMON,
    FIELDS,
    LITERALS,
    NAMES,
    OBJECT,
    ODD_OBJECT,
    PATHS,
    SCALARS,
    TWO,
)

NEWEST = "1.34"
_MOST = 5
_TIMES = 6
"""So often each is asked: where the order of a map's entries shows, the API server has no one answer."""


class Question:
    """One expression, and the policy's variables that it may read."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)
        self.object = ODD_OBJECT if number % 5 == 4 else OBJECT
        self.scope: list[tuple[str, str]] = []
        self.variables: list[tuple[str, str, str]] = []
        self.strict = 0
        for index in range(self.random.choice((0, 0, 1, 2, 3))):
            kind = self.kind()
            self.variables.append((f"v{index}", kind, self.make(kind, self.random.randint(1, 3))))
        kind = self.random.choice(("bool",) * 7 + ("int", "string", "list dyn", "list int", "map int", "dyn"))
        self.expression = self.make(kind, self.random.randint(2, _MOST))

    @property
    def asked(self) -> dict[str, object]:
        """As the recorder's program and ours read it."""
        variables = [{"name": name, "expression": text} for name, _, text in self.variables]
        return {
            "kubernetes": NEWEST,
            "expression": self.expression,
            "variables": variables,
            "object": self.object,
            "times": _TIMES,
        }

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def kind(self) -> str:
        scalar = self.random.choice(COMMON) if self.chance(0.85) else self.random.choice(SCALARS)
        return self.one("", "", "list ", "map ", "optional ") + scalar if self.chance(0.5) else scalar

    def make(self, kind: str, depth: int) -> str:
        """An expression of a type: a scalar's name, or `list`, `map`, `optional` before another's."""
        if self.strict:
            return self.shaped(kind, depth)
        if self.chance(0.02):
            kind = self.kind()
            return f"dyn({self.make(kind, max(0, depth - 1))})"
        if self.chance(0.02):
            return self.path()
        return self.shaped(kind, depth)

    def shaped(self, kind: str, depth: int) -> str:
        if depth <= 0:
            return self.leaf(kind)
        if self.chance(0.12):
            return self.leaf(kind)
        if self.chance(0.22):
            return self.general(kind, depth - 1)
        outer, _, inner = kind.partition(" ")
        if outer == "list":
            return self.list_of(inner, depth - 1)
        if outer == "map":
            return self.map_of(inner, depth - 1)
        if outer == "optional":
            return self.optional_of(inner, depth - 1)
        return getattr(self, f"{kind}_value")(depth - 1)

    def path(self) -> str:
        """A path that may lead nowhere."""
        start = self.one(
            "object.spec", "object.spec.deep", "object.spec.items[0]", "object", "oldObject", "object.spec.nothing"
        )
        steps = (f".{self.random.choice(FIELDS)}" for _ in range(self.random.randint(1, 2)))
        return start + "".join(steps)

    def leaf(self, kind: str) -> str:
        known = [name for name, found in self.scope if found == kind]
        known += [f"variables.{name}" for name, found, _ in self.variables if found == kind]
        if self.strict and kind in CERTAIN:
            known = [CERTAIN[kind].format(one) for one in (*known, *PATHS[kind])]
        elif self.strict:
            known = []
        if known and self.chance(0.7):
            return self.random.choice(known)
        if kind in PATHS and not self.strict and self.chance(0.5):
            return self.random.choice(PATHS[kind])
        if kind in LITERALS:
            return self.random.choice(LITERALS[kind])
        outer, _, inner = kind.partition(" ")
        if outer == "list":
            return f"[{', '.join(self.parts(inner, self.random.randint(1, 3), 0))}]"
        if outer == "map":
            key, parts = self.one("b", "x"), self.parts(inner, 2, 0)
            return f"{{'a': {parts[0]}, '{key}': {parts[1]}}}"
        if self.chance(0.3):
            return "optional.none()"
        return f"optional.of({self.leaf(inner)})"

    def parts(self, kind: str, count: int, depth: int) -> list[str]:
        """The parts of a literal, of one type to the checker, too."""
        if kind == "dyn" or self.chance(0.4):
            return [f"dyn({self.make(kind, depth)})" for _ in range(count)]
        self.strict += 1
        made = [self.make(kind, depth) for _ in range(count)]
        self.strict -= 1
        return made

    def general(self, kind: str, depth: int) -> str:
        """What any type can come out of."""
        way = self.random.randint(0, 6)
        if way == 0:
            return f"({self.make('bool', depth)} ? {self.make(kind, depth)} : {self.make(kind, depth)})"
        if way == 1:
            return f"{self.make(f'optional {kind}', depth)}.orValue({self.make(kind, depth - 1)})"
        if way == 2 and not kind.startswith("optional"):
            return f"{self.make(f'list {kind}', depth)}[{self.one('0', '0', '1', self.leaf('int'))}]"
        if way == 3 and not kind.startswith("optional"):
            key = self.one("'a'", "'a'", "'b'", self.leaf("string"))
            return f"{self.make(f'map {kind}', depth)}[{key}]"
        if way == 4:
            return f"{self.make(f'optional {kind}', depth)}.value()"
        if way == 5:
            return f"[{', '.join(self.parts(kind, 2, depth))}][{self.one('0', '1')}]"
        return f"{self.make(f'map {kind}', depth)}.{self.one('a', 'b', 'x')}"

    def loop(self, names: int, kinds: tuple[str, ...], body: str, depth: int) -> tuple[str, str]:
        """The variables of a loop as text, and its body in which they may be read."""
        chosen = self.random.sample(NAMES, names)
        self.scope[:0] = list(zip(chosen, kinds, strict=False))
        hidden = [one for one in self.scope if one not in zip(chosen, kinds, strict=False) and one[0] in chosen]
        before = self.scope
        self.scope = [one for one in self.scope if one not in hidden]
        made = self.make(body, depth)
        self.scope = before[names:]
        return ", ".join(chosen), made

    def range_of(self, depth: int, *, ordered: bool = False) -> tuple[str, str, str]:
        """Something to loop over, the type of its keys or places, the type of its elements.

        ordered: its order shows, so that a map may have one entry only: the API server's order is random.
        """
        kind = self.one("int", "string", "dyn", "int", "bool")
        if self.chance(0.7):
            return self.make(f"list {kind}", depth), "int", kind
        if ordered:
            return f"{{'a': {self.make(kind, depth)}}}", "string", kind
        return self.make(f"map {kind}", depth), "string", kind

    def test(self, depth: int) -> str:
        """A loop with a verdict."""
        held, key, value = self.range_of(depth)
        over_map = key == "string"
        if self.chance(0.6):
            word = self.one("exists", "all", "exists", "all", "exists_one")
            names, body = self.loop(1, (key if over_map else value,), "bool", depth)
        else:
            word = self.one("exists", "all", "existsOne", "exists_one")
            names, body = self.loop(2, (key, value), "bool", depth)
        return f"{held}.{word}({names}, {body})"

    def bool_value(self, depth: int) -> str:
        way = self.random.randint(0, 13)
        if way <= 3:
            return self.test(depth)
        if way <= 5:
            sign = self.one("&&", "||", "||", "&&", "==")
            return f"({self.make('bool', depth)} {sign} {self.make('bool', depth)})"
        if way == 6:
            return f"!{self.operand('bool', depth)}"
        if way == 7:
            kind = self.one(
                "int", "string", "double", "dyn", "list int", "optional int", "map int", "duration", "timestamp"
            )
            return f"({self.make(kind, depth)} {self.one('==', '!=')} {self.make(kind, depth)})"
        if way == 8:
            kind = self.one("int", "string", "double", "duration", "timestamp", "uint")
            return f"({self.make(kind, depth)} {self.one('<', '<=', '>', '>=')} {self.make(kind, depth)})"
        if way == 9:
            return self.presence(depth)
        if way == 10:
            kind = self.one("int", "string", "dyn", "map int")
            return f"{self.make(f'optional {kind}', depth)}.hasValue()"
        if way == 11:
            kind = self.one("int", "string")
            held = self.one(f"list {kind}", "map int" if kind == "string" else "list int")
            return f"({self.make(kind, depth)} in {self.make(held, depth)})"
        if way == 12:
            word = self.one("startsWith", "endsWith", "contains", "matches")
            return f"{self.make('string', depth)}.{word}({self.leaf('string')})"
        kind = self.one("int", "string")
        return self.one(
            f"{self.make(f'list {kind}', depth)}.isSorted()",
            f"sets.{self.one('contains', 'intersects', 'equivalent')}({self.make(f'list {kind}', depth)}, {self.leaf(f'list {kind}')})",
            f"isQuantity({self.make('string', depth)})",
            f"quantity({self.one('object.spec.quantity', TWO)}).isGreaterThan(quantity(string({self.make('int', depth)})))",
            f"(type({self.make(self.kind(), depth)}) == {self.one('int', 'string', 'bool', 'list', 'map', 'double')})",
        )

    def operand(self, kind: str, depth: int) -> str:
        return f"({self.make(kind, depth)})"

    def presence(self, depth: int) -> str:
        field = self.random.choice(FIELDS)
        if self.chance(0.4):
            return f"has({self.path()})"
        held = self.one("map dyn", "map map int", "dyn")
        return f"has({self.operand(held, depth)}.{self.one('a', 'x', 'b')}.{field})"

    def int_value(self, depth: int) -> str:
        way = self.random.randint(0, 8)
        if way <= 1:
            return f"({self.make('int', depth)} {self.one('+', '-', '*', '+', '/', '%')} {self.make('int', depth)})"
        if way == 2:
            return f"size({self.make(self.one('list dyn', 'string', 'map int', 'list string', 'dyn'), depth)})"
        if way == 3:
            return f"{self.make(self.one('list int', 'string', 'map string'), depth)}.size()"
        if way == 4:
            return f"int({self.make(self.one('int', 'double', 'int', 'dyn', 'uint', 'string'), depth)})"
        if way == 5:
            return f"{self.make('list int', depth)}.{self.one('sum', 'min', 'max')}()"
        if way == 6:
            kind = self.one("int", "string")
            return f"{self.make(f'list {kind}', depth)}.{self.one('indexOf', 'lastIndexOf')}({self.leaf(kind)})"
        if way == 7:
            return f"{self.make('string', depth)}.{self.one('indexOf', 'lastIndexOf')}({self.leaf('string')})"
        return self.one(
            f"{self.make('duration', depth)}.{self.one('getSeconds', 'getMinutes', 'getMilliseconds', 'getHours')}()",
            f"{self.make('timestamp', depth)}.{self.one('getFullYear', 'getMonth', 'getHours', 'getDate')}()",
            f"-{self.operand('int', depth)}",
            f"quantity({TWO}).compareTo(quantity(string({self.make('int', depth)})))",
        )

    def double_value(self, depth: int) -> str:
        return self.one(
            f"({self.make('double', depth)} {self.one('+', '-', '*')} {self.make('double', depth)})",
            f"double({self.make(self.one('int', 'int', 'double', 'uint', 'string'), depth)})",
            f"{self.make('list double', depth)}.{self.one('max', 'min', 'sum')}()",
        )

    def uint_value(self, depth: int) -> str:
        return self.one(f"uint({self.make('int', depth)})", f"({self.make('uint', depth)} + {self.leaf('uint')})")

    def string_value(self, depth: int) -> str:
        way = self.random.randint(0, 7)
        if way <= 1:
            return f"({self.make('string', depth)} + {self.make('string', depth)})"
        if way == 2:
            return f"string({self.make(self.one('int', 'double', 'bool', 'string', 'dyn', 'uint'), depth)})"
        if way == 3:
            between = self.one("", "','", self.leaf("string"))
            return f"{self.make('list string', depth)}.join({between})"
        if way == 4:
            kind = self.one("int", "string", "list int", "map int", "dyn", "bool", "double", "duration")
            return f"'%s %s'.format([dyn({self.make(kind, depth)}), dyn({self.leaf('int')})])"
        if way == 5:
            return f"{self.make('string', depth)}.replace({self.leaf('string')}, {self.leaf('string')})"
        if way == 6:
            return f"{self.make('string', depth)}.{self.one('substring(0)', 'substring(1)', 'substring(0, 1)', 'charAt(0)')}"
        return f"{self.make('string', depth)}.{self.one('lowerAscii', 'upperAscii', 'trim')}()"

    def duration_value(self, depth: int) -> str:
        return self.one(
            f"({self.make('duration', depth)} {self.one('+', '-')} {self.make('duration', depth)})",
            f"({self.make('timestamp', depth)} - {self.make('timestamp', depth)})",
            f"duration({self.one('object.spec.duration', 'object.spec.duration', self.make('string', depth))})",
        )

    def timestamp_value(self, depth: int) -> str:
        return self.one(
            f"({self.make('timestamp', depth)} {self.one('+', '-')} {self.make('duration', depth)})",
            f"timestamp({self.one('object.spec.time', 'object.spec.time', self.make('string', depth))})",
        )

    def dyn_value(self, depth: int) -> str:
        way = self.random.randint(0, 3)
        if way == 0:
            return f"dyn({self.make(self.random.choice(COMMON), depth)})"
        if way == 1:
            return self.path()
        if way == 2:
            return f"{self.make('map dyn', depth)}.{self.random.choice(FIELDS)}"
        return f"{self.make('list dyn', depth)}[{self.one('0', '1')}]"

    def list_of(self, inner: str, depth: int) -> str:
        kind = f"list {inner}"
        way = self.random.randint(0, 12)
        if inner.startswith("optional") or way <= 1:
            count = self.random.randint(0, 3)
            if self.chance(0.3) and not inner.startswith("optional"):
                return f"[{', '.join('?optional.of(' + one + ')' for one in self.parts(inner, count, depth))}]"
            return f"[{', '.join(self.parts(inner, count, depth))}]"
        if way <= 4:
            held, key, value = self.range_of(depth, ordered=True)
            names, body = self.loop(1, (value if key == "int" else key,), inner, depth)
            if self.chance(0.7):
                return f"{held}.map({names}, {body})"
            name, test = names, None
            self.scope.insert(0, (name, value if key == "int" else key))
            test = self.make("bool", depth)
            self.scope.pop(0)
            return f"{held}.map({name}, {test}, {body})"
        if way == 5:
            held, key, value = self.range_of(depth, ordered=True)
            names, body = self.loop(2, (key, value), inner, depth)
            if self.chance(0.6):
                return f"{held}.transformList({names}, {body})"
            return f"{held}.transformList({names}, {self.leaf('bool')}, {body})"
        if way <= 7:
            names, body = self.loop(1, (inner,), "bool", depth)
            return f"{self.make(kind, depth)}.filter({names}, {body})"
        if way == 8:
            return f"({self.make(kind, depth)} + {self.make(kind, depth)})"
        if way == 9:
            names, body = self.loop(1, (inner,), self.one("int", "string", inner), depth)
            return f"{self.make(kind, depth)}.sortBy({names}, {body})"
        if way == 10:
            return f"{self.make(kind, depth)}.{self.one('distinct()', 'reverse()', 'slice(0, 1)', 'sort()')}"
        if way == 11:
            return f"[{', '.join(self.parts(kind, 2, depth))}].flatten()"
        if inner == "int":
            return f"lists.range({self.leaf('int')})"
        if inner == "string":
            between = self.one("''", "'a'", "','")
            return f"{self.make('string', depth)}.split({between})"
        return self.leaf(kind)

    def map_of(self, inner: str, depth: int) -> str:
        way = self.random.randint(0, 5)
        if inner.startswith("optional") or way <= 1:
            parts = self.parts(inner, self.random.randint(0, 3), depth)
            if self.chance(0.3) and parts and not inner.startswith("optional"):
                parts[-1] = self.one(f"optional.of({parts[-1]})", "optional.none()")
                return (
                    "{"
                    + ", ".join(f"{'?' * (len(parts) == at + 1)}'{'abx'[at]}': {one}" for at, one in enumerate(parts))
                    + "}"
                )
            return "{" + ", ".join(f"'{'abx'[at]}': {one}" for at, one in enumerate(parts)) + "}"
        if way <= 3:
            value = self.one("int", "string", "dyn")
            names, body = self.loop(2, ("string", value), inner, depth)
            held = self.make(f"map {value}", depth)
            if self.chance(0.6):
                return f"{held}.transformMap({names}, {body})"
            return f"{held}.transformMap({names}, {self.leaf('bool')}, {body})"
        if way == 4:
            value = self.one("int", "string")
            names, body = self.loop(2, ("int", value), inner, depth)
            first = names.partition(",")[0]
            return f"{self.make(f'list {value}', depth)}.transformMapEntry({names}, {{string({first}): {body}}})"
        return self.leaf(f"map {inner}")

    def optional_of(self, inner: str, depth: int) -> str:
        kind = f"optional {inner}"
        way = self.random.randint(0, 11)
        if way == 0:
            return f"optional.{self.one('of', 'ofNonZeroValue')}({self.make(inner, depth)})"
        if way == 1:
            step = self.one(".?a", ".?b", ".?missing", "[?'a']", "[?'x']")
            return f"{self.make(f'map {inner}', depth)}{step}"
        if way == 2 and not inner.startswith("optional"):
            return f"{self.make(f'list {inner}', depth)}{self.one('[?0]', '[?1]', '[?9]')}"
        if way == 3 and not inner.startswith("optional"):
            return f"{self.make(f'list {inner}', depth)}.{self.one('first', 'last')}()"
        if way <= 6:
            given = self.one("int", "string", "dyn", "list int")
            held = self.make(f"optional {given}", depth)
            names, body = self.loop(1, (given,), inner, depth)
            return f"{held}.optMap({names}, {body})"
        if way == 7:
            given = self.one("int", "string", "dyn")
            held = self.make(f"optional {given}", depth)
            names, body = self.loop(1, (given,), kind, depth)
            return f"{held}.optFlatMap({names}, {body})"
        if way == 8:
            return f"{self.make(kind, depth)}.or({self.make(kind, depth)})"
        if way == 9:
            start = self.one("object", "object.spec", "object.spec.deep", "oldObject", "object.spec.items[0]")
            step = self.one("", ".a", ".?b", "[?'x']", ".x.b")
            return f"{start}.?{self.random.choice(FIELDS)}{step}"
        if way == 10:
            return f"object.?spec.?{self.random.choice(FIELDS)}{self.one('', '.?x', '[0]', '[?1]', '.?x.?b')}"
        return self.leaf(kind)
