"""Levels, versions, what replaces what, and pods that no API server would take."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.sources.source_file import SourceFile
from poolsmith.kubernetes.pod_security.engine import CHECKS, checks_of, judge_pod
from poolsmith.kubernetes.pod_security.standard import Level, minor_of

MINIMAL = {"containers": [{"name": "main", "image": "app"}]}
SAFE_CONTAINER = {
    "name": "main",
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
}
SAFE = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [SAFE_CONTAINER],
}
ROOT = {
    "hostNetwork": True,
    "containers": [{"name": "main", "securityContext": {"privileged": True, "procMount": "Unmasked"}}],
    "volumes": [{"name": "host", "hostPath": {"path": "/"}}],
}


def ids(spec, level, version="latest", **metadata):
    return [item.check for item in judge_pod(metadata, spec, level, version)]


def test_the_privileged_level_allows_everything():
    assert judge_pod({}, ROOT, "privileged", "1.24") == ()
    assert checks_of(Level.PRIVILEGED, 37) == ()


def test_a_minimal_pod_is_baseline_but_not_restricted():
    assert ids(MINIMAL, "baseline") == []
    assert ids(MINIMAL, "restricted") == [
        "allowPrivilegeEscalation",
        "runAsNonRoot",
        "seccompProfile_restricted",
        "capabilities_restricted",
    ]


@pytest.mark.parametrize("version", [f"1.{minor}" for minor in range(38)])
def test_a_careful_pod_is_restricted_at_every_version(version):
    assert ids(SAFE, "restricted", version) == []


def test_findings_name_the_check_the_reason_and_the_container():
    (found,) = [item for item in judge_pod({}, ROOT, "baseline", "1.34") if item.check == "privileged"]

    assert found.message == "privileged: container `main` sets securityContext.privileged to true"
    assert found.pointer == "/spec/containers/0/securityContext/privileged"
    assert found.help == "remove `securityContext.privileged`, or set it to false"


def test_restricted_checks_stand_in_the_place_of_baseline_ones():
    assert ids(ROOT, "baseline") == ["privileged", "hostNamespaces", "hostPathVolumes", "procMount"]
    found = ids(ROOT, "restricted")

    assert {"restrictedVolumes", "procMount_restricted", "privileged", "hostNamespaces"} <= set(found)
    assert not {"hostPathVolumes", "procMount"} & set(found)


def test_a_check_is_replaced_only_from_the_version_of_its_replacement():
    spec = {"containers": [{"name": "a", "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}]}

    assert "capabilities_baseline" in ids(spec, "restricted", "1.21")
    assert "capabilities_baseline" not in ids(spec, "restricted", "1.22")
    assert "procMount" in ids(ROOT, "restricted", "1.34")


@pytest.mark.parametrize(
    ("version", "baseline", "restricted"),
    [("1.0", 11, 12), ("1.8", 11, 13), ("1.19", 11, 13), ("1.22", 11, 13), ("1.23", 11, 14), ("1.34", 12, 15)],
)
def test_how_many_checks_a_version_has(version, baseline, restricted):
    assert len(checks_of("baseline", minor_of(version))) == baseline
    assert len(checks_of("restricted", minor_of(version))) == restricted


def test_versions_are_read_as_labels_write_them():
    assert [minor_of(text) for text in ("1.0", "1.24", "v1.24", "1.37")] == [0, 24, 24, 37]


def test_what_is_newer_than_the_newest_counts_as_the_newest():
    assert [minor_of(text) for text in ("latest", "1.38", "v1.999")] == [37, 37, 37]


@pytest.mark.parametrize("version", ["", "1", "2.0", "1.", "1.01", "1.2.3", "Latest", "1.3 ", "1.٣", "1.1234567", "v"])
def test_what_is_no_version_is_refused(version):
    with pytest.raises(ValueError, match=r".*"):
        judge_pod({}, SAFE, "baseline", version)


def test_what_is_no_level_is_refused():
    with pytest.raises(ValueError, match="Baseline"):
        judge_pod({}, SAFE, "Baseline", "1.24")


def put(pointer, value):
    """A careful pod with something at a pointer."""
    pod = {"metadata": {}, "spec": copy.deepcopy(SAFE)}
    *steps, last = pointer.strip("/").split("/")
    node = pod
    for step in steps:
        node = node[int(step)] if isinstance(node, list) else node.setdefault(step, {})
    node[last] = value
    return pod


WRONG = [
    ("/spec", [], "hostNamespaces"),
    ("/spec", "x", "hostNamespaces"),
    ("/spec/hostPID", "false", "hostNamespaces"),
    ("/spec/hostNetwork", 0, "hostNamespaces"),
    ("/spec/securityContext", [], "seLinuxOptions"),
    ("/spec/securityContext/sysctls", {}, "sysctls"),
    ("/spec/securityContext/sysctls", ["kernel.shm_rmid_forced"], "sysctls"),
    ("/spec/securityContext/sysctls", [None], "sysctls"),
    ("/spec/securityContext/seLinuxOptions", "container_t", "seLinuxOptions"),
    ("/spec/securityContext/seccompProfile", "RuntimeDefault", "seccompProfile_restricted"),
    ("/spec/securityContext/appArmorProfile/type", ["Localhost"], "appArmorProfile"),
    ("/spec/securityContext/runAsNonRoot", "true", "runAsNonRoot"),
    ("/spec/securityContext/runAsUser", "1000", "runAsUser"),
    ("/spec/securityContext/runAsUser", False, "runAsUser"),
    ("/spec/securityContext/runAsUser", 0.5, "runAsUser"),
    ("/spec/securityContext/windowsOptions/hostProcess", 0, "windowsHostProcess"),
    ("/spec/volumes", {}, "restrictedVolumes"),
    ("/spec/volumes", ["a"], "restrictedVolumes"),
    ("/spec/volumes", [{"name": "a", "configMap": []}], "restrictedVolumes"),
    ("/spec/containers", {}, "privileged"),
    ("/spec/initContainers", "x", "hostPorts"),
    ("/spec/ephemeralContainers", [1], "hostProbesAndHostLifecycle"),
    ("/spec/containers/0/securityContext", [], "privileged"),
    ("/spec/containers/0/securityContext/privileged", 0, "privileged"),
    ("/spec/containers/0/securityContext/privileged", "false", "privileged"),
    ("/spec/containers/0/securityContext/allowPrivilegeEscalation", 0, "allowPrivilegeEscalation"),
    ("/spec/containers/0/securityContext/procMount", ["Default"], "procMount_restricted"),
    ("/spec/containers/0/securityContext/capabilities/drop", "ALL", "capabilities_restricted"),
    ("/spec/containers/0/securityContext/capabilities/add", {}, "capabilities_restricted"),
    ("/spec/containers/0/securityContext/capabilities/add", [["NET_BIND_SERVICE"]], "capabilities_restricted"),
    ("/spec/containers/0/ports", {"hostPort": 80}, "hostPorts"),
    ("/spec/containers/0/ports", [{"hostPort": False}], "hostPorts"),
    ("/spec/containers/0/ports", [{"hostPort": "0"}], "hostPorts"),
    ("/spec/containers/0/lifecycle", "x", "hostProbesAndHostLifecycle"),
    ("/spec/containers/0/livenessProbe", {"httpGet": {"host": 0}}, "hostProbesAndHostLifecycle"),
    ("/metadata", [], "appArmorProfile"),
    ("/metadata/annotations", ["x"], "appArmorProfile"),
    ("/metadata/annotations", {"container.apparmor.security.beta.kubernetes.io/a": 1}, "appArmorProfile"),
]


@pytest.mark.parametrize(("pointer", "value", "check"), WRONG)
def test_a_value_of_a_wrong_type_is_not_allowed_and_is_where_the_finding_points(pointer, value, check):
    pod = put(pointer, value)
    found = [item for item in judge_pod(pod["metadata"], pod["spec"], "restricted") if item.check == check]

    assert found
    assert all(item.pointer.startswith(pointer) for item in found)


@pytest.mark.parametrize("field", ["hostUsers", "os"])
@pytest.mark.parametrize("value", ["false", 0, [], "windows", {"name": ["windows"]}])
def test_what_would_relax_a_check_relaxes_nothing_when_it_is_of_a_wrong_type(field, value):
    assert ids({**MINIMAL, field: value}, "restricted") == ids(MINIMAL, "restricted")


def test_null_is_unset():
    nothing = dict.fromkeys(("hostPID", "securityContext", "volumes", "initContainers", "ephemeralContainers", "os"))

    assert judge_pod(None, {**MINIMAL, **nothing}, "baseline") == ()
    assert judge_pod({"annotations": None}, {"containers": [None]}, "baseline") == ()


def test_numbers_of_any_size_are_shown():
    spec = {"containers": [{"name": "a", "ports": [{"hostPort": value} for value in (10**5000, float("nan"), 1.5)]}]}

    assert [item.message.rpartition(" hostPort ")[2] for item in judge_pod({}, spec, "baseline")] == [
        "a value of a wrong type",
        "a value of a wrong type",
        "1.5",
    ]


def test_texts_of_users_are_made_harmless():
    spec = {"containers": [{"name": "a\x1b[2J\n" + "x" * 500, "securityContext": {"procMount": "\u202e`" * 200}}]}
    (found,) = judge_pod({}, spec, "baseline")

    assert found.message.isprintable()
    assert len(found.message) < 1000


FIELDS = [
    "metadata",
    "spec",
    "annotations",
    "containers",
    "initContainers",
    "ephemeralContainers",
    "securityContext",
    "privileged",
    "capabilities",
    "add",
    "drop",
    "seccompProfile",
    "appArmorProfile",
    "type",
    "seLinuxOptions",
    "user",
    "role",
    "procMount",
    "windowsOptions",
    "hostProcess",
    "sysctls",
    "name",
    "ports",
    "hostPort",
    "volumes",
    "hostPath",
    "configMap",
    "livenessProbe",
    "lifecycle",
    "postStart",
    "httpGet",
    "tcpSocket",
    "host",
    "hostUsers",
    "os",
    "hostPID",
    "runAsUser",
    "runAsNonRoot",
    "allowPrivilegeEscalation",
    "a/b~c",
    "container.apparmor.security.beta.kubernetes.io/a",
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
    max_leaves=30,
)


@given(ANYTHING, ANYTHING, st.sampled_from(["baseline", "restricted"]), st.integers(0, 40))
def test_no_pod_is_too_broken_to_be_judged_and_every_finding_points_into_it(metadata, spec, level, minor):
    pod = {"metadata": metadata, "spec": spec}

    for found in judge_pod(metadata, spec, level, f"1.{minor}"):
        assert SourceFile("", "", pod).has(found.pointer)
        assert found.message.isprintable()


def test_every_check_stands_with_its_level_and_there_are_nineteen():
    assert [check.find.__module__.rpartition(".")[2] for check in CHECKS] == [
        "baseline" if check.level is Level.BASELINE or check.id == "procMount_restricted" else "restricted"
        for check in CHECKS
    ]
    assert len(CHECKS) == 19
