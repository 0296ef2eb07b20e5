"""One machine, written in the words of each source: every reader gives the same facts, or says that it can't know."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from poolsmith.core.sources.pointer import reach
from poolsmith.fleet.operands.expansion import Node
from poolsmith.fleet.operands.pool_nodes import UNKNOWN_KERNEL, pool_nodes, product_label
from poolsmith.fleet.plan.pool_facts import pool_facts
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.nodes.comparison import compare
from poolsmith.gpu.nodes.kubelet_facts import facts_of_node_info
from poolsmith.gpu.nodes.label_facts import LABELS, discovered_labels, facts_of_labels
from poolsmith.gpu.nodes.live_nodes import live_node
from poolsmith.gpu.nodes.node_facts import first, value_of
from support.clusters import resolve_in

CATALOG = Catalog()
POOL_LABEL = "poolsmith.dev/pool"
TAINT = ("nvidia.com/gpu", "", "NoSchedule")
ALL = ("system", "version", "kernel", "runtime", "runtime version", "arch", "product", "count", "driver")


@dataclass(frozen=True)
class Machine:
    """As people know it; `image` is how the kubelet calls the system."""

    id: str
    version: str
    image: str
    kernel: str
    runtime: str
    runtime_version: str
    arch: str
    product: str
    count: int
    driver: str

    @property
    def facts(self):
        return dict(
            zip(
                ALL,
                (
                    *(self.id, self.version, self.kernel, self.runtime, self.runtime_version, self.arch),
                    *(self.product, str(self.count), self.driver),
                ),
                strict=True,
            )
        )


MACHINES = {
    "a cloud's": Machine(
        *("ubuntu", "22.04", "Ubuntu 22.04.5 LTS", "5.15.0-1071-aws", "containerd", "1.7.24", "amd64"),
        *("L4", 1, "580.95.05"),
    ),
    "with cri-o": Machine(
        *("rhel", "9.4", "Red Hat Enterprise Linux 9.4 (Plow)", "5.14.0-427.13.1.el9_4.x86_64", "cri-o", "1.33.1"),
        *("amd64", "A100 80GB", 8, "580.95.05"),
    ),
    "with docker": Machine(
        *("ubuntu", "24.04", "Ubuntu 24.04.1 LTS", "6.8.0-51-generic", "docker", "27.1.0", "amd64"),
        *("T4", 4, "570.124.06"),
    ),
    "with an Arm processor": Machine(
        *("ubuntu", "24.04", "Ubuntu 24.04.1 LTS", "6.8.0-1021-nvidia-64k", "containerd", "2.1.5", "arm64"),
        *("GH200 96GB (120/480GB)", 1, "580.95.05"),
    ),
}
KNOWN = {
    "labels": {"system", "version", "kernel", "arch", "product", "count", "driver"},
    "the kubelet": {"system", "version", "kernel", "runtime", "runtime version", "arch"},
    "a node": set(ALL),
    "a node in short": set(ALL),
    "a profile": set(ALL),
}
"""What each source can say."""


def labels_of(machine):
    """As Node Feature Discovery, GPU feature discovery and the kubelet write them."""
    feature = "feature.node.kubernetes.io/"
    return {
        POOL_LABEL: "a",
        "kubernetes.io/arch": machine.arch,
        f"{feature}pci-10de.present": "true",
        f"{feature}kernel-version.full": machine.kernel,
        f"{feature}system-os_release.ID": machine.id,
        f"{feature}system-os_release.VERSION_ID": machine.version,
        "nvidia.com/gpu.product": product_label(machine.product),
        "nvidia.com/gpu.count": str(machine.count),
        "nvidia.com/cuda.driver-version.full": machine.driver,
    }


def info_of(machine):
    return {
        "osImage": machine.image,
        "kernelVersion": machine.kernel,
        "containerRuntimeVersion": f"{machine.runtime}://{machine.runtime_version}",
        "architecture": machine.arch,
    }


def whole_node(machine):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n", "labels": labels_of(machine)},
        "spec": {"taints": [{"key": TAINT[0], "effect": TAINT[2]}]},
        "status": {"nodeInfo": info_of(machine)},
    }


def short_node(machine):
    return Node(name="n", labels=labels_of(machine), runtime=info_of(machine)["containerRuntimeVersion"]).facts


def planned(machine, root):
    """A cluster with one pool of such machines."""
    outcome = resolve_in(
        root,
        CATALOG,
        {"kubernetes": '{version: "1.33", distribution: kubeadm}', "poolLabel": POOL_LABEL},
        {
            "a": {
                "os": json.dumps({"id": machine.id, "version": machine.version}),
                "kernel": json.dumps({"release": machine.kernel}),
                "runtime": json.dumps({"name": machine.runtime, "version": machine.runtime_version}),
                "arch": machine.arch,
                "gpu": json.dumps({"product": machine.product, "count": machine.count}),
                "driver": json.dumps({"source": "container", "version": machine.driver}),
                "nodes": "{taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}",
            }
        },
    )
    assert outcome.plan is not None, [item.message for item in outcome.diagnostics]
    return outcome


def read(source, machine, root):
    match source:
        case "labels":
            return facts_of_labels(labels_of(machine))
        case "the kubelet":
            return facts_of_node_info(info_of(machine))
        case "a node":
            return live_node(whole_node(machine)).facts
        case "a node in short":
            return short_node(machine)
    (facts,) = pool_facts(planned(machine, root).plan.pools[0])
    return facts


def said(facts):
    """What is known, by name; products as the catalog calls them."""
    found = {
        "system": value_of(facts.system_id),
        "version": value_of(facts.system_version),
        "kernel": first(facts.kernels),
        "runtime": first(facts.runtimes),
        "runtime version": first(facts.runtime_versions),
        "arch": first(facts.architectures),
        "product": first(facts.products),
        "count": first(facts.counts),
        "driver": first(facts.drivers),
    }
    known = {key: value for key, value in found.items() if value}
    if (entry := CATALOG.gpus.find(known.get("product", ""))) is not None:
        known["product"] = entry.product
    return known


CASES = [(source, name) for source in KNOWN for name in MACHINES]


@pytest.mark.parametrize(("source", "name"), CASES)
def test_each_source_says_the_same_of_a_machine_or_nothing(source, name, tmp_path):
    machine = MACHINES[name]

    assert said(read(source, machine, tmp_path)) == {key: machine.facts[key] for key in ALL if key in KNOWN[source]}


@pytest.mark.parametrize("source", ["a node", "a profile"])
def test_taints_and_the_pool_label_are_read_with_their_places(source, tmp_path):
    facts = read(source, MACHINES["a cloud's"], tmp_path)

    assert facts.labels[POOL_LABEL] == "a"
    assert [(mark.key, mark.value, mark.effect) for mark in facts.taints] == [TAINT]
    assert all(mark.pointer for mark in facts.taints)


def test_a_pointer_leads_to_what_says_it():
    machine = MACHINES["with cri-o"]
    body = whole_node(machine)
    facts = live_node(body).facts

    for told, whole in (
        (facts.system_id, "rhel"),
        (facts.system_version, "9.4"),
        (facts.kernels[0], machine.kernel),
        (facts.kernels[1], machine.kernel),
        (facts.runtimes[0], "cri-o://1.33.1"),
        (facts.architectures[0], "amd64"),
        (facts.products[0], "A100-80GB"),
        (facts.counts[0], "8"),
        (facts.drivers[0], "580.95.05"),
        (facts.pci[0], "true"),
    ):
        assert reach(body, told.pointer)[0] == whole
    assert reach(body, facts.taints[0].pointer)[0] == {"key": TAINT[0], "effect": TAINT[2]}


def test_a_profile_says_where_a_fact_stands(tmp_path):
    (profile,) = pool_facts(planned(MACHINES["a cloud's"], tmp_path).plan.pools[0])
    assert profile.kernels[0].pointer == "/spec/kernel/release"
    assert profile.taints[0].pointer == "/spec/nodes/taints/0"


@pytest.mark.parametrize("text", ["", "rkt://1.0", "containerd", "://1.0", "cri-o"])
def test_a_runtime_that_nobody_knows_keeps_its_name(text):
    facts = facts_of_node_info({"containerRuntimeVersion": text})

    name, _, version = text.partition("://")
    assert (first(facts.runtimes), first(facts.runtime_versions)) == (name, version)
    assert bool(facts.runtimes) is bool(name)


def test_slices_take_the_place_of_whole_gpus():
    labels = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb-SHARED", "nvidia.com/gpu.count": "7"}
    facts = facts_of_labels(labels)

    assert (first(facts.products), first(facts.slices), facts.counts) == ("NVIDIA-A100-SXM4-80GB", "1g.10gb", ())


def test_two_sources_that_disagree_both_stay():
    machine = MACHINES["a cloud's"]
    body = whole_node(machine)
    body["status"]["nodeInfo"] |= {"kernelVersion": "6.1", "osImage": "Amazon Linux 2023.5"}
    facts = live_node(body).facts

    assert [told.value for told in facts.kernels] == ["6.1", machine.kernel]
    assert [system.id.value for system in facts.systems] == ["ubuntu", "amzn"]
    assert value_of(facts.system_version) == "22.04"


@pytest.mark.parametrize("name", MACHINES)
def test_what_a_profile_predicts_of_its_nodes_reads_back_as_the_profile(name, tmp_path):
    machine = MACHINES[name]
    outcome = planned(machine, tmp_path)
    (node,) = pool_nodes(outcome.plan, CATALOG.gpus)
    known = said(node.facts)

    assert known == {key: machine.facts[key] for key in known}
    assert set(known) == set(ALL) - {"count", "driver"}  # GPU feature discovery is what tells those


def test_a_kernel_that_no_profile_declares_is_no_fact_of_it(tmp_path):
    outcome = resolve_in(tmp_path, CATALOG)
    (facts,) = pool_facts(outcome.plan.pools[0])
    (node,) = pool_nodes(outcome.plan, CATALOG.gpus)

    assert facts.kernels == ()
    assert first(node.facts.kernels) == UNKNOWN_KERNEL


@pytest.mark.parametrize("name", MACHINES)
def test_labels_that_are_written_read_back(name):
    labels = labels_of(MACHINES[name])
    written = discovered_labels(facts_of_labels(labels))

    assert said(facts_of_labels(written)) == {
        key: MACHINES[name].facts[key] for key in ("system", "version", "kernel", "arch")
    }
    assert {key: value for key, value in written.items() if key in labels} == {
        key: value for key, value in labels.items() if key in written
    }
    assert LABELS == "/metadata/labels"


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_is_like_its_own_profile_in_every_source(name, tmp_path):
    machine = MACHINES[name]
    pool = pool_facts(planned(machine, tmp_path).plan.pools[0])
    sources = [source for source in KNOWN if source != "a profile"]

    for source in sources:
        found = compare(read(source, machine, tmp_path), pool, CATALOG.gpus)
        assert found.differs == (), source
        assert len(found.unknown) == len(ALL) - len(KNOWN[source]), source


OTHERS = {
    "the operating system": ({"id": "debian"}, "system"),
    "the version of the operating system": ({"version": "24.10"}, "version"),
    "the kernel": ({"kernel": "6.6.6"}, "kernel"),
    "the container runtime": ({"runtime": "isulad"}, "runtime"),
    "the container runtime's version": ({"runtime_version": "9.9"}, "runtime version"),
    "the architecture of the processor": ({"arch": "riscv64"}, "arch"),
    "the GPU": ({"product": "V100"}, "product"),
    "the number of GPUs": ({"count": 3}, "count"),
    "the driver": ({"driver": "470.256.02"}, "driver"),
}


@pytest.mark.parametrize("what", OTHERS)
@pytest.mark.parametrize("name", ["a cloud's", "with cri-o"])
def test_one_fact_that_is_otherwise_is_the_one_difference(what, name, tmp_path):
    machine = MACHINES[name]
    change, key = OTHERS[what]
    pool = pool_facts(planned(machine, tmp_path).plan.pools[0])
    facts = facts_of_labels(labels_of(replace(machine, **change)))
    if "runtime" in key:
        facts = replace(facts, **_runtime(replace(machine, **change)))
    (found,) = compare(facts, pool, CATALOG.gpus).differs

    assert (found.what, found.wanted) == (what, (pool_value(pool, key),))
    assert found.pointer.startswith("/spec/")


def _runtime(machine):
    facts = facts_of_node_info(info_of(machine))
    return {"runtimes": facts.runtimes, "runtime_versions": facts.runtime_versions}


def pool_value(pool, key):
    facts = pool[0]
    if key == "product":
        return first(facts.products)
    return said(facts)[key]


def test_a_pool_with_several_systems_has_nodes_of_each(tmp_path):
    outcome = resolve_in(
        tmp_path,
        CATALOG,
        None,
        {"a": {"os": '{id: ubuntu, versions: ["22.04", "24.04"]}', "driver": "{source: preinstalled, version: '580'}"}},
    )
    pool = pool_facts(outcome.plan.pools[0])

    for version, differs in (("22.04", 0), ("24.04", 0), ("20.04", 1)):
        labels = labels_of(MACHINES["a cloud's"]) | {
            "feature.node.kubernetes.io/system-os_release.VERSION_ID": version,
            "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
            "nvidia.com/gpu.count": "8",
        }
        found = compare(facts_of_labels(labels), pool, CATALOG.gpus).differs
        assert len(found) == differs
    assert found[0].wanted == ("22.04", "24.04")


@pytest.mark.parametrize(
    ("release", "label"),
    [
        ("6.8.0-60-generic", "6.8.0-60-generic"),
        ("5.14.0-427.37.1.el9_4.aarch64+64k", "5.14.0-427.37.1.el9_4.aarch64_64k"),
        ("6.1.85+", "6.1.85"),
        ("5.14.0-427.37.1.el9_4.aarch64_64k", "5.14.0-427.37.1.el9_4.aarch64_64k"),
    ],
)
def test_a_kernel_is_known_as_discovery_writes_it_on_nodes(release, label):
    """The second is a label in the operator's own test. Source: NVIDIA/gpu-operator@v26.7.0:
    controllers/object_controls_test.go, getSanitizedKernelVersion."""
    (kernel,) = facts_of_node_info({"kernelVersion": release}).kernels

    assert kernel.value == label
