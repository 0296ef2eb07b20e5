"""A real API server takes the smoke jobs of the sample fleet, with the claims and domains that they name."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from control_plane.delivered import definitions

pytestmark = pytest.mark.real("an API server, asked many times")

ROOT = Path(__file__).resolve().parents[2]
CLUSTERS = sorted(path.parent.name for path in (ROOT / "output/clusters").glob("*/smoke"))


@pytest.fixture(scope="module")
def server(control_plane):
    server = control_plane.scenario()
    for item in definitions("v26.7.0", "").objects:
        server.client().apply(item)
    yield server
    server.end()


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_server_takes_each_document(server, cluster):
    folder = ROOT / "output/clusters" / cluster
    refused, kinds = [], set()
    for path in sorted((folder / "smoke").iterdir()):
        for document in yaml.safe_load_all(path.read_text("utf-8")):
            if document["kind"] == "ComputeDomain":
                continue  # its definition is the operator's, and no recording has it
            name = document["metadata"].pop("generateName", None)
            if name is not None:
                document["metadata"]["name"] = f"{name}x"
            answer = server.client().apply(document, dry_run=True)
            kinds.add(document["kind"])
            if not answer.taken:
                refused.append(f"{path.name}: {answer.message}")

    assert refused == []
    assert "Job" in kinds
