"""The operator's chart as a package: the published one where POOLSMITH_CHARTS has it, else a miniature with objects of
the same kinds, names and hooks."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from control_plane.released_chart import released
from support.recordings import recording

CHART, UMBRELLA = "gpu-operator", "platform"
_RIGHTS = "rbac.authorization.k8s.io/v1"
_NFD = "node-feature-discovery"
_IMAGE = "registry.example.com/miniature:v1"


_OTHERS = {"nvidia-device-plugin": "0.20.0", _NFD: "0.19.0", "dcgm-exporter": "4.8.2"}
"""Charts of a stack without an operator: a DaemonSet stands for each, and for one its hook."""


def packages(releases: Sequence[str], folder: Path) -> None:
    """Write `gpu-operator-RELEASE.tgz` of each, the other charts, and the index of all packages to `folder`."""
    for name, content in _packaged(tuple(releases)).items():
        (folder / name).write_bytes(content)


@cache
def _packaged(releases: tuple[str, ...]) -> dict[str, bytes]:
    """Contents by name; the index has no addresses but names."""
    charts = os.environ.get("POOLSMITH_CHARTS")
    with TemporaryDirectory() as scratch:
        folder, packed = Path(scratch) / "charts", Path(scratch) / "packed"
        made = [
            released(Path(charts), release, folder) if charts else _miniature(release, folder / release)
            for release in releases
        ]
        for name, version in _OTHERS.items():
            hook = _hook(name, version) if name == _NFD else ()
            made.append(_chart(folder / name, name, version, [_workload("DaemonSet", name, version), *hook]))
        made.append(_umbrella(folder / UMBRELLA, made[0]))
        _helm("package", *map(str, made), "--destination", str(packed))
        _helm("repo", "index", str(packed))
        return {path.name: path.read_bytes() for path in packed.iterdir()}


def _umbrella(folder: Path, inner: Path) -> Path:
    """A chart with the operator's inside, and something of its own."""
    beside = {**_object("v1", "ConfigMap", "beside"), "data": {}}
    _chart(folder, UMBRELLA, "1.0.0", [beside])
    about = yaml.safe_load((folder / "Chart.yaml").read_text())
    version = yaml.safe_load((inner / "Chart.yaml").read_text())["version"]
    part = {"name": CHART, "version": version, "condition": f"{CHART}.enabled"}
    (folder / "Chart.yaml").write_text(yaml.safe_dump(about | {"dependencies": [part]}))
    shutil.copytree(inner, folder / "charts" / CHART)
    return folder


def _helm(*arguments: str) -> None:
    run = subprocess.run(["helm", *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr


def _miniature(release: str, folder: Path) -> Path:
    _chart(folder, CHART, release, _objects(release))
    (folder / "crds").mkdir()
    files = recording("gpu_operator")
    for path in files.below(f"gpu-operator/{release}/crds"):
        content = files[path]
        documents = content if isinstance(content, list) else [content]
        (folder / "crds" / path.rpartition("/")[2]).write_text(yaml.safe_dump_all(documents))
    return folder


def _chart(folder: Path, name: str, version: str, objects: Iterable[dict[str, Any]]) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "templates").mkdir(parents=True)
    about = {"apiVersion": "v2", "name": name, "version": version, "appVersion": version}
    (folder / "Chart.yaml").write_text(yaml.safe_dump(about))
    (folder / "values.yaml").write_text(yaml.safe_dump(_DEFAULTS))
    for item in objects:
        name = f"{item['kind']}-{item['metadata']['name']}.yaml".lower()
        text = yaml.safe_dump(item).replace(f"'{_VALUE}'", _VALUE)
        is_hook = "helm.sh/hook" in item["metadata"]["annotations"]
        (folder / "templates" / name).write_text(f"{_IF_CLEANED}\n{text}{{{{ end }}}}\n" if is_hook else text)
    return folder


def _objects(release: str) -> list[dict[str, Any]]:
    rights: dict[str, Any] = {"rules": []}
    full = f"{CHART}-{_NFD}"
    return [
        _object("v1", "ServiceAccount", CHART),
        _object("v1", "ServiceAccount", _NFD),
        {**_object(_RIGHTS, "ClusterRole", CHART), **rights},
        _workload("Deployment", CHART, release),
        _workload("Deployment", f"{full}-master", release),
        _workload("Deployment", f"{full}-gc", release),
        _workload("DaemonSet", f"{full}-worker", release),
        {**_object("nvidia.com/v1", "ClusterPolicy", "cluster-policy"), "spec": _policy(release)},
        *_hook(full, release),
    ]


def _hook(full: str, release: str) -> tuple[dict[str, Any], ...]:
    """Node Feature Discovery's, which runs once its chart is deleted."""
    hook = {"helm.sh/hook": "post-delete", "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded"}
    return (
        _object("v1", "ServiceAccount", f"{full}-prune", hook),
        {**_object(_RIGHTS, "ClusterRole", f"{full}-prune", hook), "rules": []},
        {
            **_object("batch/v1", "Job", f"{full}-prune", hook),
            "spec": {"template": {"spec": {**_pod(release), "restartPolicy": "Never"}}},
        },
    )


def _policy(release: str) -> dict[str, Any]:
    """With one field that only the later release defines."""
    names = (
        "operator",
        "daemonsets",
        "driver",
        "toolkit",
        "devicePlugin",
        "dcgm",
        "dcgmExporter",
        "gfd",
        "nodeStatusExporter",
    )
    found: dict[str, Any] = {**{name: {} for name in names}, "toolkit": {"enabled": True}}
    found["dcgmExporter"] = {"enabled": _VALUE}
    if release >= "v26.7":
        found["dcgmExporter"]["serviceMonitor"] = {"scrapeTimeout": "10s"}
    return found


_DEFAULTS = {"dcgmExporter": {"enabled": True}, _NFD: {"postDeleteCleanup": True}}
_VALUE = "{{ .Values.dcgmExporter.enabled }}"
_IF_CLEANED = f'{{{{ if index .Values "{_NFD}" "postDeleteCleanup" }}}}'
"""Those that are read."""


_NAMESPACED = ("ConfigMap", "DaemonSet", "Deployment", "Job", "ServiceAccount")


def _object(version: str, kind: str, name: str, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    """With its namespace, as the published charts name it: where they did not, helm-controller would look for what it
    uninstalls in the namespace that a HelmRelease has come to."""
    namespace = {"namespace": "{{ .Release.Namespace }}"} if kind in _NAMESPACED else {}
    metadata = {"name": name, **namespace, "annotations": annotations or {}}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _pod(release: str) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": f"{_IMAGE}-{release}"}]}


def _workload(kind: str, name: str, release: str) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": _pod(release)}
    count = {"replicas": 1} if kind == "Deployment" else {}
    spec = {**count, "selector": {"matchLabels": labels}, "template": template}
    return {**_object("apps/v1", kind, name), "spec": spec}
