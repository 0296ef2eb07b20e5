"""Pass: what a Node Feature Discovery that the operator does not install has to be set up for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.fleet.plan.plan import NFD
from poolsmith.fleet.plan.scheduling import all_tolerations
from poolsmith.fleet.profiles.cluster import NfdProvider
from poolsmith.fleet.profiles.toleration import shown_taint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan


def note_external_discovery(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """As notes of the cluster: nothing here owns that installation."""
    if plan.cluster.spec.nfd.provider is not NfdProvider.EXTERNAL:
        return plan
    return replace(plan, notes=(*plan.notes, *_notes(plan, facts)))


def _notes(plan: ClusterPlan, facts: Facts) -> Iterator[str]:
    needs = facts.catalog.scheduling.external_discovery
    classes, fields = ", ".join(needs.pci_classes), " and ".join(needs.pci_fields)
    yield (
        f"Node Feature Discovery is installed by others, once. Its workers must label PCI devices of the classes "
        f"{classes} by {fields} alone (sources.pci.deviceClassWhitelist, deviceLabelFields): the operator looks for "
        "feature.node.kubernetes.io/pci-10de.present, and without it finds no GPU."
    )
    tolerations = all_tolerations(taint for pool in plan.pools for taint in pool.taints_of_new_nodes)
    if tolerations:
        shown = ", ".join(map(shown_taint, tolerations))
        yield f"Its workers must tolerate the taints of the pools, or these nodes are never labelled: {shown}."
    named = [pool.name for pool in plan.pools if pool.node_names]
    if named:
        key = plan.cluster.spec.pool_label
        written = {label.key for pool in plan.pools for label in pool.labels if label.writer == NFD} | {key}
        namespaces = sorted({name.partition("/")[0] for name in written})
        yield (
            f"It must serve NodeFeatureRule, and must not deny the label namespace {' or '.join(namespaces)}: its "
            f"master writes {', '.join(sorted(written))} on the nodes of {', '.join(named)}."
        )
