"""Rule: Node Feature Discovery twice in a cluster, or never.

Beside the operator's own, it can be installed by charts, by objects, or by an operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mappings, word
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART, OPERATOR_RELEASE
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import Need, Offer, State, Supply, judged
from poolsmith.guard.rules.setup.setup_view import FEW
from poolsmith.kubernetes.repository.chart_folders import deciding
from poolsmith.kubernetes.repository.declared_charts import first_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog.scheduling import DiscoveryChart
    from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView
    from poolsmith.kubernetes.repository.declared_charts import DeclaredChart


_REPOSITORY = "kubernetes-sigs/node-feature-discovery"
_OPERATORS = frozenset(("nfd.openshift.io", "nfd.kubernetes.io"))


@record
class FeatureDiscovery:
    """One installation. `tolerations` are its worker's, None where nobody can tell; they stand at `pointer`."""

    item: SetupObject
    what: str
    pointer: str
    tolerations: list[Any] | None

    def at(self, note: str | None = None) -> Location:
        """Its name, or the line that brings it where it has none."""
        return self.item.place("/metadata/name" if self.item.own_name else self.pointer, note)


@kept_all
def discoveries(view: SetupView) -> Iterator[FeatureDiscovery]:
    """Objects before charts, each in the order of the files."""
    yield from (item for entry in view.objects for item in _of(entry))
    for entry, chart in view.installed_charts():
        yield from _of_chart(entry, chart, view)


def installs_charts(view: SetupView) -> bool:
    """Whether these files are the place where a cluster's charts are declared, more than the operator's own."""
    return any(chart.name != OPERATOR_CHART for _, chart in view.installed_charts())


def _of(item: SetupObject) -> Iterator[FeatureDiscovery]:
    if item.kind == "NodeFeatureDiscovery" and item.group in _OPERATORS:
        yield FeatureDiscovery(item=item, what=item.name, pointer="/metadata/name", tolerations=None)
    elif item.kind == "Kustomization" and (pointer := remote_base(item, _REPOSITORY)) is not None:
        yield FeatureDiscovery(item=item, what=f"a base of {item.file}", pointer=pointer, tolerations=None)
    elif item.kind == "DaemonSet" and _is_worker(item):
        pod = value_at(item.spec, ("template", "spec"))
        yield FeatureDiscovery(
            item=item,
            what=item.name,
            pointer="/spec/template/spec/tolerations",
            tolerations=_list(value_at(pod, ("tolerations",), [])),
        )


def _of_chart(item: SetupObject, chart: DeclaredChart, view: SetupView) -> Iterator[FeatureDiscovery]:
    known, values = view.catalog.scheduling.discovery_charts.get(chart.name), first_document(chart.values)
    if known is not None and _brings(known, values, partial=chart.partial):
        keys = (*known.worker, "tolerations")
        given = value_at(values, keys, MISSING)
        unknown = given is MISSING and (chart.partial or chart.name != "node-feature-discovery")
        yield FeatureDiscovery(
            item=item,
            what=f"the chart {chart.name} of {item.name}",
            pointer=chart.pointer + "".join(f"/{key}" for key in keys),
            tolerations=None if unknown else _list([] if given is MISSING else given),
        )


def _brings(known: DiscoveryChart, values: Any, *, partial: bool) -> bool:
    """For certain; what nobody says is no."""
    if not known.value:
        return True
    _, said = deciding(known.value, lambda path: value_at(values, path.split(".")))
    return said is True or (said is None and known.default is True and not partial)


def remote_base(item: SetupObject, repository: str) -> str | None:
    """Where a kustomization takes manifests from a repository; a name of one, or a part of an address."""
    for field in ("resources", "bases"):
        listed = item.data.get(field)
        for index, entry in enumerate(listed if isinstance(listed, list) else ()):
            if repository in word(entry):
                return f"/{field}/{index}"
    return None


def _is_worker(item: SetupObject) -> bool:
    labels = value_at(item.data, ("metadata", "labels"))
    if OPERATOR_RELEASE in word(value_at(labels, ("app.kubernetes.io/instance",))):
        return False  # what the operator's own chart renders to
    containers = mappings(value_at(item.spec, ("template", "spec", "containers")))
    return any(
        "node-feature-discovery" in word(container.get("image")) and "worker" in f"{item.own_name}{container}"
        for container in containers
    )


def _list(value: Any) -> list[Any] | None:
    """Null is an empty list to Kubernetes; what is no list is a mistake of its own."""
    return value if isinstance(value, list) else [] if value is None else None


RULE = RuleInfo.of("PSM274")
NEEDS = ("values",)
_PATH, _PART = "nfd.enabled", "Part"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    enabled, others = view.flag(_PATH), discoveries(view)
    if enabled is None:
        return
    own = [Offer(kind=_PART, name=_REPOSITORY)] if enabled else []
    offers = own + [Offer(kind=_PART, name=_REPOSITORY, via=item) for item in others]
    need = Need(kind=_PART, name=_REPOSITORY, locate=view.value_location, pointer=_PATH, is_sole=True)
    state = judged(need, offers, Supply(owns=lambda _: _should_be_here(view))).state
    if state is State.TWICE:
        yield _twice(need, others, enabled=enabled)
    elif state is State.UNDEFINED:
        yield Finding(
            message="the operator's chart does not install Node Feature Discovery, and nothing here does",
            place=need.place,
            help="remove `nfd.enabled: false`, or declare the installation beside the cluster's other charts",
            severity=Severity.NOTE,  # another repository may
        )


def _twice(need: Need, others: tuple[FeatureDiscovery, ...], *, enabled: bool) -> Finding[Location]:
    shown = listed([item.what for item in others], FEW)
    if enabled:
        return Finding(
            message=f"the operator's chart installs Node Feature Discovery, and so does {shown}",
            place=need.place,
            help="write `nfd: {enabled: false}` here, or remove the other one",
            related=tuple(item.at("the other one") for item in others[:FEW]),
        )
    return Finding(
        message=f"Node Feature Discovery is installed {len(others)} times: {shown}",
        place=others[1].at(),
        help="keep one",
        related=(others[0].at("the first one"),),
    )


def _should_be_here(view: SetupView) -> bool:
    """Nodes that it labelled, and profiles that say who installs it, tell that it is somewhere."""
    labelled = any(key.startswith("feature.node.kubernetes.io/") for node in view.nodes or () for key in node.labels)
    return not view.is_generated and not labelled and installs_charts(view)
