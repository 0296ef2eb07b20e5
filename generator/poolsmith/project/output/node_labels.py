"""What a pool's nodes must carry, and how to say it to whoever makes the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import NFD, PROVISIONER
from poolsmith.project.output.origin_text import origin_text
from poolsmith.project.output.provisioners import NodeMarks, snippet

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan

_FIRST = {True: "the operator finds their GPUs", False: "the device plugin starts there"}
"""What looks at the labels once only, by whether there is an operator."""


def render_node_labels(plan: ClusterPlan, header: tuple[str, ...]) -> list[Manifest]:
    """expected/node-labels/<pool>.yaml, to read and to compare with; never applied."""
    return [
        Manifest(
            path=f"expected/node-labels/{pool.name}.yaml",
            documents=(_expected(plan, pool),),
            header=(
                *header,
                "",
                f"Whoever creates the nodes must set this, before {_FIRST[plan.chart is not None]}.",
            ),
            applied=False,
        )
        for pool in plan.pools
    ]


def _expected(plan: ClusterPlan, pool: PoolPlan) -> dict[str, Any]:
    marks = marks_of(plan, pool)
    provisioner: dict[str, Any] = {"labels": marks.labels, "taints": [taint.body for taint in marks.taints]}
    if marks.startup:
        provisioner["startupTaints"] = [taint.body for taint in marks.startup]
    if pool.profile.spec.kernel.args:
        provisioner["kernelArguments"] = list(pool.profile.spec.kernel.args)
    body: dict[str, Any] = {"cluster": plan.name, "pool": pool.name, "provisioner": provisioner}
    if pool.autoscaler_flags:
        body["clusterAutoscaler"] = {"flags": list(pool.autoscaler_flags)}
    if discovered := _labels(pool, lambda writer: writer == NFD):
        body["nodeFeatureDiscovery"] = {"labels": discovered}
    if with_the_node := _labels(pool, lambda writer: writer not in (PROVISIONER, NFD)):
        body["setWithTheNode"] = {"labels": with_the_node}
    body["because"] = {label.key: _because(label.origin) for label in sorted(pool.labels, key=lambda item: item.key)}
    if marks.labels or marks.all_taints:
        body["snippets"] = {name: snippet(name, marks) for name in plan.provisioners}
    return body


def marks_of(plan: ClusterPlan, pool: PoolPlan) -> NodeMarks:
    """What whoever makes the nodes has to set."""
    return NodeMarks(
        pool=pool.name,
        labels=_labels(pool, lambda writer: writer == PROVISIONER),
        taints=pool.taints,
        startup=pool.profile.spec.nodes.startup_taints,
        own_driver=pool.driver is None or pool.driver.managed,
        has_operator=plan.chart is not None,
        accelerator=pool.accelerator or "",
        gpus=pool.profile.spec.gpu.count,
    )


def _labels(pool: PoolPlan, by: Callable[[str], bool]) -> dict[str, str]:
    return dict(sorted((label.key, label.value) for label in pool.labels if by(label.writer)))


def _because(origin: Origin) -> str:
    return origin.because if isinstance(origin, Derived) else origin_text(origin)
