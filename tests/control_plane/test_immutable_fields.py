"""Which fields of built-in objects may not change: what we say is what a real API server says, field by field."""

from __future__ import annotations

from copy import deepcopy
from time import monotonic, sleep

import pytest

from poolsmith.kubernetes.server.immutable_fields import immutable_changes, kinds

pytestmark = pytest.mark.real("an API server, asked many times")

LABELS = {"app": "a"}
POD = {
    "metadata": {"labels": LABELS},
    "spec": {"containers": [{"name": "c", "image": "registry.example.com/i:1"}]},
}
JOB_POD = {**POD, "spec": {**POD["spec"], "restartPolicy": "Never"}}
OTHER_IMAGE = {"containers": [{"name": "c", "image": "registry.example.com/i:2"}]}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "s"}
REF = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}
SUBJECT = {"kind": "ServiceAccount", "name": "s", "namespace": "default"}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def item(api_version, kind, **fields):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **fields}


def definition(**spec):
    names = {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": OPEN}}]
    body = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions, **spec}
    return {**item("apiextensions.k8s.io/v1", "CustomResourceDefinition", spec=body)} | {
        "metadata": {"name": "things.example.com"}
    }


def workload(api_version, kind, pod=POD, **spec):
    return item(api_version, kind, spec={"selector": {"matchLabels": LABELS}, "template": pod, **spec})


def devices(count):
    return {"requests": [{"name": "g", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": count}}]}


OBJECTS = {
    "ConfigMap": item("v1", "ConfigMap", data={"a": "1"}),
    "immutable ConfigMap": item("v1", "ConfigMap", data={"a": "1"}, immutable=True),
    "Secret": item("v1", "Secret", type="Opaque", stringData={"a": "1"}),
    "immutable Secret": item("v1", "Secret", data={"a": "MQ=="}, immutable=True),
    "Service": item("v1", "Service", spec={"ports": [{"port": 80}], "clusterIP": "None"}),
    "plain Service": item("v1", "Service", spec={"ports": [{"port": 80}]}),
    "PersistentVolumeClaim": item("v1", "PersistentVolumeClaim", spec=CLAIM),
    "ResourceQuota": item("v1", "ResourceQuota", spec={"hard": {"pods": "1"}, "scopes": ["BestEffort"]}),
    "DaemonSet": workload("apps/v1", "DaemonSet"),
    "Deployment": workload("apps/v1", "Deployment", replicas=1),
    "ReplicaSet": workload("apps/v1", "ReplicaSet", replicas=1),
    "StatefulSet": workload("apps/v1", "StatefulSet", serviceName="s", replicas=1),
    "Job": item("batch/v1", "Job", spec={"template": JOB_POD}),
    "suspended Job": item("batch/v1", "Job", spec={"template": JOB_POD, "suspend": True}),
    "EndpointSlice": item("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", endpoints=[]),
    "RuntimeClass": item("node.k8s.io/v1", "RuntimeClass", handler="nvidia"),
    "ClusterRoleBinding": item("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", roleRef=REF, subjects=[SUBJECT]),
    "RoleBinding": item("rbac.authorization.k8s.io/v1", "RoleBinding", roleRef=REF, subjects=[SUBJECT]),
    "ResourceClaim": item("resource.k8s.io/v1", "ResourceClaim", spec={"devices": devices(1)}),
    "ResourceClaimTemplate": item(
        "resource.k8s.io/v1", "ResourceClaimTemplate", spec={"spec": {"devices": devices(1)}}
    ),
    "DeviceClass": item("resource.k8s.io/v1", "DeviceClass", spec={}),
    "PriorityClass": item("scheduling.k8s.io/v1", "PriorityClass", value=10),
    "StorageClass": item("storage.k8s.io/v1", "StorageClass", provisioner="example.com/p", parameters={"a": "1"}),
    "CustomResourceDefinition": definition(),
    "PodDisruptionBudget": item("policy/v1", "PodDisruptionBudget", spec={"selector": {"matchLabels": LABELS}}),
    "NetworkPolicy": item("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}}),
    "ValidatingAdmissionPolicyBinding": item(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicyBinding",
        spec={"policyName": "p", "validationActions": ["Deny"]},
    ),
}
SELECTED = {"matchLabels": {"app": "a", "tier": "b"}}
TIER = {**POD, "metadata": {"labels": {"app": "a", "tier": "b"}}}
EDITS = {
    "ConfigMap": [{"data": {"a": "2"}}, {"immutable": True}],
    "immutable ConfigMap": [{"data": {"a": "2"}}, {"immutable": False}, {"binaryData": {"b": "MQ=="}}],
    "Secret": [{"type": "example.com/t"}, {"stringData": {"a": "2"}}],
    "immutable Secret": [{"data": {"a": "Mg=="}}, {"immutable": None}],
    "Service": [{"spec": {"clusterIP": "10.0.0.77"}}, {"spec": {"ports": [{"port": 81}]}}],
    "plain Service": [{"spec": {"type": "NodePort"}}, {"spec": {"ports": [{"port": 81}]}}],
    "PersistentVolumeClaim": [
        {"spec": {"storageClassName": "t"}},
        {"spec": {"accessModes": ["ReadOnlyMany"]}},
        {"spec": {"volumeMode": "Block"}},
        {"spec": {"volumeMode": "Filesystem"}},
    ],
    "ResourceQuota": [{"spec": {"scopes": ["Terminating"]}}, {"spec": {"hard": {"pods": "2"}}}],
    "DaemonSet": [
        {"spec": {"selector": SELECTED, "template": TIER}},
        {"spec": {"template": {**POD, "spec": OTHER_IMAGE}}},
        {"spec": {"updateStrategy": {"type": "OnDelete"}}},
    ],
    "Deployment": [
        {"spec": {"selector": SELECTED, "template": TIER}},
        {"spec": {"replicas": 2, "minReadySeconds": 3, "template": TIER}},
    ],
    "ReplicaSet": [{"spec": {"selector": SELECTED, "template": TIER}}, {"spec": {"replicas": 2}}],
    "StatefulSet": [
        {"spec": {"selector": SELECTED, "template": TIER}},
        {"spec": {"serviceName": "t"}},
        {"spec": {"podManagementPolicy": "Parallel"}},
        {"spec": {"podManagementPolicy": "OrderedReady"}},
        {"spec": {"replicas": 3, "minReadySeconds": 5, "revisionHistoryLimit": 2, "template": TIER}},
    ],
    "Job": [
        {"spec": {"template": {**JOB_POD, "spec": {**OTHER_IMAGE, "restartPolicy": "Never"}}}},
        {"spec": {"completionMode": "Indexed", "completions": 1}},
        {"spec": {"backoffLimit": 3, "suspend": True, "ttlSecondsAfterFinished": 3}},
        {"spec": {"managedBy": "example.com/m"}},
    ],
    "suspended Job": [
        {"spec": {"template": {**JOB_POD, "spec": {**JOB_POD["spec"], "nodeSelector": {"a": "b"}}}}},
        {"spec": {"suspend": False}},
    ],
    "EndpointSlice": [{"addressType": "IPv6"}, {"ports": [{"port": 80}]}],
    "RuntimeClass": [{"handler": "kata"}, {"scheduling": {"nodeSelector": {"a": "b"}}}],
    "ClusterRoleBinding": [{"roleRef": {**REF, "name": "q"}}, {"subjects": [{**SUBJECT, "name": "t"}]}],
    "RoleBinding": [{"roleRef": {**REF, "kind": "Role"}}, {"subjects": [{**SUBJECT, "name": "t"}]}],
    "ResourceClaim": [{"spec": {"devices": devices(2)}}],
    "ResourceClaimTemplate": [{"spec": {"spec": {"devices": devices(2)}}}],
    "DeviceClass": [{"spec": {"selectors": [{"cel": {"expression": "true"}}]}}],
    "PriorityClass": [
        {"value": 11},
        {"preemptionPolicy": "Never"},
        {"preemptionPolicy": "PreemptLowerPriority"},
        {"description": "d"},
    ],
    "StorageClass": [
        {"provisioner": "example.com/q"},
        {"parameters": {"a": "2"}},
        {"reclaimPolicy": "Retain"},
        {"reclaimPolicy": "Delete"},
        {"volumeBindingMode": "WaitForFirstConsumer"},
        {"allowVolumeExpansion": True},
    ],
    "CustomResourceDefinition": [
        {"spec": {"scope": "Cluster"}},
        {"spec": {"names": {**definition()["spec"]["names"], "kind": "Other"}}},
        {"spec": {"names": {**definition()["spec"]["names"], "shortNames": ["th"]}}},
    ],
    "PodDisruptionBudget": [{"spec": {"selector": SELECTED, "minAvailable": 1}}],
    "NetworkPolicy": [{"spec": {"podSelector": SELECTED}}],
    "ValidatingAdmissionPolicyBinding": [{"spec": {"policyName": "q"}}, {"spec": {"validationActions": ["Warn"]}}],
}


def edited(old, edit):
    """The object with other fields; below `spec` only those that the edit names are others."""
    new = deepcopy(old)
    for key, value in edit.items():
        if key == "spec" and key in new:
            new["spec"] |= deepcopy(value)
        else:
            new[key] = deepcopy(value)
    return new


def namespaced(body, client):
    place = client.resource(body["apiVersion"], body["kind"])
    return {**body, "metadata": {**body["metadata"], "namespace": "default"}} if place.namespaced else body


def await_established(client, body):
    """A definition is free until the server has taken its names."""
    ends = monotonic() + 20
    while body["kind"] == "CustomResourceDefinition" and monotonic() < ends:
        found = client.get(body["apiVersion"], body["kind"], body["metadata"]["name"]).body
        if any(
            (one["type"], one["status"]) == ("Established", "True")
            for one in found.get("status", {}).get("conditions") or ()
        ):
            return
        sleep(0.05)


def test_the_api_server_refuses_what_we_say_and_takes_all_else(control_plane):
    server = control_plane.scenario()
    wrong, refused = [], 0
    try:
        client = server.client()
        for name, body in OBJECTS.items():
            old = namespaced(body, client)
            made = client.apply(old)
            assert made.taken, (name, made.message)
            await_established(client, old)
            for edit in EDITS[name]:
                new = namespaced(edited(body, edit), client)
                said = immutable_changes(old, new)
                answer = client.apply(new, dry_run=True, force=True)
                refused += not answer.taken
                if bool(said) == answer.taken:
                    wrong.append((name, edit, said, answer.message))
            assert client.delete(old["apiVersion"], old["kind"], old["metadata"]["name"], "default").taken
    finally:
        server.end()

    assert wrong == []
    assert refused > 25


def test_each_row_of_the_table_is_tried():
    tried = {(body["apiVersion"].rpartition("/")[0], body["kind"]) for body in OBJECTS.values()}

    assert set(kinds()) <= tried
    assert OBJECTS.keys() == EDITS.keys()


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_an_object_that_stays_as_it_is_changes_nothing(name):
    assert immutable_changes(OBJECTS[name], deepcopy(OBJECTS[name])) == ()
