"""Which pod templates are the same to a real API server: where it sees no change, no pod is said to be replaced.

The server counts the changes of a workload's spec in `metadata.generation`, after it has filled in what is left out.
"""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given, settings

from change.diff.random_edits import edited
from change.diff.test_random_disruption import CLUSTERS, FILES
from change.diff.two_sides import REPOSITORY, seen_cluster
from poolsmith.change.diff.restarts import rolled_workloads, template_changes
from poolsmith.kubernetes.server.pod_defaults import stored_template
from poolsmith.project.run.project import open_project
from property.test_unlike_pools import on_disk
from support.circles import DEEP
from support.pod_templates import IMAGES, POD_SPECS, daemon_set

pytestmark = pytest.mark.real("an API server, asked many times")

CONTAINER = {"name": "c", "image": "registry.example.com/i:1"}


def workload(kind="DaemonSet", container=None, metadata=None, **pod):
    """Of one container; fields of the pod beside it."""
    spec = {"containers": [{**CONTAINER, **(container or {})}], **pod}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {"metadata": {"labels": {"app": "a"}, **(metadata or {})}, "spec": spec},
        },
    }


def volume(**source):
    return {"volumes": [{"name": "v", **source}]}


PROBE = {"httpGet": {"port": 80}}
PAIRS = {
    "restart policy": (workload(), workload(restartPolicy="Always")),
    "dns policy": (workload(), workload(dnsPolicy="ClusterFirst")),
    "another dns policy": (workload(), workload(dnsPolicy="Default")),
    "service links": (workload(), workload(enableServiceLinks=True)),
    "scheduler": (workload(), workload(schedulerName="default-scheduler")),
    "grace": (workload(), workload(terminationGracePeriodSeconds=30)),
    "no grace": (workload(), workload(terminationGracePeriodSeconds=0)),
    "security context of the pod": (workload(), workload(securityContext={})),
    "security context of a container": (workload(), workload(container={"securityContext": {}})),
    "no privileges": (workload(), workload(container={"securityContext": {"privileged": False}})),
    "no node network": (workload(), workload(hostNetwork=False)),
    "node network": (workload(), workload(hostNetwork=True)),
    "older name of the account": (workload(serviceAccountName="a"), workload(serviceAccount="a")),
    "both names of the account": (
        workload(serviceAccountName="a"),
        workload(serviceAccount="a", serviceAccountName="a"),
    ),
    "no tolerations": (workload(), workload(tolerations=[])),
    "no selector": (workload(), workload(nodeSelector={})),
    "no affinity": (workload(), workload(affinity={})),
    "no init containers": (workload(), workload(initContainers=[])),
    "no volumes": (workload(), workload(volumes=[])),
    "null": (workload(), workload(priorityClassName=None)),
    "no class": (workload(), workload(priorityClassName="")),
    "no runtime class": (workload(), workload(runtimeClassName=None)),
    "no annotations": (workload(), workload(metadata={"annotations": {}})),
    "an annotation": (workload(), workload(metadata={"annotations": {"a": ""}})),
    "no variables": (workload(), workload(container={"env": []})),
    "an empty variable": (
        workload(container={"env": [{"name": "A"}]}),
        workload(container={"env": [{"name": "A", "value": ""}]}),
    ),
    "order of variables": (
        workload(container={"env": [{"name": "A"}, {"name": "B"}]}),
        workload(container={"env": [{"name": "B"}, {"name": "A"}]}),
    ),
    "version of a field": (
        workload(container={"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]}),
        workload(
            container={
                "env": [{"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}}]
            }
        ),
    ),
    "pull policy of a tag": (workload(), workload(container={"imagePullPolicy": "IfNotPresent"})),
    "pull policy of the latest": (
        workload(container={"image": "registry.example.com:5000/i"}),
        workload(container={"image": "registry.example.com:5000/i", "imagePullPolicy": "Always"}),
    ),
    "pull policy of a digest": (
        workload(container={"image": f"registry.example.com/i@sha256:{'a' * 64}"}),
        workload(container={"image": f"registry.example.com/i@sha256:{'a' * 64}", "imagePullPolicy": "IfNotPresent"}),
    ),
    "no resources": (workload(), workload(container={"resources": {}})),
    "requests of limits": (
        workload(container={"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}),
        workload(
            container={
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}
            }
        ),
    ),
    "quantity": (
        workload(container={"resources": {"limits": {"cpu": "500m"}}}),
        workload(container={"resources": {"limits": {"cpu": "0.5"}}}),
    ),
    "number as quantity": (
        workload(container={"resources": {"limits": {"cpu": 1}}}),
        workload(container={"resources": {"limits": {"cpu": "1000m"}}}),
    ),
    "protocol": (
        workload(container={"ports": [{"containerPort": 80}]}),
        workload(container={"ports": [{"containerPort": 80, "protocol": "TCP"}]}),
    ),
    "port of the node": (
        workload(container={"ports": [{"containerPort": 80}]}, hostNetwork=True),
        workload(container={"ports": [{"containerPort": 80, "hostPort": 80}]}, hostNetwork=True),
    ),
    "no port of the node": (
        workload(container={"ports": [{"containerPort": 80}]}),
        workload(container={"ports": [{"containerPort": 80, "hostPort": 0}]}),
    ),
    "probe": (
        workload(container={"livenessProbe": PROBE}),
        workload(
            container={
                "livenessProbe": {
                    "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
                    "failureThreshold": 3,
                    "periodSeconds": 10,
                    "successThreshold": 1,
                    "timeoutSeconds": 1,
                }
            }
        ),
    ),
    "probe with zeros": (
        workload(container={"readinessProbe": PROBE}),
        workload(container={"readinessProbe": {**PROBE, "initialDelaySeconds": 0, "timeoutSeconds": 0}}),
    ),
    "grpc probe": (
        workload(container={"startupProbe": {"grpc": {"port": 80}}}),
        workload(container={"startupProbe": {"grpc": {"port": 80, "service": ""}}}),
    ),
    "hook": (
        workload(container={"lifecycle": {"preStop": {"httpGet": {"port": 80}}}}),
        workload(container={"lifecycle": {"preStop": {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}}}}),
    ),
    "empty folder": (workload(**volume()), workload(**volume(emptyDir={}))),
    "type of a host path": (
        workload(**volume(hostPath={"path": "/a"})),
        workload(**volume(hostPath={"path": "/a", "type": ""})),
    ),
    "mode of a map": (
        workload(**volume(configMap={"name": "m"})),
        workload(**volume(configMap={"name": "m", "defaultMode": 420})),
    ),
    "mode of a secret": (
        workload(**volume(secret={"secretName": "s"})),
        workload(**volume(secret={"secretName": "s", "defaultMode": 420})),
    ),
    "projected": (
        workload(**volume(projected={"sources": [{"serviceAccountToken": {"path": "t"}}]})),
        workload(
            **volume(
                projected={
                    "defaultMode": 420,
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
                }
            )
        ),
    ),
    "downward": (
        workload(**volume(downwardAPI={"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]})),
        workload(
            **volume(
                downwardAPI={
                    "defaultMode": 420,
                    "items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}}],
                }
            )
        ),
    ),
    "message of a container": (
        workload(),
        workload(
            container={"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"},
        ),
    ),
    "order of tolerations": (
        workload(tolerations=[{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]),
        workload(tolerations=[{"key": "b", "operator": "Exists"}, {"key": "a", "operator": "Exists"}]),
    ),
    "operator of a toleration": (
        workload(tolerations=[{"key": "a", "value": "b"}]),
        workload(tolerations=[{"key": "a", "value": "b", "operator": "Equal"}]),
    ),
    "order of capabilities": (
        workload(container={"securityContext": {"capabilities": {"add": ["A", "B"]}}}),
        workload(container={"securityContext": {"capabilities": {"add": ["B", "A"]}}}),
    ),
    "pods of a deployment": (workload("Deployment"), workload("Deployment", dnsPolicy="ClusterFirst")),
    "a label of the pods": (workload(), workload(metadata={"labels": {"app": "a", "b": "c"}})),
}


class Asked:
    """Asks the server whether it sees a change between two workloads."""

    def __init__(self, client):
        self.client = client
        self.number = 0

    def changes(self, old, new):
        self.number += 1
        old, new = self._named(old), self._named(new)
        place = self.client.resource(old["apiVersion"], old["kind"])
        created = self.client.request("POST", place.path("default"), old)
        assert created.taken, created.message
        path = place.path("default", old["metadata"]["name"])
        updated = self.client.request("PUT", path, new)
        assert updated.taken, updated.message
        self.client.request("DELETE", path)
        return updated.body["metadata"]["generation"] != created.body["metadata"]["generation"]

    def _named(self, item):
        body = deepcopy(item)
        body["metadata"] = {"name": f"x{self.number}", "namespace": "default"}
        return body


@pytest.fixture(scope="module")
def asked(control_plane):
    server = control_plane.scenario()
    yield Asked(server.client())
    server.end()


@pytest.mark.parametrize("name", PAIRS)
def test_what_the_server_sees_no_change_in_replaces_no_pod(asked, name):
    old, new = PAIRS[name]

    assert bool(template_changes(old, new, "1.34")) is asked.changes(old, new)
    assert bool(template_changes(new, old, "1.34")) is asked.changes(new, old)


def test_the_stored_form_of_each_workload_of_the_sample_is_the_servers(asked):
    project = open_project(REPOSITORY)
    tried = 0
    for cluster in CLUSTERS:
        for item in rolled_workloads(seen_cluster(project, cluster), {}).values():
            stored = deepcopy(item.body)
            stored["spec"]["template"] = stored_template(item.body, "1.34")

            assert not asked.changes(item.body, stored), item.key
            tried += 1
    assert tried > 50


def test_the_server_sees_the_changes_of_random_edits(asked, tmp_path):
    project = open_project(REPOSITORY)
    seen = set()
    for number in range(120 if DEEP else 40):
        cluster = CLUSTERS[number % len(CLUSTERS)]
        before = rolled_workloads(seen_cluster(project, cluster), {})
        with on_disk(edited(FILES, cluster, number * 40)[0]) as folder:
            side = seen_cluster(open_project(folder).beside(project), cluster)
        after = rolled_workloads(side, {})
        for key in before.keys() & after.keys():
            old, new = deepcopy(before[key].body), deepcopy(after[key].body)
            new["spec"] = {**old["spec"], "template": new["spec"]["template"]}
            told = bool(template_changes(old, new, "1.34"))

            assert asked.changes(old, new) is told, (cluster, number, key)
            seen.add(told)
    assert seen == {True, False}


def stored_by(asked, item):
    """What the server answers to a workload, without making it."""
    place = asked.client.resource(item["apiVersion"], item["kind"])
    answer = asked.client.request("POST", f"{place.path('default')}?dryRun=All", item)
    assert answer.taken, answer.message
    template = answer.body["spec"]["template"]
    template["metadata"].pop("creationTimestamp", None)
    return template


@pytest.mark.parametrize("name", PAIRS)
def test_the_stored_form_is_the_servers_field_by_field(asked, name):
    for item in PAIRS[name]:
        assert stored_template(item, "1.34") == stored_by(asked, item)


def test_the_stored_form_of_random_pods_is_the_servers_field_by_field(asked):
    @settings(max_examples=600 if DEEP else 150, deadline=None, database=None)
    @given(POD_SPECS)
    def same(spec):
        item = daemon_set(spec)

        assert stored_template(item, "1.34") == stored_by(asked, item)

    same()


@pytest.mark.parametrize("image", sorted(image for image in IMAGES if " " not in image), ids=lambda image: image[:40])
def test_the_pull_policy_is_the_servers(asked, image):
    (container,) = stored_by(asked, workload(container={"image": image}))["spec"]["containers"]

    assert container["imagePullPolicy"] == IMAGES[image]
