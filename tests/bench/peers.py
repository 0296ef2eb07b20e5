"""Tools that people leave switched on, measured in the same minutes on the same files: what a row is to be held against.

A tool that is missing is said, not left out in silence; `make bench` looks in .tools and in the environment of the tests.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VALUES = "output/clusters/cluster-00000/platform/values/gpu-operator.yaml"
_CLUSTER = "output/clusters/cluster-00000"
_RELEASE = "v26.3.3"


@dataclass(frozen=True)
class Peer:
    """`words` are arguments; `{chart}` and `{schemas}` stand for what is found or made. `ends`: codes of no failure."""

    work: str
    tool: str
    words: tuple[str, ...]
    ends: tuple[int, ...] = (0,)


PEERS = (
    Peer("one values file: yamllint", "yamllint", ("-d", "relaxed", VALUES), (0, 1, 2)),
    Peer("one chart's values: helm template", "helm", ("template", "gpu", "{chart}", "-f", VALUES)),
    Peer("8 pools: kustomize build of all pools", "kustomize", ("build", f"{_CLUSTER}/pools")),
    Peer("8 pools: kustomize build of the platform", "kustomize", ("build", f"{_CLUSTER}/platform")),
    Peer(
        "8 pools: kubeconform of the output",
        "kubeconform",
        ("-summary", "-ignore-missing-schemas", "-schema-location", "{schemas}", _CLUSTER),
        (0, 1),
    ),
)


def commands(schemas: str) -> Iterator[tuple[Peer, tuple[str, ...] | str]]:
    """Each peer with its command, or why there is none."""
    charts = os.environ.get("POOLSMITH_CHARTS", "")
    chart = f"{charts}/{_RELEASE}/gpu-operator"
    for peer in PEERS:
        tool = shutil.which(peer.tool)
        if tool is None:
            yield peer, f"{peer.tool} is not installed (make tools)"
        elif "{chart}" in peer.words and not (charts and Path(chart).is_dir()):
            yield peer, f"POOLSMITH_CHARTS names no folder with {_RELEASE}/gpu-operator"
        else:
            yield peer, (tool, *(word.format(chart=chart, schemas=schemas) for word in peer.words))
