"""The Helm values of a release of the gpu-operator chart as a JSON Schema, for editors.

Draft 7, which yaml-language-server reads. It takes what the rules take: null deletes a default anywhere, whole numbers
may stand where the template quotes a text, and what is free is free. What another release reads, or what has no effect,
is there with a `deprecationMessage`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.gpu.catalog.charts import SUBCHART

if TYPE_CHECKING:
    from poolsmith.gpu.catalog.value_paths import Keys, PastValue, ReleaseValues, ValueNode

DRAFT = "http://json-schema.org/draft-07/schema#"
_TYPES: dict[str, list[str]] = {
    "string": ["string"],
    "boolean": ["boolean"],
    "integer": ["integer"],
    "number": ["number"],
    "int-or-string": ["integer", "string"],
    "array": ["array"],
    "object": ["object"],
}
_LONGEST_DEFAULT = 200
_OWN_KEYS: dict[str, dict[str, Any]] = {"^x-": {}, "^\\.": {}}
"""What people keep anchors under."""


def values_schema(release: ReleaseValues) -> dict[str, Any]:
    """Of one release; places that it does not read are refused, but for those that it once read or will read."""
    body = _node(release.root, (), release)
    body["properties"]["global"] = {"description": "Helm's own, for all charts"}
    body["patternProperties"] = _OWN_KEYS
    return {
        "$schema": DRAFT,
        "title": f"Helm values of gpu-operator {release.tag}",
        "description": f"NVIDIA/gpu-operator@{release.tag}:deployments/gpu-operator, as poolsmith reads it",
        **body,
    }


def _node(node: ValueNode, path: Keys, release: ReleaseValues) -> dict[str, Any]:
    if path == (SUBCHART,):
        return {"type": ["object", "null"], "description": "the values of the chart node-feature-discovery"}
    found: dict[str, Any] = {}
    types = _types(node)
    if types is not None:
        found["type"] = types if not path else [*types, "null"]
    if node.enum:
        found["enum"] = [*node.enum, None]
    default = value_at(release.defaults or {}, path, MISSING) if path else MISSING
    if not isinstance(default, dict | list) and default not in (MISSING, None):
        found["default"] = default if len(str(default)) <= _LONGEST_DEFAULT else str(default)[:_LONGEST_DEFAULT]
    if (message := _without_effect(path, release)) is not None:
        found["deprecationMessage"] = message
    if node.children:
        found["properties"] = {key: _node(child, (*path, key), release) for key, child in sorted(node.children.items())}
        if not node.free:
            found["properties"] |= _past(node, path, release)
            found["additionalProperties"] = False
    return found


def _types(node: ValueNode) -> list[str] | None:
    if node.children:
        return ["object"]
    types = _TYPES.get(node.type)
    return [*types, "integer"] if types == ["string"] and node.quoted else types


def _without_effect(path: Keys, release: ReleaseValues) -> str | None:
    ignored = release.paths.ignored(path, release.tag)
    if ignored is None or ignored.only is not None or ignored.unless:
        return None
    instead = f"; write `{ignored.instead}`" if ignored.instead else ""
    return f"it has no effect: {ignored.why}{instead}"


def _past(node: ValueNode, path: Keys, release: ReleaseValues) -> dict[str, Any]:
    """Keys of other releases at this place."""
    found: dict[str, Any] = {}
    for key in sorted(release.paths.keys_below(path)):
        if key in node.children:
            continue
        past = release.paths.past((*path, key), release.tag)
        if past is not None:
            found[key] = {"deprecationMessage": _told(past, release.tag)}
    return found


def _told(past: PastValue, tag: str) -> str:
    if past.comes_with is not None:
        why = f"{tag} does not read it: it comes with {past.comes_with}"
    elif past.gone_since is not None:
        why = f"no release since {past.gone_since} reads it"
    else:
        why = "nothing reads it"
    return f"{why}; write `{past.instead}`" if past.instead else why
