"""Each sample cluster on a real control plane with the operator's own binary: what then stands is what was committed.

docs/e2e.md says what it needs, how long it takes, and what it proved last.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from e2e.page import HEAD, told
from e2e.run import has_grants, run_cluster
from oracle.operator import binary
from oracle.operator.samples import sample_clusters

pytestmark = pytest.mark.deep("the operator itself, minutes for each cluster")

CLUSTERS = sample_clusters()


@pytest.fixture
def chart(cluster, checkouts):
    folder = checkouts("POOLSMITH_CHARTS") / CLUSTERS[cluster] / "gpu-operator"
    if not folder.is_dir():
        pytest.skip("POOLSMITH_CHARTS names no folder with this release")
    return folder


@pytest.fixture
def outcome(cluster, chart, request):
    if binary.program(CLUSTERS[cluster]) is None:
        pytest.skip(f"{binary.VARIABLE} names no folder with this release")
    server = request.getfixturevalue("control_plane").scenario()
    try:
        yield run_cluster(server, cluster, chart, shutil.which("helm"))
    finally:
        server.end()


@pytest.mark.tool("kustomize")
@pytest.mark.tool("helm")
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_the_operator_creates_under_the_policy_is_what_was_committed(outcome):
    print(told(outcome))
    if path := os.environ.get("POOLSMITH_E2E_TABLE"):
        with Path(path).open("a", encoding="utf-8") as table:
            table.write((HEAD if not table.tell() else "") + told(outcome) + "\n")

    assert outcome.denies == has_grants(outcome.name), "the grants policy is in force"
    assert outcome.refused == []
    assert outcome.waiting == []
    assert set(outcome.states.values()) == {"ready"}
    assert outcome.pods
    assert "\n".join(outcome.differing) == ""
