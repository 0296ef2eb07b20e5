"""ServiceMonitors and PodMonitors written for the exporter, that select nothing which it makes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.scraping import (
    ENDPOINTS,
    exporters,
    monitor_id,
    monitors_of_exporters,
    wanted_labels,
)
from poolsmith.guard.rules.names.kept import kept, kept_all
from poolsmith.guard.rules.names.need import Need, Offer, State, Supply
from poolsmith.guard.rules.setup.repository_setups import is_of_operator, olm_namespace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.names.need import Verdict
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM780")


TARGET = "Target"
"""Something for a monitor to scrape."""


@record
class Target:
    """What an exporter makes to be found by."""

    title: str
    labels: Mapping[str, str]
    port: str
    namespace: str | None
    asked_at: str = ""
    """Where a monitor says which namespace it looks into."""


def targets(view: LinkView, kind: str) -> list[Target]:
    """Of the exporters whose names are their own."""
    own = ("nameOverride", "fullnameOverride", "service.port")
    charts = [chart for chart in exporters(view) if not any(map(chart.says, own))]
    found = [_target(chart.name, chart.namespace, kind, chart.release_name or "") for chart in charts]
    if not any(chart.is_operator for chart in view.charts) and _by_policy(view):
        found.append(_target(OPERATOR_CHART, olm_namespace(view.of_kind("Subscription")), kind))
    return found


def _by_policy(view: LinkView) -> bool:
    """Whether a ClusterPolicy of these files, whoever applies it, has the operator run one: OLM brings the operator."""
    policies = [item for item in view.machines.tree.of_kind("ClusterPolicy") if is_of_operator(item)]
    return any(value_at(item.data, ("spec", "dcgmExporter", "enabled")) is not False for item in policies)


def _target(chart: str, namespace: str | None, kind: str, release: str = "") -> Target:
    _, labels, port = ENDPOINTS[kind]
    row = next(row for row in store.table("exporter_lists.yaml")["services"] if chart in row["charts"])
    named = {key: text.replace("{release}", release) for key, text in row[labels].items()}
    return Target(title=chart, labels=named, port=row[port], namespace=namespace)


@kept_all
def target_needs(view: LinkView) -> Iterator[Need]:
    """Of monitors, each with the ports that it names; nothing of those that have a target among the files."""
    return map(_target_need, _looking(view))


def _looking(view: LinkView) -> Iterator[SetupObject]:
    return (item for item in monitors_of_exporters(view) if not _has_own_target(view, wanted_labels(item)))


def _target_need(item: SetupObject) -> Need:
    field = ENDPOINTS[item.kind][0]
    ports = {word(endpoint.get("port")): index for index, endpoint in enumerate(mappings(item.spec.get(field)))}
    return Need(
        kind=TARGET,
        name=monitor_id(item),
        where=item.kind,
        who=item.name,
        locate=item.place,
        pointer="/spec/selector/matchLabels",
        namespace=_NOWHERE,
        keys={port: f"/spec/{field}/{index}/port" for port, index in ports.items() if port},
    )


_NOWHERE = "?"
"""A namespace that no object has: a target is offered to all of them where the monitor looks into its own."""


def target_offers(view: LinkView) -> Iterator[Offer]:
    left_open = store.table("exporter_lists.yaml")["open"]
    there = {kind: targets(view, kind) for kind in ENDPOINTS}
    for item in _looking(view):
        asked = {key: value for key, value in wanted_labels(item).items() if key not in left_open}
        for target in there[item.kind]:
            if all(target.labels.get(key) == value for key, value in asked.items()):
                at = "/spec/namespaceSelector" if "namespaceSelector" in item.spec else "/metadata/namespace"
                space = "" if _sees(item, target.namespace) else target.namespace or ""
                via = replace(target, asked_at=at)
                yield Offer(kind=TARGET, name=monitor_id(item), namespace=space, keys=(target.port,), via=via)


def target_supply(view: LinkView) -> Supply:
    return Supply(owns=lambda _: bool(targets(view, "ServiceMonitor")))


def _sees(item: SetupObject, namespace: str | None) -> bool:
    own = word(item.metadata.get("namespace"))
    said = item.spec.get("namespaceSelector", MISSING)
    if not namespace or not own or (said is not MISSING and not isinstance(said, dict)):
        return True
    selector = mapping(said)
    names = words(selector.get("matchNames"))
    return selector.get("any") is True or namespace in (names or (own,))


def _has_own_target(view: LinkView, wanted: Mapping[str, Any]) -> bool:
    """Whether a Service or a workload of the files has the labels."""
    if not _is_flat(wanted):
        return False
    by_label = _labelled(view)
    candidates = min((by_label.get(label, ()) for label in wanted.items()), key=len, default=by_label.get(None, ()))
    return any(wanted.items() <= labels.items() for labels in candidates)


@kept
def _labelled(view: LinkView) -> dict[tuple[str, Any] | None, list[Mapping[str, Any]]]:
    """By each label that they have; all of them under None."""
    found: dict[tuple[str, Any] | None, list[Mapping[str, Any]]] = {}
    all_labels = [item.metadata.get("labels") for item in view.of_kind("Service")]
    path = ("spec", "template", "metadata", "labels")
    all_labels += [value_at(item.data, path) for item in view.of_kind("DaemonSet")]
    for labels in (mapping(item) for item in all_labels if _is_flat(item)):
        for label in (None, *labels.items()):
            found.setdefault(label, []).append(labels)
    return found


def _is_flat(labels: Any) -> bool:
    return isinstance(labels, dict) and all(isinstance(value, str) for value in labels.values())


DOMAINS = (Domain(TARGET, target_needs, target_offers, target_supply),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for need in target_needs(view):
        yield from _judged(view, names_of(view).verdict(need))


def _judged(view: LinkView, verdict: Verdict) -> Iterator[Finding[Location]]:
    need, target = verdict.need, cast("Target | None", verdict.offer.via if verdict.offer else None)
    if verdict.state is State.UNDEFINED:
        first = targets(view, need.where)[0]
        advice = ", ".join(f"{key}: {value}" for key, value in first.labels.items())
        yield _finding(
            need.place, f"{need.who} selects labels that the exporter of {first.title} does not have", advice
        )
    elif verdict.state is State.ELSEWHERE and target is not None:
        text = f"{need.who} looks into another namespace than that of the exporter of {target.title}"
        yield _finding(need.locate(target.asked_at), text, f"namespaceSelector: {{matchNames: [{target.namespace}]}}")
    elif verdict.state is State.LACKS_KEY and target is not None:
        for port in verdict.missing:
            text = f"{need.who} names a port that the exporter of {target.title} does not have"
            yield _finding(need.locate(need.keys[port]), text, f"port: {target.port}")


def _finding(place: Location, what: str, advice: str) -> Finding[Location]:
    return Finding(message=f"{what}: Prometheus finds no target", place=place, help=f"write `{advice}`")
