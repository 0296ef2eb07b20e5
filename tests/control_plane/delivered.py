"""What a delivery engine applies for a cluster, and what follows from it, in the order in which it reaches the cluster."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from poolsmith.fleet.operands.chart.chart_projection import HelmRelease
from poolsmith.fleet.operands.gpu_cluster.gpu_cluster_expansion import ADMIN_ACCESS
from poolsmith.interface.app.template import template
from support.api_client import ApiClient
from support.recordings import recording

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGINES = ("argocd", "flux-system")
_DEFINITIONS_OF = {"neighbours": ("argo-cd/crds/", "flux/crds/", "node-feature-discovery/crds/")}
_COMPARED_BY_ENGINES = ("delivery", "helm")
_FIRST = (
    "Namespace",
    "CustomResourceDefinition",
    "RuntimeClass",
    "PriorityClass",
    "ServiceAccount",
    "Role",
    "ClusterRole",
)
_WRITTEN_BY_THE_SERVER = ("resourceVersion", "managedFields")
COCO_NAMESPACE = "confidential-containers-system"
_SERVED = HelmRelease(api_versions=("resource.k8s.io/v1/DeviceClass",))
_REVISION = re.compile(r"(?:targetRevision|version|ref|tag): \"?(?:refs/tags/)?(v\d[\w.]+)")
_SERVICE_MONITORS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "servicemonitors.monitoring.coreos.com"},
    "spec": {
        "group": "monitoring.coreos.com",
        "scope": "Namespaced",
        "names": {"kind": "ServiceMonitor", "plural": "servicemonitors"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
"""Not Prometheus' own definition, which nobody recorded: it takes any object of the kind."""


@dataclass(frozen=True)
class Step:
    """Objects that are applied together: by whom, and what they are called in a failure."""

    name: str
    objects: tuple[dict[str, Any], ...]
    manager: str = "delivery"


MONITORING = Step("monitoring", (_SERVICE_MONITORS,), "definitions")


@cache
def definitions(release: str, coco: str) -> Step:
    """The definitions of a release of the operator, and of its neighbours."""
    found = [_SERVICE_MONITORS]
    prefixes = [("neighbours", prefix) for prefix in _DEFINITIONS_OF["neighbours"]]
    prefixes += [("gpu_operator", f"gpu-operator/{release}/crds/")] if release else []
    prefixes += [("neighbours", f"confidential-containers/{coco}/ccruntimes-crd")] if coco else []
    for name, prefix in prefixes:
        files = recording(name)
        for path in files:
            if path.startswith(prefix) and path.endswith((".yaml", ".yml")):
                content = files[path]
                found += content if isinstance(content, list) else [content]
    only = tuple(item for item in found if item and item["kind"] == "CustomResourceDefinition")
    return Step("definitions", only, "definitions")


def built(folder: Path) -> tuple[dict[str, Any], ...]:
    """What the real kustomize makes of a folder; remote bases are left out, since nothing is fetched."""
    run = subprocess.run(["kustomize", "build", str(folder)], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    return _ordered(item for item in yaml.load_all(run.stdout, yaml.CSafeLoader) if item)


def _ordered(objects: Any) -> tuple[dict[str, Any], ...]:
    """As delivery engines sort: what others need comes first."""
    ranks = {kind: rank for rank, kind in enumerate(_FIRST)}
    return tuple(sorted(objects, key=lambda item: ranks.get(item["kind"], len(ranks))))


def documents(path: Path) -> tuple[dict[str, Any], ...]:
    return tuple(item for item in yaml.load_all(path.read_text("utf-8"), yaml.CSafeLoader) if item)


def release_of(folder: Path) -> str:
    """The operator's release, as the delivery of a generated cluster names it; empty without an operator."""
    return _revision(folder / "delivery/gpu-operator.yaml")


def coco_of(folder: Path) -> str:
    """The version of the Confidential Containers operator, where the cluster gets one."""
    return _revision(folder / "delivery/coco-operator-upstream.yaml")


def _revision(path: Path) -> str:
    found = _REVISION.search(path.read_text("utf-8")) if path.exists() else None
    return found[1] if found else ""


def steps(folder: Path) -> list[Step]:
    """Everything of one generated cluster: its units in order, then what chart and operator are predicted to create."""
    release = release_of(folder)
    found = [Step("engines", tuple(_namespace(name) for name in ENGINES))]
    found += [Step("platform", built(folder / "platform"))]
    found += [Step("delivery", built(folder / "delivery"))]
    units = folder / "units"
    for unit in sorted(path.parent for path in units.glob("*/kustomization.yaml")):
        found.append(Step(f"units/{unit.name}", built(unit)))
    if release:
        rendered = template(release, [folder / "platform/values/gpu-operator.yaml"], helm=_SERVED)
        assert not rendered.failed, rendered.errors
        found.append(Step("custom resources of the chart", rendered.objects, "helm"))
    if (folder / "pools").is_dir():
        found.append(Step("pools", built(folder / "pools")))
    delivered = {_identity(item) for step in found for item in step.objects}
    predicted = [_with_name(item) for item in documents(folder / "expected/workloads.yaml")]
    if coco_of(folder):  # the first object of its manifests, which the ledger has no line for
        found.append(Step("namespace of the CoCo operator", (_namespace(COCO_NAMESPACE),), "operator"))
    if any(item["kind"] == "ResourceClaimTemplate" for item in predicted):  # the operator's label, before it claims
        labelled = {
            **_namespace("gpu-operator"),
            "metadata": {"name": "gpu-operator", "labels": {ADMIN_ACCESS: "true"}},
        }
        found.append(Step("label of the operator's namespace", (labelled,), "operator"))
    again = [item for item in predicted if _identity(item) in delivered]
    found.append(Step("predicted, and delivered by us", _ordered(again)))
    found.append(Step("predicted", _ordered(item for item in predicted if item not in again), "operator"))
    for path in sorted((folder / "smoke").glob("*.yaml")):
        found.append(Step(f"smoke/{path.name}", documents(path), "person"))  # created, not applied: a run on purpose
    return [_used(definitions(release, coco_of(folder)), found), *found]


def _used(known: Step, found: list[Step]) -> Step:
    """The definitions that something here needs: each one makes the server write its schema anew."""
    kinds = {item["kind"] for step in found for item in step.objects}
    return Step(
        known.name, tuple(item for item in known.objects if item["spec"]["names"]["kind"] in kinds), known.manager
    )


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _with_name(item: dict[str, Any]) -> dict[str, Any]:
    """A predicted object whose name ends in what only the operator will choose, with a name of ours."""
    metadata = item["metadata"]
    return {**item, "metadata": {**metadata, "name": metadata["name"].replace("*", "x")}}


def _identity(item: dict[str, Any]) -> tuple[str, ...]:
    metadata = item["metadata"]
    group = item["apiVersion"].rpartition("/")[0]
    return group, item["kind"], metadata.get("namespace", ""), metadata.get("name", "")


def named(item: dict[str, Any]) -> str:
    metadata = item["metadata"]
    return f"{item['kind']} {metadata.get('namespace', '')}/{metadata.get('name') or metadata['generateName']}"


@dataclass
class Applied:
    """What came of applying steps: refusals in words, what a second time changed, and what the server holds otherwise."""

    taken: int = 0
    refused: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    altered: list[str] = field(default_factory=list)


def _altered(given: Any, held: Any, path: str = "") -> Iterator[str]:
    """The fields that the server holds otherwise than given: an engine that compares would never be done with them."""
    if isinstance(given, dict) and isinstance(held, dict):
        for key, value in given.items():
            if value == "" and key == "value" and ".env[" in path and key not in held:
                continue  # a variable without a value is one with an empty one: the server leaves it out
            if value is None and key not in held:
                yield f"{path}.{key}: null is not kept"
            else:
                yield from _altered(value, held.get(key), f"{path}.{key}")
    elif isinstance(given, list) and isinstance(held, list) and len(given) == len(held):
        for number, (one, other) in enumerate(zip(given, held, strict=True)):
            yield from _altered(one, other, f"{path}[{number}]")
    elif given != held:
        yield f"{path}: {given!r} became {held!r}"


def _lasting(body: dict[str, Any]) -> dict[str, Any]:
    """An object as the server holds it, without what controllers keep writing: status, who wrote when, their label."""
    metadata = {key: value for key, value in body["metadata"].items() if key not in _WRITTEN_BY_THE_SERVER}
    if ADMIN_ACCESS in metadata.get("labels", {}):
        metadata["labels"] = {key: value for key, value in metadata["labels"].items() if key != ADMIN_ACCESS}
    return {**{key: value for key, value in body.items() if key != "status"}, "metadata": metadata}


def apply_twice(client: ApiClient, found: list[Step]) -> Applied:
    """Apply each step in order, and all of it again: nothing is refused, and the second time nothing changes."""
    applied = Applied()
    first: dict[tuple[str, int], Any] = {}
    for again in (False, True):
        for step in found:
            for number, item in enumerate(step.objects):
                runs = "name" not in item["metadata"]
                answer = client.create(item) if runs else client.apply(item, manager=step.manager)
                place = f"{step.name}: {named(item)}"
                if not answer.taken:
                    applied.refused.append(f"{place}: {answer.message}")
                    continue
                if runs:
                    continue
                if not again and step.manager in _COMPARED_BY_ENGINES:
                    applied.altered += [f"{place}: {text}" for text in _altered(item, answer.body)]
                found_now = _lasting(answer.body)
                if again and found_now != first.get((step.name, number), found_now):
                    applied.changed.append(place)
                first[step.name, number] = found_now
                applied.taken += not again
    return applied


def remove(client: ApiClient, found: list[Step]) -> None:
    """Delete what steps brought, but definitions and namespaces: nothing here ends a namespace."""
    for step in reversed(found):
        for item in reversed(step.objects):
            metadata = item["metadata"]
            if item["kind"] not in ("CustomResourceDefinition", "Namespace") and "name" in metadata:
                client.delete(item["apiVersion"], item["kind"], metadata["name"], metadata.get("namespace"))
