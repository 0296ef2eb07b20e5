"""A cluster of a thousand nodes with twenty pods on each, as an API server on loopback would tell it."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.live.api_resources import NODES, PODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.live.snapshot import Snapshot

ROOT = Path(__file__).parents[2]
CLUSTER = "edge"
NODES_MADE, PODS_OF_A_NODE = 1_000, 20


@contextmanager
def large_cluster(folder: Path) -> Iterator[Path]:
    """The kubeconfig that leads to it.

    It is served by a process of its own: what a process holds counts as the memory of each that it starts.
    """
    command, path = (
        (sys.executable, __file__, str(folder)),
        os.pathsep.join((str(ROOT / "generator"), str(ROOT / "tests"))),
    )
    environment = os.environ | {"PYTHONPATH": path}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield Path(server.stdout.readline().strip())
        server.communicate()  # the end of its input is its own


def main() -> None:
    from change.live.lying_server import served
    from support.live_cluster import recorded_snapshot, view

    with served(_large(recorded_snapshot(view(ROOT, CLUSTER))), Path(sys.argv[1])) as (_, kubeconfig):
        print(kubeconfig, flush=True)
        sys.stdin.read()


def _large(snapshot: Snapshot) -> Snapshot:
    node, pods = snapshot.items(NODES)[0], snapshot.items(PODS)
    made = {
        NODES: [_as_told(node, f"node-{number:04}", number) for number in range(NODES_MADE)],
        PODS: [
            _on_node(pods[place % len(pods)], number, place)
            for number in range(NODES_MADE)
            for place in range(PODS_OF_A_NODE)
        ],
    }
    lists = (replace(item, items=tuple(made.get(item.resource, item.items))) for item in snapshot.lists)
    return replace(snapshot, lists=tuple(lists))


def _on_node(pod: dict[str, Any], number: int, place: int) -> dict[str, Any]:
    name = f"{pod['metadata']['name'][:40]}-{number:04}{place:02}"
    made = _as_told(pod, name, number * 100 + place)
    made["spec"]["nodeName"] = f"node-{number:04}"
    return made


def _as_told(body: dict[str, Any], name: str, number: int) -> dict[str, Any]:
    """With what the API server and controllers write into each object, which is most of its bytes."""
    made = copy.deepcopy(body)
    uid = f"00000000-0000-4000-8000-{number:012}"
    made["metadata"] |= {"name": name, "uid": uid, "resourceVersion": str(number + 1_000_000)}
    made["metadata"]["creationTimestamp"] = "2026-11-27T08:00:00Z"
    fields = {f"f:field{index}": {".": {}, f'k:{{"name":"{name}"}}': {}} for index in range(40)}
    made["metadata"]["managedFields"] = [
        {"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsV1": fields}
        for manager in ("kubelet", "kube-controller-manager")
    ]
    if made["kind"] == "Node":
        images = [{"names": [f"registry.example.com/image-{index}:1"], "sizeBytes": 1 << 28} for index in range(50)]
        made["status"]["images"] = images
    return made


if __name__ == "__main__":
    main()
