"""The installation of a cluster that runs, as if it stood in files, so that a takeover can read it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.change.discover.chart_values import values_of
from poolsmith.change.discover.stack import KUSTOMIZATIONS, OPERATOR, SOURCES, sources_of
from poolsmith.change.takeover.found import Present
from poolsmith.core.diagnostics.masking import MASK
from poolsmith.core.sources.nested import MISSING
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.kubernetes.live.helm_records import HELM_RECORDS
from poolsmith.kubernetes.repository.installations import Installation, ValuesLayer
from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
from poolsmith.project.run.surroundings import Detected, Surroundings, plain_address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.discover.stack import Stack
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.kubernetes.live.snapshot import KubernetesObject, Snapshot


def present_of(name: str, tag: str | None, stack: Stack, snapshot: Snapshot, catalog: Catalog) -> Present:
    """Its values are those that Helm has a record of, else those that the custom resource shows."""
    anchor = document_of(stack.delivered or stack.object or {"metadata": {"name": "none"}})
    record = record_of(stack, snapshot)
    values: dict[str, Any] = {} if record is None else given_values(record)[0]
    chart = catalog.chart(catalog.releases.chart_name, tag) if tag and stack.object and record is None else None
    if chart is not None and stack.object is not None and tag is not None:
        values = values_of(tag, stack.object, chart.defaults)
        if not stack.has_discovery:
            values["nfd"] = {"enabled": False}
        if stack.kind == "gpu-cluster":
            values["gpuCluster"] = {**mapping(values.get("gpuCluster")), "deployCR": True}
        if stack.drivers:
            crd = {"enabled": True, "deployDefaultCR": False}
            values["driver"] = {**mapping(values.get("driver")), "nvidiaDriverCRD": crd}
    kind = anchor.kind
    engine = {"HelmRelease": "flux", "Application": "argocd"}.get(kind)
    beside = [body for resource in (KUSTOMIZATIONS, *SOURCES) for body in snapshot.items(resource)]
    installation = Installation(
        chart=OPERATOR,
        document=anchor,
        version=tag,
        repository=_repository(stack),
        namespace=stack.namespace,
        layers=(ValuesLayer(values, anchor.source),),
    )
    return Present(
        name=name,
        installation=installation,
        engine=engine,
        drivers=tuple(map(document_of, stack.drivers)),
        beside=tuple(map(document_of, beside)),
    )


def record_of(stack: Stack, snapshot: Snapshot) -> KubernetesObject | None:
    """Helm's record of the operator's chart, where it was read."""
    for item in snapshot.items(HELM_RECORDS):
        spec, namespace = mapping(item.get("spec")), item["metadata"].get("namespace")
        if str(spec.get("chart")).endswith(OPERATOR) and namespace == stack.namespace:
            return item
    return None


def given_values(record: KubernetesObject) -> tuple[dict[str, Any], list[str]]:
    """The values of a record that may be shown, and the paths of those that may be secrets."""
    hidden: list[str] = []

    def shown(value: Any, path: str) -> Any:
        if isinstance(value, dict):
            kept = {key: shown(item, f"{path}.{key}" if path else str(key)) for key, item in value.items()}
            return {key: item for key, item in kept.items() if item is not MISSING}
        if isinstance(value, list):
            found = [shown(item, f"{path}[{place}]") for place, item in enumerate(value)]
            return MISSING if MISSING in found else found
        if isinstance(value, str) and MASK in value:
            hidden.append(path)
            return MISSING
        return value

    return shown(dict(mapping(mapping(record.get("spec")).get("values"))), ""), hidden


def _repository(stack: Stack) -> str | None:
    """Of charts."""
    body = stack.delivered
    if body is None:
        return None
    if body["kind"] == "Application":
        return next((word(source.get("repoURL")) for source in sources_of(body) if source.get("chart")), None)
    return None


def around(present: Present, stack: Stack) -> Surroundings:
    """What a repository would say of itself, as the objects of the delivery engine say it."""
    address = branch = None
    prefix = ""
    for source in _git_sources(present, stack):
        address = address or (plain_address(word(source.get("address")) or ""))
        revision = word(source.get("revision")) or ""
        branch = branch or revision.removeprefix("refs/heads/") or None
        path = (word(source.get("path")) or "").removeprefix("./")
        before, found, _ = path.partition("output/clusters/")
        prefix = prefix or (before if found else "")
    return Surroundings(
        is_repository=True,
        prefix=prefix,
        address=Detected(value=address, source="the delivery engine") if address else None,
        branch=Detected(value=branch, source="the delivery engine") if branch else None,
    )


def _git_sources(present: Present, stack: Stack) -> Iterator[dict[str, Any]]:
    body = stack.delivered
    if body is not None and body["kind"] == "Application":
        for source in sources_of(body):
            if not source.get("chart"):
                yield {
                    "address": source.get("repoURL"),
                    "revision": source.get("targetRevision"),
                    "path": source.get("path"),
                }
    for item in present.beside:
        if item.kind == "GitRepository":
            spec = mapping(item.data.get("spec"))
            reference = mapping(spec.get("ref"))
            yield {"address": spec.get("url"), "revision": reference.get("name") or reference.get("branch")}
        elif item.kind == "Kustomization":
            yield {"path": mapping(item.data.get("spec")).get("path")}


def document_of(body: KubernetesObject) -> CheckedDocument:
    return CheckedDocument(shown(body), 0, body, json.dumps(body))


def shown(body: KubernetesObject | None) -> str:
    if body is None:
        return ""
    metadata = mapping(body.get("metadata"))
    namespace = metadata.get("namespace")
    return f"{body.get('kind', 'object')}/{metadata.get('name')}" + (f" in {namespace}" if namespace else "")
