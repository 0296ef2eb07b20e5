"""The labels that the operator writes on nodes for a GPUCluster.

Source: NVIDIA/gpu-operator@v26.7.0:controllers/nodelabeling_controller.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.node_labels import has_gpu
from poolsmith.gpu.catalog.gpu_clusters import gpu_cluster_releases, read_gpu_cluster
from poolsmith.gpu.catalog.node_labels import DEPLOY, GPU_PRESENT

if TYPE_CHECKING:
    from collections.abc import Mapping


def gpu_cluster_labels(
    resource: Mapping[str, Any], node_labels: Mapping[str, str], *, release: str | None = None
) -> dict[str, str]:
    """All labels of a node once the operator settled, but for the owner of its driver.

    Without a release, the newest that knows a GPUCluster. A value that stands is kept, whatever it is, unless it is
    empty; labels of a ClusterPolicy's operands go. What the resource switches off is labelled all the same, and a
    node that says `operands=false` is too: the operator asks for that with a ClusterPolicy only.
    """
    del resource
    entry = read_gpu_cluster(release or gpu_cluster_releases()[-1])
    if entry is None:
        return dict(node_labels)
    names = {group: [DEPLOY + name for name in found] for group, found in entry.behaviour["nodeLabels"].items()}
    labels = dict(node_labels)
    if has_gpu(labels):
        labels[GPU_PRESENT] = "true"
    elif labels.get(GPU_PRESENT) == "true":
        labels[GPU_PRESENT] = "false"
    if labels.get(GPU_PRESENT) != "true":
        gone = {name for found in names.values() for name in found}
        return {key: value for key, value in labels.items() if key not in gone}
    labels = {key: value for key, value in labels.items() if key not in names["swept"]}
    for name in names["deploy"]:
        if not labels.get(name):
            labels[name] = "true"
    return labels
