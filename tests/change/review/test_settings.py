"""What counts as a setting that somebody has to accept: fields of predicted objects, by what they give."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy

import pytest

from change.review.contexts import CONTEXTS
from poolsmith.change.review.free_names import free_names, is_free, is_free_value
from poolsmith.change.review.object_settings import protections_of, settings_of, ways_to_control_plane

DAEMON_SET = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "operand", "namespace": "gpu-operator"},
    "spec": {
        "selector": {"matchLabels": {"app": "operand"}},
        "template": {
            "metadata": {"labels": {"app": "operand"}},
            "spec": {
                "containers": [{"name": "main", "image": "nvcr.io/nvidia/operand:v1"}],
                "initContainers": [{"name": "first", "image": "nvcr.io/nvidia/operand:v1"}],
            },
        },
    },
}


def with_pod(**fields):
    item = deepcopy(DAEMON_SET)
    item["spec"]["template"]["spec"] |= fields
    return item


def with_container(**fields):
    item = deepcopy(DAEMON_SET)
    item["spec"]["template"]["spec"]["containers"][0] |= fields
    return item


def with_annotation(key, value="x"):
    item = deepcopy(DAEMON_SET)
    item["spec"]["template"]["metadata"]["annotations"] = {key: value}
    return item


def gained(item):
    return set(settings_of(item)) - set(settings_of(DAEMON_SET))


VOLUMES = {
    "configMap": {"name": "of-somebody"},
    "secret": {"secretName": "of-somebody"},
    "hostPath": {"path": "/etc"},
    "persistentVolumeClaim": {"claimName": "data"},
    "csi": {"driver": "secrets-store.csi.k8s.io"},
    "projected": {"sources": [{"serviceAccountToken": {"path": "token", "audience": "vault"}}]},
    "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}},
    "image": {"reference": "evil.example.com/x:1"},
    "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]},
    "nfs": {"server": "evil.example.com", "path": "/"},
    "volumeTypeOfTheFuture": {"any": "thing"},
}
OF_PODS = {
    "hostPID": True,
    "hostNetwork": True,
    "hostIPC": True,
    "hostUsers": True,
    "shareProcessNamespace": True,
    "priorityClassName": "system-node-critical",
    "priority": 2_000_001_000,
    "serviceAccountName": "admin",
    "automountServiceAccountToken": True,
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["nvcr.io"]}],
    "runtimeClassName": "runc-privileged",
    "schedulerName": "of-somebody",
    "nodeName": "control-plane-1",
    "dnsConfig": {"nameservers": ["10.0.0.1"]},
    "hostname": "other",
    "tolerations": [{"operator": "Exists"}],
    "securityContext": {"sysctls": [{"name": "kernel.core_pattern", "value": "|/x"}]},
    "resourceClaims": [{"name": "gpu", "resourceClaimName": "all"}],
    "fieldOfTheFuture": True,
}
OF_CONTAINERS = {
    "command": ["sh"],
    "args": ["-c", "true"],
    "image": "nvcr.io/nvidia/other:v1",
    "workingDir": "/host",
    "env": [{"name": "LD_PRELOAD", "value": "/x.so"}],
    "envFrom": [{"secretRef": {"name": "all"}}],
    "volumeMounts": [{"name": "x", "mountPath": "/usr/bin"}],
    "volumeDevices": [{"name": "x", "devicePath": "/dev/x"}],
    "livenessProbe": {"exec": {"command": ["sh"]}},
    "readinessProbe": {"httpGet": {"host": "10.0.0.1", "port": 80}},
    "lifecycle": {"postStart": {"exec": {"command": ["sh"]}}},
    "ports": [{"containerPort": 80, "hostPort": 80}],
    "resources": {"claims": [{"name": "gpu"}]},
    "restartPolicy": "Always",
    "stdin": True,
    "terminationMessagePath": "/etc/passwd",
    "securityContext": {"privileged": True},
    "fieldOfTheFuture": {"any": "thing"},
}
FREE = {
    "resources": with_container(resources={"limits": {"memory": "1Gi"}, "requests": {"cpu": "1"}}),
    "the tag": with_container(image="nvcr.io/nvidia/operand:v2"),
    "the digest": with_container(image="nvcr.io/nvidia/operand@sha256:" + "0" * 64),
    "when it is pulled": with_container(imagePullPolicy="Always"),
    "log level": with_container(env=[{"name": "LOG_LEVEL", "value": "debug"}]),
    "how often it is asked": with_container(livenessProbe={"periodSeconds": 5, "httpGet": {"port": 80, "path": "/"}}),
    "pages": with_container(resources={"limits": {"hugepages-2Mi": "4Mi", "ephemeral-storage": "1Gi"}}),
    "more of what is logged": with_container(args=["-v=4"]),
    "one of several copies": with_container(args=["-enable-leader-election"]),
    "less": with_container(securityContext={"readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}),
    "another user": with_container(securityContext={"runAsUser": 1000, "runAsNonRoot": True}),
    "fewer nodes": with_pod(nodeSelector={"gpu": "a100"}, affinity={"nodeAffinity": {"x": 1}}),
    "a taint of a pool": with_pod(tolerations=[{"key": "example.com/gpu", "operator": "Exists"}]),
    "no token": with_pod(automountServiceAccountToken=False),
    "a label": {**DAEMON_SET, "metadata": {**DAEMON_SET["metadata"], "labels": {"team": "gpu"}}},
    "an annotation": with_annotation("example.com/owner", "gpu"),
    "what Prometheus reads": with_annotation("prometheus.io/scrape", "true"),
}


@pytest.mark.parametrize("field", OF_PODS)
def test_each_field_of_a_pod_that_gives_something_counts(field):
    assert any(field in text for text in gained(with_pod(**{field: OF_PODS[field]})))


@pytest.mark.parametrize("field", OF_CONTAINERS)
def test_each_field_of_a_container_that_gives_something_counts(field):
    assert any(field in text for text in gained(with_container(**{field: OF_CONTAINERS[field]})))


@pytest.mark.parametrize("field", CONTEXTS)
@pytest.mark.parametrize("place", ("pod", "container"))
def test_each_field_of_a_security_context_that_gives_something_counts(field, place):
    made = with_pod if place == "pod" else with_container

    assert any(field in text for text in gained(made(securityContext={field: CONTEXTS[field]})))


@pytest.mark.parametrize("kind", VOLUMES)
def test_a_volume_counts_with_its_source(kind):
    found = gained(with_pod(volumes=[{"name": "x", kind: VOLUMES[kind]}]))

    assert any(f"volumes[x].{kind}" in text for text in found)
    for word in json.dumps(list(leaves(VOLUMES[kind]))).strip("[]").split(", "):
        assert any(word.strip('"') in text for text in found)


def leaves(node):
    if isinstance(node, Mapping):
        for value in node.values():
            yield from leaves(value)
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value)
    else:
        yield node


@pytest.mark.parametrize("what", FREE)
def test_what_gives_nothing_is_free(what):
    assert gained(FREE[what]) == set()


@pytest.mark.parametrize(
    "key",
    (
        "io.kubernetes.cri-o.Devices",
        "io.kubernetes.cri-o.userns-mode",
        "devices.nri.io/container.main",
        "io.katacontainers.config.hypervisor.kernel_params",
        "io.containerd.rdt-class",
        "container.apparmor.security.beta.kubernetes.io/main",
        "container.seccomp.security.alpha.kubernetes.io/main",
        "cdi.k8s.io/gpu",
        "nvidia.cdi.k8s.io/container.main",
        "run.oci.keep_original_groups",
        "org.systemd.property.DeviceAllow",
        "k8s.v1.cni.cncf.io/networks",
        "sidecar.istio.io/inject",
        "vault.hashicorp.com/agent-inject",
        "pod-security.kubernetes.io/enforce",
        "nvidia.com/gpu.deploy.driver",
        "cluster-autoscaler.kubernetes.io/safe-to-evict",
        "argocd.argoproj.io/sync-options",
        "kustomize.toolkit.fluxcd.io/prune",
        "helm.sh/hook",
    ),
)
def test_what_a_runtime_or_a_controller_obeys_counts(key):
    assert gained(with_annotation(key))


@pytest.mark.parametrize(
    ("key", "value"),
    (
        ("team", "gpu"),
        ("example.com/owner", "gpu"),
        ("app.kubernetes.io/part-of", "gpu"),
        ("prometheus.io/port", "9400"),
        ("kubernetes.io/description", "GPUs of the edge"),
    ),
)
def test_what_nobody_obeys_is_free(key, value):
    assert is_free("metadata", key, value)
    assert gained(with_annotation(key, value)) == set()


@pytest.mark.parametrize("name", free_names("variables"))
def test_a_variable_is_free_by_its_exact_name_in_its_form(name):
    def found(name, value):
        return gained(with_container(env=[{"name": name, "value": value}]))

    assert any(not found(name, value) for value in ("1", "true", "json", "uid", "index", "none", "UTC", "C", "debug"))
    assert all(found(name, value) for value in ("/etc/cron.d/x", "evil\nhostPID", "http://evil.example.com"))
    assert all(found(f"{name}{more}", "1") for more in ("S", "_FILE", "_DIR"))


@pytest.mark.parametrize(
    "name",
    (
        "NVIDIA_CONTAINER_RUNTIME_DEBUG",
        "NVIDIA_CONTAINER_CLI_DEBUG",
        "GFD_OUTPUT_FILE",
        "GFD_MACHINE_TYPE_FILE",
        "DCGM_EXPORTER_COLLECTORS",
        "DCGM_EXPORTER_CONFIGMAP_DATA",
        "DCGM_EXPORTER_REMOTE_HOSTENGINE_INFO",
        "DCGM_EXPORTER_WEB_CONFIG_FILE",
        "SOMETHING_LOG_LEVEL",
        "SOMETHING_VERBOSE",
        "debug",
    ),
)
def test_a_variable_that_only_looks_harmless_counts(name):
    assert gained(with_container(env=[{"name": name, "value": "1"}]))


@pytest.mark.parametrize(
    "name", ("devices.kubevirt.io/kvm", "nvidia.com/gpu", "hugepages-3Mi", "cpus", "smarter-devices/fuse")
)
@pytest.mark.parametrize("part", ("limits", "requests"))
def test_a_resource_that_is_a_device_counts(name, part):
    assert gained(with_container(resources={part: {name: "1"}}))


ARGUMENTS = {
    "another value": (["-a=2", "-b"], {"args[-a]=2"}),
    "one more": (["-a=1", "-b", "-c", "x"], {"args[-c]=x"}),
    "the same name again": (["-a=1", "-b", "-a=3"], {"args[-a#2]=3"}),
    "the same in another order": (["-b", "-a=1"], set()),
    "the same apart": (["-a", "1", "-b"], set()),
    "a word of nobody's": (["evil", "-a=1", "-b"], {'args=["evil", "-a=1", "-b"]'}),
    "two words behind a name": (["-a=1", "evil", "-b"], {'args=["-a=1", "evil", "-b"]'}),
    "an end of names": (["-a=1", "--", "-b"], {'args=["-a=1", "--", "-b"]'}),
    "a free one": (["-a=1", "-b", "-enable-leader-election"], set()),
    "a free one with a word": (["-a=1", "-b", "-v", "/x"], {"args[-v]=/x"}),
}


@pytest.mark.parametrize("what", ARGUMENTS)
def test_arguments_are_judged_one_by_one(what):
    now, expected = ARGUMENTS[what]
    before = with_container(args=["-a=1", "-b"])
    found = set(settings_of(with_container(args=now))) - set(settings_of(before))

    assert found == {f"spec.containers[main].{text}" for text in expected}


def test_an_argument_that_is_gone_is_missed():
    lost = set(protections_of(with_container(args=["-a=1", "-b", "-v=2"])))
    lost -= set(protections_of(with_container(args=["-a=2"])))

    assert lost == {"spec.containers[main].args[-b]"}


def test_of_two_variables_with_one_name_the_last_counts():
    item = with_container(env=[{"name": "IMAGE", "value": "good"}, {"name": "IMAGE", "value": "evil"}])

    assert gained(item) == {"spec.containers[main].env[IMAGE].value=evil"}


@pytest.mark.parametrize(
    "toleration",
    (
        {"operator": "Exists"},
        {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
        {"key": "node-role.kubernetes.io/master", "operator": "Exists"},
        {"key": ""},
    ),
)
def test_the_way_to_the_control_plane_counts(toleration):
    item = with_pod(tolerations=[toleration])

    assert list(ways_to_control_plane(item))
    assert gained(item)


def test_a_choice_of_the_nodes_of_the_control_plane_counts():
    item = with_pod(nodeSelector={"node-role.kubernetes.io/control-plane": ""})

    assert list(ways_to_control_plane(item)) == ["spec.nodeSelector.node-role.kubernetes.io/control-plane="]


def test_what_keeps_a_pod_in_its_place_is_known():
    item = with_pod(nodeSelector={"gpu": "a100"}, automountServiceAccountToken=False)
    item["spec"]["template"]["spec"]["containers"][0] |= {
        "securityContext": {"runAsUser": 1000, "capabilities": {"drop": ["ALL"]}},
        "env": [{"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"}],
    }

    assert sorted(protections_of(item)) == [
        "spec.automountServiceAccountToken",
        "spec.containers[main].env[ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED].value",
        "spec.containers[main].securityContext.capabilities.drop[]",
        "spec.containers[main].securityContext.runAsUser",
        "spec.nodeSelector.gpu=a100",
    ]


@pytest.mark.parametrize("kind", ("Namespace", "ClusterRoleBinding", "ConfigMap", "NVIDIADriver", "KindOfTheFuture"))
def test_an_object_of_any_kind_counts_even_if_it_is_empty(kind):
    assert set(settings_of({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}})) == {f"kind={kind}"}


SAMPLES = (True, "v1.2.3", "1", "30s", "none", "on", "debug", "RollingUpdate", "25%")


@pytest.mark.parametrize("path", free_names("values"))
def test_a_value_of_the_table_is_free_in_its_form_only(path):
    keys = tuple(path.split("."))

    assert any(is_free_value(keys, value) for value in SAMPLES)
    assert not any(is_free_value(keys, value) for value in ("/etc/cron.d/x", "1\nhostPID: true", ["x"], {"x": 1}))
    assert not any(is_free_value((*keys[:-1], f"{keys[-1]}{more}"), value) for value in SAMPLES for more in ("s", "2"))


@pytest.mark.parametrize(
    ("path", "value"),
    (
        (("toolkit", "env"), []),
        (("devicePlugin", "resources", "limits", "devices.kubevirt.io/kvm"), 1),
        (("devicePlugin", "resources", "limits", "cpu"), "1\nhostPID: true"),
        (("devicePlugin", "resources", "claims"), [{"name": "x"}]),
        (("driver", "version"), "1\nhostPID: true"),
        (("toolkit", "imagePullPolicy"), "Always\nhostPID: true"),
        (("dcgmExporter", "serviceMonitor", "additionalLabels", "argocd.argoproj.io/instance"), "x"),
        (("devicePlugin", "config", "data", "x"), "flags: {gfd: {outputFile: /etc/cron.d/x}}"),
        (("devicePlugin", "config", "data", "x"), "flags: {Plugin: {deviceListStrategy: volume-mounts}}"),
        (("devicePlugin", "config", "data", "x"), "{{ evil }}"),
        (("component", "of", "the", "future", "enabled"), True),
        (("psa", "enabled"), True),
        (("driver", "enabled"), "true\nhostPID: true"),
        (("node-feature-discovery", "worker", "enabled"), True),
        (("toolkit", "image"), "x"),
        (("extraObjects",), []),
        (("node-feature-discovery", "worker", "config", "sources", "local", "hooksEnabled"), True),
    ),
)
def test_other_values_count(path, value):
    assert not is_free_value(path, value)
