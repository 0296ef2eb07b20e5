"""A small project as texts, and what a change of it comes to: real git repositories."""

from __future__ import annotations

import datetime as dt
import json
import re

from poolsmith.interface.app.diff import DiffOptions, diff

TODAY = dt.date(2026, 11, 20)
CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {{name: {name}}}
spec:
  kubernetes: {{version: "1.33", distribution: kubeadm}}
  stack: {{release: {release}, driverMode: {mode}}}
  delivery: {{engine: flux, repoURL: "https://git.example.com/gpu.git"}}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  os: {{id: ubuntu, version: "22.04"}}
  kernel: {{release: 5.15.0-105-generic}}
  runtime: {{name: containerd, version: "1.7.27"}}
  gpu: {{product: {product}, count: 8}}
  driver: {driver}
"""
COMPILED = "{source: container, version: 580.126.20}"
A100, H100 = "NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3"


def cluster(name="lab", release="v26.3.3", mode="nvidia-driver", values=""):
    text = CLUSTER.format(name=name, release=release, mode=mode)
    return text.replace("driverMode: " + mode, f"driverMode: {mode}, values: {values}") if values else text


def pool(name, product=A100, driver=COMPILED):
    return POOL.format(name=name, product=product, driver=driver)


def project(*names, at="", **clusters):
    """One cluster `lab` with pools of these names, and further clusters with theirs."""
    files = {}
    for name, pools in {"lab": names, **clusters}.items():
        if pools:
            files[f"{at}profiles/{name}/cluster.yaml"] = cluster(name)
            files |= {f"{at}profiles/{name}/{item}.yaml": pool(item) for item in pools}
    return files


def take_guards_off(root):
    """Output as it was before the objects of a delivery said what must not go by accident."""
    for path in root.rglob("output/clusters/*/delivery/*.yaml"):
        path.write_text(_NONE_LEFT.sub("", _GUARD.sub("", path.read_text())))


_GUARD = re.compile(
    r"    (?:kustomize\.toolkit\.fluxcd\.io/prune: disabled|argocd\.argoproj\.io/sync-options: Prune=false\S*)\n"
)
_NONE_LEFT = re.compile(r"  annotations:\n(?! {4})")


def changes(repository, *, base=None, head=None, clusters=(), accepted=()):
    """The report of what is checked out against the repository's base."""
    options = DiffOptions(
        today=TODAY, base=base or repository.base, head=head, clusters=clusters, accepted=frozenset(accepted)
    )
    return diff(repository.root, options)


def told(report):
    """What it says of clusters and pools, in words."""
    found = []
    for item in report.clusters:
        found.append(f"{item.name} {item.standing}" + (f" from {item.renamed_from}" if item.renamed_from else ""))
        for entry in item.pools:
            was = f" from {entry.renamed_from}" if entry.renamed_from else ""
            found.append(f"{item.name}/{entry.name} {entry.standing}{was}")
    return found


def codes(findings):
    return sorted({item.code for item in findings})


def as_data(text):
    return json.loads(text)
