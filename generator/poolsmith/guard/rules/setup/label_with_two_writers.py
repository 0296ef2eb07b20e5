"""Labels of nodes that a rule writes, and that somebody else writes too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.guard.rules.names.need import NODE_LABEL, Need, Offer, judged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView

RULE = RuleInfo.of("PSM275")
NEEDS: tuple[str, ...] = ()
_AGREED = frozenset((("nvidia.com/gpu.present", "true"),))
"""What a rule says of a node with a GPU, the component says too: people write it where no operator runs."""
_RULES, _KARPENTER = "nfd.k8s-sigs.io", "karpenter.sh"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    of_templates = _template_labels(view)
    named: dict[tuple[str, str], tuple[str, SetupObject, str]] = {}
    for item in view.of_kind("NodeFeatureRule", _RULES):
        for rule, pointer in _rules(item):
            names = _node_names(rule)
            for key, value in mapping(rule.get("labels")).items():
                at = join(pointer, "labels", key)
                need = Need(kind=NODE_LABEL, name=key, locate=item.place, pointer=at, is_sole=True)
                others = (
                    *_of_component(view, need, item, str(value)),
                    *_of_template(of_templates, need, item),
                    *_of_another_rule(need, item, str(value), names, named),
                )
                offers = (Offer(kind=NODE_LABEL, name=key, via=found) for found in (None, *others))
                yield from (cast("Finding[Location]", other.via) for other in judged(need, offers).others)


def _of_component(view: SetupView, need: Need, item: SetupObject, value: str) -> Iterator[Finding[Location]]:
    """`feature.node.kubernetes.io` is for rules as well; a value that the provisioner may set, a rule may set."""
    writer = view.catalog.scheduling.writer_of(need.name)
    if (need.name, value) not in _AGREED and writer is not None and not (writer.provisioner or writer.rules):
        yield Finding(
            message=f"{item.name} writes the label `{need.name}`, which belongs to {writer.writer}",
            place=need.place,
            help="write a label with a prefix of your own",
        )


def _of_template(of_templates: Mapping[str, Location], need: Need, item: SetupObject) -> Iterator[Finding[Location]]:
    if need.name in of_templates:
        yield Finding(
            message=f"{item.name} writes the label `{need.name}`, and so does the template of nodes",
            place=need.place,
            related=(of_templates[need.name],),
        )


def _of_another_rule(
    need: Need,
    item: SetupObject,
    value: str,
    names: list[str],
    named: dict[tuple[str, str], tuple[str, SetupObject, str]],
) -> Iterator[Finding[Location]]:
    """For a node that both name; of other conditions nobody knows whether one node meets two."""
    for name in names:
        other = named.setdefault((need.name, name), (value, item, need.pointer))
        if other[0] != value:
            yield Finding(
                message=f"{item.name} and {other[1].name} give the node `{name}` different values of the label "
                f"`{need.name}`",
                place=need.place,
                help="let each node be named by one of them",
                related=(other[1].place(other[2], "the other value"),),
            )
            return


def _rules(item: SetupObject) -> Iterator[tuple[Mapping[str, Any], str]]:
    rules = item.spec.get("rules")
    if isinstance(rules, list):
        yield from ((rule, f"/spec/rules/{index}") for index, rule in enumerate(rules) if isinstance(rule, dict))


def _node_names(rule: Mapping[str, Any]) -> list[str]:
    """The names that alone decide whether the rule holds."""
    features = rule.get("matchFeatures")
    if not isinstance(features, list) or len(features) != 1 or rule.get("matchAny"):
        return []
    (feature,) = mappings(features) if isinstance(features[0], dict) else ({},)
    names = value_at(feature, ("matchExpressions", "nodename"))
    if feature.get("feature") != "system.name" or word(value_at(names, ("op",))) != "In":
        return []
    values = value_at(names, ("value",))
    return [name for name in values if isinstance(name, str)] if isinstance(values, list) else []


def _template_labels(view: SetupView) -> dict[str, Location]:
    found: dict[str, Location] = {}
    for item in view.of_kind("NodePool", _KARPENTER):
        for key in mapping(value_at(item.spec, ("template", "metadata", "labels"))):
            found.setdefault(key, item.place(join("/spec/template/metadata/labels", key), "the template"))
    return found
