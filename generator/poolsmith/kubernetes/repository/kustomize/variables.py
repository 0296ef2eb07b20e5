"""`vars` of a kustomization: `$(NAME)` in fields that may hold it.

Source: kustomize api/internal/accumulator/resaccumulator.go and api/filters/refvar.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.kubernetes.repository.kustomize.field_specs import changed, steps_of
from poolsmith.kubernetes.repository.kustomize.item import Item, text_of
from poolsmith.kubernetes.repository.kustomize.transform import stopped

if TYPE_CHECKING:
    from poolsmith.kubernetes.repository.delivered import Unknown
    from poolsmith.kubernetes.repository.kustomize.field_specs import FieldSpec
    from poolsmith.kubernetes.repository.kustomize.kustomization_file import Place

_USE = pattern(r"\$(?:\$|\((?P<name>[^)]*)\))")


def resolved(
    items: list[Item],
    variables: tuple[tuple[Place, str, Any], ...],
    specs: tuple[FieldSpec, ...],
    unknown: list[Unknown],
    refused: list[Unknown],
) -> list[Item]:
    """The items with the values of the variables put in."""
    values: dict[str, Any] = {}
    for place, pointer, entry in variables:
        value = _value(items, entry)
        if isinstance(value, (str, int, float)) and word(entry.get("name")) not in values:
            values[word(entry.get("name"))] = value
            continue
        told = stopped(place, pointer, "there is no such value")
        unknown.append(told)
        refused.append(told)
    if not values:
        return items

    def change(node: Any, _pointer: str) -> Any:
        if isinstance(node, list):
            listed = [_replaced(item, values) for item in node]
            return node if listed == node else listed
        if isinstance(node, dict):
            fields = {key: _replaced(item, values) for key, item in node.items()}
            return node if fields == node else fields
        return _replaced(node, values)

    return [item.changed(changed(item.data, specs, item.identity, change)) for item in items]


def _replaced(text: Any, values: dict[str, Any]) -> Any:
    if not isinstance(text, str) or "$" not in text:
        return text
    whole = _USE.fullmatch(text)
    if whole is not None and whole["name"] in values:
        return values[whole["name"]]
    return _USE.sub(lambda found: _one(found, values), text)


def _one(found: re.Match[str], values: dict[str, Any]) -> str:
    name = found["name"]
    if name is None:
        return "$"
    return text_of(values[name]) if name in values else found[0]


def _path(entry: Any) -> str:
    """Go reads the names of fields in whichever case."""
    fields = {str(key).lower(): value for key, value in mapping(entry.get("fieldref") or entry.get("fieldRef")).items()}
    return word(fields.get("fieldpath")) or "metadata.name"


def _value(items: list[Item], entry: Any) -> Any:
    """None where there is not exactly one object, or nothing in it."""
    target = mapping(entry.get("objref") or entry.get("objRef"))
    group, version, kind = word(target.get("group")), word(target.get("version")), word(target.get("kind"))
    if api_version := word(target.get("apiVersion")):
        first, slash, rest = api_version.partition("/")
        group, version = (first, rest) if slash else (group, first)
    name, namespace = word(target.get("name")), word(target.get("namespace"))
    found = [
        item
        for item in items
        if any(
            own[:4] == (group, version, kind, name) and (not namespace or own.place == namespace)
            for own in item.identities
        )
    ]
    if len(found) != 1:
        return None
    node: Any = found[0].data
    for step in steps_of(_path(entry), "."):
        for part in re.findall(r"[^\[\]]+", step):
            if isinstance(node, list) and part.isdecimal() and int(part) < len(node):
                node = node[int(part)]
            elif isinstance(node, dict) and part in node:
                node = node[part]
            else:
                return None
    return node
