"""Namespaces that refuse the pods of charts that are installed in them without the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import reached
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS
from poolsmith.guard.rules.links.pod_security_of_namespace import enforcing
from poolsmith.guard.rules.setup.privileged_namespace import ENFORCE, PRIVILEGED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

RULE = RuleInfo.of("PSM755")
_REACHES = {
    "nvidia-device-plugin": "mounts the kubelet's folder of the host",
    "k8s-device-plugin": "mounts the kubelet's folder of the host",
    "gpu-feature-discovery": "mounts folders of the host, and is privileged",
    "dcgm-exporter": "mounts the kubelet's folder of the host, and adds SYS_ADMIN",
    **dict.fromkeys(DRA_DRIVER_CHARTS, "is privileged"),
    "node-feature-discovery": "mounts folders of the host",
    "kata-deploy": "is privileged",
}
"""Why the pods of a chart need the level privileged, by its templates."""
_EXEMPT = "kube-system"


def check(view: LinkView) -> Iterator[Finding[Location]]:
    yield from _of_autopilot(view)
    for chart in view.charts:
        namespace = view.namespaces.get(chart.namespace or "")
        if chart.name not in _REACHES or namespace is None or namespace.own_name == _EXEMPT:
            continue
        level = mapping(namespace.metadata.get("labels")).get(ENFORCE)
        if level == PRIVILEGED or (level is not None and not isinstance(level, str)):
            continue
        if level:
            yield _finding(chart, namespace, f"enforces `{level}`")
        elif by := enforcing(view):
            yield _finding(chart, namespace, f"has no level of its own, and {by} enforces one")


def _of_autopilot(view: LinkView) -> Iterator[Finding[Location]]:
    """Clusters of GKE in which no namespace takes such pods."""
    for item in _managed(view) if view.is_alone and "gke" in view.distributions else ():
        for at, said in reached(item.data, ("spec", "enableAutopilot")):
            for chart in view.charts if said is True else ():
                if chart.is_operator or chart.name in _REACHES:
                    why = _REACHES.get(chart.name, "makes privileged pods")
                    yield Finding(
                        message=f"{item.name} is an Autopilot cluster, which admits no pod of {chart.name}: that chart "
                        f"{why}",
                        place=chart.declared_at,
                        help="use GKE's own driver and plugin, or a Standard cluster",
                        related=(item.source.locate(at),),
                    )


def _managed(view: LinkView) -> Iterator[CheckedDocument]:
    return (item for item in view.machines.tree.documents if item.is_object and item.kind == "ContainerCluster")


def _finding(chart: LinkedChart, namespace: SetupObject, what: str) -> Finding[Location]:
    pointer = f"/metadata/labels/{ENFORCE.replace('/', '~1')}"
    has_label = ENFORCE in mapping(namespace.metadata.get("labels"))
    return Finding(
        message=f"namespace `{namespace.own_name}` {what}: the pods of {chart.name} are refused, since that chart "
        f"{_REACHES[chart.name]}",
        place=namespace.place(pointer if has_label else "/metadata/name"),
        help=f"write the label `{ENFORCE}: {PRIVILEGED}`, or install the chart in a namespace that has it",
        related=(chart.declared_at,),
    )
