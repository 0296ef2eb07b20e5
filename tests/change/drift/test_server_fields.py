"""What the server makes of fields: each row is what a real API server and Argo CD's own code answered."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.schemas import schemas_for
from poolsmith.kubernetes.server.server_fields import server_fields

DRIVER = {"driverType": "gpu", "image": "driver", "repository": "nvcr.io/nvidia", "version": "580"}
RELABELING = "/spec/dcgmExporter/serviceMonitor/relabelings"


def driver(metadata=None, **spec):
    body = {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver"}
    return body | {"metadata": {"name": "x", **(metadata or {})}, "spec": {**DRIVER, **spec}}


def policy(**spec):
    return {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy"},
        "spec": spec,
    }


def relabelings(*items):
    return policy(dcgmExporter={"serviceMonitor": {"relabelings": list(items)}})


def fields(body, release="v26.7.0"):
    schema = schemas_for(schema_versions(kubernetes="1.34", operator=release)).find(body["apiVersion"], body["kind"])
    found = server_fields(body, schema)
    return [(item.pointer, str(item.effect), item.stored) for item in found if item.effect != "added"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (driver(), []),
        (driver({"labels": {}}), [("/metadata/labels", "empty-metadata", None)]),
        (driver({"labels": None}), [("/metadata/labels", "null-metadata", None)]),
        (driver({"labels": {"a": None}}), [("/metadata/labels/a", "null-metadata", "")]),
        (driver({"annotations": {}}), [("/metadata/annotations", "null-metadata", None)]),
        (driver({"finalizers": []}), [("/metadata/finalizers", "empty-metadata", None)]),
        (driver({"ownerReferences": []}), [("/metadata/ownerReferences", "empty-metadata", None)]),
        (driver(nodeSelector={}, rdma={}, tolerations=[]), []),
        (driver(repository=None), [("/spec/repository", "null-refused", None)]),
        (driver(licensingConfig=None), [("/spec/licensingConfig", "null-refused", None)]),
        (
            driver(tolerations=[{"key": "a", "operator": None}]),
            [("/spec/tolerations/0/operator", "null-refused", None)],
        ),
        (driver(env=[{"name": None}]), [("/spec/env/0/name", "null-of-required", None)]),
        (driver(foo=1), [("/spec/foo", "undeclared", None)]),
        (driver(resources={"limits": {"cpu": "1000m"}}), []),
        (policy(cdi={"enabled": True}), []),
        (policy(cdi={"default": None}), [("/spec/cdi/default", "null-for-default", False)]),
        (relabelings({"targetLabel": "b"}), [(f"{RELABELING}/0/action", "default-in-list", "replace")]),
        (relabelings({"targetLabel": "b", "action": "replace"}), []),
        (
            relabelings({"targetLabel": "b", "action": None}),
            [(f"{RELABELING}/0/action", "null-in-list", "replace")],
        ),
    ],
)
def test_what_the_server_changes_is_told(body, expected):
    assert fields(body) == expected


def test_the_status_belongs_to_the_server():
    assert fields({**driver(), "status": {"unknown": None}}) == []
