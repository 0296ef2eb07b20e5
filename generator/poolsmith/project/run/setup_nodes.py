"""The nodes that setup rules look at: pools of profiles, or the nodes of a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity, UsageError
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.fleet.operands.pool_nodes import pool_nodes
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.plan.plan import ClusterPlan, LabelSetting, PoolPlan
from poolsmith.fleet.plan.pool_facts import pool_facts
from poolsmith.fleet.profiles.load_cluster import load_cluster
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.catalog.node_labels import GPU_PRESENT, has_gpu
from poolsmith.gpu.drivers.driver_support import carries_driver
from poolsmith.gpu.nodes.node_facts import first, value_of
from poolsmith.guard.rules.setup.setup_view import SetupNode
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.shape.layers import Layers
    from poolsmith.fleet.operands.expansion import Node
    from poolsmith.fleet.operands.node_files import NodesFile
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.gpu.nodes.node_facts import NodeFacts
    from poolsmith.guard.rules.setup.repository_setups import GivenNodes
    from poolsmith.guard.rules.setup.setup_view import Place, Taint


_LABELS = "/metadata/labels/"
_GPU_TAINT = "nvidia.com/gpu"


def nodes_of_plan(plan: ClusterPlan, nodes: Iterable[Node], loaded: LoadedCluster, catalog: Catalog) -> list[SetupNode]:
    """`nodes` are one for each system of each pool, with all labels."""
    layers = {item.pool.name: item.layers for item in loaded.pools}
    of_pool: dict[str, list[Node]] = {}
    for node in nodes:
        of_pool.setdefault(node.pool, []).append(node)
    return [
        _pool(pool, node, facts, layers[pool.name], catalog)
        for pool in plan.pools
        for node, facts in zip(of_pool[pool.name], pool_facts(pool), strict=True)
    ]


def nodes_of_profiles(root: Path, name: str) -> GivenNodes:
    """The pools of one cluster's profiles, for files that poolsmith did not generate. Raises UsageError, NoInputError.

    They carry the labels that the provisioner has to set; where the profiles can't be planned, the pool's own.
    """
    from poolsmith.guard.rules.setup.repository_setups import GivenNodes  # on demand

    project = open_project(root)
    (files,) = project.select((name,))
    loaded = load_cluster(project.tree, files, project.bases, project.rings)
    problems = tuple(item for item in loaded.problems if item.severity is Severity.ERROR)
    cluster = loaded.cluster
    if cluster is None or problems or not project.unsound_bases.isdisjoint(loaded.used_bases):
        return GivenNodes(nodes=None, problems=loaded.problems, files=len(files.pools) + 1)
    resolved = resolve_cluster(loaded, project.catalog).plan
    plan = resolved or _bare_plan(loaded, project.catalog)
    nodes = nodes_of_plan(plan, pool_nodes(plan, project.catalog.gpus), loaded, project.catalog)
    return GivenNodes(
        nodes=tuple(nodes),
        release=cluster.spec.stack.release,
        distribution=cluster.spec.kubernetes.distribution,
        kubernetes=cluster.spec.kubernetes.version,
        files=len(files.pools) + 1,
        planned=None if resolved is None else (loaded, resolved),
    )


def nodes_of_file(file: Path, shown: str, catalog: Catalog) -> GivenNodes:
    """Those with a GPU, by their labels or taints. Raises UsageError for a file that is not there."""
    from poolsmith.fleet.operands.node_files import read_nodes
    from poolsmith.guard.rules.setup.repository_setups import GivenNodes  # on demand

    if not file.is_file():
        raise UsageError(f"{file} is not a file")
    read = read_nodes(file, shown)
    if read.problems:
        return GivenNodes(nodes=None, problems=read.problems, files=1)
    found: list[SetupNode] = []
    others: list[SetupNode] = []
    for node in read.nodes:
        (found if _carries_gpu(node) else others).append(_node(node, read, catalog))
    what = f"{counted(len(others), 'node')} of {shown}"
    skipped = (Skipped(what, "no label or taint says that there is a GPU"),) if others else ()
    return GivenNodes(nodes=tuple(found), bystanders=tuple(others), skipped=skipped, files=1)


def _bare_plan(loaded: LoadedCluster, catalog: Catalog) -> ClusterPlan:
    """The pools as they are described, with nothing decided."""
    cluster = loaded.cluster
    assert cluster is not None
    pools = []
    for item in loaded.pools:
        gpu = catalog.gpus.find(item.pool.spec.gpu.product)
        origin = FromProfile(item.pool.path, "/metadata/name")
        label = LabelSetting(cluster.spec.pool_label, item.pool.label_value, "provisioner", origin)
        pools.append(PoolPlan(profile=item.pool, architecture=gpu.architecture if gpu else None, labels=(label,)))
    return ClusterPlan(cluster=cluster, pools=tuple(pools), namespace="")


def _pool(pool: PoolPlan, node: Node, facts: NodeFacts, layers: Layers, catalog: Catalog) -> SetupNode:
    spec = pool.profile.spec
    return replace(
        node_of(pool.name, node.labels, facts, layers.locate, catalog),
        taints=_taints(node),
        image_tag=spec.os.image_tag,
        driver=_driver(pool, catalog),
        install_dir=pool.driver.install_dir if pool.driver is not None else spec.driver.install_dir,
        toolkit=pool.toolkit,
        nic=spec.nic.value,
        secure_boot=spec.secure_boot,
        autoscaled=spec.nodes.autoscaled,
        startup_taints=tuple(taint.body for taint in spec.nodes.startup_taints),
        workload=spec.workload.value,
        is_pool=True,
    )


def _driver(pool: PoolPlan, catalog: Catalog) -> str | None:
    spec = pool.profile.spec
    if spec.workload is not Workload.CONTAINER:
        return None
    system = catalog.operating_systems.get(spec.os.id)
    source = pool.driver.source if pool.driver is not None else spec.driver.source
    if carries_driver(system) and source in (None, "preinstalled"):
        return "os"
    return None if source is None else str(source)


def _carries_gpu(node: Node) -> bool:
    """By its labels, or by the usual taint: where that keeps discovery away, there are no labels."""
    tainted = any(taint.get("key") == _GPU_TAINT for taint in node.taints)
    return has_gpu(node.labels) or node.labels.get(GPU_PRESENT) == "true" or tainted


def setup_nodes(read: NodesFile, catalog: Catalog) -> tuple[SetupNode, ...]:
    """The nodes of a file that have a GPU."""
    return tuple(_node(node, read, catalog) for node in read.nodes if _carries_gpu(node))


def _node(node: Node, read: NodesFile, catalog: Catalog) -> SetupNode:
    document, pointer = read.found_at[node.name]

    short = not read.is_whole(node.name)

    def place(asked: str, note: str | None = None) -> Location:
        assert read.places is not None
        below = asked.removeprefix("/metadata") if short else asked
        return read.places.locate(document, pointer + below if asked.startswith(_LABELS) else pointer, note)

    return replace(node_of(node.name, node.labels, node.facts, place, catalog), taints=_taints(node))


def _taints(node: Node) -> tuple[Taint, ...]:
    return tuple(dict(taint) for taint in node.taints)


def node_of(name: str, labels: Mapping[str, str], facts: NodeFacts, place: Place, catalog: Catalog) -> SetupNode:
    """A node, or all that one description makes, without its taints."""
    product = first(facts.products)
    return SetupNode(
        name=name,
        labels={**labels, GPU_PRESENT: labels.get(GPU_PRESENT, "true")} if has_gpu(labels) else dict(labels),
        place=place,
        runtime=first(facts.runtimes),
        runtime_version=first(facts.runtime_versions),
        os_id=value_of(facts.system_id),
        os_version=value_of(facts.system_version),
        kernel=first(facts.kernels),
        arch=first(facts.architectures),
        kubelet=first(facts.kubelets),
        gpu=product,
        architecture=catalog.gpus.architecture_of(product),
    )
