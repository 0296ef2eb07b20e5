"""A device plugin of one's own beside the operator's."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mappings, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.node_labels import DEPLOY_DEVICE_PLUGIN, GPU_PRESENT, matches
from poolsmith.guard.rules.names.need import Need, Offer, State, judged
from poolsmith.guard.rules.setup.driver_setup import driver_setup
from poolsmith.guard.rules.setup.one_feature_discovery import remote_base
from poolsmith.guard.rules.setup.setup_view import FEW, named, takes_operands, verb
from poolsmith.kubernetes.repository.declared_charts import first_document
from poolsmith.kubernetes.repository.kustomize_roots import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupObject, SetupView
    from poolsmith.kubernetes.repository.declared_charts import DeclaredChart

RULE = RuleInfo.of("PSM276")
NEEDS = ("values",)
_PATH = "devicePlugin.enabled"
_IMAGE, _PART = "k8s-device-plugin", "Part"
_STATIC = ("NVIDIA/k8s-device-plugin", "nvidia/k8s-device-plugin")
"""The repository, whose manifests are DaemonSets of the plugin for all nodes, unless somebody patches them."""
_PATCHES = ("patches", "patchesStrategicMerge", "patchesJson6902")
_PRESENT = ({"key": GPU_PRESENT, "operator": "In", "values": ["true"]}, {"key": GPU_PRESENT, "operator": "Exists"})
_BY_PRESENCE = tuple(
    {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
        }
    }
    for wanted in _PRESENT
)
"""All nodes with GPUs, in the words of an affinity."""


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if not view.flag(_PATH) or view.is_generated:
        return
    served = None if view.nodes is None else [node for node in view.nodes if _is_served(node, view)]
    found: list[tuple[str, Location]] = []
    shared: dict[str, SetupNode] = {}
    for what, place, selector in _plugins(view):
        on_both = _on_both(selector, served)
        if on_both is not None:
            found.append((what, place))
            shared.update((node.name, node) for node in on_both)
    own = (Offer(kind=_PART, name=_IMAGE), *(Offer(kind=_PART, name=_IMAGE, via=what) for what, _ in found))
    need = Need(kind=_PART, name=_IMAGE, locate=view.value_location, pointer=_PATH, is_sole=True)
    if judged(need, own).state is State.TWICE:
        nodes = list(shared.values())
        where = f" on {named(nodes)}" if nodes else ""
        yield Finding(
            message=f"the operator deploys its device plugin{where}, and {listed([what for what, _ in found], FEW)} "
            f"{verb(found, 'runs', 'run')} there too",
            place=need.place,
            help="write `devicePlugin: {enabled: false}` here, or remove the other one, or switch it off there (kaito: "
            "`nvidiaDevicePlugin: {enabled: false}`)",
            related=tuple(place for _, place in found[:FEW]),
        )


def _plugins(view: SetupView) -> Iterator[tuple[str, Location, dict[str, str] | None]]:
    """What runs it, where that stands, and which nodes it selects; None where that can't be told."""
    for item in filter(partial(_is_together, view), view.of_kind("DaemonSet")):
        pod = value_at(item.spec, ("template", "spec"))
        images = [word(container.get("image")) for container in mappings(value_at(pod, ("containers",)))]
        if not item.metadata.get("ownerReferences") and any(_is_plugin(image, item) for image in images):
            yield item.name, item.place("/metadata/name", "the other one"), selected_labels(pod)
    for item in view.of_kind("Kustomization"):
        for repository in _STATIC:
            if (pointer := remote_base(item, repository)) is not None and not any(map(item.data.get, _PATCHES)):
                yield f"what {item.file} takes from {repository}", item.place(pointer, "the other one"), {}
    rows = {row["chart"]: row for row in store.table("scheduling.yaml")["pluginCharts"]}
    for item, chart in view.installed_charts():
        row = rows.get(chart.name)
        if row is not None and _runs(item, chart, row):
            place = item.place("/metadata/name" if item.own_name else chart.pointer, "the other one")
            selector = None if chart.partial else selected_labels(first_document(chart.values))
            yield f"the chart {chart.name} of {item.name}", place, selector


def _is_together(view: SetupView, item: SetupObject) -> bool:
    """Values that nobody installs, and an object that nobody delivers: in one folder, or one above the other."""
    one, other = (f"{folder_of(path)}/" for path in (view.value_location(_PATH).span.path, item.file))
    return not view.is_gathered or one.startswith(other) or other.startswith(one)


def _runs(item: SetupObject, chart: DeclaredChart, row: Mapping[str, Any]) -> bool:
    if row.get("says", "") not in str(item.data).lower() or ("value" in row and chart.partial):
        return False
    return "value" not in row or value_at(first_document(chart.values), row["value"].split(".")) in (None, True)


def _is_plugin(image: str, item: SetupObject) -> bool:
    """NVIDIA's, from whichever registry; other vendors call theirs the same."""
    return _IMAGE in image and "nvidia" in f"{image} {item.own_name}"


def selected_labels(spec: Any) -> dict[str, str] | None:
    if value_at(spec, ("affinity",)) not in (None, {}, *_BY_PRESENCE):
        return None
    selector = value_at(spec, ("nodeSelector",)) or {}
    if not isinstance(selector, dict):
        return None
    return {key: word(value) for key, value in selector.items() if key != GPU_PRESENT}


def _on_both(selector: dict[str, str] | None, served: list[SetupNode] | None) -> list[SetupNode] | None:
    """Known nodes of both plugins; None where nothing shows that there is one."""
    if selector is None:
        return None
    if served is None:
        return None if selector else []
    return [node for node in served if matches(node.labels, selector)] or None


def _is_served(node: SetupNode, view: SetupView) -> bool:
    """Whether the operator's device plugin runs there."""
    if driver_setup(view).is_sandboxed(node):
        return False
    return node.labels.get(DEPLOY_DEVICE_PLUGIN, "true") == "true" and takes_operands(node)
