"""The chart kata-deploy installs what the real Helm rendered of it, for each set of values; or it is refused.

The recording is Helm's own (`tests/recorded/README.md`); `tests/real_tools/test_helm_kata_deploy.py` asks it anew.
"""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.chart.chart_objects import stack_objects
from poolsmith.gpu.catalog.chart_workloads import chart_versions
from support.chart_objects import comparable
from support.kata_deploy import NAMESPACE, RELEASE, digests, refused_sets, value_sets
from support.recordings import recording

RECORDED = recording("kata_deploy")
VERSIONS = chart_versions(RELEASE)
UNKNOWN = {
    "deploymentMode": {"deploymentMode": "job"},
    "monitor.enabled": {"monitor": {"enabled": True}},
    "node-feature-discovery.enabled": {"node-feature-discovery": {"enabled": True}},
    "customRuntimes": {"customRuntimes": {"enabled": True, "runtimes": {"a": {"baseConfig": "qemu"}}}},
    "verification.pod": {"verification": {"pod": "kind: Pod\n"}},
    "shims.qemu.dropIn": {"shims": {"qemu": {"dropIn": "[a]\n"}}},
    "nodeFeatureRules.create": {},
}
"""Values that lead to what is not described, at the newest version."""


def made(version, values):
    """Our objects by key, and what is not known of them."""
    found = stack_objects(RELEASE, version, values, NAMESPACE)
    assert found.errors == ()
    return comparable((*found.objects, *found.hooks), NAMESPACE)


@pytest.mark.rows(2, "versions that differ; sixty sets each")
@pytest.mark.parametrize("version", VERSIONS)
def test_the_objects_are_those_of_helm(version):
    sets = value_sets(version)

    assert {f"{version}/{name}" for name in sets} == set(RECORDED.below(version))
    for name, values in sets.items():
        assert digests(made(version, values)) == RECORDED[f"{version}/{name}"], name


@pytest.mark.parametrize("version", VERSIONS)
def test_what_stops_helm_is_refused(version):
    for name, values in refused_sets(version).items():
        found = stack_objects(RELEASE, version, values, NAMESPACE)
        assert found.errors, name
        assert found.errors[0].path, name
        assert found.objects == (), name


@pytest.mark.parametrize("path", UNKNOWN)
def test_a_value_that_leads_to_what_is_not_described_is_named(path):
    found = stack_objects(RELEASE, "4.1.0", UNKNOWN[path], NAMESPACE)

    assert any(f"`{path}" in text for text in found.unknown), found.unknown


def test_what_older_charts_had_is_named():
    values = {"env": {"shims_x86_64": "qemu"}}

    (text,) = stack_objects(RELEASE, "3.24.0", values, NAMESPACE).unknown
    assert "env.shims_x86_64" in text


def test_a_rule_that_is_decided_leaves_nothing_open():
    values = {"nodeFeatureRules": {"create": False}}

    assert stack_objects(RELEASE, "4.1.0", values, NAMESPACE).unknown == ()


def test_pods_of_a_node_are_privileged_up_to_four_zero():
    pods = {}
    for version in VERSIONS:
        (found,) = [
            item for item in stack_objects(RELEASE, version, {}, NAMESPACE).objects if item["kind"] == "DaemonSet"
        ]
        pod = found["spec"]["template"]["spec"]
        pods[version] = (pod.get("hostPID", False), pod["containers"][0]["securityContext"]["privileged"])

    assert pods == {"3.24.0": (True, True), "3.29.0": (True, True), "4.0.0": (True, True), "4.1.0": (False, False)}
