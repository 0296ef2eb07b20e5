"""What one pool's change does to the others is told, whatever it is, and nothing else is.

The oracle reads what the expansion says of labels, pods, classes and upgrades on both sides, and works out names of
resources by itself. It uses nothing of what tells changes.
"""

from __future__ import annotations

import copy
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from change.diff.random_edits import one_pool_edited
from change.diff.test_random_disruption import CATALOG, FILES
from change.diff.two_sides import REPOSITORY, both_sides, replaced, seen_cluster
from poolsmith.change.diff.change_report import OtherKind
from poolsmith.change.diff.unacknowledged import cross_pool_changes, unacknowledged_changes
from poolsmith.change.review.seen_cluster import ClusterChange
from poolsmith.fleet.operands.expansion import ClusterState
from poolsmith.fleet.operands.operator_expansion import expand
from poolsmith.project.run.project import open_project
from property.test_unlike_pools import merged, on_disk
from property.unlike_pools import fleets
from support.circles import DEEP

CLUSTERS = ("prod-eu", "prod-rke2", "a40-precompiled", "kata-a10")
EDITS, MOST_TRIES = 12, 30
UPGRADES = "nvidia.com/gpu-driver-upgrade-enabled"
PODS = ("DaemonSet", "Deployment", "StatefulSet")


def pools_of(files, cluster):
    """Merged specs by name, acknowledgements left out."""
    found = {}
    for path, body in files.items():
        if path.startswith(f"profiles/{cluster}/") and body["kind"] == "NodePool":
            spec = merged(files, path)
            spec.pop("acknowledge", None)
            found[body["metadata"]["name"]] = spec
    return found


def landing(seen, key, pools):
    found = seen.prediction.ledger.landing.get(key, ())
    return [name for name in pools if name in found]


def predicted(seen, specs):
    """By pool: labels, workloads with their templates, upgrades, and names of resources; classes by name."""
    installation = seen.prediction.installation
    pools = defaultdict(lambda: {"labels": {}, "workloads": {}, "upgrades": set(), "resources": set()})
    annotations = expand(
        installation.release,
        ClusterState(nodes=installation.nodes, resources=installation.resources, namespace=seen.plan.namespace),
    ).node_annotations
    for node in installation.nodes:
        entry = pools[node.pool]
        for key, value in node.labels.items():
            if key != "kubernetes.io/hostname":
                entry["labels"].setdefault(key, set()).add(value)
        entry["upgrades"].add(annotations.get(node.name, {}).get(UPGRADES))
    for item in installation.made:
        if item.body["kind"] == "DaemonSet":
            for name in landing(seen, item.key, specs):
                text = json.dumps(item.body["spec"]["template"], sort_keys=True)
                pools[name]["workloads"][item.workload] = text
    policy = next((item for item in installation.resources if item["kind"] == "ClusterPolicy"), None)
    strategy = ((policy or {}).get("spec", {}).get("mig") or {}).get("strategy") or "single"
    for name, spec in specs.items():
        if "DaemonSet/nvidia-device-plugin-daemonset" in pools[name]["workloads"]:
            pools[name]["resources"] = resources(spec, strategy)
    classes = {item.name for item in installation.made if item.body["kind"] in ("RuntimeClass", "DeviceClass")}
    return dict(pools), classes


def resources(spec, strategy):
    layout = ((spec.get("gpu") or {}).get("mig") or {}).get("layout")
    size = re.fullmatch(r"all-(\d+g\..+)", layout or "")
    if layout is None or strategy != "mixed" or layout == "all-disabled":
        return {"nvidia.com/gpu"}
    return {f"nvidia.com/mig-{size[1]}"} if size else {"slices of their own"}


def assert_told(before, after, before_files, after_files, cluster, project):
    """Of pools that nobody edited: each difference is told, and where there is none nothing is."""
    old_specs, new_specs = pools_of(before_files, cluster), pools_of(after_files, cluster)
    same = {name for name in old_specs.keys() & new_specs.keys() if old_specs[name] == new_specs[name]}
    (old, old_classes), (new, new_classes) = predicted(before, old_specs), predicted(after, new_specs)

    told = cross_pool_changes(project, ClusterChange(cluster, before, after))

    names = defaultdict(set)
    for item in told:
        names[item.pool, item.kind].update(item.names)
    differing = set()
    for name in same:
        then, now = old[name], new[name]
        for key in then["labels"].keys() | now["labels"].keys():
            if then["labels"].get(key) != now["labels"].get(key):
                differing.add("label")
                assert key in names[name, OtherKind.LABEL], key
        for key in then["workloads"].keys() | now["workloads"].keys():
            if then["workloads"].get(key) != now["workloads"].get(key):
                differing.add("workload")
                pods = names[name, OtherKind.WORKLOAD] | names[name, OtherKind.DRIVER]
                is_driver = re.search(r"driver|vgpu-manager", key) and names[name, OtherKind.DRIVER]
                assert key in pods or is_driver, (name, key)
        if then["upgrades"] != now["upgrades"]:
            differing.add("upgrades")
            assert names[name, OtherKind.UPGRADES] or names[name, OtherKind.DRIVER], name
        if then["resources"] != now["resources"]:
            differing.add("resources")
            assert names[name, OtherKind.RESOURCE], name
            assert any(item.stops for item in told if item.pool == name)
    if old_classes - new_classes and same:
        differing.add("classes")
    if not differing:
        assert [item for item in told if item.pool in same] == []
    return differing


@pytest.fixture(scope="module")
def sample():
    return open_project(REPOSITORY)


@pytest.mark.rows(5, "each cluster four times; an edit resolves and predicts a cluster twice")
@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("edit", range(EDITS))
def test_what_an_edit_of_one_pool_of_the_sample_does_to_others_is_told(cluster, edit, sample):
    number = edit * len(CLUSTERS) + CLUSTERS.index(cluster)
    before = seen_cluster(sample, cluster)
    for attempt in range(MOST_TRIES):
        files, _ = one_pool_edited(FILES, cluster, number * MOST_TRIES + attempt)
        with on_disk(files) as folder:
            project = open_project(Path(folder)).beside(sample)
            after = seen_cluster(project, cluster)
            if after is not None:
                assert_told(before, after, FILES, files, cluster, project)
                return
    pytest.fail(f"none of {MOST_TRIES} edits was sound")


@pytest.mark.deep("a whole run, 0.9 s; its parts have tests of their own")
@settings(max_examples=400 if DEEP else 8, suppress_health_check=list(HealthCheck), deadline=None)
@given(fleets.projects(), st.integers(0, 1 << 30))
def test_what_an_edit_of_one_pool_of_a_random_cluster_does_to_others_is_told(files, number):
    cluster = next(path.split("/")[1] for path in sorted(files) if path.endswith("/cluster.yaml"))
    after_files, _ = one_pool_edited(files, cluster, number)
    with on_disk(files) as one, on_disk(after_files) as other:
        first = open_project(Path(one))
        vars(first)["catalog"] = CATALOG
        project = open_project(Path(other)).beside(first)
        before, after = seen_cluster(first, cluster), seen_cluster(project, cluster)
        assume(before is not None)
        assume(after is not None)
        for what in assert_told(before, after, files, after_files, cluster, project) or {"nothing"}:
            event(what)


def reordered(value):
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return value


def moved_into_bases(files, cluster):
    """What each pool says of its GPU, in a base of its own that it extends last."""
    after = copy.deepcopy(files)
    for path, body in list(after.items()):
        if path.startswith(f"profiles/{cluster}/") and body["kind"] == "NodePool" and "gpu" in body["spec"]:
            name = f"moved-{body['metadata']['name']}"
            base = {"gpu": body["spec"].pop("gpu")}
            body["spec"]["extends"] = [*body["spec"].get("extends", ()), name]
            after[f"profiles/_bases/{name}.yaml"] = fleets.document("NodePoolBase", name, base)
    return after


@settings(max_examples=200 if DEEP else 6, suppress_health_check=list(HealthCheck), deadline=None)
@given(fleets.projects(), st.sampled_from(("order", "base", "style")))
def test_what_alters_nothing_is_told_as_nothing(files, how):
    cluster = next(path.split("/")[1] for path in sorted(files) if path.endswith("/cluster.yaml"))
    after_files = {"order": reordered, "base": lambda some: moved_into_bases(some, cluster), "style": copy.deepcopy}[
        how
    ](files)
    with on_disk(files) as one, on_disk(after_files) as other:
        if how == "style":
            for path, body in after_files.items():
                text = yaml.safe_dump(body, default_flow_style=True, width=60, sort_keys=True)
                (Path(other) / path).write_text(f"# the same\n{text}")
        first = open_project(Path(one))
        vars(first)["catalog"] = CATALOG
        project = open_project(Path(other)).beside(first)
        before, after = seen_cluster(first, cluster), seen_cluster(project, cluster)
        assume(before is not None)

        assert after is not None
        assert cross_pool_changes(project, ClusterChange(cluster, before, after)) == ()


SLICES = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {name: h100-slices}
spec:
  extends: [ubuntu-22-04, driver-rollout]
  runtime: {name: containerd, version: "1.7.27"}
  kernel: {release: 5.15.0-105-generic}
  gpu:
    product: NVIDIA-H100-80GB-HBM3
    count: 8
    mig:
      layout: all-balanced
  driver: {source: container, version: 580.126.20}
"""
FACT = "offers/nvidia.com/mig-1g.10gb"
ACKNOWLEDGED = "  acknowledge: [{{fact: {fact}, by: team-vision, date: 2026-11-20}}]\n"
MIG = "prod-eu/a100-mig.yaml"


def with_slices(folder):
    """Nothing would be generated (PSM251) before somebody says it of the other pool, if not who and when."""
    (folder / "profiles/prod-eu/h100-slices.yaml").write_text(SLICES)
    if "acknowledge:" not in (folder / "profiles" / MIG).read_text():
        said(text="  acknowledge: [{{fact: {fact}}}]\n")(folder)


def said(fact=FACT, path=MIG, text=ACKNOWLEDGED):
    return lambda folder: replaced(folder, path, ("spec:\n", "spec:\n" + text.format(fact=fact)))


def findings(tmp_path, *edits):
    """Of PSM672 in prod-eu, with the changes behind them."""
    project, before, after = both_sides(tmp_path, "prod-eu", *edits)
    found = cross_pool_changes(project, ClusterChange("prod-eu", before, after))
    return list(unacknowledged_changes(after, found)), found


def test_slices_of_several_sizes_rename_what_another_pool_offers(tmp_path):
    (finding,), found = findings(tmp_path, with_slices)

    assert finding.severity == "error"
    assert finding.primary.span.path == "profiles/prod-eu/h100-slices.yaml"
    assert finding.primary.source_line.strip() == "layout: all-balanced"
    assert "`nvidia.com/gpu` is no longer offered on pool `a100-mig` but `nvidia.com/mig-1g.10gb`" in finding.message
    assert "no longer ends in `-MIG-1g.10gb`" in finding.message
    assert f"profiles/{MIG}: `acknowledge: [{{fact: {FACT}, by: <who>, date: <year-month-day>}}]`" in finding.help
    assert {item.pool for item in found if item.stops} == {"a100-mig"}


def test_an_acknowledgement_of_the_same_change_is_told(tmp_path):
    (finding,), found = findings(tmp_path, said(), with_slices)

    assert finding.severity == "note"
    assert "team-vision acknowledges it with this change" in finding.message
    assert {item.acknowledged_by for item in found if item.stops} == {"team-vision"}


@pytest.mark.parametrize(
    "edit",
    [
        said(text="  acknowledge: [{{fact: {fact}}}]\n"),
        said(text="  acknowledge: [{{fact: {fact}, date: 2026-11-20}}]\n"),
        said(path="prod-eu/h100-rhel.yaml"),
    ],
    ids=["nobody", "nobody, on a day", "another pool"],
)
def test_what_does_not_name_it_acknowledges_nothing(tmp_path, edit):
    (finding,), _ = findings(tmp_path, edit, with_slices)

    assert finding.severity == "error"


@pytest.mark.parametrize(
    "pair",
    [("count: 4", "count: 5"), ("release: 5.15.0-105-generic", "release: 5.15.0-113-generic")],
    ids=["number of nodes", "kernel"],
)
def test_an_edit_of_the_other_pool_hides_nothing(tmp_path, pair):
    (finding,), _ = findings(tmp_path, with_slices, lambda folder: replaced(folder, MIG, pair))

    assert finding.severity == "error"
    assert "`nvidia.com/mig-1g.10gb`" in finding.message


def test_an_edit_of_the_cluster_hides_nothing(tmp_path):
    edit = ("spec:\n", "spec:\n  smokeTest: {namespace: gpu-tests}\n")
    (finding,), _ = findings(tmp_path, with_slices, lambda folder: replaced(folder, "prod-eu/cluster.yaml", edit))

    assert finding.severity == "error"


def test_what_a_pool_asks_for_itself_is_no_change_at_a_distance(tmp_path):
    found, told = findings(tmp_path, lambda folder: replaced(folder, MIG, ("all-1g.10gb", "all-balanced")))

    assert found == []
    assert "a100-mig" not in {item.pool for item in told}


def test_an_acknowledgement_that_was_there_before_says_nothing_of_a_later_change(tmp_path):
    project = open_project(REPOSITORY)
    sides = []
    for number, edits in enumerate(((said(),), (said(), with_slices))):
        _, _, seen = both_sides(tmp_path / str(number), "prod-eu", *edits)
        sides.append(seen)
    before, after = sides

    (finding,) = unacknowledged_changes(after, cross_pool_changes(project, ClusterChange("prod-eu", before, after)))

    assert finding.severity == "error"
