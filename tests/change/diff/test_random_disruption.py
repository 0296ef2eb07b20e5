"""For random edits: the pods that a change is said to replace are those whose template differs before and after.

The oracle is plain JSON of what the expansion says on both sides, and, for recorded clusters, what the operator itself
made of them. It uses nothing of what tells disruption.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from change.diff.random_edits import edited
from change.diff.two_sides import REPOSITORY, seen_cluster
from fleet.operands import record_objects, verdicts
from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.disruption import disruptions
from poolsmith.change.diff.restarts import RolledWorkload, changed_templates
from poolsmith.fleet.operands.expansion import Made, Maker
from poolsmith.gpu.catalog import Catalog
from poolsmith.project.run.project import open_project
from property.test_unlike_pools import on_disk
from property.unlike_pools import fleets
from support.circles import DEEP

KINDS = ("DaemonSet", "Deployment", "StatefulSet")
CLUSTERS = ("a40-precompiled", "edge", "edge-talos", "kata-a10", "lab-t4", "manual", "prod-eu", "prod-rke2")
EDITS = 15
"""Of each cluster. About half of them change what runs; the others must be told as nothing."""
MOST_TRIES = 40
CATALOG = Catalog()


def sample_files():
    """Every profile of the sample, as data by path."""
    root = REPOSITORY / "profiles"
    return {
        path.relative_to(REPOSITORY).as_posix(): yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        for path in sorted(root.rglob("*.yaml"))
    }


FILES = sample_files()


def standing(seen):
    """The pod template of each workload as one text of JSON, by namespace and `Kind/name`; hooks are no workloads."""
    found = {}
    for item in seen.prediction.installation.made:
        body = item.body
        if body["kind"] in KINDS and item.maker is not Maker.HOOK:
            key = body["metadata"].get("namespace", ""), f"{body['kind']}/{body['metadata']['name']}"
            found[key] = json.dumps(body["spec"]["template"], sort_keys=True)
    return found


def assert_told(before, after, catalog, renamed):
    """The edit's disruption is what both expansions say. Gives what kinds were told."""
    old, new = standing(before), standing(after)
    differing = {key for key in old.keys() & new.keys() if old[key] != new[key]}

    told = disruptions(before, after, catalog, renamed)

    replaced = [item for item in told if item.why and item.kind is not DisruptionKind.MIG]
    names = Counter((item.namespace, item.what) for item in replaced if item.what.partition("/")[0] in KINDS)
    assert set(names) == differing
    assert not [name for name, count in names.items() if count > 1], "each is told once"
    words = " ".join(item.words for item in told)
    for key in new.keys() - old.keys():
        assert any((item.namespace, item.what) == key for item in told), key
    for key in old.keys() - new.keys():
        assert f"`{key[1].partition('/')[2]}`" in words, key
    pools = {pool.name for pool in after.plan.pools} | {renamed.get(pool.name, pool.name) for pool in before.plan.pools}
    for item in told:
        assert pools.issuperset(item.pools), item
    return {item.kind for item in told}


@pytest.fixture(scope="module")
def sample():
    return open_project(REPOSITORY)


@pytest.mark.rows(5, "each cluster three times; an edit resolves and predicts a cluster twice")
@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("edit", range(EDITS))
def test_every_changed_template_of_an_edited_cluster_is_told(cluster, edit, sample):
    number = edit * len(CLUSTERS) + CLUSTERS.index(cluster)
    before = seen_cluster(sample, cluster)
    for attempt in range(MOST_TRIES):
        files, renamed = edited(FILES, cluster, number * MOST_TRIES + attempt)
        with on_disk(files) as folder:
            after = seen_cluster(open_project(Path(folder)).beside(sample), cluster)
            if after is not None:
                assert_told(before, after, sample.catalog, renamed)
                return
    pytest.fail(f"none of {MOST_TRIES} edits was sound")


@pytest.mark.deep("a whole run, 1.1 s; its parts have tests of their own")
@settings(max_examples=300 if DEEP else 8, suppress_health_check=list(HealthCheck), deadline=None)
@given(fleets.projects(), st.integers(0, 1 << 30))
def test_every_changed_template_of_a_random_cluster_is_told(files, number):
    cluster = next(path.split("/")[1] for path in sorted(files) if path.endswith("/cluster.yaml"))
    after_files, renamed = edited(files, cluster, number)
    with on_disk(files) as one, on_disk(after_files) as other:
        project = open_project(Path(one))
        vars(project)["catalog"] = CATALOG
        before = seen_cluster(project, cluster)
        after = seen_cluster(open_project(Path(other)).beside(project), cluster)
        assume(before is not None)
        assume(after is not None)
        assert_told(before, after, CATALOG, renamed)


RUNS = [case for case in verdicts.RUNS if "chartError" not in verdicts.RUNS[case]["result"]]
NOT_OF_PODS = ("labels", "updateStrategy", "matchingNodes", "owner", "selector", "annotations")
"""What a recorded workload says beside its pods."""


def _pairs():
    """Runs of one tag, each with the next one and with the defaults."""
    by_tag = {}
    for case in RUNS:
        by_tag.setdefault(case.partition("/")[0], []).append(case)
    for cases in by_tag.values():
        yield from itertools.pairwise(cases)
        yield from ((cases[0], other) for other in cases[2:])


def _workloads(objects):
    made = [Made(item, Maker.OPERATOR, "ClusterPolicy/cluster-policy") for item in objects if item["kind"] in KINDS]
    return {item.key: RolledWorkload(made=item) for item in made}


def _recorded_pods(case):
    result = verdicts.RUNS[case]["result"]
    return {
        f"{item['namespace']}/{item['kind']}/{item['name']}": json.dumps(
            {key: value for key, value in item.items() if key not in NOT_OF_PODS}, sort_keys=True
        )
        for item in result["workloads"]
        if item["kind"] in KINDS
    }


@pytest.mark.rows(16, "runs of all releases; each pair expands two of them")
@pytest.mark.parametrize(("old", "new"), list(_pairs()))
def test_every_template_that_the_operator_itself_changed_is_told(old, new):
    """Before and after are two recorded runs; what is told is told of our own expansion of their inputs."""
    before, after = _recorded_pods(old), _recorded_pods(new)
    differing = {key for key in before.keys() & after.keys() if before[key] != after[key]}

    told = changed_templates(_workloads(_predicted(old)), _workloads(_predicted(new)), "1.34")

    assert {item.new.key for item in told} == differing
    assert all(item.why for item in told)


def _predicted(case):
    """The objects of our expansion of a recorded run's inputs."""
    recorded = verdicts.RUNS[case]
    seen = []
    verdicts.form_of(recorded, seen=lambda expansion: seen.append(expansion) or expansion)
    return seen[0].objects


@pytest.mark.rows(12, "the same with nothing of our expansion")
@pytest.mark.parametrize(("old", "new"), list(itertools.islice(_pairs(), 0, None, 7)))
def test_the_operators_own_objects_are_told_alike(old, new):
    """The same of the objects that the operator really made, with nothing of our expansion."""
    before, after = _recorded_pods(old), _recorded_pods(new)
    differing = {key for key in before.keys() & after.keys() if before[key] != after[key]}

    def recorded(case):
        result = verdicts.RUNS[case]["result"]
        return _workloads(record_objects.expansion_of(case.partition("/")[0], result).objects)

    assert {item.new.key for item in changed_templates(recorded(old), recorded(new), "1.34")} == differing
