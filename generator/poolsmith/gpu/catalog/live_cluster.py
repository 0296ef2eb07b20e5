"""Facts for reading a running cluster: names of what stays behind, allowed version skew, states, and marks of nodes.

States are how objects and nodes say that nobody works on them any more, or that something is wrong. Marks of nodes say
their distribution, system and pool.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers
from poolsmith.core.record import record
from poolsmith.gpu.catalog.scheduling import scheduling_from

if TYPE_CHECKING:
    from collections.abc import Mapping


OF_OPERATOR, OF_KATA = ("toolkit", "driver"), ("kata-deploy", "coco-operator", "kata-manager")
"""The parts of the stack that write on hosts: where there is no operator any more, and where no pool is one of Kata."""


@record
class FormerLabel:
    """A label of a node and what it stems from. Values in `harmless` change nothing; `directories` are of the host, and
    hold what was written there."""

    key: str
    of: str
    harmless: tuple[str, ...]
    directories: tuple[str, ...]


@record
class Trace:
    """What a part of the stack leaves where it is taken away, and who removes it.

    `range` is one of versions of the part, or of the operator. `ends`: only where its whole installation goes (True),
    only where it goes on and leaves some nodes (False), or both (None). `directories` are of the host.
    """

    of: str
    what: str
    who: str
    directories: tuple[str, ...]
    range: dict[str, str]
    ends: bool | None

    def holds(self, version: str, *, ends: bool) -> bool:
        return self.ends in (None, ends) and covers(self.range, version)

    @property
    def words(self) -> str:
        return f"{self.what} {listed(self.directories, len(self.directories))}".strip()


@record
class LeftOvers:
    """`names` and `prefixes` are of roles, bindings and accounts of the operator; `annotations` begin so;
    in `namespaces` stand services of admission webhooks. RuntimeClasses come with distributions, or are made `by_hand`
    where the toolkit is on the hosts already."""

    names: frozenset[str]
    prefixes: tuple[str, ...]
    labels: tuple[FormerLabel, ...]
    annotations: tuple[str, ...]
    namespaces: frozenset[str]
    traces: tuple[Trace, ...]
    of_distributions: dict[str, tuple[str, ...]]
    by_hand: tuple[str, ...]
    _kubelet: dict[str, Any]

    def directories(self, *parts: str) -> tuple[str, ...]:
        """Of hosts, that parts of the stack have written to."""
        return tuple(dict.fromkeys(path for trace in self.traces if trace.of in parts for path in trace.directories))

    def is_of_operator(self, name: str) -> bool:
        return name in self.names or name.startswith(self.prefixes)

    def oldest_kubelet(self, server_minor: int) -> int:
        """The minor of the oldest kubelet that a server of this minor takes (all of major 1)."""
        since = int(self._kubelet["since"].partition(".")[2])
        return server_minor - int(self._kubelet["older" if server_minor >= since else "olderBefore"])


@cache
def read_left_overs() -> LeftOvers:
    data = store.read_yaml("verify/left_overs.yaml")
    return LeftOvers(
        names=frozenset(data["operator"]["names"]),
        prefixes=tuple(data["operator"]["prefixes"]),
        labels=tuple(
            FormerLabel(
                key=item["key"],
                of=item["of"],
                harmless=tuple(item.get("harmless", ())),
                directories=tuple(item.get("directories", ())),
            )
            for item in data["labels"]
        ),
        annotations=tuple(data["annotations"]),
        namespaces=frozenset(data["webhooks"]["namespaces"]),
        traces=tuple(
            Trace(
                of=item["of"],
                what=item["what"],
                who=item["who"],
                directories=tuple(item.get("directories", ())),
                range={key: item[key] for key in ("since", "before") if key in item},
                ends=item.get("ends"),
            )
            for item in data["traces"]
        ),
        of_distributions={name: tuple(found) for name, found in data["runtimeClasses"]["distributions"].items()},
        by_hand=tuple(data["runtimeClasses"]["byHand"]),
        _kubelet=data["kubelet"],
    )


@record
class StateField:
    """A field of the status of a kind, and the values that it has where all is well."""

    api_version: str
    kind: str
    field: tuple[str, ...]
    well: tuple[str, ...]


@record
class Stopped:
    """`annotations` are keys with the values that stop an engine, and what that means. `conditions` are types by group
    of the API, with the statuses that say that something is wrong. `failures` and `refusals` are labels of nodes with
    their value, and what that means."""

    annotations: dict[str, tuple[tuple[str, ...], str]]
    states: tuple[StateField, ...]
    conditions: dict[str, tuple[str, tuple[str, ...]]]
    failures: tuple[tuple[str, str, str], ...]
    refusals: tuple[tuple[str, str, str], ...]


@cache
def read_stopped() -> Stopped:
    data = store.read_yaml("verify/stopped.yaml")
    return Stopped(
        annotations={item["key"]: (tuple(item["values"]), item["means"]) for item in data["annotations"]},
        states=tuple(
            StateField(
                api_version=item["apiVersion"],
                kind=item["kind"],
                field=tuple(item["field"]),
                well=tuple(item["well"]),
            )
            for item in data["states"]
        ),
        conditions={item["group"]: (item["type"], tuple(item["wrong"])) for item in data["conditions"]},
        failures=tuple((item["key"], item["value"], item["of"]) for item in data["failures"]),
        refusals=tuple((item["key"], item["value"], item["means"]) for item in data["refusals"]),
    )


@record
class Injection:
    """`key` of a label or annotation; one that ends in `*` is the beginning of some. Values in `off` inject nothing."""

    key: str
    off: frozenset[str]
    of: str

    def is_asked_by(self, key: str, value: Any) -> bool:
        fits = key.startswith(self.key[:-1]) if self.key.endswith("*") else key == self.key
        return fits and isinstance(value, str) and value not in self.off


@record
class OnlyOne:
    """Software of which a cluster has one. Containers that run one of `others` from its image are something else,
    and those that run one of `commands` are it whatever their image."""

    of: str
    images: frozenset[str]
    charts: frozenset[str]
    others: frozenset[str]
    commands: frozenset[str]


@record
class Around:
    """`cloud_roles` are annotations of accounts with what they give; `webhooks` names by distribution. In the type of a
    node's condition, a word of `wrong` says that True is bad, one of `well` that False is."""

    cloud_roles: dict[str, str]
    injections: tuple[Injection, ...]
    webhooks: dict[str, frozenset[str]]
    only_one: tuple[OnlyOne, ...]
    wrong: tuple[str, ...]
    well: tuple[str, ...]
    restarts: int
    metrics: frozenset[str]


@cache
def read_around() -> Around:
    data = store.read_yaml("verify/around.yaml")
    return Around(
        cloud_roles={item["key"]: item["of"] for item in data["cloudRoles"]},
        injections=tuple(
            Injection(key=item["key"], off=frozenset(item["inert"]), of=item["of"]) for item in data["injections"]
        ),
        webhooks={item["distribution"]: frozenset(item["names"]) for item in data["webhooks"]},
        only_one=tuple(
            OnlyOne(
                of=item["of"],
                images=frozenset(item["images"]),
                charts=frozenset(item["charts"]),
                others=frozenset(item.get("not", ())),
                commands=frozenset(item.get("commands", ())),
            )
            for item in data["onlyOne"]
        ),
        wrong=tuple(data["conditions"]["wrong"]),
        well=tuple(data["conditions"]["well"]),
        restarts=data["restarts"],
        metrics=frozenset(data["metrics"]),
    )


@cache
def read_script_hashes() -> dict[tuple[str, str], frozenset[str]]:
    """By release and `ConfigMap/key`: the SHA-256 of the text that the operator brings there."""
    found: dict[tuple[str, str], set[str]] = {}
    for item in store.read_yaml("verify/script_hashes.yaml")["texts"]:
        for release in item["releases"]:
            found.setdefault((release, item["of"]), set()).add(item["sha256"])
    return {key: frozenset(hashes) for key, hashes in found.items()}


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
