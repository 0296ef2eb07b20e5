"""Objects with one thing wrong, by construction over every field of a schema: what an API server may refuse.

A schema is given as its definition has it (OpenAPI of a CustomResourceDefinition) or in the short form of our packs.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Schema = dict[str, Any]
Path = tuple[str | int, ...]

_SHORT = {
    "x-kubernetes-int-or-string": "intOrString",
    "x-kubernetes-preserve-unknown-fields": "preserve",
    "x-kubernetes-list-type": "listType",
    "x-kubernetes-list-map-keys": "listMapKeys",
}
_TEXTS = (
    *(
        "a",
        "1",
        "1s",
        "5%",
        "2.0.0",
        "https://a.example",
        "nvcr.io/nvidia",
        "sha256:" + "a" * 64,
        "a@sha256:" + "a" * 64,
    ),
    *(
        "HOMEPAGE=a",
        "A",
        "a/b",
        "1Gi",
        "2026-11-20T10:00:00Z",
        "YWJj",
        "http://a.example",
        "ssh://a",
        "oci://a",
        "1.1.1",
    ),
)
_WRONG: tuple[tuple[str, Any], ...] = (
    *(("a string", "x"), ("a number in quotes", "7"), ("an integer", 7), ("zero", 0), ("a fraction", 1.5)),
    *(("a whole fraction", 2.0), ("a boolean", True), ("a list", []), ("a list of null", [None]), ("a mapping", {})),
    *(("a mapping with an entry", {"x": "y"}), ("nothing", ""), ("null", None), ("minus one", -1)),
    *(("beyond int32", 2**31), ("beyond int64", 2**63), ("a spaced quantity", "1 Gi"), ("a quantity", "500m")),
    *(("a blank line end", "a\n"), ("upper case", "UPPER"), ("a long text", "x" * 300)),
)


@dataclass(frozen=True)
class Damaged:
    """An object, where in it something was changed, and what was."""

    path: Path
    what: str
    body: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.what} at {'.'.join(map(str, self.path))}"


def damaged(
    body: dict[str, Any], schema: Schema, resolve: Callable[[Schema], Schema], *, grown: bool
) -> Iterator[Damaged]:
    """All damages of an object. `grown`: absent fields are filled in with what they need; else only put in wrong."""
    yield Damaged((), "sound", body)
    seen: set[str] = set()
    for path, child in _places(body, schema, resolve, grown=grown):
        if path[0] in ("apiVersion", "kind", "status") or path in (("metadata",), ("metadata", "name")):
            continue
        if path[0] == "metadata" and grown:
            continue
        key = repr((path[-2:] if grown else path, sorted(child.items(), key=str) if grown else ""))
        if key in seen:
            continue
        seen.add(key)
        yield from _of_place(body, path, child, resolve)


def _of_place(
    body: dict[str, Any], path: Path, schema: Schema, resolve: Callable[[Schema], Schema]
) -> Iterator[Damaged]:
    def change(what: str, value: Any) -> Damaged:
        return Damaged(path, what, put(body, path, value))

    for what, value in _WRONG:
        yield change(what, value)
    held = at(body, path)
    sound = held if held is not None else sample(schema, resolve)
    yield change("a sound value", sound)
    for bound, step in (("minimum", -1), ("maximum", 1)):
        if bound in schema:
            yield change(f"at its {bound}", schema[bound])
            yield change(f"beyond its {bound}", schema[bound] + step)
    for bound, step in (("minLength", -1), ("maxLength", 1)):
        if bound in schema:
            yield change(f"beyond its {bound}", "x" * (schema[bound] + step))
    if isinstance(sound, dict):
        yield change("an undeclared field", {**sound, "undeclaredField": "x"})
        yield change("an undeclared null", {**sound, "undeclaredField": None})
        for key in sound:
            yield change(f"without {key}", {name: item for name, item in sound.items() if name != key})
    if isinstance(sound, list):
        item = sound[0] if sound else sample(schema.get("items", {}), resolve)
        yield change("one entry", [item])
        yield change("an entry twice", [*sound, item, item] if not sound else [*sound, item])
        if isinstance(item, dict):
            for key, value in item.items():
                if isinstance(value, str) and key not in ("name", *schema.get("listMapKeys", ())):
                    yield change(f"an entry twice with another {key}", [*sound, {**item, key: f"{value}x"}])


def _places(
    body: Any, schema: Schema, resolve: Callable[[Schema], Schema], path: Path = (), *, grown: bool, depth: int = 14
) -> Iterator[tuple[Path, Schema]]:
    """Every field that the schema has, as far as the object holds its parents (or they can be grown)."""
    schema = short(resolve(schema))
    if path:
        yield path, schema
    if depth == 0 or (not grown and body is None):
        return
    held = body if isinstance(body, dict) else {}
    for key, child in schema.get("properties", {}).items():
        yield from _places(held.get(key), child, resolve, (*path, key), grown=grown, depth=depth - 1)
    if isinstance(more := schema.get("additionalProperties"), dict):
        key = next(iter(held), "x")
        yield from _places(held.get(key), more, resolve, (*path, key), grown=grown, depth=depth - 1)
    if "items" in schema:
        items = body if isinstance(body, list) else []
        yield from _places(
            items[0] if items else None, schema["items"], resolve, (*path, 0), grown=grown, depth=depth - 1
        )


def short(schema: Schema) -> Schema:
    return {_SHORT.get(key, key): value for key, value in schema.items()}


def at(body: Any, path: Path) -> Any:
    for step in path:
        if isinstance(body, dict):
            body = body.get(step)
        elif isinstance(body, list) and isinstance(step, int) and step < len(body):
            body = body[step]
        else:
            return None
    return body


def put(body: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """A copy with a value in place; parents that are absent are made."""
    result = copy.deepcopy(body)
    here: Any = result
    for step, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(here, list):
            if not here:
                here.append(empty)
            here = here[0]
        else:
            if here.get(step) is None:
                here[step] = empty
            here = here[step]
    if isinstance(here, list):
        here[:1] = [copy.deepcopy(value)]
    else:
        here[path[-1]] = copy.deepcopy(value)
    return result


def complete(body: Any, schema: Schema, resolve: Callable[[Schema], Schema]) -> Any:
    """A copy in which each mapping has what its schema requires."""
    schema = short(resolve(schema))
    if isinstance(body, dict):
        properties, more = schema.get("properties", {}), schema.get("additionalProperties")
        result = {key: complete(item, properties.get(key, more or {}), resolve) for key, item in body.items()}
        for key in schema.get("required", ()):
            if key not in result and key in properties:
                result[key] = sample(properties[key], resolve)
        return result
    if isinstance(body, list):
        return [complete(item, schema.get("items", {}), resolve) for item in body]
    return body


def sample(schema: Schema, resolve: Callable[[Schema], Schema], depth: int = 8) -> Any:
    """A small value that fits a schema."""
    schema = short(resolve(schema))
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("intOrString") or schema.get("quantity"):
        return 1
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return {key: sample(properties[key], resolve, depth - 1) for key in schema.get("required", ()) if depth}
        case "array":
            return [sample(schema["items"], resolve, depth - 1)] if depth and schema.get("minItems") else []
        case "integer":
            return max(schema.get("minimum", 1), 1)
        case "number":
            return 1.5
        case "boolean":
            return True
        case "string":
            pattern, least = schema.get("pattern", ""), schema.get("minLength", 0)
            fits = [text for text in _TEXTS if re.search(pattern, text) and len(text) >= least]
            if schema.get("format") == "date-time":
                return "2026-11-20T10:00:00Z"
            if schema.get("format") == "byte":
                return "YWJj"
            return fits[0] if fits else "x"
    return {}
