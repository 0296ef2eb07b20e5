"""Fields that the API server never changes, as it was seen to answer (tests/control_plane/test_immutable_fields.py)."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.server.immutable_fields import immutable_changes


def config(kind="ConfigMap", **fields):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}, **fields}


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_data_may_change_unless_it_was_said_to_be_immutable(kind):
    new = config(kind, data={"a": "2"})

    assert immutable_changes(config(kind, data={"a": "1"}), new) == ()
    assert immutable_changes(config(kind, data={"a": "1"}, immutable=False), new) == ()
    assert "/data" in immutable_changes(config(kind, data={"a": "1"}, immutable=True), {**new, "immutable": True})
    assert "/immutable" in immutable_changes(config(kind, data={"a": "2"}, immutable=True), new)


def service(address, kind="ClusterIP"):
    return config("Service", spec={"type": kind, **({"clusterIP": address} if address else {})})


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        (service("10.0.0.1"), service("10.0.0.2"), ("/spec/clusterIP",)),
        (service("10.0.0.1"), service(""), ()),
        (service(""), service("10.0.0.2"), ()),
        (service("10.0.0.1"), service("10.0.0.2", "ExternalName"), ()),
    ],
)
def test_a_service_keeps_its_address_or_lets_go_of_it(old, new, changed):
    assert immutable_changes(old, new) == changed


def test_a_selector_stays_and_labels_need_not():
    def workload(kind, **spec):
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}

    for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"):
        old, new = (workload(kind, selector={"matchLabels": {"app": text}}) for text in "ab")
        assert immutable_changes(old, new) == ("/spec/selector",)
        assert immutable_changes(old, {**old, "metadata": {"name": "a", "labels": {"x": "y"}}}) == ()
