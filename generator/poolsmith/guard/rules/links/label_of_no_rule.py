"""Labels that pods select nodes by, and that what stands here to write labels calls otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed, nearest, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, mappings, words
from poolsmith.core.sources.pointer import MISSING, join
from poolsmith.guard.rules.links.selections import selections

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.links.selections import Selection

RULE = RuleInfo(
    code="PSM775",
    name="label-of-no-rule",
    applies_to="manifest",
    what="A pod that asks for GPUs, or a chart of the stack, selects nodes by a label that is a slip of the pen for "
    "one "
    "of GPU feature discovery or of a NodeFeatureRule here, by a value that the rule does not write, by a label of "
    "PCI devices that Node Feature Discovery here builds of other fields, or by one that is a tag of instances.",
    why="No node has the label: the pod stays Pending, the DaemonSet wants no pod.",
    fix="write the label as it is written to nodes",
    bad="nodeSelector: {nvidia.com/gpu.prodct: NVIDIA-L4}\n",
    good="nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}\n",
    symptom="`node(s) didn't match Pod's node affinity/selector`",
    references=(
        "NVIDIA/k8s-device-plugin@v0.17.4:internal/lm",
        "kubernetes-sigs/node-feature-discovery:source/pci, deviceLabelFields",
    ),
)
_DOMAIN = "nvidia.com/"
_PCI = pattern(r"feature\.node\.kubernetes\.io/pci-([0-9a-f]{2,4}(?:_[0-9a-f]{2,4})*)\.present")
_DISCOVERY = "node-feature-discovery"
_FIELDS = "worker.config.sources.pci.deviceLabelFields"
_FEW = 3
_OF_AUTOSCALER = "k8s.io/cluster-autoscaler/node-template/label/"


def check(view: LinkView) -> Iterator[Finding[Location]]:
    if not view.is_whole and not view.is_alone:
        return
    written = _written(view)
    fields = _pci_fields(view)
    for item in selections(view):
        if item.key not in view.labels_said:
            yield from _of_discovery(item)
            yield from _of_rules(item, written)
            yield from _of_pci(item, fields, written)
            yield from _of_tags(view, item)


def _of_discovery(item: Selection) -> Iterator[Finding[Location]]:
    known = store.table("selectors.yaml")["known"]
    name = item.key.removeprefix(_DOMAIN)
    if not item.key.startswith(_DOMAIN) or name in known:
        return
    right = nearest(name, known, certain=True)
    if right is not None:
        yield Finding(
            message=f"{item.who} selects nodes by `{shorten(item.key)}`, a label that nothing of NVIDIA's writes",
            place=item.place,
            help=f"did you mean `{_DOMAIN}{right}`?",
        )


def _written(view: LinkView) -> dict[str, set[str]]:
    """Labels of the rules of Node Feature Discovery here, each with its values; a star for one that nobody knows."""
    found: dict[str, set[str]] = {}
    for item in view.of_kind("NodeFeatureRule", "NodeFeatureGroup"):
        for rule in mappings(item.spec.get("rules")):
            for key, value in mapping(rule.get("labels")).items():
                text = str(value)
                found.setdefault(_full(str(key)), set()).add("*" if text.startswith("@") else text)
            if rule.get("labelsTemplate"):
                found.setdefault("*", set())
    return found


def _full(key: str) -> str:
    return key if "/" in key else f"feature.node.kubernetes.io/{key}"


def _of_rules(item: Selection, written: dict[str, set[str]]) -> Iterator[Finding[Location]]:
    if item.key in written:
        values = written[item.key]
        if item.values and not values.intersection(("*", *item.values)):
            yield Finding(
                message=f"{item.who} selects nodes with `{shorten(item.key)}: {shorten(item.values[0])}`, and the "
                f"rules here write {listed(sorted(values), _FEW)}",
                place=item.place,
                help=f"write `{min(values)}`",
            )
        return
    unseen = "*" in written or item.key.startswith(_DOMAIN)
    changed = _full(item.key) if _full(item.key) in written else nearest(item.key, written, certain=True)
    right = None if unseen else changed
    if right is not None:
        yield Finding(
            message=f"{item.who} selects nodes by `{shorten(item.key)}`, and the rules here write `{right}`",
            place=item.place,
            help=f"did you mean `{right}`?",
        )


def _of_tags(view: LinkView, item: Selection) -> Iterator[Finding[Location]]:
    """Tags of instances, which are no labels of nodes."""
    for template in view.machines.templates if view.is_alone else ():
        tags = mapping(mapping(template.body).get("tags"))
        if item.key in tags and not any(mark.key == item.key for mark in template.labels):
            yield Finding(
                message=f"{template.title} has the tag `{shorten(item.key)}`, and {item.who} selects nodes by a "
                "label of "
                "that name: a tag of instances is none",
                place=template.at(f"{template.top}{join('', 'tags', item.key)}"),
                help=f"write it into the group's labels; for an autoscaler add the tag `{_OF_AUTOSCALER}{item.key}`",
                related=(item.place,),
                severity=Severity.WARNING,
            )


def _pci_fields(view: LinkView) -> tuple[str, ...]:
    """What the one Node Feature Discovery of the view builds labels of; empty where nobody can tell."""
    found = []
    for chart in view.charts:
        if chart.is_operator and chart.value("nfd.enabled") is not False:
            found.append((chart, f"{_DISCOVERY}.{_FIELDS}", ["vendor"]))
        elif chart.name == _DISCOVERY:
            found.append((chart, _FIELDS, ["class", "vendor"]))
    if len(found) != 1 or found[0][0].partial:
        return ()
    chart, path, own = found[0]
    said = chart.value(path)
    return words(own if said is MISSING else said)


def _of_pci(item: Selection, fields: tuple[str, ...], written: dict[str, set[str]]) -> Iterator[Finding[Location]]:
    found = _PCI.fullmatch(item.key)
    if found is None or not fields or item.key in written or "*" in written:
        return
    parts = found[1].count("_") + 1
    if parts != len(fields):
        example = "_".join({"class": "0302", "vendor": "10de"}.get(field, f"<{field}>") for field in fields)
        yield Finding(
            message=f"{item.who} selects nodes by `{item.key}`, and Node Feature Discovery here builds such labels of "
            f"{listed(fields, _FEW)}",
            place=item.place,
            help=f"write `feature.node.kubernetes.io/pci-{example}.present`, or change `{_FIELDS}`",
        )
