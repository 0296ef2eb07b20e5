"""Record sample clusters as their operators leave them: what `poolsmith verify --save` writes of each.

    PYTHONPATH=generator:tests python -m e2e.record_live [CLUSTER ...]

The cluster is delivered, and the operator's own program runs, as docs/e2e.md says; it needs the same. Into
`tests/recorded/data/live_clusters.jsonl.xz` goes the snapshot of each, in place of the one that stood there, without
what the repository keeps of nobody: scripts are fillers of their length, definitions have names only, and what
Kubernetes itself brings to any cluster is left out.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

from control_plane.delivered import coco_of, definitions, steps
from e2e.run import of_others, run_cluster
from oracle.operator.cluster import Cluster
from oracle.operator.samples import OUTPUT, REPOSITORY, sample_clusters
from poolsmith.interface.app.live.verify import Source, snapshot_of
from poolsmith.kubernetes.live.api_resources import Reading
from poolsmith.kubernetes.live.snapshot import to_text
from support import control_plane
from support.live_cluster import view
from support.recordings import DATA, ENDING, packed, recording

NAME = "live_clusters"
_MARKS = ("resourceVersion", "creationTimestamp", "generation", "selfLink")
_OF_KUBERNETES = "kubernetes.io/bootstrapping"
_DELIVERED = ("engines", "platform", "delivery", "pools", "namespace of the CoCo operator")


def snapshot_text(server: control_plane.Scenario, name: str) -> str:
    """What is read of a cluster whose operator has settled, once all of its units are as they are committed.

    What charts and operators of others make (kata-deploy, CoCo's) is applied as it is predicted.
    """
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
    for item in of_others(name):
        if "name" in item["metadata"]:
            item["metadata"].pop("ownerReferences", None)  # a uid that nobody has given
            answer = client.apply(item, manager="others", force=True)
            assert answer.taken, (item["kind"], item["metadata"], answer.message)
    Cluster(client).settle(lambda: True)
    cluster = view(REPOSITORY, name)
    reading = Reading(kubeconfig=str(server.kubeconfig("admin")), seconds=30.0)
    return to_text(snapshot_of(Source(reading=reading), cluster.resources, cluster.namespaces))


def slim(snapshot: dict[str, Any]) -> dict[str, Any]:
    """A snapshot as it is kept: what nobody looks at is left out."""
    owned = {owner["uid"] for one in snapshot["lists"] for item in one["items"] for owner in _owners(item)}
    lists = [
        {**one, "items": [_slim(one["kind"], item, owned) for item in one["items"] if _is_kept(item)]}
        for one in snapshot["lists"]
    ]
    return {**snapshot, "lists": lists}


def _owners(item: dict[str, Any]) -> list[dict[str, Any]]:
    return item["metadata"].get("ownerReferences") or []


def _is_kept(item: dict[str, Any]) -> bool:
    metadata = item["metadata"]
    return _OF_KUBERNETES not in (metadata.get("labels") or {}) and metadata["name"] != "kube-root-ca.crt"


def _slim(kind: str, item: dict[str, Any], owned: set[str]) -> dict[str, Any]:
    metadata = {key: value for key, value in item["metadata"].items() if key not in _MARKS}
    if metadata["uid"] not in owned:
        del metadata["uid"]
    kept = {**item, "metadata": metadata}
    if kind == "CustomResourceDefinition":
        return {**kept, "spec": {key: item["spec"][key] for key in ("group", "names", "scope")}, "status": {}}
    if kind == "ConfigMap":
        data = item.get("data") or {}
        ours = metadata["name"].startswith("poolsmith-")
        texts = {key: text if ours or "#!/" not in text else "x" * len(text) for key, text in data.items()}
        return {**kept, "data": texts}
    if kind == "Pod":
        return {**kept, "status": {"phase": item["status"].get("phase")}}
    return kept


def main(names: list[str]) -> None:
    path = DATA / f"{NAME}{ENDING}"
    values = dict(recording(NAME)) if path.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        plane = control_plane.ControlPlane(Path(folder))
        try:
            for name in names:
                begun = monotonic()
                server = plane.scenario()
                values[name] = slim(json.loads(snapshot_text(server, name)))
                server.end()
                path.write_bytes(packed(values))
                print(f"{name}: {monotonic() - begun:.0f} seconds")
        finally:
            plane.end()
    print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:] or list(sample_clusters()))
