"""The fields of a kustomization and their types: kustomize stops at any other.

Source: kustomize api/types. Go reads the names of fields in whichever case, and null for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXT, _FLAG, _NUMBER, _ANY, _PAIRS, _TEXTS = "a text", "true or false", "a whole number", "", "texts by name", "texts"

_Type = Any
"""One of these words, a mapping of fields, or a list with the type of its items."""

_GVK = {"group": _TEXT, "version": _TEXT, "kind": _TEXT}
_OBJECT = {**_GVK, "name": _TEXT, "namespace": _TEXT}
_SELECTOR = {**_OBJECT, "annotationSelector": _TEXT, "labelSelector": _TEXT}
_FIELD_SPEC = {**_GVK, "path": _TEXT, "create": _FLAG}
_PATCH = {
    "path": _TEXT,
    "patch": _TEXT,
    "target": _SELECTOR,
    "options": {"allowNameChange": _FLAG, "allowKindChange": _FLAG},
}
_IMAGE = dict.fromkeys(("name", "newName", "tagSuffix", "newTag", "digest"), _TEXT)
_OPTIONS = {"labels": _PAIRS, "annotations": _PAIRS, "disableNameSuffixHash": _FLAG, "immutable": _FLAG}
_CONFIG_MAP = {
    "name": _TEXT,
    "namespace": _TEXT,
    "behavior": _TEXT,
    "literals": _TEXTS,
    "files": _TEXTS,
    "envs": _TEXTS,
    "env": _TEXT,
    "options": _OPTIONS,
}
_AT = {"delimiter": _TEXT, "index": _NUMBER, "encoding": _TEXT, "create": _FLAG}
_REPLACEMENT = {
    "path": _TEXT,
    "source": {**_OBJECT, "fieldPath": _TEXT, "options": _AT},
    "sourceValue": _TEXT,
    "targets": [{"select": _SELECTOR, "reject": [_SELECTOR], "fieldPaths": _TEXTS, "options": _AT}],
}
_LABEL = {"pairs": _PAIRS, "includeSelectors": _FLAG, "includeTemplates": _FLAG, "fields": [_FIELD_SPEC]}
_VARIABLE = {"name": _TEXT, "objref": {**_OBJECT, "apiVersion": _TEXT}, "fieldref": {"fieldPath": _TEXT}}
_ORDER = {"order": _TEXT, "legacySortOptions": {"orderFirst": _TEXTS, "orderLast": _TEXTS}}

FIELDS: dict[str, _Type] = {
    **dict.fromkeys(("apiVersion", "kind", "namespace", "namePrefix", "nameSuffix"), _TEXT),
    **dict.fromkeys(("commonLabels", "commonAnnotations", "openapi"), _PAIRS),
    **dict.fromkeys(
        (
            "resources",
            "bases",
            "components",
            "crds",
            "configurations",
            "generators",
            "transformers",
            "validators",
            "buildMetadata",
            "patchesStrategicMerge",
        ),
        _TEXTS,
    ),
    "metadata": {"name": _TEXT, "namespace": _TEXT, "labels": _PAIRS, "annotations": _PAIRS},
    "labels": [_LABEL],
    "patches": [_PATCH],
    "patchesJson6902": [_PATCH],
    "images": [_IMAGE],
    "imageTags": [_IMAGE],
    "replicas": [{"name": _TEXT, "count": _NUMBER}],
    "replacements": [_REPLACEMENT],
    "vars": [_VARIABLE],
    "sortOptions": _ORDER,
    "configMapGenerator": [_CONFIG_MAP],
    "secretGenerator": [{**_CONFIG_MAP, "type": _TEXT}],
    "generatorOptions": _OPTIONS,
    "helmGlobals": _ANY,
    "helmCharts": _ANY,
    "helmChartInflationGenerator": _ANY,
}
_KINDS = {"Kustomization": "kustomize.config.k8s.io/v1beta1", "Component": "kustomize.config.k8s.io/v1alpha1"}


def wrong_fields(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Places in a kustomization that kustomize can't read, and why not."""
    yield from _wrong(data, FIELDS, "")
    kind = data.get("kind") or "Kustomization"
    if kind not in _KINDS:
        yield "/kind", "it has to be Kustomization or Component"
    elif data.get("apiVersion") and data["apiVersion"] != _KINDS[kind]:
        yield "/apiVersion", f"that of a {kind} is {_KINDS[kind]}"


def _wrong(value: Any, type_: _Type, at: str) -> Iterator[tuple[str, str]]:
    from poolsmith.core.sources.pointer import join  # on demand

    if value is None or type_ is _ANY:
        return
    if isinstance(type_, dict):
        if not isinstance(value, dict):
            yield at, "it has to be a mapping"
            return
        known = {name.lower(): below for name, below in type_.items()}
        for key, item in value.items():
            if key.lower() not in known:
                yield join(at, key), f"kustomize has no field `{key[:60]}` here"
            else:
                yield from _wrong(item, known[key.lower()], join(at, key))
    elif isinstance(type_, list) or type_ is _TEXTS:
        if not isinstance(value, list):
            yield at, "it has to be a list"
            return
        for index, item in enumerate(value):
            yield from _wrong(item, type_[0] if isinstance(type_, list) else _TEXT, join(at, index))
    elif not _fits(value, type_):
        yield at, f"it has to be {type_}"


def _fits(value: Any, type_: str) -> bool:
    if type_ is _PAIRS:
        return isinstance(value, dict) and all(item is None or isinstance(item, str) for item in value.values())
    if type_ is _NUMBER:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, bool if type_ is _FLAG else str)
