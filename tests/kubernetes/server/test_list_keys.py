"""By what items of lists are told apart where two objects are compared: as the API server does, by its own definitions."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.schema.kind_schema import KindSchema
from poolsmith.kubernetes.schema.schemas import Versions, kubernetes_minors, schemas_for
from poolsmith.kubernetes.server.field_changes import named_items
from poolsmith.kubernetes.server.fields import differences

KINDS = (
    *(("apps/v1", kind) for kind in ("DaemonSet", "Deployment", "StatefulSet")),
    *(("batch/v1", kind) for kind in ("Job", "CronJob")),
    *(("v1", kind) for kind in ("ServiceAccount", "Service", "ConfigMap", "Namespace")),
)


def lists_of(minor):
    """Fields that hold lists of named things, with the keys that the server tells them by; a status is nobody's."""
    todo, seen, found = [], set(), {}
    for api_version, kind in KINDS:
        schema = schemas_for(Versions(kubernetes=minor)).find(api_version, kind)
        assert isinstance(schema, KindSchema)
        todo.append((schema.compiler.resolve, schema.definition))
    while todo:
        resolve, node = todo.pop()
        children = {**node.get("properties", {}), "items": node.get("items"), "other": node.get("additionalProperties")}
        for field, child in children.items():
            if not isinstance(child, dict) or field in ("status", "ownerReferences"):
                continue
            if child.get("listType") == "map":
                found[field] = tuple(child["listMapKeys"])
            if (name := child.get("$ref")) is None or name not in seen:
                seen.add(name)
                todo.append((resolve, resolve(child)))
    return found


@pytest.mark.parametrize("minor", kubernetes_minors())
def test_items_that_the_server_tells_apart_are_told_apart(minor):
    lists = lists_of(minor)

    assert {"ports", "topologySpreadConstraints"} <= lists.keys()
    assert {"env", "volumeMounts", "hostAliases"} <= lists.keys() or minor < "1.30"
    for field, keys in lists.items():
        items = [dict.fromkeys(keys, "a"), *({**dict.fromkeys(keys, "a"), key: "b"} for key in keys)]
        found = named_items((field,), items)

        assert found is not None, field
        assert list(found.values()) == items


@pytest.mark.parametrize("minor", [kubernetes_minors()[0], kubernetes_minors()[-1]])
def test_items_are_found_again_in_another_order(minor):
    lists = lists_of(minor)
    lists.pop("initContainers", None)  # they begin in their order
    for field, keys in lists.items():
        given = [dict.fromkeys(keys, name) | {"image": name} for name in "ab"]

        assert list(differences({field: given}, {field: given[::-1]})) == [], field
