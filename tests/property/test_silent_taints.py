"""What is said of taints in hand-written values is what becomes of the pods: predicted for the same nodes, on both paths."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.diagnostics import whole_file
from poolsmith.core.sources.pod_template import pod_template_of
from poolsmith.fleet.operands.expansion import Node
from poolsmith.fleet.operands.install import InstallationInput, install
from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.ledger.placement import placement_of
from poolsmith.guard.rules.setup import toleration_of_another_value, undiscovered_nodes, untolerated_taint
from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupValues, SetupView, run_setup_rules

RULES = (untolerated_taint, undiscovered_nodes, toleration_of_another_value)
RELEASES = ("v24.9.2", "v25.10.1", "v26.3.3", "v26.7.0")
LABELS = {
    "feature.node.kubernetes.io/pci-10de.present": "true",
    "feature.node.kubernetes.io/kernel-version.full": "5.15.0-105-generic",
    "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "22.04",
    "kubernetes.io/arch": "amd64",
}
KEYS, VALUES = st.sampled_from(("nvidia.com/gpu", "team", "spot")), st.sampled_from(("", "true", "present"))
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
CATALOG = Catalog()

taints = st.fixed_dictionaries({"key": KEYS, "value": VALUES, "effect": st.sampled_from(EFFECTS)})
exists = st.fixed_dictionaries(
    {"operator": st.just("Exists")}, optional={"key": KEYS, "effect": st.sampled_from(EFFECTS[:2])}
)
equal = st.fixed_dictionaries(
    {"key": KEYS}, optional={"operator": st.just("Equal"), "value": VALUES, "effect": st.sampled_from(EFFECTS[:2])}
)
tolerations = st.none() | st.lists(exists | equal, max_size=3)


def values_of(operands, worker):
    values = {"driver": {"version": "580.126.20"}}
    if operands is not None:
        values["daemonsets"] = {"tolerations": operands}
    if worker is not None:
        values["node-feature-discovery"] = {"worker": {"tolerations": worker}}
    return values


def said(release, values, found):
    """Whether something is said of operands, and of the worker."""
    chart = CATALOG.chart("gpu-operator", release)
    view = SetupView(
        catalog=CATALOG,
        tag=release,
        operator=CATALOG.releases.near(release),
        nodes=(SetupNode(name="a", labels=LABELS, place=lambda *_: whole_file("nodes.yaml"), taints=tuple(found)),),
        values=SetupValues(
            values=values, defaults=chart.defaults, place=lambda pointer, *_: replace(whole_file("x"), note=pointer)
        ),
    )
    messages = [item.message for item in run_setup_rules(RULES, view).diagnostics]
    of_worker = [text for text in messages if "Node Feature Discovery" in text]
    return len(of_worker) < len(messages), bool(of_worker)


def predicted(release, values, found):
    """Whether some operand, and whether the worker, would run on the node but for its taints."""
    chart = CATALOG.chart("gpu-operator", release)
    node = Node(name="a", labels=LABELS, runtime="containerd://2.1.0", taints=tuple(found))
    given = InstallationInput(release=release, namespace="gpu-operator", nodes=(node,), values=values, chart=chart)
    installation = install(given)
    (labelled,) = installation.nodes
    free, kept = replace(labelled, taints=()), replace(labelled, taints=tuple(found))
    missing = set()
    for item in installation.made:
        if item.body["kind"] == "DaemonSet":
            placement = placement_of("DaemonSet", pod_template_of(item.body)["spec"])
            if placement.takes(free) and not placement.takes(kept):
                missing.add(item.name)
    workers = {name for name in missing if "node-feature-discovery" in name}
    return bool(missing - workers), bool(workers)


@given(
    release=st.sampled_from(RELEASES),
    operands=tolerations,
    worker=tolerations,
    found=st.lists(taints, max_size=2, unique_by=lambda taint: (taint["key"], taint["effect"])),
)
def test_a_taint_is_told_exactly_when_it_keeps_pods_away(release, operands, worker, found):
    values = values_of(operands, worker)

    assert said(release, values, found) == predicted(release, values, found)


@pytest.mark.parametrize("key", sorted(CATALOG.scheduling.passing_taints))
def test_taints_that_come_and_go_are_nobodys_mistake(key):
    assert said("v26.3.3", values_of(None, None), [{"key": key, "effect": "NoSchedule"}]) == (False, False)
