"""Which nodes take the pods of a workload, by its selectors and their labels and taints.

Only what keeps a pod away for certain is asked: node name, node selector, required node affinity, taints. What may
keep it away at one time and not at another (other pods, free resources, preferences) is not. In doubt a node takes it.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.gpu.catalog.chart_workloads import is_label_by_pods

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.fleet.operands.expansion import Node

_SAME_ON_EACH_NODE = {"kubernetes.io/os": "linux", "beta.kubernetes.io/os": "linux"}
"""The kubelet sets these on each node, whether or not its profile tells."""
_SET_BY_THE_KUBELET = frozenset(("kubernetes.io/arch", "beta.kubernetes.io/arch", "kubernetes.io/hostname"))
"""These too, but with values that nobody knows where the node's labels do not have them."""
_TIE_TO_NOTHING = _SAME_ON_EACH_NODE.keys() | {"kubernetes.io/arch", "beta.kubernetes.io/arch"}
_NUMBER = pattern(r"[+-]?[0-9]{1,19}", re.ASCII)
_KEEPS_AWAY = frozenset(("NoSchedule", "NoExecute"))


@record(kw_only=False)
class Requirement:
    """One expression over labels, or over fields of the node."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    @property
    def is_of_one_value(self) -> bool:
        """Whether only nodes that carry the label, with the one value, hold it."""
        is_of_kubelet = self.key in _SAME_ON_EACH_NODE or self.key in _SET_BY_THE_KUBELET
        return self.operator == "In" and len(self.values) == 1 and not is_of_kubelet

    def holds(self, labels: Mapping[str, Any]) -> bool:
        value = labels.get(self.key, _SAME_ON_EACH_NODE.get(self.key))
        if value is None and self.key in _SET_BY_THE_KUBELET:
            return True
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return self._compares(value)
        return True

    def _compares(self, value: Any) -> bool:
        """With one whole number; anything else holds for no node."""
        texts = (word(value), *self.values)
        if len(self.values) != 1 or not all(_NUMBER.fullmatch(text) for text in texts):
            return False
        left, right = map(int, texts)
        return left > right if self.operator == "Gt" else left < right


@record(kw_only=False)
class Term:
    """Requirements that have to hold together."""

    labels: tuple[Requirement, ...]
    fields: tuple[Requirement, ...]

    def holds(self, node: Node) -> bool:
        """A term without requirements holds nowhere."""
        if not (self.labels or self.fields):
            return False
        fields = {"metadata.name": node.name}
        return all(item.holds(node.labels) for item in self.labels) and all(item.holds(fields) for item in self.fields)


@record(kw_only=False)
class Toleration:
    key: str
    operator: str
    value: str
    effect: str

    def tolerates(self, taint: Mapping[str, str]) -> bool:
        if self.effect not in ("", taint.get("effect", "")):
            return False
        if self.key not in ("", taint.get("key", "")):
            return False
        return self.operator not in ("", "Equal") or self.value == (taint.get("value") or "")


@record(kw_only=False, slots=False)
class Placement:
    """What a pod asks of its node. `terms` are alternatives; None: there is no required affinity."""

    node_name: str
    selector: tuple[Requirement, ...]
    terms: tuple[Term, ...] | None
    tolerations: tuple[Toleration, ...]

    @cached_property
    def ties_to_nothing(self) -> bool:
        """Whether any Linux node may take the pods, but for its taints."""
        if self.node_name or not all(map(_ties_to_nothing, self.selector)):
            return False
        return self.terms is None or any(
            term.labels and not term.fields and all(map(_ties_to_nothing, term.labels)) for term in self.terms
        )

    @cached_property
    def labels(self) -> frozenset[str]:
        """The keys of all labels that are looked at."""
        in_terms = (item.key for term in self.terms or () for item in term.labels)
        return frozenset((*(item.key for item in self.selector), *in_terms))

    @cached_property
    def surely_labelled(self) -> dict[str, str]:
        """Labels that each node has which takes the pods, unless a name in the pod leaves out the scheduler."""
        if self.node_name:
            return {}
        return {item.key: item.values[0] for item in self.selector if item.is_of_one_value}

    @cached_property
    def looks_at_names(self) -> bool:
        return bool(self.node_name) or any(term.fields for term in self.terms or ())

    def takes(self, node: Node) -> bool:
        """Whether the pods may run on a node. A node name in the pod leaves out the scheduler, and taints with it."""
        if self.node_name:
            return node.name == self.node_name
        return (
            all(item.holds(node.labels) for item in self.selector)
            and (self.terms is None or any(term.holds(node) for term in self.terms))
            and self._tolerates(node)
        )

    def _tolerates(self, node: Node) -> bool:
        if not node.taints:
            return True
        by_key: dict[str, list[Toleration]] = {}
        for item in self.tolerations:
            by_key.setdefault(item.key, []).append(item)
        return all(
            any(item.tolerates(taint) for key in ("", taint.get("key", "")) for item in by_key.get(key, ()))
            for taint in node.taints
            if taint.get("effect") in _KEEPS_AWAY
        )


def placement_of(kind: str, pod: Mapping[str, Any], runtime_class: Mapping[str, Any] | None = None) -> Placement:
    """Of the pods of a workload; a runtime class may ask for more of the node, and tolerate more.

    What pods write only once they run is on no predicted node, and keeps nobody away.
    """
    scheduling = mapping(mapping(runtime_class).get("scheduling"))
    asked = [item for item in mapping(scheduling.get("nodeSelector")).items() if not is_label_by_pods(str(item[0]))]
    labels = [*mapping(pod.get("nodeSelector")).items(), *asked]
    affinity = mapping(mapping(pod.get("affinity")).get("nodeAffinity"))
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    tolerations = [*mappings(pod.get("tolerations")), *mappings(scheduling.get("tolerations"))]
    return Placement(
        node_name=word(pod.get("nodeName")),
        selector=tuple(Requirement(str(key), "In", (str(value),)) for key, value in labels),
        terms=None if required is None else _terms(mapping(required).get("nodeSelectorTerms")),
        tolerations=(*map(_toleration, tolerations), *(_daemon_set_tolerations(pod) if kind == "DaemonSet" else ())),
    )


def requirements_of(expressions: Any) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(word(item.get("key")), word(item.get("operator")), words(item.get("values"), empty=True))
        for item in mappings(expressions)
    )


def _terms(terms: Any) -> tuple[Term, ...]:
    return tuple(
        Term(requirements_of(term.get("matchExpressions")), requirements_of(term.get("matchFields")))
        for term in mappings(terms)
    )


def _toleration(item: Mapping[str, Any]) -> Toleration:
    return Toleration(*(word(item.get(key)) for key in ("key", "operator", "value", "effect")))


def _daemon_set_tolerations(pod: Mapping[str, Any]) -> Iterable[Toleration]:
    """What the DaemonSet controller adds to its pods."""
    yield from (
        Toleration(f"node.kubernetes.io/{key}", "Exists", "", effect)
        for key, effect in (
            ("not-ready", "NoExecute"),
            ("unreachable", "NoExecute"),
            ("disk-pressure", "NoSchedule"),
            ("memory-pressure", "NoSchedule"),
            ("pid-pressure", "NoSchedule"),
            ("unschedulable", "NoSchedule"),
        )
    )
    if pod.get("hostNetwork") is True:
        yield Toleration("node.kubernetes.io/network-unavailable", "Exists", "", "NoSchedule")


def _ties_to_nothing(requirement: Requirement) -> bool:
    return requirement.key in _TIE_TO_NOTHING and requirement.holds({})
