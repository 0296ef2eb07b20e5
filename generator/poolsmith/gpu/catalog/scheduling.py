"""Where pods may run: startup taints, guarded priority classes, and who writes which label."""

from __future__ import annotations

from typing import Any

from poolsmith.core.record import record


@record
class StartupTaints:
    """Keys of taints that an autoscaler takes for temporary: by their prefix, or where a flag names them."""

    prefixes: tuple[str, ...]
    flag: str
    without_flag: tuple[str, ...]
    example: str
    example_without_flag: str
    source: str

    def known_by_prefix(self, key: str) -> bool:
        return key.startswith(self.prefixes)


@record
class CriticalPods:
    """Priority classes that some distributions admit only where a ResourceQuota names them."""

    classes: tuple[str, ...]
    distributions: tuple[str, ...]
    exempt: tuple[str, ...]
    pods: str
    source: str

    def guarded(self, distribution: str, namespace: str) -> bool:
        """Whether pods of these classes need a quota there."""
        return distribution in self.distributions and namespace not in self.exempt


@record
class ExternalDiscovery:
    """How a Node Feature Discovery of one's own has to be set up for the operator."""

    pci_classes: tuple[str, ...]
    pci_fields: tuple[str, ...]
    label_namespaces: tuple[str, ...]
    source: str


@record
class DiscoveryChart:
    """A chart that installs Node Feature Discovery: always, or by `value`, the condition of a dependency; `default`
    None: nobody knows.

    `worker` are the keys of its worker's values.
    """

    chart: str
    value: str
    default: bool | None
    worker: tuple[str, ...]


@record
class LabelWriter:
    """Who writes some labels of nodes. `rules`: NodeFeatureRules of one's own may write beside it.

    `provisioner`: it keeps a value that whoever makes the nodes gave first. `with_the_node`: it is who makes them.
    """

    writer: str
    keys: frozenset[str]
    prefixes: tuple[str, ...]
    provisioner: bool
    with_the_node: bool
    rules: bool
    subdomains: bool
    source: str

    def matched(self, key: str) -> int:
        """How much of the key this entry names; 0: it is not about this key."""
        if key in self.keys:
            return len(key) + 1
        found = max((len(prefix) for prefix in self.prefixes if key.startswith(prefix)), default=0)
        if not found and self.subdomains:
            domain = key.partition("/")[0] + "/"
            found = max((len(prefix) for prefix in self.prefixes if domain.endswith("." + prefix)), default=0)
        return found


@record
class Scheduling:
    """All of it."""

    startup_taints: StartupTaints
    system_taints: frozenset[str]
    passing_taints: frozenset[str]
    """Those of the system, and those of nodes that are about to go."""
    critical_pods: CriticalPods
    enforces_pod_security: frozenset[str]
    """Distributions that enforce a Pod Security level where a namespace says nothing."""
    external_discovery: ExternalDiscovery
    discovery_charts: dict[str, DiscoveryChart]
    label_writers: tuple[LabelWriter, ...]

    def writer_of(self, key: str) -> LabelWriter | None:
        """Who writes a label besides those who make profiles and rules; None: nobody that is known."""
        found = max(self.label_writers, key=lambda item: item.matched(key))
        return found if found.matched(key) else None


def scheduling_from(data: dict[str, Any]) -> Scheduling:
    startup, critical, external = data["startupTaints"], data["criticalPods"], data["externalDiscovery"]
    return Scheduling(
        startup_taints=StartupTaints(
            prefixes=tuple(startup["prefixes"]),
            flag=startup["flag"],
            without_flag=tuple(startup["withoutFlag"]),
            example=startup["example"],
            example_without_flag=startup["exampleWithoutFlag"],
            source=startup["source"],
        ),
        system_taints=frozenset(data["systemTaints"]["keys"]),
        passing_taints=frozenset((*data["systemTaints"]["keys"], *data["systemTaints"]["leaving"])),
        critical_pods=CriticalPods(
            classes=tuple(critical["classes"]),
            distributions=tuple(critical["distributions"]),
            exempt=tuple(critical["exempt"]),
            pods=critical["pods"],
            source=critical["source"],
        ),
        enforces_pod_security=frozenset(data["podSecurity"]["enforcedByDefault"]),
        external_discovery=ExternalDiscovery(
            pci_classes=tuple(external["pciClasses"]),
            pci_fields=tuple(external["pciFields"]),
            label_namespaces=tuple(external["labelNamespaces"]),
            source=external["source"],
        ),
        discovery_charts={entry["chart"]: _discovery(entry) for entry in data["discoveryCharts"]},
        label_writers=tuple(map(_writer, data["labelWriters"])),
    )


def _discovery(entry: dict[str, Any]) -> DiscoveryChart:
    return DiscoveryChart(
        chart=entry["chart"],
        value=entry.get("value", ""),
        default=entry["default"] if "value" in entry else True,
        worker=tuple(entry["worker"]),
    )


def _writer(entry: dict[str, Any]) -> LabelWriter:
    return LabelWriter(
        writer=entry["writer"],
        keys=frozenset(entry.get("keys", ())),
        prefixes=tuple(entry.get("prefixes", ())),
        provisioner=entry.get("provisioner", False),
        with_the_node=entry.get("withTheNode", False),
        rules=entry.get("rules", False),
        subdomains=entry.get("subdomains", False),
        source=entry["source"],
    )
