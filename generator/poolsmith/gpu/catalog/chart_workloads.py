"""What Helm charts install besides custom resources (workloads, accounts, roles), and the rights of the operator.

A data file describes a chart for all its known versions, in the compact form of `operands.whole` with a few words
more, which `fleet.operands.chart` fills in from values. What depends on the version alone is decided here: a
node with `$since` or `$before` that does not cover the version asked for gives way to its `$else`, or is gone.

The rights of each release are the baseline for rendered and edited roles.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import covers
from poolsmith.core.record import record
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART

if TYPE_CHECKING:
    from collections.abc import Iterator


COCO_OPERATOR = "confidential-containers/operator"
"""A repository with a kustomization, by its name on GitHub: no chart has a name like this."""
_FILES = {
    OPERATOR_CHART: "gpu_operator",
    "node-feature-discovery": "node_feature_discovery",
    "nvidia-device-plugin": "nvidia_device_plugin",
    "dcgm-exporter": "dcgm_exporter",
    "kata-deploy": "kata_deploy",
    COCO_OPERATOR: "coco_operator",
}
_RANGE = frozenset(("$since", "$before"))


@record
class ChartEntry:
    """One version of a chart.

    `facts` are what the version is known for, such as its appVersion. `objects`, `refuse` (where the chart stops),
    `unknown` and `subcharts` are lists that values fill in. `defaults` are the chart's own values, as far as the
    entry reads them; None: whoever asks has merged them already.
    """

    chart: str
    version: str
    source: str
    facts: dict[str, str]
    defaults: dict[str, Any] | None
    define: dict[str, Any]
    objects: list[Any]
    refuse: list[Any]
    unknown: list[Any]
    subcharts: list[Any]


@record
class ChildRule:
    """A pod that an operand creates once it runs: `container` of `parent` (Kind/name) says how.

    `conditions` must hold for it to exist at all; `exists` says when and where it does, in words.
    """

    parent: str
    container: str
    conditions: tuple[str, ...]
    exists: str
    pod: dict[str, Any]


@record
class UnknownChild:
    """What a parent creates, in words, where conditions on the variables of its container hold."""

    parent: str
    container: str
    conditions: tuple[str, ...]
    text: str


@record
class ChildEntry:
    """What a release's operands create by themselves. `unknown` is what is not modelled of it."""

    source: str
    define: dict[str, Any]
    rules: tuple[ChildRule, ...]
    unknown: tuple[UnknownChild, ...]


class _Gone:
    """In place of what a version does not have."""


_GONE = _Gone()


def chart_versions(chart: str) -> tuple[str, ...]:
    """The versions whose workloads are known, oldest first; none for a chart that is not known."""
    return tuple(_read(chart)["versions"]) if chart in _FILES else ()


def chart_releases(chart: str) -> tuple[str, ...]:
    """The same versions by the names of the project's releases; none for a chart that has no other."""
    return tuple(str(facts["release"]) for facts in _read(chart)["versions"].values() if "release" in facts)


def version_of_release(chart: str, release: str) -> str:
    """The chart's version of a project's release, which is known."""
    versions = _read(chart)["versions"]
    return str(next(version for version, facts in versions.items() if facts["release"] == release))


@remembered
def read_chart_workloads(chart: str, version: str) -> ChartEntry | None:
    """The entry of a chart's version, also by the name of the project's release; None when the catalog has none."""
    for known in chart_versions(chart):
        facts = _read(chart)["versions"][known]
        if version in (known, facts.get("release")):
            return _entry(chart, known, facts)
    return None


@cache
def parents_of_pods() -> frozenset[str]:
    """The workloads (Kind/name) that create something by themselves in any release."""
    document = store.read_yaml("chart_workloads/child_pods.yaml")
    return frozenset(item["parent"] for item in (*document["children"], *document["unknown"]))


@cache
def other_runtime_classes() -> dict[str, tuple[str, ...]]:
    """Runtime classes that a pod of an operand gets in the place of a predicted one, by labels of its node."""
    document = store.read_yaml("chart_workloads/child_pods.yaml")
    return {name: tuple(others) for name, others in document["runtimeClasses"].items()}


@cache
def _labels_by_pods() -> tuple[str, ...]:
    return tuple(store.read_yaml("chart_workloads/child_pods.yaml")["labelsByPods"])


def is_label_by_pods(key: str) -> bool:
    """Whether a label that a RuntimeClass chooses by is one that pods write once they run."""
    return any(
        key.startswith(known) or f".{known}" in key if known.endswith("/") else key == known
        for known in _labels_by_pods()
    )


@remembered
def read_child_pods(release: str) -> ChildEntry | None:
    """For a release of the GPU operator; None when the catalog has none."""
    if release not in chart_versions(OPERATOR_CHART):
        return None
    document = _of_version(store.read_yaml("chart_workloads/child_pods.yaml"), release)
    return ChildEntry(
        source=document["source"],
        define=document["define"],
        rules=tuple(
            ChildRule(
                parent=rule["parent"],
                container=rule["container"],
                conditions=tuple(rule.get("when", ())),
                exists=rule["exists"],
                pod=rule["pod"],
            )
            for rule in document["children"]
        ),
        unknown=tuple(
            UnknownChild(
                parent=item["parent"],
                container=item["container"],
                conditions=tuple(item.get("when", ())),
                text=item["text"],
            )
            for item in document["unknown"]
        ),
    )


def _read(chart: str) -> dict[str, Any]:
    return store.table(f"chart_workloads/{_FILES[chart]}.yaml")


def _entry(chart: str, version: str, facts: dict[str, str]) -> ChartEntry:
    document = _of_version(_read(chart), version)
    return ChartEntry(
        chart=chart,
        version=version,
        source=document["source"],
        facts=facts,
        defaults=document.get("defaults", _catalog_defaults(chart, facts)),
        define=document.get("define", {}),
        objects=document["objects"],
        refuse=document.get("refuse", []),
        unknown=document.get("unknown", []),
        subcharts=document.get("subcharts", []),
    )


def _catalog_defaults(chart: str, facts: dict[str, str]) -> dict[str, Any] | None:
    found = read_chart(chart, facts["release"]) if "release" in facts else None
    return found.defaults if found else None


def _of_version(node: Any, version: str) -> Any:
    """The node as one version has it."""
    if isinstance(node, list):
        items = [item if isinstance(item, str) else _of_version(item, version) for item in node]
        return [item for item in items if item is not _GONE]
    if not isinstance(node, dict):
        return node
    if not _RANGE.isdisjoint(node):
        return _of_version(_chosen(node, version), version)
    known = {key: value if isinstance(value, str) else _of_version(value, version) for key, value in node.items()}
    return {key: value for key, value in known.items() if value is not _GONE}


def _chosen(node: dict[str, Any], version: str) -> Any:
    """What a range leaves of a node: its content, or what else stands there."""
    if not covers({word[1:]: node[word] for word in _RANGE if word in node}, version):
        return node.get("$else", _GONE) if "$when" not in node else _GONE
    rest = {key: value for key, value in node.items() if key not in _RANGE}
    return rest["$then"] if "$then" in rest and "$when" not in rest else rest


Right = tuple[str, str, str]
"""API group, resource and verb."""
_RULES = {"ClusterRole": "operatorRights", "Role": "namespaceRights"}


@remembered
def operator_rights(kind: str, release: str | None) -> frozenset[Right]:
    """Of the ClusterRole or Role named gpu-operator; of all recorded releases together where it is none of them.

    What depends on values counts as if they asked for it.
    """
    known = chart_versions(OPERATOR_CHART)
    asked = (release,) if release in known else known
    return frozenset(right for version in asked for right in _rights(kind, version))


def _rights(kind: str, version: str) -> Iterator[Right]:
    entry = read_chart_workloads(OPERATOR_CHART, version)
    if entry is None:
        return
    for rule in _flat(entry.define[_RULES[kind]]):
        groups, resources, verbs = (list(_words(part, entry.define)) for part in rule[:3])
        yield from ((group, resource, verb) for group in groups for resource in resources for verb in verbs)


def _flat(node: Any) -> Iterator[list[Any]]:
    """Rules are lists of texts and choices; lists of rules may stand in lists."""
    if isinstance(node, dict):
        for key in ("$then", "$else", "$items"):
            yield from _flat(node.get(key, []))
    elif node and isinstance(node[0], str):
        yield node
    else:
        for item in node:
            yield from _flat(item)


def _words(part: Any, define: dict[str, Any]) -> Iterator[str]:
    if isinstance(part, dict):
        for key in ("$then", "$else"):
            yield from _words(part.get(key, ""), define)
        return
    for word in part.split(","):
        if word.startswith("${@"):
            yield from _words(define[word[3:-1]], define)
        else:
            yield word
