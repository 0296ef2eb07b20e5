"""What a pool's nodes must carry, and how to say it to whoever makes the nodes. Floor: render."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.model.manifest import Manifest
from poolsmith.model.origin import Derived, FromProfile
from poolsmith.render.provisioners import snippet
from poolsmith.sources.pointer import split

if TYPE_CHECKING:
    from poolsmith.model.origin import Origin
    from poolsmith.model.plan import ClusterPlan, PoolPlan


def render_node_labels(plan: ClusterPlan, header: tuple[str, ...]) -> list[Manifest]:
    """expected/node-labels/<pool>.yaml, to read and to compare with; never applied."""
    return [
        Manifest(
            path=f"expected/node-labels/{pool.name}.yaml",
            documents=(_expected(plan, pool),),
            header=(
                *header,
                "",
                "What whoever makes the nodes must set, before the operator finds their GPUs.",
            ),
            applied=False,
        )
        for pool in plan.pools
    ]


def _expected(plan: ClusterPlan, pool: PoolPlan) -> dict[str, Any]:
    provisioned = {label.key: label.value for label in pool.labels if label.writer == "provisioner"}
    discovered = {label.key: label.value for label in pool.labels if label.writer == "nfd"}
    taints = [
        {"key": taint.key, **({"value": taint.value} if taint.value else {}), "effect": taint.effect.value}
        for taint in pool.taints
    ]
    body: dict[str, Any] = {"cluster": plan.name, "pool": pool.name}
    provisioner: dict[str, Any] = {"labels": dict(sorted(provisioned.items())), "taints": taints}
    if pool.profile.spec.kernel.args:
        provisioner["kernelArguments"] = list(pool.profile.spec.kernel.args)
    body["provisioner"] = provisioner
    if discovered:
        body["nodeFeatureDiscovery"] = {"labels": discovered}
    body["because"] = {label.key: _because(label.origin) for label in sorted(pool.labels, key=lambda item: item.key)}
    if provisioned or taints:
        body["snippets"] = {
            name: snippet(name, pool.name, dict(sorted(provisioned.items())), pool.taints) for name in plan.provisioners
        }
    return body


def _because(origin: Origin) -> str:
    if isinstance(origin, FromProfile):
        return f"{origin.path}: {'.'.join(split(origin.pointer))}"
    return origin.because if isinstance(origin, Derived) else str(origin)
