"""Helm values: only what differs from the chart, each with its reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.fleet.plan.origin import Derived, FromCatalog, FromProfile
from poolsmith.fleet.plan.plan import ValueSetting
from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads
from poolsmith.project.output.helm_values import reason, values_file
from poolsmith.project.run.cluster_run import run_cluster
from poolsmith.project.run.project import open_project

PROFILE = FromProfile("profiles/prod/a.yaml", "/spec/driver/source")


@pytest.mark.parametrize(
    ("origin", "lines"),
    [
        (PROFILE, ("from profiles/prod/a.yaml: spec.driver.source",)),
        (FromProfile("profiles/prod/a.yaml", ""), ("from profiles/prod/a.yaml",)),
        (FromCatalog("charts/x"), ("From the catalog charts/x",)),
        (
            Derived("mig", "it follows", (PROFILE, PROFILE)),
            ("It follows", "from profiles/prod/a.yaml: spec.driver.source"),
        ),
        (Derived("mig", "word " * 30, ()), ((("word " * 20).strip()), ("word " * 10).strip())),
    ],
)
def test_a_reason_names_the_derivation_and_the_profile_lines_once(origin, lines):
    found = reason(origin)

    assert tuple(line.lower() for line in found) == tuple(line.lower() for line in lines)


def test_of_many_profile_lines_the_first_few_are_shown():
    many = Derived("x", "y", tuple(FromProfile("p", f"/spec/{n}") for n in range(9)))

    assert reason(many)[-1] == "and 3 more"


def test_settings_become_a_sorted_tree_with_a_comment_at_each():
    settings_ = (
        ValueSetting(("b", "c"), 1, PROFILE),
        ValueSetting(("a",), [1], PROFILE),
        ValueSetting(("b", "a/b"), {}, PROFILE),
    )
    manifest = values_file("x.yaml", settings_, ())

    assert manifest.documents == ({"a": [1], "b": {"a/b": {}, "c": 1}},)
    assert set(manifest.comments) == {"/a", "/b/a~1b", "/b/c"}
    assert manifest.applied is False


def settings_of(plan):
    found = []
    if plan.chart is not None:
        found.append((plan.chart.name, plan.chart.version, plan.values))
    found += [(unit.chart.name, unit.catalog_release, unit.values) for unit in plan.units if unit.chart is not None]
    return found


def repeated(plan, catalog):
    """Values that say what the chart says already, or that no template reads."""
    return [
        setting.dotted
        for name, release, settings_ in settings_of(plan)
        for setting in settings_
        if is_idle(catalog.chart(name, release), name, release, setting)
    ]


def is_idle(chart, name, release, setting):
    if chart is not None:
        return chart.default(setting.path) == setting.value or not chart.accepts(setting.path)
    entry = read_chart_workloads(name, release)
    read = json.dumps([entry.define, entry.objects, entry.refuse, entry.subcharts])
    return value_at(entry.defaults, setting.path, MISSING) == setting.value or setting.dotted not in read


def test_the_sample_fleet_repeats_no_default_and_sets_nothing_dead(repository, catalog):
    project = open_project(repository)
    for files in project.fleet.clusters:
        plan = run_cluster(project, files).plan
        assert (files.name, repeated(plan, catalog)) == (files.name, [])


CLUSTERS = st.fixed_dictionaries(
    {
        "kubernetes": st.sampled_from(["kubeadm", "k3s", "rke2", "gke", "microk8s", "k0s"]).map(
            lambda name: f'{{version: "1.33", distribution: {name}}}'
        ),
        "stack": st.builds(
            "{{release: {}, driverMode: {}}}".format,
            st.sampled_from(["v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"]),
            st.sampled_from(["cluster-policy", "nvidia-driver"]),
        ),
        "nfd": st.sampled_from(["{provider: operator}", "{provider: external}"]),
        "registry": st.sampled_from([None, "{mirrors: {nvcr.io: r.example.com}, pullSecrets: [x]}"]),
        "delivery": st.sampled_from(["argocd", "flux"]).map(
            lambda engine: f"{{engine: {engine}, repoURL: https://git.example.com/gpu.git}}"
        ),
    }
)
POOLS = st.fixed_dictionaries(
    {
        "runtime": st.just('{name: containerd, version: "2.1"}'),
        "driver": st.sampled_from(
            [
                "{source: container}",
                "{source: container, kernelModuleType: open, gds: true, gdrcopy: true}",
                "{source: container, upgradePolicy: {maxUnavailable: '1'}}",
                "{source: preinstalled}",
            ]
        ),
        "gpu": st.sampled_from(
            [
                "{product: A30, count: 2}",
                "{product: A30, count: 2, mig: {layout: all-1g.6gb}}",
                "{product: A30, count: 2, mig: {layout: all-balanced}}",
                "{product: A30, count: 2, mig: {layout: own, devices: [{migDevices: {1g.6gb: 4}}]}}",
            ]
        ),
        "nodes": st.sampled_from([None, "{taints: [{key: team, value: a, effect: NoSchedule}]}", "{names: [n1]}"]),
        "toolkit": st.sampled_from([None, "{source: preinstalled}"]),
    }
)


@pytest.mark.deep("a whole run, 1.0 s; its parts have tests of their own")
@given(CLUSTERS, POOLS, st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_no_variation_repeats_a_default_or_sets_what_the_chart_does_not_read(resolve, catalog, cluster, pool, two):
    second = {"runtime": pool["runtime"], "gpu": "{product: A30, count: 1}"}
    plan = resolve(cluster, {"a": pool, **({"b": second} if two else {})}).plan
    if plan is not None:
        assert repeated(plan, catalog) == []
        paths = [setting.path for setting in plan.values]
        assert len(paths) == len(set(paths))


@pytest.mark.deep("a whole run, 1.9 s; its parts have tests of their own")
@pytest.mark.deep("whole trees of many values; their parts have tests of their own")
@given(CLUSTERS, POOLS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_no_variation_breaks_what_every_tree_keeps(resolve, cluster, pool):
    from poolsmith.project.output.tree import file_bytes, render_cluster

    outcome = resolve(cluster, {"a": pool})
    if outcome.plan is not None:
        tree = render_cluster(outcome.plan, outcome.predicted)
        for path, body in tree.objects():
            assert body["kind"] != "Node", path
        for manifest in tree.manifests:
            for body in manifest.documents:
                assert not (str(body.get("apiVersion")).startswith("kustomize.config") and "namespace" in body)
        assert file_bytes(tree) == file_bytes(render_cluster(outcome.plan, outcome.predicted))
