"""Passes: labels that tell pools apart or keep operands off nodes, and what writes them.

The operator removes its own labels from nodes without a GPU label, those that opt out included; a kubelet or a
provisioner writes them once. Node Feature Discovery writes them together with the GPU label, and again and again, and
the operator keeps what is there.

An external Node Feature Discovery, which the operator does not install, has to be set up for these labels.

Source: NVIDIA/gpu-operator@v24.9.2, v26.3.3:controllers/state_manager.go and @v26.7.0:controllers/
nodelabeling_controller.go, removeAllGPUStateLabels
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import shape
from poolsmith.core.diagnostics.codes.node_software import OPT_OUT_NOT_KEPT
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.pattern import pattern
from poolsmith.core.record import replace
from poolsmith.core.shape.field import FULL_LABEL_VALUE, matches
from poolsmith.fleet.plan.facts import map_pools
from poolsmith.fleet.plan.plan import NFD, PROVISIONER, ClusterPlan, LabelSetting, PoolPlan
from poolsmith.fleet.plan.taints import all_tolerations
from poolsmith.fleet.profiles.cluster import NfdProvider, StackKind
from poolsmith.fleet.profiles.node_pool import ToolkitSource
from poolsmith.fleet.profiles.toleration import shown_taint
from poolsmith.gpu.catalog.node_labels import DEPLOY, DEPLOY_TOOLKIT
from poolsmith.gpu.catalog.releases import behaviour_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts


MAX_NODE_NAMES = 5_000
_RANGE = pattern(r"(?P<prefix>[^\[]+)\[(?P<low>\d+)-(?P<high>\d+)\](?P<suffix>.*)\Z")
_LONGEST_NUMBER = 18
"""No node has a longer one in its name; as a name, brackets and all, it is refused."""


def identify_pools(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """One label key per cluster, one value per pool, one writer per label."""
    _check_key(plan, facts)
    _check_values(plan, facts)
    _check_object_names(plan, facts)
    plan = map_pools(plan, lambda pool: _name_nodes(plan, pool, facts))
    _check_names(plan, facts)
    return plan


def _check_key(plan: ClusterPlan, facts: Facts) -> None:
    """The label has one writer: whoever makes the nodes, or a NodeFeatureRule."""
    key = plan.cluster.spec.pool_label
    writer = facts.catalog.scheduling.writer_of(key)
    if writer is None:
        return
    named = [pool for pool in plan.pools if pool.profile.spec.nodes.names]
    if not writer.with_the_node:
        message = f"`{key}` belongs to {writer.writer}"
    elif named:
        message = f"{writer.writer} sets `{key}` on its nodes, and for pool `{named[0].name}` a NodeFeatureRule would"
    else:
        return
    facts.report_cluster(
        codes.RESERVED_LABEL,
        "/spec/poolLabel",
        message,
        help="use a prefix of your own, like example.com/gpu-pool",
    )


def _check_values(plan: ClusterPlan, facts: Facts) -> None:
    taken: dict[str, PoolPlan] = {}
    for pool in plan.pools:
        pointer = _value_pointer(pool)
        if not matches(FULL_LABEL_VALUE, pool.label_value):
            facts.report_pool(shape.INVALID_NAME, pool, pointer, f"`{pool.label_value}` is no label value")
        other = taken.setdefault(pool.label_value, pool)
        if other is not pool:
            facts.report_pool(
                codes.LABEL_VALUE_TAKEN,
                pool,
                pointer,
                f"pools `{other.name}` and `{pool.name}` have the label value `{pool.label_value}`",
                help="give one of them another nodes.labelValue",
                related=((other, _value_pointer(other), "the other pool"),),
            )


def _check_object_names(plan: ClusterPlan, facts: Facts) -> None:
    """Two pools that have one label value for that reason have been told so."""
    taken: dict[str, PoolPlan] = {}
    for pool in plan.pools:
        other = taken.setdefault(pool.object_name, pool)
        if other is not pool and other.label_value != pool.label_value:
            facts.report_pool(
                shape.DUPLICATE_NAME,
                pool,
                _name_pointer(pool),
                f"pools `{other.name}` and `{pool.name}` are both called `{pool.object_name}` in the cluster",
                help="give the one that is new another objectName",
                related=((other, _name_pointer(other), "the other pool"),),
            )


def _name_pointer(pool: PoolPlan) -> str:
    return "/spec/objectName" if pool.profile.spec.object_name else "/metadata/name"


def _value_pointer(pool: PoolPlan) -> str:
    return "/spec/nodes/labelValue" if pool.profile.spec.nodes.label_value else _name_pointer(pool)


def _name_nodes(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> PoolPlan:
    spec = plan.cluster.spec
    names = tuple(name for text in pool.profile.spec.nodes.names for name in _expand(pool, text, facts))
    owner = facts.catalog.scheduling.writer_of(spec.pool_label)
    writer = "nfd" if names else owner.writer if owner is not None else "provisioner"
    discovery = spec.nfd.provider is NfdProvider.EXTERNAL or spec.stack.gpu_feature_discovery
    if names and spec.stack.kind is StackKind.DEVICE_PLUGIN and not discovery:
        facts.report_pool(
            codes.LABEL_WRITER,
            pool,
            "/spec/nodes/names",
            "node names become a NodeFeatureRule, and this stack has no Node Feature Discovery",
            help="write `nfd: {provider: external}` if the cluster has one, or `stack.gpuFeatureDiscovery: true`, "
            "which brings one; or let the provisioner set the label",
        )
    label = LabelSetting(spec.pool_label, pool.label_value, writer, facts.at_pool(pool, _value_pointer(pool)))
    return replace(pool, node_names=names, labels=(*pool.labels, label))


def _expand(pool: PoolPlan, text: str, facts: Facts) -> tuple[str, ...]:
    """`gpu-a[001-016]` as its sixteen names, zeros kept."""
    match = _RANGE.match(text)
    if match is None or max(len(match["low"]), len(match["high"])) > _LONGEST_NUMBER:
        return (text,)
    low, high, width = int(match["low"]), int(match["high"]), len(match["low"])
    if high < low or high - low >= MAX_NODE_NAMES:
        facts.report_pool(
            shape.OUT_OF_RANGE,
            pool,
            "/spec/nodes/names",
            f"the range `{text}` has {max(0, high - low + 1):,} names",
            help=f"write a range from low to high with at most {MAX_NODE_NAMES:,} names",
        )
        return ()
    return tuple(f"{match['prefix']}{number:0{width}d}{match['suffix']}" for number in range(low, high + 1))


def _check_names(plan: ClusterPlan, facts: Facts) -> None:
    claimed: dict[str, PoolPlan] = {}
    reported: set[tuple[str, str]] = set()
    for pool in plan.pools:
        for name in pool.node_names:
            other = claimed.setdefault(name, pool)
            if other is not pool and (other.name, pool.name) not in reported:
                reported.add((other.name, pool.name))
                facts.report_pool(
                    codes.LABEL_VALUE_TAKEN,
                    pool,
                    "/spec/nodes/names",
                    f"pools `{other.name}` and `{pool.name}` both claim the node `{name}`",
                    help="let each node belong to one pool",
                    related=((other, "/spec/nodes/names", "the other pool"),),
                )


def keep_opt_outs(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """A NodeFeatureRule carries them where the profile names the nodes; elsewhere it is told what none can carry."""
    for pool in plan.pools:
        if not pool.node_names and (lost := [label for label in pool.labels if _opts_out(label)]):
            _report(plan, pool, lost, facts)
    return map_pools(plan, _carried)


def _opts_out(label: LabelSetting) -> bool:
    return label.key.startswith(DEPLOY) and label.writer == PROVISIONER


def _carried(pool: PoolPlan) -> PoolPlan:
    if not pool.node_names:
        return pool
    labels = (replace(label, writer=NFD) if _opts_out(label) else label for label in pool.labels)
    return replace(pool, labels=tuple(labels))


_NAMED = "list the nodes in `nodes.names`, or "
"""Nodes that an autoscaler makes have no names that a profile could know."""


def _report(plan: ClusterPlan, pool: PoolPlan, lost: list[LabelSetting], facts: Facts) -> None:
    release = facts.need_release().tag
    when = (
        "each time it looks at a node whose GPU Node Feature Discovery has not found yet"
        if behaviour_at(release)["sweepsNodesWithoutGpu"]
        else "when a node loses the GPU labels of Node Feature Discovery"
    )
    shown = listed([f"{label.key}={label.value}" for label in lost])
    runtime = pool.profile.spec.runtime.name
    others = {other.profile.spec.runtime.name for other in plan.pools} - {runtime}
    brings = bool(others) and pool.toolkit == ToolkitSource.OVERLAY and any(item.key == DEPLOY_TOOLKIT for item in lost)
    facts.report_pool(
        OPT_OUT_NOT_KEPT,
        pool,
        "/metadata/name",
        f"the nodes of pool `{pool.name}` need {shown}, which {release} removes {when}, and no NodeFeatureRule can "
        "carry it: these nodes have no names of their own in the profile"
        + (f". Then the operator's toolkit, which is set up for another runtime than {runtime}, runs there" * brings),
        severity=Severity.WARNING if brings else None,
        help=("" if pool.profile.spec.nodes.autoscaled else _NAMED)
        + "see to it that whoever makes them sets the label again",
    )


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
