"""One reader of pods, three views: what Pod Security refuses, what the ledger lists, what the privilege policy compares.

Over random pods that the API server takes. Where a view says less than another of the same fact, the reason stands here.
"""

from __future__ import annotations

import random

import pytest

from poolsmith.guard.ledger.claims.pod_claims import claims_of
from poolsmith.guard.ledger.workload_privileges import pod_privileges
from poolsmith.kubernetes.pod_security.engine import judge_pod
from poolsmith.kubernetes.pods.pod import Pod
from poolsmith.kubernetes.pods.well_known import ANNOTATION, profile_of_annotation

PODS = 800
PROFILES = ({"type": "Unconfined"}, {"type": "RuntimeDefault"}, {"type": "Localhost", "localhostProfile": "x"})
CHECKS = {
    "allow-escalation": "allowPrivilegeEscalation",
    "apparmor": "appArmorProfile",
    "capability": "capabilities_baseline",
    "host-ipc": "hostNamespaces",
    "host-network": "hostNamespaces",
    "host-path": "hostPathVolumes",
    "host-pid": "hostNamespaces",
    "host-port": "hostPorts",
    "privileged": "privileged windowsHostProcess",
    "proc-mount": "procMount",
    "run-as-root": "runAsUser runAsNonRoot",
    "seccomp": "seccompProfile_baseline",
    "selinux": "seLinuxOptions",
    "sysctl": "sysctls",
}
"""What Pod Security calls each privilege."""

NO_OFFENCE = {"capability:KILL", "selinux:container_t"}
"""What the ledger lists and the baseline takes."""


def maybe(chance, share, choices):
    return {name: chance.choice(values) for name, values in choices.items() if chance.random() < share}


def context(chance):
    return maybe(
        chance,
        0.25,
        {
            "runAsUser": [0, 7],
            "runAsNonRoot": [True, False],
            "runAsGroup": [0, 5],
            "seccompProfile": PROFILES,
            "appArmorProfile": PROFILES,
            "seLinuxOptions": [{"type": "spc_t"}, {"type": "container_t", "level": "s0"}, {"level": "s1"}, {}],
        },
    )


def container(chance, name):
    own = context(chance) | maybe(
        chance,
        0.25,
        {
            "privileged": [True, False],
            "allowPrivilegeEscalation": [True, False],
            "procMount": ["Unmasked", "Default"],
            "readOnlyRootFilesystem": [True, False],
            "capabilities": [{"add": ["SYS_ADMIN"]}, {"drop": ["ALL"]}, {"add": ["CAP_NET_ADMIN", "KILL"]}],
        },
    )
    mounts = [
        {"name": chance.choice("vwx"), "mountPath": f"/m{number}"}
        | maybe(
            chance,
            0.3,
            {
                "readOnly": [True, False],
                "recursiveReadOnly": ["Enabled", "Disabled"],
                "mountPropagation": ["None", "HostToContainer", "Bidirectional"],
                "subPath": ["a", "b c"],
                "subPathExpr": ["$(POD)/y", "q"],
            },
        )
        for number in range(chance.randrange(3))
    ]
    action = {chance.choice(["httpGet", "tcpSocket"]): {"port": 1} | maybe(chance, 0.5, {"host": ["h"]})}
    ports = [{"containerPort": 80} | maybe(chance, 0.5, {"hostPort": [0, 81]})]
    optional = {
        "securityContext": [own],
        "volumeMounts": [mounts],
        "ports": [ports],
        "livenessProbe": [action],
        "lifecycle": [{"preStop": action}, {"postStart": {"exec": {"command": ["x"]}}}],
    }
    return {"name": name, "image": "x"} | maybe(chance, 0.6, optional)


def pod(chance):
    volumes = [
        {"name": "v", "hostPath": {"path": chance.choice(["/", "/a b", "/run/x/../y"])}},
        {"name": "w", "emptyDir": {}},
        {"name": "x", "hostPath": {"path": "/dev"}},
    ]
    spec = {"volumes": volumes} | maybe(
        chance,
        0.25,
        {
            "hostPID": [True, False],
            "hostIPC": [True, False],
            "hostNetwork": [True, False],
            "securityContext": [context(chance) | maybe(chance, 0.3, {"sysctls": [[{"name": "kernel.x"}]]})],
        },
    )
    count = 0
    for field in ("initContainers", "containers", "ephemeralContainers"):
        size = chance.randrange(field == "containers", 3)
        spec[field] = [container(chance, f"c{count + index}") for index in range(size)]
        count += size
    if chance.random() < 1 / 20:
        spec["securityContext"] = {"windowsOptions": {"hostProcess": True}}
    template = {"metadata": {"annotations": {}}, "spec": spec}
    for each in Pod.of(template).containers:
        if chance.random() < 1 / 4:
            annotate(chance, template, each)
    return template


def annotate(chance, template, each):
    """With an annotation that the API server takes: it must say what the field says that holds after the copying."""
    texts = ["unconfined", "runtime/default", "localhost/x", "localhost/y", "", "localhost/"]
    field = each.own.get("appArmorProfile")
    inherited = template["spec"].get("securityContext", {}).get("appArmorProfile")
    takes = [
        text
        for text in texts
        if (profile_of_annotation(text) == field if field else profile_of_annotation(text) or not inherited)
    ]
    if takes:
        template["metadata"]["annotations"][ANNOTATION + each.name] = chance.choice(takes)


@pytest.fixture(scope="module")
def templates():
    chance = random.Random(12)
    return [pod(chance) for _ in range(PODS)]


@pytest.fixture(scope="module")
def judged(templates):
    """With the checks that refuse each."""
    return [(template, refused(template)) for template in templates]


def refused(template):
    """Checks of the baseline that refuse the pod, and those of the restricted level."""
    levels = (judge_pod(template["metadata"], template["spec"], level) for level in ("baseline", "restricted"))
    return {found.check for violations in levels for found in violations}


def test_the_policy_compares_what_the_ledger_lists(templates):
    """But for ports of pods in the network of their node: there each port is the node's, and `host-network` says it."""
    for template in templates:
        wanted = {
            ("" if want.whole else claims.name, want.privilege)
            for claims in claims_of(template, "any")
            for want in claims.wants
            if want.privilege is not None
        }
        on_host = template["spec"].get("hostNetwork") is True
        listed = {item for item in pod_privileges(template) if not (on_host and item[1].name == "host-port")}
        assert wanted == listed


def test_pod_security_refuses_whatever_the_ledger_lists(judged):
    for template, found in judged:
        names = {token.name for _, token in pod_privileges(template) if str(token) not in NO_OFFENCE}
        assert [name for name in names if found.isdisjoint(CHECKS[name].split())] == []


def test_what_pod_security_refuses_the_ledger_lists_where_it_holds(judged):
    """Pod Security looks at each field by itself. What a container overrules, what a privileged one has anyway, and
    images that may start as root are refused, and no privilege.
    """
    for template, found in judged:
        held = {token.name for _, token in pod_privileges(template)}
        assert ("hostNamespaces" in found) == bool(held & {"host-pid", "host-ipc", "host-network"})
        for check, name in (("hostPathVolumes", "host-path"), ("hostPorts", "host-port"), ("sysctls", "sysctl")):
            assert (check in found) == (name in held)
        if "securityContext" not in template["spec"] and "privileged" not in held:
            for check, name in (
                ("privileged", "privileged"),
                ("procMount", "proc-mount"),
                ("seccompProfile_baseline", "seccomp"),
                ("appArmorProfile", "apparmor"),
                ("allowPrivilegeEscalation", "allow-escalation"),
            ):
                assert (check in found) == (name in held), name


UNCONFINED, DEFAULT = {"type": "Unconfined"}, {"type": "RuntimeDefault"}


@pytest.mark.parametrize(
    ("own", "annotation", "whole", "expected"),
    [
        (None, None, UNCONFINED, "Unconfined"),
        (DEFAULT, None, UNCONFINED, "RuntimeDefault"),
        (UNCONFINED, None, DEFAULT, "Unconfined"),
        # the API server copies the annotation to the field of the container, which overrules the pod's
        (None, "runtime/default", UNCONFINED, "RuntimeDefault"),
        (None, "localhost/x", UNCONFINED, "Localhost"),
        (None, "unconfined", DEFAULT, "Unconfined"),
        # it copies none that it can't read
        (None, "", UNCONFINED, "Unconfined"),
        (None, "localhost/", UNCONFINED, "Unconfined"),
        (None, "localhost/ x", UNCONFINED, "Unconfined"),
        (None, "docker/default", DEFAULT, "RuntimeDefault"),
        (None, ["unconfined"], None, None),
        # it refuses these two; before 1.30 the annotation alone counted
        (DEFAULT, "unconfined", None, "Unconfined"),
        (UNCONFINED, "runtime/default", None, "Unconfined"),
    ],
)
def test_the_app_armor_profile_of_a_container(own, annotation, whole, expected):
    contexts = [{} if profile is None else {"appArmorProfile": profile} for profile in (own, whole)]
    spec = {"containers": [{"name": "c", "securityContext": contexts[0]}], "securityContext": contexts[1]}
    annotations = {} if annotation is None else {ANNOTATION + "c": annotation}
    (only,) = Pod({"annotations": annotations}, spec).containers
    assert only.app_armor.get("type") == expected
    template = {"metadata": {"annotations": annotations}, "spec": spec}
    outside = expected == "Unconfined"
    assert ("apparmor:unconfined" in {str(token) for _, token in pod_privileges(template)}) == outside
    (claims,) = claims_of(template, "any")
    assert ("apparmor:unconfined" in {want.text for want in claims.wants}) == outside
    assert ("appArmor:x" in claims.has) == (expected == "Localhost")


@pytest.mark.parametrize("name", ["CAP_", "cap_cap_", "CAP_CAP_CAP_"])
def test_a_prefix_of_nothing_is_no_capability(name):
    context = {"allowPrivilegeEscalation": False, "capabilities": {"add": [name]}}
    assert pod_privileges({"spec": {"containers": [{"name": "c", "securityContext": context}]}}) == ()


def test_a_port_that_is_no_number_asks_for_nothing():
    own = {"name": "c", "securityContext": {"allowPrivilegeEscalation": False}, "ports": [{"hostPort": True}]}
    template = {"spec": {"containers": [own]}}
    assert pod_privileges(template) == ()
    assert not any(want.privilege for claims in claims_of(template, "any") for want in claims.wants)
