"""The fields of a kustomization with their types, and their names in whichever case somebody writes them.

Source: kustomize api/types. Go reads the names of fields in any case.
"""

from __future__ import annotations

from typing import Any

TEXT, FLAG, NUMBER, ANY, PAIRS, TEXTS = "a text", "true or false", "a whole number", "", "texts by name", "texts"

Type = Any
"""One of these words, a mapping of fields, or a list with the type of its items."""

_GVK = {"group": TEXT, "version": TEXT, "kind": TEXT}
_OBJECT = {**_GVK, "name": TEXT, "namespace": TEXT}
_SELECTOR = {**_OBJECT, "annotationSelector": TEXT, "labelSelector": TEXT}
_FIELD_SPEC = {**_GVK, "path": TEXT, "create": FLAG}
_PATCH = {
    "path": TEXT,
    "patch": TEXT,
    "target": _SELECTOR,
    "options": {"allowNameChange": FLAG, "allowKindChange": FLAG},
}
_IMAGE = dict.fromkeys(("name", "newName", "tagSuffix", "newTag", "digest"), TEXT)
_OPTIONS = {"labels": PAIRS, "annotations": PAIRS, "disableNameSuffixHash": FLAG, "immutable": FLAG}
_CONFIG_MAP = {
    "name": TEXT,
    "namespace": TEXT,
    "behavior": TEXT,
    "literals": TEXTS,
    "files": TEXTS,
    "envs": TEXTS,
    "env": TEXT,
    "options": _OPTIONS,
}
_AT = {"delimiter": TEXT, "index": NUMBER, "encoding": TEXT, "create": FLAG}
_REPLACEMENT = {
    "path": TEXT,
    "source": {**_OBJECT, "fieldPath": TEXT, "options": _AT},
    "sourceValue": TEXT,
    "targets": [{"select": _SELECTOR, "reject": [_SELECTOR], "fieldPaths": TEXTS, "options": _AT}],
}
_LABEL = {"pairs": PAIRS, "includeSelectors": FLAG, "includeTemplates": FLAG, "fields": [_FIELD_SPEC]}
_VARIABLE = {"name": TEXT, "objref": {**_OBJECT, "apiVersion": TEXT}, "fieldref": {"fieldPath": TEXT}}
_ORDER = {"order": TEXT, "legacySortOptions": {"orderFirst": TEXTS, "orderLast": TEXTS}}

FIELDS: dict[str, Type] = {
    **dict.fromkeys(("apiVersion", "kind", "namespace", "namePrefix", "nameSuffix"), TEXT),
    **dict.fromkeys(("commonLabels", "commonAnnotations", "openapi"), PAIRS),
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
        TEXTS,
    ),
    "metadata": {"name": TEXT, "namespace": TEXT, "labels": PAIRS, "annotations": PAIRS},
    "labels": [_LABEL],
    "patches": [_PATCH],
    "patchesJson6902": [_PATCH],
    "images": [_IMAGE],
    "imageTags": [_IMAGE],
    "replicas": [{"name": TEXT, "count": NUMBER}],
    "replacements": [_REPLACEMENT],
    "vars": [_VARIABLE],
    "sortOptions": _ORDER,
    "configMapGenerator": [_CONFIG_MAP],
    "secretGenerator": [{**_CONFIG_MAP, "type": TEXT}],
    "generatorOptions": _OPTIONS,
    "helmGlobals": ANY,
    "helmCharts": ANY,
    "helmChartInflationGenerator": ANY,
}
_NAMES = {name.lower(): name for name in FIELDS}


def in_their_names(data: Any) -> Any:
    """A kustomization with its fields as kustomize writes them, in whichever case somebody did."""
    if not isinstance(data, dict) or all(key in FIELDS for key in data):
        return data
    return {_NAMES.get(str(key).lower(), key): value for key, value in data.items()}
