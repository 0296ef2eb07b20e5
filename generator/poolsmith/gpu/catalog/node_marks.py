"""What nodes of a cluster say of themselves: distribution, system, pool."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.gpu.catalog.scheduling import scheduling_from

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE = "discover/node_marks.yaml"


@record
class NodeMarks:
    """`distributions` are rows of name, and a mark by its kind; `systems` are IDs with patterns of what the kubelet
    calls them; `pools` label keys, the likeliest first; `passing` beginnings of taint keys; `of_machines` of labels."""

    distributions: tuple[tuple[str, str, str], ...]
    systems: tuple[tuple[str, re.Pattern[str]], ...]
    pools: tuple[str, ...]
    passing: tuple[str, ...]
    of_machines: tuple[str, ...]

    def distribution(self, labels: Mapping[str, str], kubelet: str, image: str) -> str | None:
        """None where nothing tells it: nodes of kubeadm have no mark of their own."""
        for name, kind, mark in self.distributions:
            if (
                (kind == "kubelet" and mark in kubelet)
                or (kind == "label" and mark in labels)
                or (kind == "system" and image.startswith(mark))
            ):
                return name
        return None

    def system(self, image: str) -> tuple[str, str | None] | None:
        """ID and VERSION_ID by what the kubelet calls the system; the version is None where that does not tell it."""
        for identity, pattern in self.systems:
            if found := pattern.fullmatch(image):
                return identity, found.groupdict().get("version")
        return None


@cache
def read_node_marks() -> NodeMarks:
    body = store.read_yaml(_FILE)
    scheduling = scheduling_from(store.read_yaml("scheduling.yaml"))
    passing = (*body["passing"]["keys"], *sorted(scheduling.passing_taints), *scheduling.startup_taints.prefixes)
    return NodeMarks(
        distributions=tuple(_mark(item) for item in body["distributions"]),
        systems=tuple((item["id"], re.compile(item["image"])) for item in body["systems"]),
        pools=tuple(item["key"] for item in body["pools"]),
        passing=passing,
        of_machines=tuple(body["of_machines"]["keys"]),
    )


def _mark(item: dict[str, Any]) -> tuple[str, str, str]:
    kind = next(key for key in ("kubelet", "label", "system") if key in item)
    return item["name"], kind, item[kind]
