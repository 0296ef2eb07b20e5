"""What the operator's own roles may do in each release: the baseline for rendered and edited ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts.packs import remembered
from poolsmith.gpu.catalog.chart_workloads import chart_versions, read_chart_workloads

if TYPE_CHECKING:
    from collections.abc import Iterator

Right = tuple[str, str, str]
"""API group, resource and verb."""
_CHART = "gpu-operator"
_RULES = {"ClusterRole": "operatorRights", "Role": "namespaceRights"}


@remembered
def operator_rights(kind: str, release: str | None) -> frozenset[Right]:
    """Of the ClusterRole or Role named gpu-operator; of all recorded releases together where it is none of them.

    What depends on values counts as if they asked for it.
    """
    known = chart_versions(_CHART)
    asked = (release,) if release in known else known
    return frozenset(right for version in asked for right in _rights(kind, version))


def _rights(kind: str, version: str) -> Iterator[Right]:
    entry = read_chart_workloads(_CHART, version)
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
