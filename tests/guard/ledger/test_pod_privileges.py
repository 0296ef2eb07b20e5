"""What a pod template asks for, pod level and each container."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.pod_template import WORKLOAD_KINDS, account_of, pod_template_of
from poolsmith.guard.ledger.workload_privileges import pod_privileges

CLOSED = {"allowPrivilegeEscalation": False}


def held(pod, annotations=None):
    """`container token` for each, without the container for the pod."""
    template = {"metadata": {"annotations": annotations or {}}, "spec": pod}
    return [f"{container} {token}".strip() for container, token in pod_privileges(template)]


def of_context(own, whole=None, annotations=None):
    """What one container named c holds, that gives up escalation unless it says otherwise."""
    pod = {"containers": [{"name": "c", "securityContext": {**CLOSED, **own}}], "securityContext": whole or {}}
    return [text.removeprefix("c ") for text in held(pod, annotations)]


def of_mount(path, mount):
    pod = {
        "volumes": [{"name": "v", "hostPath": {"path": path}}],
        "containers": [{"name": "c", "securityContext": CLOSED, "volumeMounts": [{"name": "v", **mount}]}],
    }
    (token,) = held(pod)
    return token.removeprefix("c host-path:")


def test_a_container_that_gives_up_escalation_holds_nothing():
    assert held({"containers": [{"name": "c", "image": "x", "securityContext": CLOSED}]}) == []


def test_a_container_that_says_nothing_may_escalate_as_the_api_has_it_by_default():
    assert held({"containers": [{"name": "c", "image": "x"}]}) == ["c allow-escalation"]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"allowPrivilegeEscalation": True}, ["allow-escalation"]),
        ({"privileged": False}, []),
        (
            {"capabilities": {"add": ["SYS_ADMIN", "cap_net_raw"], "drop": ["ALL"]}},
            ["capability:NET_RAW", "capability:SYS_ADMIN"],
        ),
        ({"seccompProfile": {"type": "Unconfined"}}, ["seccomp:unconfined"]),
        ({"seccompProfile": {"type": "RuntimeDefault"}}, []),
        ({"appArmorProfile": {"type": "Unconfined"}}, ["apparmor:unconfined"]),
        ({"appArmorProfile": {"type": "Localhost", "localhostProfile": "x"}}, []),
        ({"seLinuxOptions": {"type": "spc_t"}}, ["selinux:spc_t"]),
        ({"seLinuxOptions": {"level": "s0"}}, []),
        ({"procMount": "Unmasked"}, ["proc-mount:unmasked"]),
        ({"procMount": "Default"}, []),
        ({"runAsUser": 0}, ["run-as-root"]),
        ({"runAsUser": 0, "runAsNonRoot": True}, ["run-as-root"]),
        ({"runAsNonRoot": False}, ["run-as-root"]),
        ({"runAsNonRoot": False, "runAsUser": 1000}, []),
        ({"runAsGroup": 0}, []),
        ({"windowsOptions": {"hostProcess": True}}, ["privileged"]),
    ],
)
def test_what_a_security_context_says_is_listed(own, expected):
    assert of_context(own) == expected


@pytest.mark.parametrize(
    ("own", "whole", "expected"),
    [
        ({}, {"runAsUser": 0}, ["run-as-root"]),
        ({"runAsUser": 1000}, {"runAsUser": 0}, []),
        ({}, {"runAsNonRoot": False}, ["run-as-root"]),
        ({"runAsNonRoot": True}, {"runAsNonRoot": False}, []),
        ({"runAsNonRoot": False}, {"runAsUser": 1000}, []),
        ({}, {"seccompProfile": {"type": "Unconfined"}}, ["seccomp:unconfined"]),
        ({"seccompProfile": {"type": "RuntimeDefault"}}, {"seccompProfile": {"type": "Unconfined"}}, []),
        ({}, {"appArmorProfile": {"type": "Unconfined"}}, ["apparmor:unconfined"]),
        ({}, {"seLinuxOptions": {"type": "spc_t"}}, ["selinux:spc_t"]),
        # runtimes take what is left out here from the sandbox of the pod
        ({"seLinuxOptions": {"level": "s0"}}, {"seLinuxOptions": {"type": "spc_t"}}, ["selinux:spc_t"]),
        ({"seLinuxOptions": {"type": "container_t"}}, {"seLinuxOptions": {"type": "spc_t"}}, ["selinux:container_t"]),
        ({}, {"windowsOptions": {"hostProcess": True}}, ["privileged"]),
        ({"windowsOptions": {}}, {"windowsOptions": {"hostProcess": True}}, ["privileged"]),
    ],
)
def test_a_container_overrules_its_pod_field_by_field(own, whole, expected):
    assert of_context(own, whole) == expected


@pytest.mark.parametrize(
    ("own", "whole", "annotation", "expected"),
    [
        ({}, {}, "unconfined", ["apparmor:unconfined"]),
        ({}, {}, "runtime/default", []),
        ({}, {"appArmorProfile": {"type": "Unconfined"}}, "runtime/default", []),
        ({"appArmorProfile": {"type": "Unconfined"}}, {}, "runtime/default", ["apparmor:unconfined"]),
        ({"appArmorProfile": {"type": "RuntimeDefault"}}, {}, "unconfined", ["apparmor:unconfined"]),
    ],
)
def test_the_apparmor_annotation_counts_as_the_field(own, whole, annotation, expected):
    assert of_context(own, whole, {"container.apparmor.security.beta.kubernetes.io/c": annotation}) == expected


def test_of_a_privileged_container_nothing_is_listed_that_follows_from_it():
    everything = {
        "privileged": True,
        "allowPrivilegeEscalation": True,
        "capabilities": {"add": ["ALL"]},
        "seccompProfile": {"type": "Unconfined"},
        "appArmorProfile": {"type": "Unconfined"},
        "seLinuxOptions": {"type": "spc_t"},
        "procMount": "Unmasked",
    }

    assert of_context(everything) == ["privileged"]
    assert of_context({"privileged": True, "runAsUser": 0}) == ["privileged", "run-as-root"]


def test_the_namespaces_of_the_node_and_kernel_settings_are_the_pod_s():
    pod = {
        "hostPID": True,
        "hostIPC": True,
        "hostNetwork": True,
        "securityContext": {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]},
        "containers": [],
    }

    assert held(pod) == ["host-ipc", "host-network", "host-pid", "sysctl:net.core.somaxconn"]


def test_each_sort_of_container_counts():
    context = {"securityContext": {"privileged": True}}
    pod = {
        "initContainers": [{"name": "a", **context}],
        "containers": [{"name": "b", **context}],
        "ephemeralContainers": [{"name": "c", **context}],
    }

    assert held(pod) == ["a privileged", "b privileged", "c privileged"]


def test_ports_of_the_node_are_listed_once():
    ports = [{"containerPort": 1, "hostPort": 53, "protocol": protocol} for protocol in ("TCP", "UDP")]
    pod = {
        "containers": [
            {"name": "c", "securityContext": CLOSED, "ports": [*ports, {"containerPort": 2}, {"hostPort": 0}]}
        ]
    }

    assert held(pod) == ["c host-port:53"]


@pytest.mark.parametrize(
    ("mount", "expected"),
    [
        ({}, "/run/nvidia:rw:none"),
        ({"readOnly": True}, "/run/nvidia:ro:none"),
        ({"readOnly": True, "recursiveReadOnly": "Enabled"}, "/run/nvidia:ro:none"),
        ({"readOnly": False}, "/run/nvidia:rw:none"),
        ({"mountPropagation": "None"}, "/run/nvidia:rw:none"),
        ({"mountPropagation": "HostToContainer", "readOnly": True}, "/run/nvidia:ro:host-to-container"),
        ({"mountPropagation": "Bidirectional"}, "/run/nvidia:rw:bidirectional"),
        ({"subPath": "driver/lib"}, "/run/nvidia/driver/lib:rw:none"),
        ({"subPathExpr": "driver"}, "/run/nvidia/driver:rw:none"),
        ({"subPathExpr": "pods/$(POD_NAME)"}, "/run/nvidia:rw:none"),
        ({"subPath": "$(POD_NAME)"}, "/run/nvidia/$(POD_NAME):rw:none"),
        ({"subPath": "./a//b/"}, "/run/nvidia/a/b:rw:none"),
        ({"subPath": ".."}, "/run/nvidia:rw:none"),
        ({"subPath": "a/../../.."}, "/run/nvidia:rw:none"),
        ({"subPath": "/etc"}, "/run/nvidia:rw:none"),
        ({"subPath": ""}, "/run/nvidia:rw:none"),
        ({"subPath": "..a"}, "/run/nvidia/..a:rw:none"),
    ],
)
def test_a_mounted_host_path_is_what_of_it_is_mounted_and_how(mount, expected):
    assert of_mount("/run/nvidia", mount) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "/:rw:none"),
        ("//", "/:rw:none"),
        ("/run/..", "/:rw:none"),
        ("/run/../etc/", "/etc:rw:none"),
        ("run", "/run:rw:none"),
        ("", "/:rw:none"),
        ("/a:b%c", "/a%3Ab%25c:rw:none"),
    ],
)
def test_a_host_path_is_listed_as_what_it_comes_to(path, expected):
    assert of_mount(path, {"mountPath": "/x"}) == expected


def test_a_host_path_that_no_container_mounts_is_the_pod_s():
    pod = {
        "volumes": [
            {"name": "used", "hostPath": {"path": "/a"}},
            {"name": "unused", "hostPath": {"path": "/b"}},
            {"name": "other", "emptyDir": {}},
        ],
        "containers": [
            {
                "name": "c",
                "securityContext": CLOSED,
                "volumeMounts": [{"name": "used"}, {"name": "other"}, {"name": "?"}],
            }
        ],
    }

    assert held(pod) == ["host-path:/b:rw:none", "c host-path:/a:rw:none"]


def test_two_mounts_of_one_path_are_two_privileges():
    mounts = [{"name": "v", "mountPath": "/x"}, {"name": "v", "mountPath": "/y", "readOnly": True}]
    pod = {
        "volumes": [{"name": "v", "hostPath": {"path": "/a"}}],
        "containers": [{"name": "c", "securityContext": CLOSED, "volumeMounts": mounts}],
    }

    assert held(pod) == ["c host-path:/a:ro:none", "c host-path:/a:rw:none"]


@pytest.mark.parametrize("kind", WORKLOAD_KINDS)
def test_each_kind_of_workload_has_its_template(kind):
    template = {"metadata": {"name": "x"}, "spec": {"hostPID": True}}
    whole = {
        "Pod": template,
        "PodTemplate": {"template": template},
        "CronJob": {"spec": {"jobTemplate": {"spec": {"template": template}}}},
    }.get(kind, {"spec": {"template": template}})

    assert [str(token) for _, token in pod_privileges(pod_template_of({**whole, "kind": kind}))] == ["host-pid"]


def test_what_is_no_workload_has_none():
    assert pod_template_of({"kind": "ConfigMap"}) is None
    assert pod_template_of({}) is None


@pytest.mark.parametrize(
    ("pod", "account"),
    [
        ({}, "default"),
        ({"serviceAccountName": "driver"}, "driver"),
        ({"serviceAccount": "driver"}, "driver"),
        ({"serviceAccountName": "driver", "serviceAccount": "older"}, "driver"),
        ({"serviceAccountName": "", "serviceAccount": "driver"}, "driver"),
    ],
)
def test_the_account_stands_in_the_newer_field_else_in_the_older(pod, account):
    assert account_of({"spec": pod}) == account
