"""Helm charts that objects install: by Flux, Argo CD, kustomize, the controller of k3s and RKE2, or Cluster API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mappings, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.core.sources.yaml_reader import read_if_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Object(Protocol):
    @property
    def data(self) -> Any: ...

    @property
    def kind(self) -> str: ...

    @property
    def api_version(self) -> str: ...


class Objects(Protocol):
    """Those among which an object finds another that it names."""

    def named(self, kind: str, name: str, /) -> _Object | None: ...


@record
class DeclaredChart:
    """A chart without its registry and path, and its values: a mapping, a text that holds one, or None.

    `version` is as it is written, `namespace` where the chart goes; None where nothing says it. `partial`: more values
    come from elsewhere. `is_patch`: the object says only what it changes of another, whose name stands for the chart.
    `in_other_clusters`: it is not installed where the object is.
    """

    name: str
    version: str | None
    values: Any
    pointer: str
    namespace: str | None = None
    partial: bool = False
    is_patch: bool = False
    in_other_clusters: bool = False


def declared_charts(item: _Object, objects: Objects) -> Iterator[DeclaredChart]:
    """In the order of the object; nothing of an object without a kind."""
    data = item.data if isinstance(item.data, dict) else {}
    declared = item.kind, item.api_version.partition("/")[0]
    if declared == ("HelmRelease", "helm.toolkit.fluxcd.io"):
        yield _helm_release(data, objects)
    elif declared == ("Application", "argoproj.io"):
        yield from _application(value_at(data, ("spec",)), "/spec")
    elif declared == ("ApplicationSet", "argoproj.io"):
        yield from _application(value_at(data, ("spec", "template", "spec")), "/spec/template/spec")
    elif declared == ("Kustomization", "kustomize.config.k8s.io"):
        yield from _inflated(data)
    elif declared == ("HelmChart", "helm.cattle.io"):
        yield _beside_each_other(data, "chart", "valuesContent")
    elif declared == ("HelmChartProxy", "addons.cluster.x-k8s.io"):
        yield _beside_each_other(data, "chartName", "valuesTemplate", in_other_clusters=True)


def installed_charts(item: _Object, objects: Objects) -> Iterator[DeclaredChart]:
    """Those of which the object surely says that they run in its own cluster."""
    for chart in declared_charts(item, objects):
        if chart.name and not chart.is_patch and not chart.in_other_clusters:
            yield chart


def first_document(values: Any) -> Any:
    """Values that stand there as a text; None where it is no YAML."""
    return next(iter(read_if_yaml(values)), None) if isinstance(values, str) else values


def _helm_release(data: dict[str, Any], objects: Objects) -> DeclaredChart:
    spec = data.get("spec")
    chart, version = value_at(spec, ("chart", "spec", "chart")), value_at(spec, ("chart", "spec", "version"))
    if (reference := value_at(spec, ("chartRef",))) is not None:
        chart, version = _referenced(reference, objects)
    is_patch = chart is None
    return DeclaredChart(
        name=_last(value_at(data, ("metadata", "name")) if is_patch else chart),
        version=_text(version),
        values=value_at(spec, ("values",)),
        pointer="/spec/values",
        namespace=_text(value_at(spec, ("targetNamespace",)) or value_at(data, ("metadata", "namespace"))),
        partial=is_patch or bool(value_at(spec, ("valuesFrom",))),
        is_patch=is_patch,
    )


def _referenced(reference: Any, objects: Objects) -> tuple[Any, Any]:
    """Chart and version of the object that `chartRef` names, where it is among them."""
    kind, name = word(value_at(reference, ("kind",))), value_at(reference, ("name",))
    item = objects.named(kind, name) if kind and isinstance(name, str) else None
    if item is None:
        return name, None
    spec = value_at(item.data, ("spec",))
    if kind == "OCIRepository":
        return value_at(spec, ("url",)), value_at(spec, ("ref", "tag"))
    return value_at(spec, ("chart",)), value_at(spec, ("version",))


def _application(spec: Any, pointer: str) -> Iterator[DeclaredChart]:
    sources = value_at(spec, ("sources",))
    places = [(value_at(spec, ("source",)), f"{pointer}/source")]
    if isinstance(sources, list):
        places += [(source, f"{pointer}/sources/{index}") for index, source in enumerate(sources)]
    for source, place in places:
        helm = value_at(source, ("helm",))
        key = "values" if value_at(helm, ("valuesObject",)) is None else "valuesObject"
        others = any(value_at(helm, (other,)) for other in ("valueFiles", "parameters", "fileParameters"))
        yield DeclaredChart(
            name=_last(value_at(source, ("chart",))),
            version=_text(value_at(source, ("targetRevision",))),
            values=value_at(helm, (key,)),
            pointer=f"{place}/helm/{key}",
            namespace=_text(value_at(spec, ("destination", "namespace"))),
            partial=others or not (helm is None or isinstance(helm, dict)),
        )


def _inflated(data: dict[str, Any]) -> Iterator[DeclaredChart]:
    for index, chart in enumerate(mappings(data.get("helmCharts"))):
        yield DeclaredChart(
            name=_last(chart.get("name")),
            version=_text(chart.get("version")),
            values=chart.get("valuesInline"),
            pointer=f"/helmCharts/{index}/valuesInline",
            partial=bool(chart.get("valuesFile")) or bool(chart.get("additionalValuesFiles")),
        )


def _beside_each_other(
    data: dict[str, Any], chart: str, values: str, *, in_other_clusters: bool = False
) -> DeclaredChart:
    """Chart, version and values in one spec; `set` of a chart comes on top of its values."""
    spec = data.get("spec")
    name = value_at(spec, (chart,))
    return DeclaredChart(
        name=_last(name.removesuffix(".tgz") if isinstance(name, str) else name),
        version=_text(value_at(spec, ("version",))),
        values=value_at(spec, (values,)),
        pointer=f"/spec/{values}",
        partial=any(value_at(spec, (other,)) for other in ("set", "valuesSecrets")),
        in_other_clusters=in_other_clusters,
    )


def _last(value: Any) -> str:
    """The name of a chart, whatever path or registry stands before it; empty where none is told."""
    return value.rstrip("/").rpartition("/")[2] if isinstance(value, str) else ""


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
