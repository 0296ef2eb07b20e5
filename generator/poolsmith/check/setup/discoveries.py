"""Node Feature Discovery that files install beside the operator's: by charts, objects, or an operator. Floor: check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poolsmith.model.pod_template import mappings, word
from poolsmith.sources.nested import MISSING, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.catalog.scheduling import DiscoveryChart
    from poolsmith.check.setup.view import SetupObject, SetupView
    from poolsmith.diagnostics import Location

_FLUX, _ARGO, _KUSTOMIZE = "helm.toolkit.fluxcd.io", "argoproj.io", "kustomize.config.k8s.io"
_REPOSITORY = "kubernetes-sigs/node-feature-discovery"
_OPERATORS = frozenset(("nfd.openshift.io", "nfd.kubernetes.io"))
_OURS = "gpu-operator"
_MADE = "setup discoveries"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """One installation. `tolerations` are its worker's, None where nobody can tell; they stand at `pointer`."""

    item: SetupObject
    what: str
    pointer: str
    tolerations: list[Any] | None

    def at(self, note: str | None = None) -> Location:
        """Its name, or the line that brings it where it has none."""
        return self.item.place("/metadata/name" if self.item.own_name else self.pointer, note)


def discoveries(view: SetupView) -> tuple[Discovery, ...]:
    """In the order of the files; made once for a view."""
    found = view.made.get(_MADE)
    if found is None:
        found = view.made[_MADE] = tuple(item for entry in view.objects for item in _of(entry, view))
    assert isinstance(found, tuple)
    return found


def installs_charts(view: SetupView) -> bool:
    """Whether these files are the place where a cluster's charts are declared, more than the operator's own."""
    charts = [name for item in view.objects for name, *_ in _charts(item, view)]
    return any(name != _OURS for name in charts)


def _of(item: SetupObject, view: SetupView) -> Iterator[Discovery]:
    if item.kind == "NodeFeatureDiscovery" and item.group in _OPERATORS:
        yield Discovery(item=item, what=item.name, pointer="/metadata/name", tolerations=None)
    elif item.kind == "Kustomization" and (pointer := _remote(item)) is not None:
        yield Discovery(item=item, what=f"a base of {item.file}", pointer=pointer, tolerations=None)
    elif item.kind == "DaemonSet" and _is_worker(item):
        pod = value_at(item.spec, ("template", "spec"))
        yield Discovery(
            item=item,
            what=item.name,
            pointer="/spec/template/spec/tolerations",
            tolerations=_list(value_at(pod, ("tolerations",), [])),
        )
    else:
        for name, values, pointer, partial in _charts(item, view):
            known = view.catalog.scheduling.discovery_charts.get(name)
            if known is not None and _brings(known, values, partial=partial):
                keys = (*known.worker, "tolerations")
                given = value_at(values, keys, MISSING)
                unknown = given is MISSING and (partial or name != "node-feature-discovery")
                yield Discovery(
                    item=item,
                    what=f"the chart {name} of {item.name}",
                    pointer=pointer + "".join(f"/{key}" for key in keys),
                    tolerations=None if unknown else _list([] if given is MISSING else given),
                )


def _brings(known: DiscoveryChart, values: Any, *, partial: bool) -> bool:
    """For certain; what nobody says is no."""
    if not known.value:
        return True
    given = value_at(values, known.value, MISSING)
    return given is True or (given is MISSING and known.default is True and not partial)


def _charts(item: SetupObject, view: SetupView) -> Iterator[tuple[str, Any, str, bool]]:
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
    for item in view.of_kind(kind) if kind else ():
        if item.own_name == name:
            return _last(item.spec.get("url") if kind == "OCIRepository" else item.spec.get("chart"))
    return name


def _remote(item: SetupObject) -> str | None:
    """Where a kustomization takes NFD's own manifests from its repository."""
    for field in ("resources", "bases"):
        listed = item.data.get(field)
        for index, entry in enumerate(listed if isinstance(listed, list) else ()):
            if _REPOSITORY in word(entry):
                return f"/{field}/{index}"
    return None


def _is_worker(item: SetupObject) -> bool:
    labels = value_at(item.data, ("metadata", "labels"))
    if _OURS in word(value_at(labels, ("app.kubernetes.io/instance",))):
        return False  # what the operator's own chart renders to
    containers = mappings(value_at(item.spec, ("template", "spec", "containers")))
    return any(
        "node-feature-discovery" in word(container.get("image")) and "worker" in f"{item.own_name}{container}"
        for container in containers
    )


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


def _list(value: Any) -> list[Any] | None:
    """Null is an empty list to Kubernetes; what is no list is a mistake of its own."""
    return value if isinstance(value, list) else [] if value is None else None
