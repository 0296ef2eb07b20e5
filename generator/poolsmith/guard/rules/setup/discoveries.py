"""Node Feature Discovery that files install beside the operator's: by charts, objects, or an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.nested import MISSING, value_at
from poolsmith.core.sources.pod_template import mappings, word
from poolsmith.kubernetes.repository.declared_charts import first_document, installed_charts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog.scheduling import DiscoveryChart
    from poolsmith.guard.rules.setup.view import SetupObject, SetupView

_REPOSITORY = "kubernetes-sigs/node-feature-discovery"
_OPERATORS = frozenset(("nfd.openshift.io", "nfd.kubernetes.io"))
_OURS = "gpu-operator"
_MADE = "setup discoveries"


@record
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
    return any(chart.name != _OURS for item in view.objects for chart in installed_charts(item, view))


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
        for chart in installed_charts(item, view):
            known, values = view.catalog.scheduling.discovery_charts.get(chart.name), first_document(chart.values)
            if known is not None and _brings(known, values, partial=chart.partial):
                keys = (*known.worker, "tolerations")
                given = value_at(values, keys, MISSING)
                unknown = given is MISSING and (chart.partial or chart.name != "node-feature-discovery")
                yield Discovery(
                    item=item,
                    what=f"the chart {chart.name} of {item.name}",
                    pointer=chart.pointer + "".join(f"/{key}" for key in keys),
                    tolerations=None if unknown else _list([] if given is MISSING else given),
                )


def _brings(known: DiscoveryChart, values: Any, *, partial: bool) -> bool:
    """For certain; what nobody says is no."""
    if not known.value:
        return True
    given = value_at(values, known.value, MISSING)
    return given is True or (given is MISSING and known.default is True and not partial)


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


def _list(value: Any) -> list[Any] | None:
    """Null is an empty list to Kubernetes; what is no list is a mistake of its own."""
    return value if isinstance(value, list) else [] if value is None else None
