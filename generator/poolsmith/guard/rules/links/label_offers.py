"""What writes labels of nodes here: Node Feature Discovery by its rules and its configuration, nodes, the operator."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import nearest
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import at_least
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import MISSING, reached
from poolsmith.gpu.catalog.node_labels import FEATURE, GPU_PRESENT
from poolsmith.guard.rules.names.kept import kept
from poolsmith.guard.rules.names.known_labels import full_label, is_well_known, labels_of_rules, written_label
from poolsmith.guard.rules.names.need import NODE_LABEL, Offer, Supply, spelled
from poolsmith.guard.rules.names.spelling import Spelling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.guard.rules.links.link_view import LinkView, Machines
    from poolsmith.guard.rules.names.need import Need
    from poolsmith.guard.rules.setup.setup_view import SetupObject
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

DOMAIN = "nvidia.com/"
_PLAIN = frozenset(("true", "false", "1", "yes", "gpu", "nvidia"))
"""Values that many labels have."""
DISCOVERY = "node-feature-discovery"
FIELDS = "worker.config.sources.pci.deviceLabelFields"
_PCI = pattern(r"feature\.node\.kubernetes\.io/pci-([0-9a-f]{2,4}(?:_[0-9a-f]{2,4})*)\.present")
_VENDOR = "10de"
_PARTS = {"vendor": _VENDOR}
_IN_TEMPLATE = pattern(r"(?m)^[ \t]*([A-Za-z0-9][A-Za-z0-9./_-]*+)=")


@record
class PciFields:
    """What Node Feature Discovery builds labels of PCI devices of."""

    fields: tuple[str, ...]

    def writes(self, key: str) -> bool:
        found = _PCI.fullmatch(key)
        parts = found[1].split("_") if found else []
        if len(parts) != len(self.fields):
            return False
        return _VENDOR not in parts or parts.index(_VENDOR) in (
            index for index, name in enumerate(self.fields) if name == "vendor"
        )

    @property
    def example(self) -> str:
        return f"{FEATURE}pci-{'_'.join(_PARTS.get(field, f'<{field}>') for field in self.fields)}.present"


@record
class Tagged:
    """Groups of machines whose instances have a tag of the name, or (`of_machines`) machines with a label of it."""

    templates: tuple[NodeTemplate, ...]
    of_machines: bool = False


def label_offers(view: LinkView, needs: Iterable[Need]) -> Iterator[Offer]:
    asked = {name for need in needs for name in (need.name, *need.or_else)}
    yield from labels_of_rules(_rules(view))
    for item in view.of_kind("Node", "NodeFeature"):
        labels = item.metadata.get("labels") if item.kind == "Node" else item.spec.get("labels")
        yield from (written_label(item, str(key), None) for key in mapping(labels))
    if any(chart.is_operator for chart in view.charts):
        yield Offer(kind=NODE_LABEL, name=GPU_PRESENT)
    yield from _of_pci(view, asked)
    yield from _of_releases(view, asked)
    yield from _of_tags(view, asked) if view.is_alone else ()
    yield from _of_machines(view, asked) if view.is_alone else ()


@record
class OfMachines:
    """Groups of machines that have the label, none of them with that value."""

    template: NodeTemplate


@record
class Since:
    """The operator's label comes with a later release, or, if it `ended`, went with an earlier one."""

    release: str
    ended: bool = False


def label_supply(view: LinkView) -> Supply:
    templates = tuple(
        str(rule["labelsTemplate"]) for item in _rules(view) for rule in _steps(item) if rule.get("labelsTemplate")
    )
    named = {full_label(key) for text in templates for key in _IN_TEMPLATE.findall(text)}
    written = () if templates else (offer.name for offer in labels_of_rules(_rules(view)))
    return Supply(known=Labels(view, named), spelled=partial(_spelled, Spelling(written)))


class Labels:
    """What is said of nodes anywhere in the files, whoever reads it; values of machines are looked into where they are
    those of the one cluster."""

    def __init__(self, view: LinkView, named: set[str]) -> None:
        self._view, self._named = view, named

    def __contains__(self, key: object) -> bool:
        if key in self._named or is_well_known(str(key)):
            return key in self._named or key in self._view.labels_said
        values = _values_of_machines(self._view.machines).get(str(key))
        if values is not None:
            return not self._view.is_alone or values[1] is None
        return key in self._view.labels_said


@kept
def _values_of_machines(machines: Machines) -> dict[str, tuple[NodeTemplate, frozenset[str] | None]]:
    """Labels of all descriptions of nodes, with the first one and all values; None where nobody knows some of them."""
    found: dict[str, tuple[NodeTemplate, set[str | None]]] = {}
    for template in machines.templates:
        for mark in (*template.labels, *template.choices):
            values = found.setdefault(mark.key, (template, set()))[1]
            values.add(None if template.is_partial else mark.value)
        for key, value in _implied(template):
            found.setdefault(key, (template, set()))[1].add(None if template.is_partial else value)
        for key in _left_open(template):
            found.setdefault(key, (template, set()))[1].add(None)
    return {
        key: (template, None if None in values else frozenset(str(value) for value in values))
        for key, (template, values) in found.items()
    }


def _implied(template: NodeTemplate) -> Iterator[tuple[str, str]]:
    """Labels that a cloud gives by something else that is said of the machines."""
    for row in store.table("selectors.yaml")["implied"]:
        for _, value in reached(template.body, row["by"]) if template.tool == row["tool"] else ():
            yield row["label"], word(value)


def _left_open(template: NodeTemplate) -> Iterator[str]:
    """Labels to which Karpenter gives the value that a pod selects."""
    for path in (("spec", "template", "spec", "requirements", "*"), ("spec", "requirements", "*")):
        for _, item in reached(template.body, path) if template.tool == "karpenter" else ():
            if mapping(item).get("operator") != "In":
                yield word(mapping(item).get("key"))


def _of_machines(view: LinkView, asked: set[str]) -> Iterator[Offer]:
    for key, (template, values) in _values_of_machines(view.machines).items():
        if key in asked and values is not None:
            yield Offer(kind=NODE_LABEL, name=key, keys=values, via=OfMachines(template=template))


def _of_releases(view: LinkView, asked: set[str]) -> Iterator[Offer]:
    """Labels that the operator here does not write yet, or no longer."""
    versions = (chart.version for chart in view.charts if chart.is_operator and chart.version)
    for version, (field, ended) in product(versions, (("since", False), ("until", True))):
        releases = store.table("selectors.yaml")[field]
        for key in sorted(asked & releases.keys()):
            if at_least(version, releases[key]) is ended:
                via = Since(release=releases[key], ended=ended)
                yield Offer(kind=NODE_LABEL, name=key + via.release, calls=(key,), via=via)


def _spelled(written: Spelling, key: str) -> Offer | None:
    """Names of GPU feature discovery, and those that the rules here write: many may ask for one."""
    if not key.startswith(DOMAIN):
        return spelled(NODE_LABEL, written, key)
    known, name = store.table("selectors.yaml")["known"], key.removeprefix(DOMAIN)
    right = None if name in known else nearest(name, known, certain=True)
    return None if right is None else Offer(kind=NODE_LABEL, name=f"{DOMAIN}{right}", via=DOMAIN)


def like(view: LinkView, key: str, values: tuple[str, ...]) -> str:
    """A label of the machines here that may be meant; empty where none is like it."""
    given = _spelling(view.machines)
    return (given.nearest(key) or given.longer(key) or _by_value(view, values) or "") if view.is_alone else ""


def _by_value(view: LinkView, values: tuple[str, ...]) -> str:
    """The only label of the machines that has the value, where that is a word of somebody's own."""
    found = _by_own_value(view.machines).get(values[0], ()) if len(values) == 1 else ()
    return found[0] if len(found) == 1 else ""


@kept
def _by_own_value(machines: Machines) -> dict[str, list[str]]:
    """Labels by each value of theirs, without words that many labels have."""
    found: dict[str, list[str]] = {}
    for key, (_, given) in _values_of_machines(machines).items():
        for value in () if given is None or is_well_known(key) else given - _PLAIN:
            found.setdefault(value, []).append(key)
    return found


@kept
def _spelling(machines: Machines) -> Spelling:
    return Spelling(name for name in _values_of_machines(machines) if not is_well_known(name))


def _rules(view: LinkView) -> Iterator[SetupObject]:
    return view.of_kind("NodeFeatureRule", "NodeFeatureGroup")


def _steps(item: SetupObject) -> Iterable[dict[str, object]]:
    return mappings(item.spec.get("rules"))


def _of_pci(view: LinkView, asked: set[str]) -> Iterator[Offer]:
    """Of the one Node Feature Discovery of the view; nothing where nobody can tell."""
    found = []
    for chart in view.charts:
        if chart.is_operator and chart.value("nfd.enabled") is not False:
            found.append((chart, f"{DISCOVERY}.{FIELDS}", ["vendor"]))
        elif chart.name == DISCOVERY:
            found.append((chart, FIELDS, ["class", "vendor"]))
    if len(found) != 1 or found[0][0].partial:
        return
    chart, path, own = found[0]
    said = chart.value(path)
    if said is MISSING or isinstance(said, list):
        pci, at = PciFields(fields=words(own if said is MISSING else said)), partial(chart.place, path)
        keys = [key for key in asked if _PCI.fullmatch(key)] if pci.fields else []
        yield from (Offer(kind=NODE_LABEL, name=key, via=pci, at=at) for key in keys if pci.writes(key))
        others = tuple(key for key in keys if not pci.writes(key))
        yield Offer(kind=NODE_LABEL, name=pci.example, calls=others, via=pci, at=at)


def _of_tags(view: LinkView, asked: set[str]) -> Iterator[Offer]:
    """Tags of instances, and labels of machines, which are no labels of nodes."""
    found: dict[str, list[NodeTemplate]] = {}
    for template in view.machines.templates:
        tags = mapping(mapping(template.body).get("tags"))
        if not asked.isdisjoint(tags):
            labels = {mark.key for mark in template.labels}
            for key in sorted(asked.intersection(tags) - labels):
                found.setdefault(key, []).append(template)
    for key, templates in found.items():
        yield Offer(kind=NODE_LABEL, name=f"tag {key}", calls=(key,), via=Tagged(templates=tuple(templates)))
    for key in sorted(asked):
        if with_it := tuple(template for template in view.machines.templates if key in template.withheld):
            via = Tagged(templates=with_it, of_machines=True)
            yield Offer(kind=NODE_LABEL, name=f"label of machines {key}", calls=(key,), via=via)
