"""What profiles come to is judged by the levels that namespaces enforce, and located in the profiles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from poolsmith.guard.ledger.privilege_check import privilege_view
from poolsmith.guard.rules.pod_security import enforced_standards, judge_predicted_pod_security
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

pytestmark = pytest.mark.sample


@pytest.fixture
def judged(sample_project):
    """A cluster of the sample fleet, its namespaces at another level; None: nobody knows the level."""

    def run(cluster, level):
        project = open_project(sample_project)
        (files,) = project.select([cluster])
        planned = plan_cluster(project, files)
        plan = planned.prediction.plan
        namespaces = () if level is None else tuple(replace(item, level=level) for item in plan.namespaces)
        prediction = replace(planned.prediction, plan=replace(plan, namespaces=namespaces))
        return judge_predicted_pod_security(prediction, privilege_view(prediction, planned.loaded))

    return run


@pytest.mark.parametrize(
    "cluster", ["prod-eu", "prod-rke2", "edge", "edge-talos", "kata-a10", "lab-t4", "a40-precompiled"]
)
def test_the_sample_fleet_gives_its_workloads_the_level_that_they_need(judged, sample_project, cluster):
    project = open_project(sample_project)
    (files,) = project.select([cluster])
    namespaces = plan_cluster(project, files).plan.namespaces

    result = judged(cluster, namespaces[0].level)
    assert result.diagnostics == ()
    assert result.judged > 0


def test_a_level_that_is_too_strict_is_told_at_the_line_that_brings_the_workload(judged):
    result = judged("edge", "baseline")
    driver = [item for item in result.diagnostics if item.message.startswith("DaemonSet/nvidia-driver-daemonset ")]

    assert {item.code for item in result.diagnostics} == {"PSM420"}
    assert {item.subject for item in result.diagnostics} == {"edge"}
    assert {item.primary.span.path.rpartition("/")[0] for item in result.diagnostics} == {"profiles/edge"}
    assert all(item.primary.span.start is not None for item in result.diagnostics)
    assert [item.message.rpartition(" ")[2] for item in driver] == [
        "(privileged)",
        "(hostNamespaces)",
        "(hostPathVolumes)",
    ]
    assert driver[1].message == (
        "DaemonSet/nvidia-driver-daemonset breaks baseline 1.34, which namespace gpu-operator enforces: "
        "host namespaces: the pod sets hostPID to true (hostNamespaces)"
    )


def test_many_offences_against_one_check_are_told_together(judged):
    (paths,) = [
        item.message
        for item in judged("edge", "baseline").diagnostics
        if item.message.startswith("DaemonSet/nvidia-driver-daemonset ") and item.message.endswith("(hostPathVolumes)")
    ]

    assert paths.count("is a hostPath;") == 3
    assert "; and " in paths


def test_a_namespace_without_a_known_level_is_counted_and_not_judged(judged):
    result = judged("edge", None)

    assert (result.diagnostics, result.judged, result.not_evaluated) == ((), 0, 1)
    assert result.skipped[0].what.startswith("Pod Security of workloads in namespace gpu-operator (")
    assert result.skipped[0].reason == "the level of the namespace is not known"


def test_levels_are_those_of_the_plan_and_of_namespaces_among_the_objects(sample_project):
    project = open_project(sample_project)
    (files,) = project.select(["edge"])
    plan = plan_cluster(project, files).plan

    def namespace(name, **labels):
        prefix = "pod-security.kubernetes.io/"
        named = {prefix + key.replace("_", "-"): value for key, value in labels.items()}
        return {"kind": "Namespace", "metadata": {"name": name, "labels": named}}

    found = enforced_standards(
        plan,
        (
            namespace("a", enforce="baseline"),
            namespace("b", enforce="restricted", enforce_version="v1.25"),
            namespace("c", enforce="restricted", enforce_version="latest"),
            namespace("d", enforce="baseline", enforce_version="whatever"),
            namespace("e", enforce="none"),
            namespace("f", warn="baseline"),
            {"kind": "Namespace", "metadata": None},
            {"kind": "ConfigMap", "metadata": {"name": "g"}},
        ),
    )

    assert {name: str(standard) for name, standard in found.items()} == {
        "a": "baseline 1.34",
        "b": "restricted 1.25",
        "c": "restricted 1.34",
        "d": "baseline 1.34",
        "gpu-operator": "privileged 1.34",
        "kube-system": "privileged 1.34",
    }
