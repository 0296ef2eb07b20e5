"""The table of Kubernetes' Go types: how it is made of thirteen lists, and what a version sees of it."""

from __future__ import annotations

import json

import pytest

from poolsmith.kubernetes.server.kubernetes_types import OBJECT_META, known_minors, kubernetes_types
from tools.pack_kubernetes_types import defaults_text, table_text


def dump(*fields, kinds=("v1 Pod",), **types):
    return {"roots": dict.fromkeys(kinds, "Pod"), "types": {"Pod": [list(field) for field in fields], **types}}


def test_a_field_that_changes_is_told_by_the_minors_where_it_does():
    same, old, new = ("a", "e", "string"), ("b", "e", "int32"), ("b", "", "int32")
    table = json.loads(table_text({1: dump(same), 2: dump(same, old), 3: dump(same, new), 4: dump(same)}))

    assert table["types"] == {"Pod": {"a": "string", "b": [[2, "int32"], [3, "int32!"], [4, None]]}}
    assert table["minors"] == [1, 4]


def test_a_type_that_came_later_is_not_told_field_by_field():
    later = dump(("a", "ez", "time"), New=[["c", "", "bool"]], kinds=("v1 Pod", "v1 New"))
    table = json.loads(table_text({1: dump(("a", "e", "time")), 2: later}))

    assert table["types"] == {"New": {"c": "bool!"}, "Pod": {"a": [[1, "time"], [2, "time~"]]}}
    assert table["kinds"] == {"v1 New": [2, "Pod"], "v1 Pod": [1, "Pod"]}


def test_defaults_of_pods_and_containers_are_told_once_with_what_is_the_same_in_all():
    table = json.loads(
        defaults_text(
            {
                "v1 Pod": {
                    "spec.dnsPolicy": "ClusterFirst",
                    "spec.enableServiceLinks": True,
                    "spec.containers.*.image": "a",
                    "spec.securityContext": "{}",
                },
                "apps/v1 Deployment": {
                    "spec.replicas": 1,
                    "spec.template.spec.dnsPolicy": "ClusterFirst",
                    "spec.template.spec.initContainers.*.image": "b",
                    "spec.template.spec.initContainers.*.resources.requests.cpu": "1",
                    "spec.template.spec.securityContext": "{}",
                },
                "v1 Thing": {"spec.list.*": "x", "spec.when": "2026-01-01T00:00:00Z", "spec.rule": None},
            }
        )
    )

    assert table["container"] == {"image": None, "resources.requests": None}
    assert table["pod"] == {"dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "securityContext": {}}
    assert table["no template"] == ["enableServiceLinks"]
    assert table["kinds"] == {
        "Deployment": {"spec.replicas": 1},
        "Thing": {"spec.list": None, "spec.rule": None, "spec.when": None},
    }


def test_the_creation_timestamp_is_left_out_since_1_34():
    assert kubernetes_types(33).fields(OBJECT_META)["creationTimestamp"] == "time"
    assert kubernetes_types(34).fields(OBJECT_META)["creationTimestamp"] == "time~"


def test_fields_are_there_in_the_versions_that_have_them():
    by_minor = {minor: kubernetes_types(minor).fields("core/v1.PodSpec") for minor in (25, 26, 27, 34)}

    assert "schedulingGates" not in by_minor[25]
    assert "schedulingGates" in by_minor[26]
    assert by_minor[25]["hostNetwork"] == "bool"
    assert by_minor[25]["hostUsers"] == "*bool"


@pytest.mark.parametrize("minor", [0, 24, 38, 999])
def test_other_minors_are_the_nearest_one(minor):
    assert kubernetes_types(minor).minor in known_minors()


def test_every_struct_that_a_field_names_is_there():
    for minor in (25, 30, 37):
        types = kubernetes_types(minor)
        todo, seen = set(types.kinds.values()), set()
        while todo:
            name = todo.pop()
            seen.add(name)
            codes = types.fields(name).values()
            todo |= {code.partition("@")[2].rstrip("!~") for code in codes if "@" in code} - seen
        assert len(seen) > 300
