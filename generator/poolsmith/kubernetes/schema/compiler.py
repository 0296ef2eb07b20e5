"""Compiles structural schemas into closures, each when it is first needed, with the checks of lists.

A closure takes a value and returns None, or a list of violations whose paths are built on return; so a sound
object costs no path and no list. Strict: a field that the schema does not name is a violation.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.schema.scalars import int_or_string_check, quantity_check, scalar_check, value_check
from poolsmith.kubernetes.schema.validation_rules import rule_violations
from poolsmith.kubernetes.schema.violation import (
    Found,
    Violation,
    What,
    lacks_fields,
    shown,
    unknown_field,
    wrong_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.schema.scalars import Schema


_BUILT_IN_DEFAULTS = {"protocol": "TCP"}
"""Keys of built-in list maps that have a default; their schemas hold none."""


def list_check(
    schema: Schema,
    items: Schema,
    check_item: Callable[[Any], Found],
    on_null: Callable[[], Found],
    *,
    custom: bool,
) -> Callable[[Any], Found]:
    """`custom`: the API server itself refuses duplicates in custom resources; in others server-side apply does."""
    duplicates = _duplicate_finder(schema, items, custom=custom)
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    empty_item = items.get("type") == "object" and not custom
    has_identity = schema.get("listType") in ("map", "set") and not custom

    def check(value: Any) -> Found:
        if value.__class__ is not list:
            return on_null() if value is None else [wrong_type(value, "list")]
        found: Found = None
        for index, item in enumerate(value):
            if (bad := check_item(item)) is None:
                continue
            if item is None and has_identity:
                bad = [Violation(What.TYPE, "is null, which server-side apply refuses in this list", help="remove it")]
            elif item is None and empty_item:
                bad = [*bad, *(check_item({}) or ())]  # null in a list of built-in objects is an empty object
            for violation in bad:
                violation.steps.append(index)
            found = bad if found is None else found + bad
        if len(value) < least or (most is not None and len(value) > most):
            limits = f"at least {least}" if len(value) < least else f"at most {most}"
            found = [*(found or ()), Violation(What.VALUE, f"has {len(value)} items; {limits} are allowed")]
        if duplicates is not None and len(value) > 1 and (twice := duplicates(value)):
            found = [*(found or ()), *twice]
        return found

    return check


def _duplicate_finder(schema: Schema, items: Schema, *, custom: bool) -> Callable[[list[Any]], list[Violation]] | None:
    kind = schema.get("listType")
    if kind not in ("map", "set") and not schema.get("uniqueItems"):
        return None
    keys: tuple[str, ...] = tuple(schema.get("listMapKeys", ())) if kind == "map" else ()
    why = "the API server refuses it" if custom else "server-side apply refuses it, and other ways keep one of the two"
    defaults = {key: items.get("properties", {}).get(key, {}).get("default") for key in keys}
    if not custom:
        defaults |= {key: value for key, value in _BUILT_IN_DEFAULTS.items() if key in keys}

    def identity(item: Any) -> Any:
        if not keys:
            return item if isinstance(item, str) else repr(item)
        if item.__class__ is not dict:
            return None
        if len(keys) == 1 and (value := item.get(keys[0])).__class__ is str:
            return value
        return repr([item.get(key, defaults[key]) for key in keys])

    def name(item: Any) -> str:
        return ", ".join(f"{key} {shown(item.get(key, defaults[key]))}" for key in keys) if keys else shown(item)

    def find(value: list[Any]) -> list[Violation]:
        seen: dict[Any, int] = {}
        found: list[Violation] = []
        for index, item in enumerate(value):
            key = identity(item)
            if key is None:
                continue
            first = seen.setdefault(key, index)
            if first != index:
                message = f"repeats entry {first} of the list (`{name(item)}`); {why}"
                violation = Violation(What.DUPLICATE, message, help="keep one of the two")
                violation.steps.append(index)
                found.append(violation)
        return found

    return find


Check = Callable[[Any], Found]


class Nulls(StrEnum):
    """What null means: absent (built-in kinds, kustomize), or what `nullable` says (custom resources)."""

    ABSENT = "absent"
    NULLABLE = "nullable"


_LEVELS_DOWN = 2
_PATIENCE = 32
"""So many values of a field may be unlike one after the other until nobody looks whether they are alike."""
_REMEMBERED, _LARGEST = 1_000, 4_096
"""Values of one field, and their bytes."""


def demanded(schema: Schema, resolve: Callable[[Schema], Schema]) -> tuple[str, ...]:
    """Required fields without a default: the API server fills in defaults before it validates."""
    properties = schema.get("properties", {})
    return tuple(key for key in schema.get("required", ()) if "default" not in resolve(properties.get(key, {})))


def accept(_value: Any) -> Found:
    return None


def _null_is_absent() -> Found:
    return [Violation(What.NULL, "is null, which counts as absent", grave=False)]


def _null_is_refused() -> Found:
    message = "is null: server-side apply, which Flux and Argo CD use, refuses it here; a plain create drops it"
    return [Violation(What.TYPE, message, help="remove it")]


class Compiler:
    """Checks by schema. `definition` looks a `$ref` up; `metadata` is the check of objects' metadata."""

    def __init__(self, definition: Callable[[str], Schema], nulls: Nulls, metadata: Check | None = None) -> None:
        self.definition = definition
        self.nulls = nulls
        self._metadata = metadata
        self._by_name: dict[str, Check] = {}
        self._schemas: dict[str, Schema] = {}

    def resolve(self, schema: Schema) -> Schema:
        name = schema.get("$ref")
        if name is None:
            return schema
        if name not in self._schemas:
            self._schemas[name] = self.definition(name)
        return self._schemas[name]

    def root(self, name: str) -> Check:
        """The check of a whole object; of a custom resource its envelope too."""
        if self._metadata is None:
            return self.check({"$ref": name})
        schema = self.resolve({"$ref": name})
        envelope: dict[str, Check] = {"apiVersion": accept, "kind": accept, "metadata": self._metadata}
        return self._with_rules(schema, self._mapping(schema, envelope))

    def check(self, schema: Schema) -> Check:
        name = schema.get("$ref")
        if name is None:
            return self._compile(schema)
        if name not in self._by_name:
            self._by_name[name] = self._compile(self.resolve(schema))
        return self._by_name[name]

    def _compile(self, schema: Schema) -> Check:
        on_null = self._on_null(schema)
        kind = schema.get("type")
        if schema.get("intOrString"):
            return int_or_string_check(schema, on_null, custom=self._is_custom)
        if schema.get("quantity"):
            return quantity_check(on_null)
        if kind == "object":
            return _of_unlike(self._with_rules(schema, self._mapping(schema, {})))
        if kind == "array":
            items = self.resolve(schema.get("items", {}))
            of_list = list_check(schema, items, self.check(schema.get("items", {})), on_null, custom=self._is_custom)
            return _of_unlike(self._with_rules(schema, of_list))
        if kind is not None:
            return self._with_rules(schema, scalar_check(schema, on_null, custom=self._is_custom))
        more = value_check(schema)
        if more is None:
            return accept

        def check(value: Any) -> Found:
            found = more(value)
            return None if found is None else [found]

        return check

    @property
    def _is_custom(self) -> bool:
        return self.nulls is Nulls.NULLABLE

    def _on_null(self, schema: Schema) -> Callable[[], Found]:
        if self.nulls is Nulls.ABSENT:
            return _null_is_absent
        if schema.get("nullable") or "default" in schema:  # the API server drops a null that has a default
            return lambda: None
        return _null_is_refused

    def _with_rules(self, schema: Schema, check: Check) -> Check:
        """As the API server does: validation rules see the defaulted value, and only one that fits the schema."""
        if (demand := schema.get("demand")) is not None:
            return _demanding(check, demand)
        rules = schema.get("rules")
        if not rules:
            return check

        def check_with_rules(value: Any) -> Found:
            if (found := check(value)) is not None or value is None:
                return found
            return rule_violations(rules, schema, value, self.resolve) or None

        return check_with_rules

    def _mapping(self, schema: Schema, envelope: dict[str, Check]) -> Check:
        properties: dict[str, Schema] = schema.get("properties", {})
        additional = schema.get("additionalProperties")
        free = accept if schema.get("preserve") else None
        other = self.check(additional) if additional is not None else free
        fields = _Fields(self, properties, other, envelope)
        required = demanded(schema, self.resolve)
        absent_when_null = frozenset(required) if self.nulls is Nulls.ABSENT else frozenset()
        on_null = self._on_null(schema)
        least, most = schema.get("minProperties", 0), schema.get("maxProperties")

        def check(value: Any) -> Found:
            if value.__class__ is not dict:
                return on_null() if value is None else [wrong_type(value, "mapping")]
            found: Found = None
            for key, item in value.items():
                field = fields[key]
                if field is None:
                    bad: Found = [unknown_field(key, fields.known, fields.home)]
                elif (bad := field(item)) is None:
                    continue
                elif item is None and key in absent_when_null:
                    bad = [Violation(What.REQUIRED, "is required, and null counts as absent")]
                found = _collect(found, bad, key)
            if lacking := [key for key in required if key not in value]:
                found = _collect(found, [lacks_fields(lacking)], None)
            if len(value) < least or (most is not None and len(value) > most):
                limits = f"at least {least}" if len(value) < least else f"at most {most}"
                found = _collect(
                    found, [Violation(What.VALUE, f"has {len(value)} entries; {limits} are allowed")], None
                )
            return found

        return check


def _of_unlike(check: Check) -> Check:
    """Mappings and lists that are equal to one found sound are not walked again, for as long as there are such."""
    sound: set[bytes] = set()
    patience = _PATIENCE

    def check_unlike(value: Any) -> Found:
        nonlocal patience
        if not patience or not value or value.__class__ not in (dict, list):
            return check(value)
        key = marshal.dumps(value, 2)
        if key in sound:
            patience = _PATIENCE
            return None
        patience -= 1
        found = check(value)
        if found is None and len(key) < _LARGEST and len(sound) < _REMEMBERED:
            sound.add(key)
        return found

    return check_unlike


def _demanding(check: Check, demand: Callable[[Any], Iterator[Violation]]) -> Check:
    """A check, and a rule across the fields of a mapping whose fields are sound (see server_rules)."""

    def check_with_demand(value: Any) -> Found:
        found = check(value)
        if value.__class__ is not dict or (found is not None and any(item.grave for item in found)):
            return found
        return [*(found or ()), *demand(value)] or None

    return check_with_demand


class _Fields(dict[str, Check | None]):
    """Field name to check; compiled at the first use, which also ends the recursion of recursive schemas."""

    __slots__ = ("_compiler", "_other", "_properties", "known")

    def __init__(
        self, compiler: Compiler, properties: dict[str, Schema], other: Check | None, envelope: dict[str, Check]
    ) -> None:
        super().__init__(envelope)
        self._compiler = compiler
        self._properties = properties
        self._other = other
        self.known: dict[str, Any] = {**envelope, **properties}

    def __missing__(self, key: str) -> Check | None:
        schema = self._properties.get(key)
        if schema is None:
            return self._other
        check = self[key] = self._compiler.check(schema)
        return check

    def home(self, key: str) -> str | None:
        """The path below these fields at which `key` is known: it may stand some levels too high."""
        resolve = self._compiler.resolve
        level = [(name, resolve(child)) for name, child in self._properties.items()]
        for _ in range(_LEVELS_DOWN):
            for path, schema in level:
                if key in schema.get("properties", ()):
                    return path
            level = [
                (f"{path}.{name}", resolve(child))
                for path, schema in level
                for name, child in schema.get("properties", {}).items()
            ]
        return None


def _collect(found: Found, bad: Found, step: str | None) -> Found:
    assert bad is not None
    if step is not None:
        for violation in bad:
            violation.steps.append(step)
    if found is None:
        return bad
    found.extend(bad)
    return found
