"""Helm charts that files install: by Flux, Argo CD, kustomize, or the controller of k3s and RKE2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.sources.nested import value_at
from poolsmith.sources.pod_template import mappings, word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.rules.setup.view import SetupObject, SetupView

_FLUX, _ARGO, _KUSTOMIZE = "helm.toolkit.fluxcd.io", "argoproj.io", "kustomize.config.k8s.io"


def declared_charts(item: SetupObject, view: SetupView) -> Iterator[tuple[str, Any, str, bool]]:
    """Chart, values, where the values stand, and whether more of them come from elsewhere."""
    if item.kind == "HelmRelease" and item.group == _FLUX:
        name = _last(value_at(item.spec, ("chart", "spec", "chart"))) or _referenced(item.spec.get("chartRef"), view)
        if name:
            yield name, item.spec.get("values"), "/spec/values", bool(item.spec.get("valuesFrom"))
    elif item.kind in ("Application", "ApplicationSet") and item.group == _ARGO:
        top = "/spec" if item.kind == "Application" else "/spec/template/spec"
        spec = item.spec if item.kind == "Application" else value_at(item.spec, ("template", "spec"))
        sources = [(value_at(spec, ("source",)), f"{top}/source")]
        listed = value_at(spec, ("sources",))
        if isinstance(listed, list):
            sources += [(source, f"{top}/sources/{index}") for index, source in enumerate(listed)]
        for source, pointer in sources:
            name = _last(value_at(source, ("chart",)))
            helm = value_at(source, ("helm",))
            if name:
                key = "values" if value_at(helm, ("valuesObject",)) is None else "valuesObject"
                others = any(value_at(helm, (more,)) for more in ("valueFiles", "parameters"))
                yield name, _parsed(value_at(helm, (key,))), f"{pointer}/helm/{key}", others
    elif item.kind == "Kustomization" and item.group == _KUSTOMIZE:
        for index, chart in enumerate(mappings(item.data.get("helmCharts"))):
            if name := _last(chart.get("name")):
                pointer = f"/helmCharts/{index}/valuesInline"
                yield name, chart.get("valuesInline"), pointer, bool(chart.get("valuesFile"))
    elif item.kind == "HelmChart" and item.group == "helm.cattle.io" and (name := _last(item.spec.get("chart"))):
        yield name, _parsed(item.spec.get("valuesContent")), "/spec/valuesContent", False


def _referenced(reference: Any, view: SetupView) -> str:
    kind, name = word(value_at(reference, ("kind",))), word(value_at(reference, ("name",)))
    item = view.named(kind, name) if kind else None
    return name if item is None else _last(item.spec.get("url" if kind == "OCIRepository" else "chart"))


def _parsed(values: Any) -> Any:
    """Values that stand there as a text."""
    if not isinstance(values, str):
        return values
    from poolsmith.sources.yaml_reader import YamlProblem, read_documents

    try:
        return next(iter(read_documents(values)), None)
    except YamlProblem:
        return None


def _last(value: Any) -> str:
    """The name of a chart, whatever path or registry stands before it."""
    return value.rstrip("/").rpartition("/")[2] if isinstance(value, str) else ""
