"""Labels of nodes that pods or charts select by, and that what stands here to write labels calls otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pod_template import word, words
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.gpu.catalog.gpu_requests import GPU
from poolsmith.gpu.catalog.node_labels import GPU_PRESENT, GPU_PRODUCT
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.guard.rules.links.label_offers import (
    DISCOVERY,
    DOMAIN,
    FIELDS,
    OfMachines,
    PciFields,
    Since,
    Tagged,
    label_offers,
    label_supply,
    like,
)
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of, state_of
from poolsmith.guard.rules.links.plugin_offers import parsed_configuration, shares_by
from poolsmith.guard.rules.links.selections import selections, selections_in, selections_of_charts
from poolsmith.guard.rules.names.known_labels import is_given_by_hand
from poolsmith.guard.rules.names.need import NODE_LABEL, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.names.need import Need, Offer, Verdict

RULE = RuleInfo.of("PSM775")
_FEW = 3
_WORKER, _FIELDS = ("workerConfig", "configData"), ("sources", "pci", "deviceLabelFields")
_BY_HAND = (
    "write it into the description of the machines, select by a label of feature discovery, such as "
    "`nvidia.com/gpu.family`, or say in policies/external.yaml who gives it"
)
_OF_AUTOSCALER = "k8s.io/cluster-autoscaler/node-template/label/"


def _offers(view: LinkView) -> Iterator[Offer]:
    return label_offers(view, (*selections(view), *(need for _, need in selections_of_charts(view))))


DOMAINS = (Domain(NODE_LABEL, selections, _offers, label_supply),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    yield from _of_control_planes(view)
    yield from _of_itself(view)
    yield from _of_shared(view)
    yield from _of_the_operators_discovery(view)
    for need in selections(view):
        yield from _of_no_word(view, need)
        yield from _of_a_resource(view, need)
    if not view.is_whole and not view.is_alone:
        return
    for need in selections(view):
        verdict = names_of(view).verdict(need)
        yield from _written(verdict)
        if state_of(view, need) is State.OUTSIDE:
            yield from _of_nobody(view, need)
    for chart, need in selections_of_charts(view):
        yield from _of_chart(view, chart, names_of(view).verdict(need))


def _of_itself(view: LinkView) -> Iterator[Finding[Location]]:
    rows = store.table("selectors.yaml")["ownLabels"]
    for chart in view.charts:
        for part, row in rows.get(chart.name, {}).items():
            for need in selections_in(chart, part):
                if need.name.startswith(tuple(row["labels"])) and ("if" not in row or chart.value(row["if"]) is True):
                    text = f"by `{need.name}`, which its own pods write once they run: none starts on a new node"
                    advice = "select by a label that the machines have from the start"
                    yield replace(_selects(need, text, advice), severity=Severity.WARNING)


def _of_no_word(view: LinkView, need: Need) -> Iterator[Finding[Location]]:
    """Values that GPU feature discovery never writes, of labels that no file gives."""
    key = need.name.removeprefix(DOMAIN)
    is_known = need.name != key and need.values and need.name not in view.labels_said
    for row in store.table("selectors.yaml")["values"] if is_known else ():
        if key in row["keys"] and not any(pattern(row["matches"]).fullmatch(value) for value in need.values):
            text = f"with `{need.name}: {shorten(need.values[0])}`, and GPU feature discovery writes {row['takes']}"
            yield _selects(need, text, "write the value as it is written to nodes")


def _of_a_resource(view: LinkView, need: Need) -> Iterator[Finding[Location]]:
    if need.name == GPU and need.name not in view.labels_said and state_of(view, need) is not State.SUPPLIED:
        text = f"by `{need.name}`, which is a resource: a node has a label of that name where somebody gives it alone"
        found = _selects(need, text, f"select by `{GPU_PRESENT}`, which the operator writes, or by no label")
        yield replace(found, severity=Severity.NOTE)


def _written(verdict: Verdict) -> Iterator[Finding[Location]]:
    need, offer = verdict.need, verdict.offer
    if offer is None or verdict.state is State.SUPPLIED:
        return
    if verdict.state is State.LACKS_KEY and isinstance(offer.keys, frozenset):
        yield _of_values(need, offer)
    elif isinstance(offer.via, Since):
        yield _of_release(need, offer.via)
    elif isinstance(offer.via, PciFields):
        yield _selects(
            need,
            f"by `{need.name}`, and Node Feature Discovery here builds such labels of {listed(offer.via.fields, _FEW)}",
            f"write `{offer.name}`, or change `{FIELDS}`",
        )
    elif isinstance(offer.via, Tagged):
        yield from _tagged(need, offer.via)
    elif offer.via == DOMAIN:
        text = f"by `{shorten(need.name)}`, a label that nothing of NVIDIA's writes"
        yield _selects(need, text, f"did you mean `{offer.name}`?")
    elif need.name != GPU_PRODUCT:
        text = f"by `{shorten(need.name)}`, and what is here to label nodes writes `{shorten(offer.name)}`"
        yield _selects(need, text, f"did you mean `{offer.name}`?")


def _of_release(need: Need, since: Since) -> Finding[Location]:
    if since.ended:
        text = f"by `{need.name}`, which the operator's rules wrote before {since.release}: nothing here writes it now"
        return _selects(need, text, "select by another label, or bring a NodeFeatureRule that writes it")
    text = f"by `{need.name}`, which the operator writes from {since.release} on"
    return _selects(need, text, f"take the selector away, or upgrade to {since.release}")


def _of_values(need: Need, offer: Offer) -> Finding[Location]:
    values = sorted(cast("frozenset[str]", offer.keys))
    who = "the rules here write" if offer.via is None else "the machines here have"
    found = _selects(
        need,
        f"with `{shorten(need.name)}: {shorten(need.values[0])}`, and {who} {listed(map(shorten, values), _FEW)}",
        f"write `{shorten(values[0])}`",
    )
    if not isinstance(offer.via, OfMachines):
        return found
    template = offer.via.template
    return replace(found, severity=Severity.WARNING, related=(template.at(template.top, "these machines"),))


def _of_nobody(view: LinkView, need: Need) -> Iterator[Finding[Location]]:
    """A label that somebody may give by hand; where the files describe all machines, more than a note. Whoever writes
    a selector into a chart's values has nodes with the label, unless the files tell otherwise."""
    if need.name.startswith(DOMAIN):
        yield from _without_discovery(view, need) if view.is_whole else ()
    elif is_given_by_hand(need.name):
        are_described = view.is_alone and bool(view.machines.whole)
        is_chart = any(need.who.endswith(f" {chart.name}") for chart in view.charts)
        right = like(view, need.name, need.values) if are_described else ""
        if right or (view.is_whole and (are_described or not is_chart)):
            yield replace(
                _selects(
                    need,
                    f"by `{shorten(need.name)}`, and nothing here gives a node this label",
                    f"did you mean `{right}`?" if right else _BY_HAND,
                ),
                severity=Severity.WARNING if are_described else Severity.NOTE,
            )


def _without_discovery(view: LinkView, need: Need) -> Iterator[Finding[Location]]:
    if view.is_alone and not view.charts and "gke" in view.distributions:
        yield replace(
            _selects(
                need,
                f"by `{shorten(need.name)}`, which GPU feature discovery writes: it is not here, and GKE brings none",
                "write GKE's own label `cloud.google.com/gke-accelerator`, with the type of the accelerator",
            ),
            severity=Severity.WARNING,
        )


def _selects(need: Need, how: str, advice: str) -> Finding[Location]:
    return Finding(message=f"{need.who} selects nodes {how}", place=need.place, help=advice)


def _tagged(need: Need, tagged: Tagged) -> Iterator[Finding[Location]]:
    if tagged.of_machines:
        (template, *_) = tagged.templates
        key = shorten(need.name)
        text = f"by `{key}`, a label of machines: Cluster API hands few domains on to nodes, and this is none of them"
        advice = f"write it into the kubelet's `node-labels`, or `node.cluster.x-k8s.io/{key.rpartition('/')[2]}`"
        related = (template.at(template.labels_at, "the nodes of these machines"),)
        yield replace(_selects(need, text, advice), severity=Severity.WARNING, related=related)
        return
    for template in tagged.templates:
        yield Finding(
            message=f"{template.title} has the tag `{shorten(need.name)}`, and {need.who} selects nodes by a label of "
            "that name: a tag of instances is none",
            place=template.at(f"{template.top}{join('', 'tags', need.name)}"),
            help=f"write it into the group's labels; for an autoscaler add the tag `{_OF_AUTOSCALER}{need.name}`",
            related=(need.place,),
            severity=Severity.WARNING,
        )


def _of_chart(view: LinkView, chart: LinkedChart, verdict: Verdict) -> Iterator[Finding[Location]]:
    """What a chart selects by itself; of an operator without any discovery a rule over its setup says it."""
    need, offer = verdict.need, verdict.offer
    wanted = " or ".join(f"`{label}`" for label in (need.name, *need.or_else))
    if verdict.state is State.CHANGED and offer is not None and offer.at is not None:
        yield Finding(
            message=f"{need.who} wants nodes with the label {wanted}, and Node Feature Discovery here writes "
            f"`{offer.name}`: no node is selected",
            place=offer.at(),
            help="write `worker: {config: {sources: {pci: {deviceLabelFields: [vendor]}}}}` into the values of "
            "node-feature-discovery",
            related=(need.place,),
            severity=Severity.WARNING,
        )
    elif verdict.state is State.OUTSIDE and view.is_whole and not chart.is_operator and not any(view.named(DISCOVERY)):
        yield Finding(
            message=f"{need.who} wants nodes with the label {wanted}, and nothing here writes one: without Node "
            "Feature Discovery it has no pod on any node",
            place=need.place,
            help=f"install Node Feature Discovery{need.where}, or label the nodes; if it is installed elsewhere, "
            "nothing is missing",
            severity=Severity.NOTE,
        )


def _of_shared(view: LinkView) -> Iterator[Finding[Location]]:
    """Parts of charts that wait for a label of GPU feature discovery, which is off there and not here otherwise."""
    rows = store.table("selectors.yaml")["shared"]
    for chart in view.charts if view.is_alone else ():
        row = rows.get(chart.name)
        if row is None or chart.partial or row["label"] in view.labels_said or any(map(_discovers, view.charts)):
            continue
        if chart.value(row["writer"]) is not True and shares_by(view, chart, row["way"]):
            yield Finding(
                message=f"the chart {chart.name} shares GPUs by `{row['way']}`, and {row['part']} runs on nodes with "
                f"`{row['label']}` alone: GPU feature discovery writes that, and is off",
                place=chart.place("config"),
                help=f"write `{row['writer'].replace('.', ': {')}: true}}`, or label the nodes",
                severity=Severity.WARNING,
            )


def _of_the_operators_discovery(view: LinkView) -> Iterator[Finding[Location]]:
    """Node Feature Discovery that an operator of its own installs, with a text for its worker."""
    wanted = store.table("selectors.yaml")["charts"][OPERATOR_CHART]["fields"]
    has_operator = any(chart.is_operator for chart in view.charts) or any(view.of_kind("ClusterPolicy"))
    for item in view.of_kind("NodeFeatureDiscovery") if has_operator else ():
        text = word(value_at(item.spec, _WORKER))
        said = words(value_at(parsed_configuration(text) or {}, _FIELDS))
        if said and list(said) not in wanted and item.source is not None:
            yield Finding(
                message=f"{item.name} labels PCI devices by {listed(said, _FEW)}, and the operator looks for nodes by "
                "the vendor, or by class and vendor",
                place=InnerText(item.source, join("/spec", *_WORKER), text, None).locate(join("", *_FIELDS)),
                help="write `deviceLabelFields: [vendor]`",
            )


def _discovers(chart: LinkedChart) -> bool:
    return chart.is_operator or chart.name == "gpu-feature-discovery"


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
                    severity=Severity.WARNING,
                )
