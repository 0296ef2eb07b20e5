"""Which reads of an expression depend on what the API server fills in."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.pod_template import WORKLOAD_KINDS
from poolsmith.kubernetes.server.defaults import defaulted_paths, depends_on_defaulting
from poolsmith.kubernetes.server.pod_defaults import fill_pod


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("Pod", "spec.restartPolicy"),
        ("Pod", "spec.securityContext"),
        ("Pod", "spec.containers.*.imagePullPolicy"),
        ("Pod", "spec.containers.0.imagePullPolicy"),
        ("Pod", "spec.ephemeralContainers.*.terminationMessagePath"),
        ("Pod", "spec.tolerations.*.key"),
        ("Pod", "spec.serviceAccountName"),
        ("Pod", "spec.containers.*.resources.requests.cpu"),
        ("Pod", "metadata.uid"),
        ("DaemonSet", "spec.template.spec.dnsPolicy"),
        ("DaemonSet", "spec.updateStrategy.type"),
        ("Deployment", "spec.replicas"),
        ("CronJob", "spec.jobTemplate.spec.template.spec.initContainers.*.ports.*.protocol"),
        ("PodTemplate", "template.spec.volumes.*.secret.defaultMode"),
        ("Service", "spec.type"),
        ("Service", "spec.ports.*.targetPort"),
        ("Secret", "type"),
        ("ClusterPolicy", "metadata.creationTimestamp"),
    ],
)
def test_fields_that_are_filled_in(kind, path):
    assert depends_on_defaulting(kind, tuple(path.split(".")))


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("Pod", "spec"),
        ("Pod", "spec.containers"),
        ("Pod", "spec.hostNetwork"),
        ("Pod", "spec.securityContext.runAsNonRoot"),
        ("Pod", "spec.containers.*.image"),
        ("Pod", "spec.containers.*.securityContext.privileged"),
        ("Pod", "metadata.labels"),
        ("DaemonSet", "spec.template.spec.tolerations.*.key"),
        ("DaemonSet", "spec.restartPolicy"),
        ("Deployment", "spec.template.metadata.annotations"),
        ("ClusterPolicy", "spec.driver.enabled"),
    ],
)
def test_fields_that_nobody_fills_in(kind, path):
    assert not depends_on_defaulting(kind, tuple(path.split(".")))


@pytest.mark.parametrize("kind", WORKLOAD_KINDS)
def test_each_kind_of_workload_has_the_defaults_of_its_pods(kind):
    assert len(defaulted_paths(kind)) > 100


def test_what_we_fill_into_pods_ourselves_is_known_to_be_filled_in():
    pod = {
        "hostNetwork": True,
        "containers": [
            {
                "name": "a",
                "image": "b",
                "ports": [{"containerPort": 80}],
                "livenessProbe": {"httpGet": {}},
                "resources": {"limits": {"cpu": "1"}},
                "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "b"}}}],
            }
        ],
        "volumes": [{"name": "a"}, {"name": "b", "hostPath": {}}, {"name": "c", "secret": {}}],
    }
    before = set(_leaves(pod, ("spec",)))
    fill_pod(pod)
    added = {path for path in _leaves(pod, ("spec",)) if path not in before}

    assert len(added) > 15
    assert [path for path in sorted(added) if not depends_on_defaulting("Pod", path)] == []


def _leaves(value, path):
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for item in value:
            yield from _leaves(item, (*path, "*"))
    else:
        yield path
