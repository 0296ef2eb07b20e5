"""Node labels that a chart's own selector wants, and that nothing writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers
from poolsmith.core.sources.pod_template import words
from poolsmith.core.sources.pointer import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView

RULE = RuleInfo(
    code="PSM756",
    name="selector-of-nobody",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A chart of the stack selects nodes by labels of Node Feature Discovery or of the operator, and what stands "
    "beside it writes none of them: discovery is not there, or names PCI devices in another way. A note where somebody "
    "outside of the files may write them. Or a part of it runs on nodes of the control plane, which the cloud hides.",
    why="The DaemonSet wants no pod on any node, and is ready. There is no event, and no GPU.",
    fix="install Node Feature Discovery with labels by vendor, switch GPU feature discovery of the chart on, or label "
    "the nodes",
    bad="# the chart node-feature-discovery with its own labels, by class and vendor\nworker: {}\n",
    good="worker:\n  config: {sources: {pci: {deviceLabelFields: [vendor]}}}\n",
    symptom="`DESIRED 0`",
    references=(
        "NVIDIA/k8s-device-plugin@v0.18.0:deployments/helm/nvidia-device-plugin/values.yaml, affinity",
        "kubernetes-sigs/dra-driver-nvidia-gpu@v25.12.0:values.yaml, kubeletPlugin.affinity, controller.affinity",
        "kubernetes-sigs/node-feature-discovery:source/pci, deviceLabelFields",
    ),
)
_DISCOVERY = "node-feature-discovery"
_FIELDS = "worker.config.sources.pci.deviceLabelFields"
_BY_VENDOR = ["vendor"]


def check(view: LinkView) -> Iterator[Finding[Location]]:
    yield from _of_control_planes(view)
    if not view.is_whole and not view.is_alone:
        return
    facts = store.table("selectors.yaml")["charts"]
    for chart in view.charts:
        known = facts.get(chart.name)
        if known is None or chart.partial or any(chart.says(path) for path in known["replacedBy"]):
            continue
        if "versions" in known and (chart.version is None or not covers(known["versions"], chart.version)):
            continue
        if any(chart.value(path) is True for path in known["bringsDiscovery"]):
            continue
        if view.labels_said.isdisjoint(known["labels"]) and not _labels_of_objects(view, known["labels"]):
            yield from _unsupplied(view, chart, known)


def _of_control_planes(view: LinkView) -> Iterator[Finding[Location]]:
    """Parts that run on nodes of the control plane, which clouds show none of."""
    facts = store.table("selectors.yaml")
    cloud = min(view.distributions & {*facts["hidden"]}, default="") if view.is_alone else ""
    for row in facts["controlPlanes"] if cloud else ():
        for chart in view.named(*row["charts"]):
            is_known = chart.version is not None and covers(row["versions"], chart.version) and not chart.partial
            if is_known and not chart.says(row["replacedBy"]) and chart.value(row["switch"]) is True:
                yield Finding(
                    message=f"{row['says']} the chart {chart.name} runs on nodes of the control plane alone, and "
                    f"{cloud} shows none of them",
                    place=chart.declared_at,
                    help=f"write `{row['replacedBy']}: null`; {row['later']}",
                )


def _unsupplied(view: LinkView, chart: LinkedChart, known: dict[str, Any]) -> Iterator[Finding[Location]]:
    if any(item.is_operator for item in view.charts) and not chart.is_operator:
        return  # its own discovery labels by vendor, and it writes nvidia.com/gpu.present
    discovery = next(view.named(_DISCOVERY), None)
    wanted = " or ".join(f"`{label}`" for label in known["labels"])
    if discovery is None:
        if not view.is_whole or chart.is_operator:
            return  # it may come from elsewhere; of the operator a rule over its setup says it
        yield Finding(
            message=f"the chart {chart.name} wants nodes with the label {wanted}, and nothing here writes one: without "
            "Node Feature Discovery it has no pod on any node",
            place=chart.declared_at,
            help=f"install Node Feature Discovery{known['orSwitch']}, or label the nodes; if it is installed "
            "elsewhere, nothing is missing",
            severity=Severity.NOTE,
        )
        return
    fields = discovery.value(_FIELDS)
    if discovery.partial or (fields is not MISSING and not isinstance(fields, list)):
        return
    written = list(words(fields)) if fields is not MISSING else ["class", "vendor"]
    if written in known.get("fields", [_BY_VENDOR]):
        return
    example = "_".join({"class": "0302", "vendor": "10de"}.get(field, f"<{field}>") for field in written)
    yield Finding(
        message=f"the chart {chart.name} wants nodes with the label {wanted}, and Node Feature Discovery here writes "
        f"`feature.node.kubernetes.io/pci-{example}.present`: no node is selected",
        place=discovery.place(_FIELDS),
        help="write `worker: {config: {sources: {pci: {deviceLabelFields: [vendor]}}}}` into the values of "
        "node-feature-discovery",
        related=(chart.declared_at,),
    )


def _labels_of_objects(view: LinkView, labels: list[str]) -> bool:
    """Whether a rule of Node Feature Discovery, or a node of the files, names one of them."""
    return any(
        label in str(item.data) for item in view.of_kind("NodeFeatureRule", "Node", "NodeFeature") for label in labels
    )
