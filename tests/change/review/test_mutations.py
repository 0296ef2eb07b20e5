"""Each object that the sample fleet comes to, widened in each field that gives a pod power: the review sees it.

Made from what is predicted for all clusters, and from tables of fields; which values reach which field is for
tests/pull_requests, and what charts make of values for tests/operands.
"""

from __future__ import annotations

from copy import deepcopy

import pytest

from change.review.contexts import CONTEXTS
from poolsmith.change.review.object_settings import protections_of, settings_of
from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, pod_template_of
from poolsmith.guard.ledger.workload_privileges import pod_privileges
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project
from support.circles import DEEP

IN_PODS = {
    "hostPID": True,
    "hostIPC": True,
    "hostNetwork": True,
    "hostUsers": True,
    "shareProcessNamespace": True,
    "priorityClassName": "of-somebody",
    "serviceAccountName": "of-somebody",
    "runtimeClassName": "of-somebody",
    "schedulerName": "of-somebody",
    "nodeName": "of-somebody",
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["nvcr.io"]}],
    "dnsConfig": {"nameservers": ["10.0.0.1"]},
    "tolerations": [{"operator": "Exists"}, {"key": "node-role.kubernetes.io/control-plane"}],
    "resourceClaims": [{"name": "x", "resourceClaimName": "x"}],
    "volumes": [
        {"name": "x1", "hostPath": {"path": "/of-somebody"}},
        {"name": "x2", "configMap": {"name": "of-somebody"}},
        {"name": "x3", "secret": {"secretName": "of-somebody"}},
        {"name": "x4", "csi": {"driver": "of-somebody"}},
        {"name": "x5", "nfs": {"server": "of-somebody", "path": "/"}},
        {"name": "x6", "projected": {"sources": [{"secret": {"name": "of-somebody"}}]}},
        {"name": "x7", "persistentVolumeClaim": {"claimName": "of-somebody"}},
        {"name": "x8", "image": {"reference": "of-somebody"}},
    ],
    "initContainers": [{"name": "of-somebody", "image": "of-somebody"}],
    "containers": [{"name": "of-somebody", "image": "of-somebody"}],
    "ephemeralContainers": [{"name": "of-somebody", "image": "of-somebody"}],
    "of-the-future": {"a": [{"b": 1}]},
}
IN_CONTAINERS = {
    "image": "registry.example.org/of-somebody:v1",
    "command": ["of-somebody"],
    "args": ["of-somebody"],
    "workingDir": "/of-somebody",
    "stdin": True,
    "lifecycle": {"postStart": {"exec": {"command": ["of-somebody"]}}},
    "livenessProbe": {"exec": {"command": ["of-somebody"]}},
    "readinessProbe": {"tcpSocket": {"host": "10.9.9.9", "port": 1}},
    "env": [
        {"name": "LD_PRELOAD", "value": "/of-somebody"},
        {"name": "OF_A_SECRET", "valueFrom": {"secretKeyRef": {"name": "of-somebody", "key": "x"}}},
    ],
    "envFrom": [{"secretRef": {"name": "of-somebody"}}],
    "volumeMounts": [{"name": "x1", "mountPath": "/of-somebody"}],
    "volumeDevices": [{"name": "x1", "devicePath": "/dev/of-somebody"}],
    "ports": [{"containerPort": 1, "hostPort": 65000}],
    "of-the-future": "x",
}
IN_CONTEXTS = {
    **CONTEXTS,
    "capabilities": {"add": ["OF_SOMEBODY"]},
    "seLinuxOptions": {"type": "of-somebody"},
    "of-the-future": "x",
}
IN_POD_CONTEXTS = {
    "sysctls": [{"name": "kernel.of_somebody", "value": "1"}],
    "supplementalGroups": [0],
    "fsGroup": 0,
    **IN_CONTEXTS,
}
ANNOTATIONS = (
    "io.kubernetes.cri-o.Devices",
    "devices.nri.io/pod",
    "io.katacontainers.config.hypervisor.path",
    "container.apparmor.security.beta.kubernetes.io/x",
    "k8s.v1.cni.cncf.io/networks",
)
FEWEST_WORKLOADS, FEWEST_MUTATIONS = 100, 8_000
EACH = 5
"""An ordinary run takes each so-many-th workload."""


@pytest.fixture(scope="module")
def workloads(repository):
    """All workloads that the sample fleet comes to, by cluster and key: pods, hooks and what operands start."""
    project = open_project(repository)
    found = {}
    for files in project.fleet.clusters:
        prediction = plan_cluster(project, files).prediction
        assert prediction is not None
        made = prediction.installation.made
        found |= {f"{files.name}/{item.key}": item.body for item in made if pod_template_of(item.body) is not None}
    return found


def mutations(body):
    """The object once for each field, with what was done."""
    template = pod_template_of(body)
    for key in ANNOTATIONS:
        changed, pod = opened(body)
        pod["metadata"] = {**pod.get("metadata", {})}
        pod["metadata"]["annotations"] = {**(pod["metadata"].get("annotations") or {}), key: "of-somebody"}
        yield f"annotation {key}", changed
    yield from widened(body, (), IN_PODS, "pod")
    yield from widened(body, ("securityContext",), IN_POD_CONTEXTS, "context of the pod")
    for field in CONTAINER_FIELDS:
        for index in range(len(template["spec"].get(field) or ())):
            yield from widened(body, (field, index), IN_CONTAINERS, f"{field} {index}")
            yield from widened(body, (field, index, "securityContext"), IN_CONTEXTS, f"context of {field} {index}")


def widened(body, path, fields, where):
    for name, value in fields.items():
        for item in value if isinstance(value, list) and name not in ("command", "args") else (value,):
            changed, pod = opened(body)
            node = pod["spec"]
            for key in path:
                node = node.setdefault(key, {}) if isinstance(node, dict) else node[key]
            now = node.get(name)
            if isinstance(value, list) and name not in ("command", "args"):
                node[name] = [*(now or ()), item]
            else:
                node[name] = {**now, **value} if isinstance(now, dict) and isinstance(value, dict) else value
            if node[name] != now:
                yield f"{where}: {name} {item}", changed


def opened(body):
    changed = deepcopy(body)
    return changed, pod_template_of(changed)


def seen(body):
    return set(settings_of(body)), set(protections_of(body))


def is_wider(before, after):
    """Whether a setting is new, or a protection gone."""
    return bool(after[0] - before[0] or before[1] - after[1])


@pytest.mark.deep("every field of every workload; the table of fields stays")
def test_no_widening_of_any_workload_is_overlooked(workloads):
    tried, unseen = 0, []
    distinct = {repr(body): (key, body) for key, body in workloads.items()}
    for key, body in list(distinct.values())[:: 1 if DEEP else EACH]:
        before = seen(body)
        for what, changed in mutations(body):
            tried += 1
            if not is_wider(before, seen(changed)):
                unseen.append(f"{key}: {what}")

    assert unseen == []
    assert len(workloads) >= FEWEST_WORKLOADS
    assert tried >= FEWEST_MUTATIONS // (1 if DEEP else EACH)


def test_whatever_the_ledger_gains_is_a_setting_too(workloads):
    """No privilege is gained without a setting that says where from."""
    key, body = next(iter(workloads.items()))
    for what, changed in mutations(body):
        held = set(pod_privileges(pod_template_of(changed))) - set(pod_privileges(pod_template_of(body)))
        assert not held or is_wider(seen(body), seen(changed)), f"{key}: {what}"
