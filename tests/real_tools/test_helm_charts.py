"""Each value path of the real charts, with each text: refused, or all objects are what the real helm makes of them.

POOLSMITH_CHARTS names a folder with the charts, `<tag>/gpu-operator`; without it, nothing is proved here.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from poolsmith.fleet.operands.chart.chart_objects import ReleasePlace, render
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, chart_labels, common_labels, project
from poolsmith.gpu.catalog.chart_workloads import chart_versions, read_chart_workloads
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.projections import read_projection
from poolsmith.kubernetes.helm.values_merge import merge_files, merge_over_defaults
from support.chart_texts import TEXTS
from support.circles import DEEP
from support.helm_batch import HelmBatch
from support.recordings import recording

RELEASES = chart_versions("gpu-operator")
CASES = 60
"""Of each release in a run that is not deep."""
BASE = {"vgpuManager": {"enabled": True}, "operator": {"cleanupCRD": True, "upgradeCRD": True}}
_CLUSTER_WIDE = (
    *("ClusterRole", "ClusterRoleBinding", "ClusterPolicy", "NVIDIADriver", "GPUCluster"),
    *("NodeFeatureRule", "SecurityContextConstraints"),
)


def ours(release, values):
    """All objects of the chart itself, without those of its subchart; None where it is refused."""
    chart, projection = read_chart("gpu-operator", release), read_projection(release)
    projected = project(projection, chart.defaults, values, HelmRelease())
    if projected.errors:
        return None
    merged = merge_over_defaults(chart.defaults, values)
    entry = replace(read_chart_workloads("gpu-operator", release), subcharts=[])
    place = ReleasePlace(helm_release="gpu-operator", namespace="gpu-operator", name="gpu-operator")
    labels = {
        "labels": chart_labels(projection, merged, "gpu-operator"),
        "commonLabels": common_labels(projection, merged, "gpu-operator"),
    }
    rendered = render(entry, merged, place, labels)
    return None if rendered.errors else [*projected.objects, *rendered.objects, *rendered.hooks]


def comparable(objects):
    """By kind and name. Nulls and what is empty count as absent, as do line breaks at the end of a text.

    Of scripts and descriptions only that they are."""
    found = {}
    for item in objects:
        body = without_empty(item)
        if not body:
            continue
        if "rules" in body and "apiGroups" in body["rules"][0]:
            body["rules"] = rights(body["rules"])
        if body.get("kind") not in _CLUSTER_WIDE:
            body.setdefault("metadata", {}).setdefault("namespace", "gpu-operator")
        found[f"{body.get('kind')}/{body.get('metadata', {}).get('name')}"] = body
    return found


def rights(rules):
    return sorted(
        {
            f"{group}/{resource}:{verb}"
            for rule in rules
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }
    )


def without_empty(node):
    if isinstance(node, dict):
        kept = {key: without_empty(value) for key, value in node.items()}
        return {key: value for key, value in kept.items() if value not in (None, {}, [])}
    if isinstance(node, list):
        return [without_empty(item) for item in node]
    if isinstance(node, str) and ("kubectl" in node or node.startswith(("restricted denies", "<a description"))):
        return "<text>"
    return node.rstrip("\n") if isinstance(node, str) else node


def probes(release, deep):
    """Each value path that the templates read, with each text in the shape that its type has."""
    cases = []
    for path, fact in sorted(recording("chart_values")[f"gpu-operator/{release}"]["paths"].items()):
        if path.startswith(("node-feature-discovery", "extraObjects")) or not fact.get("referenced"):
            continue
        for text in TEXTS:
            shapes = {
                "object": [{"probe": text}, {text: "x"}],
                "array": [[{"name": "A", "value": text}], [text]],
            }.get(fact.get("type", "any"), [text])
            cases.extend((tuple(path.split(".")), shape) for shape in shapes)
    return cases if deep else cases[:: len(cases) // CASES]


def nested(path, value):
    for key in reversed(path):
        value = {key: value}
    return value


@pytest.mark.real("Helm renders each chart hundreds of times")
@pytest.mark.tool("helm")
@pytest.mark.parametrize("release", RELEASES)
def test_each_value_path_is_refused_or_what_the_real_chart_makes_of_it(release, checkouts, tmp_path):
    charts = checkouts("POOLSMITH_CHARTS")
    facts = {"Name": "gpu-operator", "Version": release, "AppVersion": release}
    batch = HelmBatch(charts / release / "gpu-operator", tmp_path / "batch", facts, "gpu-operator")
    made = []
    for path, value in probes(release, DEEP):
        objects = ours(release, merge_files([BASE, nested(path, value)]))
        if objects is not None:
            made.append((path, value, objects))

    base = merge_over_defaults(read_chart("gpu-operator", release).defaults, BASE)
    theirs = batch.render(base, [(path, value) for path, value, _ in made])

    wrong = [
        (".".join(path), value)
        for (path, value, objects), found in zip(made, theirs, strict=True)
        if found is None or comparable(objects) != comparable(found)
    ]
    assert wrong == []
