"""What is installed: the operator's chart or the device plugin's, which release, by whom, with which values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.gpu.catalog.live_resources import CC_RUNTIMES, CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART, OPERATOR_NAME
from poolsmith.kubernetes.live import api_resources as api
from poolsmith.kubernetes.live.snapshot import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.live.snapshot import KubernetesObject, Snapshot

SOURCES = tuple(
    api.ApiResource("source.toolkit.fluxcd.io/v1", kind)
    for kind in ("GitRepository", "HelmRepository", "OCIRepository")
)
EVERYWHERE = (
    api.NODES,
    api.DAEMON_SETS,
    api.DEPLOYMENTS,
    api.RUNTIME_CLASSES,
    CLUSTER_POLICIES,
    DRIVERS,
    GPU_CLUSTERS,
    CC_RUNTIMES,
    api.APPLICATIONS,
    api.HELM_RELEASES,
    api.KUSTOMIZATIONS,
    api.FEATURE_RULES,
    *SOURCES,
)
"""What is read of a cluster of which nothing is known yet, in all namespaces."""
_CHART, _PART, _INSTANCE = "helm.sh/chart", "app.kubernetes.io/component", "app.kubernetes.io/instance"
PLUGIN, EXPORTER = "nvidia-device-plugin", "dcgm-exporter"
_NFD = "node-feature-discovery"
_OF_CLUSTER = pattern(r"(?:^|/)output/clusters/([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)/")


@record
class DiscoveredStack:
    """`kind` as the profile's `stack.kind`. `release` as its chart writes it, None where nothing tells it; `where` says
    which object told. `object` is the ClusterPolicy or GPUCluster. `exporter` is the hand-installed exporter's image
    tag. `has_discovery`: Node Feature Discovery came with the chart."""

    kind: str
    release: str | None
    where: str
    namespace: str
    object: KubernetesObject | None = None
    drivers: tuple[KubernetesObject, ...] = ()
    exporter: str | None = None
    has_discovery: bool = False
    labels_gpus: bool = False
    delivered: KubernetesObject | None = None
    """The Application or HelmRelease that installs it."""


def find_stack(snapshot: Snapshot) -> DiscoveredStack | None:
    """None where neither an operator nor a device plugin's chart runs."""
    rows = list(_charts(snapshot))
    operator: tuple[KubernetesObject, str, str | None] | None
    operator = next(
        (row for row in rows if row[1] == OPERATOR_CHART and _labels(row[0]).get(_PART) == OPERATOR_NAME), None
    )
    operator = operator or next((row for row in rows if row[1] == OPERATOR_CHART), None)
    told = f"label {_CHART}"
    if operator is None:
        operator, told = _operator_without_chart(snapshot), "the image's tag"
    if operator is not None:
        body, _, version = operator
        instance = _labels(body).get(_INSTANCE)
        claims, policies = snapshot.items(GPU_CLUSTERS), snapshot.items(CLUSTER_POLICIES)
        return DiscoveredStack(
            kind="gpu-cluster" if claims and not policies else "operator",
            release=version,
            where=_shown(body, told),
            namespace=_namespace(body),
            object=next(map(without_secrets, policies or claims), None),
            drivers=tuple(map(without_secrets, snapshot.items(DRIVERS))),
            has_discovery=any(chart == _NFD and _labels(item).get(_INSTANCE) == instance for item, chart, _ in rows),
            delivered=_deliverer(snapshot, OPERATOR_CHART),
        )
    plugin = next((row for row in rows if row[1] == PLUGIN), None) or _plain_plugin(snapshot)
    if plugin is None:
        return None
    body, _, version = plugin
    exporter = next((item for item, chart, _ in rows if chart == EXPORTER and item["kind"] == "DaemonSet"), None)
    return DiscoveredStack(
        kind="device-plugin",
        release=version,
        where=_shown(body, f"label {_CHART}" if _CHART in _labels(body) else "the image's tag"),
        namespace=_namespace(body),
        exporter=None if exporter is None else _exporter(exporter),
        labels_gpus=any(chart == PLUGIN and item["metadata"]["name"].endswith("-discovery") for item, chart, _ in rows),
        delivered=_deliverer(snapshot, PLUGIN),
    )


def _charts(snapshot: Snapshot) -> Iterator[tuple[KubernetesObject, str, str]]:
    """Workloads with the chart that they come from and its version."""
    for resource in (api.DAEMON_SETS, api.DEPLOYMENTS):
        for body in snapshot.items(resource):
            text = _labels(body).get(_CHART, "")
            for name in (OPERATOR_CHART, PLUGIN, EXPORTER, _NFD):
                if text.startswith(f"{name}-") and (version := text[len(name) + 1 :])[:2].strip("v")[:1].isdigit():
                    yield body, name, version


def _operator_without_chart(snapshot: Snapshot) -> tuple[KubernetesObject, str, str | None] | None:
    """An operator that no chart has installed, as by OLM: where there are resources that only it knows."""
    if not snapshot.items(CLUSTER_POLICIES) and not snapshot.items(GPU_CLUSTERS):
        return None
    for body in snapshot.items(api.DEPLOYMENTS):
        for image in _images(body):
            path, _, tag = image.rpartition(":") if ":" in image.rpartition("/")[2] else (image, "", "")
            if path.endswith(f"/{OPERATOR_NAME}"):
                return body, OPERATOR_CHART, tag or None
    return None


def _plain_plugin(snapshot: Snapshot) -> tuple[KubernetesObject, str, str] | None:
    """A device plugin from a manifest, without a chart, that nothing else has made."""
    for body in snapshot.items(api.DAEMON_SETS):
        if any(owner.get("controller") is True for owner in mappings(body["metadata"].get("ownerReferences"))):
            continue
        for image in _images(body):
            path, _, tag = image.rpartition(":")
            if path.endswith("/k8s-device-plugin") and tag[:1] == "v":
                return body, PLUGIN, tag.removeprefix("v").partition("-")[0]
    return None


def _exporter(body: KubernetesObject) -> str | None:
    """`4.1.1-4.0.4` of the image's tag `4.1.1-4.0.4-ubuntu22.04`."""
    for image in _images(body):
        tag = image.rpartition(":")[2]
        if "dcgm-exporter" in image and tag.count("-") > 1:
            return tag.rpartition("-")[0]
    return None


def _images(body: KubernetesObject) -> Iterator[str]:
    template = mapping(mapping(mapping(body.get("spec")).get("template")).get("spec"))
    for item in mappings(template.get("containers")):
        if image := word(item.get("image")):
            yield image.partition("@")[0]


def _deliverer(snapshot: Snapshot, chart: str) -> KubernetesObject | None:
    for body in snapshot.items(api.HELM_RELEASES):
        wanted = mapping(mapping(mapping(body.get("spec")).get("chart")).get("spec"))
        if wanted.get("chart") == chart:
            return body
    for body in snapshot.items(api.APPLICATIONS):
        if any(source.get("chart") == chart for source in sources_of(body)):
            return body
    return next((body for body in snapshot.items(api.APPLICATIONS) if cluster_in(body) is not None), None)


def cluster_in(body: KubernetesObject) -> str | None:
    """Of which cluster's output an Application or a Kustomization delivers a part."""
    spec = mapping(body.get("spec"))
    texts = [spec.get("path"), *(source.get("path") for source in sources_of(body))]
    texts += [file for source in sources_of(body) for file in _files(source)]
    for text in texts:
        found = _OF_CLUSTER.search(text) if isinstance(text, str) else None
        if found is not None:
            return found[1]
    return None


def _files(source: dict[str, Any]) -> list[Any]:
    found = mapping(source.get("helm")).get("valueFiles")
    return found if isinstance(found, list) else []


def sources_of(application: KubernetesObject) -> list[dict[str, Any]]:
    spec = mapping(application.get("spec"))
    return [dict(item) for item in (*mappings(spec.get("sources")), mapping(spec.get("source"))) if item]


def _labels(body: KubernetesObject) -> dict[str, str]:
    found = mapping(body["metadata"].get("labels"))
    return {str(key): value for key, value in found.items() if isinstance(value, str)}


def _namespace(body: KubernetesObject) -> str:
    return str(body["metadata"].get("namespace") or "")


def _shown(body: KubernetesObject, what: str) -> str:
    return f"{body['kind']}/{body['metadata']['name']} in {_namespace(body)}: {what}"
