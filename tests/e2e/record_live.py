"""Record a sample cluster as its operator leaves it: the snapshot that `poolsmith verify --save` writes of it.

    PYTHONPATH=generator:tests python -m e2e.record_live CLUSTER ...

The cluster is delivered, and the operator's own program runs, as docs/e2e.md says; it needs the same. Into
`tests/recorded/data/live_clusters.jsonl.xz` goes the snapshot of each, in place of the one that stood there.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from time import monotonic

from control_plane.delivered import coco_of, definitions, steps
from e2e.run import run_cluster
from oracle.operator.samples import OUTPUT, REPOSITORY, sample_clusters
from poolsmith.app.live.source import Source, snapshot_of
from poolsmith.live.reading import Reading
from poolsmith.live.stored import to_text
from support import control_plane
from support.live_cluster import view
from support.recordings import DATA, ENDING, packed, recording

NAME = "live_clusters"
_DELIVERED = ("engines", "platform", "delivery", "pools")


def snapshot_text(server: control_plane.Scenario, name: str) -> str:
    """What is read of a cluster whose operator has settled, once all of its units are as they are committed."""
    chart = Path(os.environ["POOLSMITH_CHARTS"]) / sample_clusters()[name] / "gpu-operator"
    outcome = run_cluster(server, name, chart, str(shutil.which("helm")))
    assert not outcome.differing, outcome.differing
    client = server.client()
    folder = OUTPUT / name
    for step in (definitions("", coco_of(folder)), *steps(folder)):
        if step.name in (*_DELIVERED, "definitions") or step.name.startswith("units/"):
            for item in step.objects:
                answer = client.apply(item, manager=step.manager, force=True)
                assert answer.taken, (item["kind"], item["metadata"], answer.message)
    cluster = view(REPOSITORY, name)
    reading = Reading(kubeconfig=str(server.kubeconfig("admin")), seconds=30.0)
    return to_text(snapshot_of(Source(reading=reading), cluster.resources, cluster.namespaces))


def main(names: list[str]) -> None:
    path = DATA / f"{NAME}{ENDING}"
    values = dict(recording(NAME)) if path.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        plane = control_plane.ControlPlane(Path(folder))
        try:
            for name in names:
                begun = monotonic()
                server = plane.scenario()
                values[name] = json.loads(snapshot_text(server, name))
                server.end()
                print(f"{name}: {monotonic() - begun:.0f} seconds")
        finally:
            plane.end()
    path.write_bytes(packed(values))
    print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
