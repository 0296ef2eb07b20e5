"""ServiceMonitors and PodMonitors written for the exporter, that select nothing which it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.guard.rules.links.exporters import exporters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo(
    code="PSM780",
    name="monitor-of-nobody",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A ServiceMonitor or a PodMonitor for dcgm-exporter selects labels, a port or a namespace that the exporter "
    "here does not have.",
    why="Prometheus finds no target, and says nothing.",
    fix="write the labels and the port of the exporter that runs, and its namespace",
    bad="# for the operator's exporter\nselector: {matchLabels: {app.kubernetes.io/name: dcgm-exporter}}\n",
    good="# for the operator's exporter\nselector: {matchLabels: {app: nvidia-dcgm-exporter}}\n"
    "endpoints: [{port: gpu-metrics}]\n",
    references=(
        "NVIDIA/gpu-operator@v26.7.0:assets/state-dcgm-exporter/0400_service.yaml",
        "NVIDIA/dcgm-exporter@4.5.3-4.8.2:deployment/templates/service.yaml",
    ),
)
_FIELDS = {"ServiceMonitor": ("endpoints", "labels", "port"), "PodMonitor": ("podMetricsEndpoints", "pod", "podPort")}


@record
class _Target:
    """What an exporter makes to be found by."""

    title: str
    labels: Mapping[str, str]
    port: str
    namespace: str | None


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for item in view.of_kind(*_FIELDS):
        wanted = mapping(value_at(item.spec, ("selector", "matchLabels")))
        if not view.is_whole or not any("dcgm" in str(value) for value in wanted.values()):
            continue
        targets = [_target(chart, item.kind) for chart in exporters(view) if _is_known(chart)]
        if targets and not _has_own_target(view, wanted):
            yield from _judged(item, wanted, targets)


def _is_known(chart: LinkedChart) -> bool:
    return not any(chart.says(path) for path in ("nameOverride", "fullnameOverride", "service.port"))


def _target(chart: LinkedChart, kind: str) -> _Target:
    _, labels, port = _FIELDS[kind]
    row = next(row for row in store.table("exporter_lists.yaml")["services"] if chart.name in row["charts"])
    named = {key: text.replace("{release}", chart.release_name or "") for key, text in row[labels].items()}
    return _Target(title=chart.name, labels=named, port=row[port], namespace=chart.namespace)


def _has_own_target(view: LinkView, wanted: Mapping[str, Any]) -> bool:
    """Whether a Service or a workload of the files has the labels."""
    if not _is_flat(wanted):
        return False
    by_label = _labelled(view)
    candidates = min((by_label.get(label, ()) for label in wanted.items()), key=len, default=by_label.get(None, ()))
    return any(wanted.items() <= labels.items() for labels in candidates)


_LABELLED = "labels of what is scraped"


def _labelled(view: LinkView) -> dict[tuple[str, Any] | None, list[Mapping[str, Any]]]:
    """By each label that they have; all of them under None."""
    if _LABELLED not in view.made:
        found: dict[tuple[str, Any] | None, list[Mapping[str, Any]]] = {}
        all_labels = [item.metadata.get("labels") for item in view.of_kind("Service")]
        path = ("spec", "template", "metadata", "labels")
        all_labels += [value_at(item.data, path) for item in view.of_kind("DaemonSet")]
        for labels in (mapping(item) for item in all_labels if _is_flat(item)):
            for label in (None, *labels.items()):
                found.setdefault(label, []).append(labels)
        view.made[_LABELLED] = found
    return cast("dict[tuple[str, Any] | None, list[Mapping[str, Any]]]", view.made[_LABELLED])


def _is_flat(labels: Any) -> bool:
    return isinstance(labels, dict) and all(isinstance(value, str) for value in labels.values())


def _judged(item: SetupObject, wanted: Mapping[str, Any], targets: list[_Target]) -> Iterator[Finding[Location]]:
    left_open = store.table("exporter_lists.yaml")["open"]
    asked = {key: value for key, value in wanted.items() if key not in left_open}
    found = [target for target in targets if all(target.labels.get(key) == value for key, value in asked.items())]
    if not found:
        has = ", ".join(f"{key}: {value}" for key, value in targets[0].labels.items())
        yield _finding(
            item, "/spec/selector/matchLabels", "selects labels that the exporter", targets[0], f"write `{has}`"
        )
        return
    target = found[0]
    if not _sees(item, target.namespace):
        yield _finding(
            item,
            "/spec/namespaceSelector" if "namespaceSelector" in item.spec else "/metadata/namespace",
            "looks into another namespace than that of the exporter",
            target,
            f"write `namespaceSelector: {{matchNames: [{target.namespace}]}}`",
        )
    for index, endpoint in enumerate(mappings(item.spec.get(_FIELDS[item.kind][0]))):
        if word(endpoint.get("port")) not in ("", target.port):
            at = f"/spec/{_FIELDS[item.kind][0]}/{index}/port"
            yield _finding(item, at, "names a port that the exporter", target, f"write `port: {target.port}`")


def _finding(item: SetupObject, at: str, what: str, target: _Target, advice: str) -> Finding[Location]:
    return Finding(
        message=f"{item.name} {what} of {target.title} does not have: Prometheus finds no target"
        if what.endswith("that the exporter")
        else f"{item.name} {what} of {target.title}: Prometheus finds no target",
        place=item.place(at),
        help=advice,
    )


def _sees(item: SetupObject, namespace: str | None) -> bool:
    own = word(item.metadata.get("namespace"))
    said = item.spec.get("namespaceSelector", MISSING)
    if not namespace or not own or (said is not MISSING and not isinstance(said, dict)):
        return True
    selector = mapping(said)
    names = words(selector.get("matchNames"))
    return selector.get("any") is True or namespace in (names or (own,))
