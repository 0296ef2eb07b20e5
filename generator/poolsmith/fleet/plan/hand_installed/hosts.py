"""What the hosts bring: a driver, a toolkit, and a runtime of which pods with GPUs are told by a class or a default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import KubernetesObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan

_KUBELET = "/var/lib/kubelet"


def kubelet_root(facts: Facts) -> str:
    """Where the kubelet of the distribution keeps its files."""
    root = facts.distribution.kubelet_root if facts.distribution is not None else None
    return root or _KUBELET


def runtime_class(facts: Facts) -> tuple[KubernetesObject, ...]:
    """The object, where the distribution does not bring it."""
    distribution = facts.distribution
    if distribution is None or distribution.runtime_class is None or distribution.makes_runtime_class:
        return ()
    name = distribution.runtime_class
    body = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": name}
    because = f"{distribution.name} brings the runtime `{name}`, and no class for it"
    origin = Derived("hand_installed", because, (facts.at_cluster("/spec/kubernetes/distribution"),))
    return (KubernetesObject(file="runtime-class.yaml", body=body, origin=origin),)


def host_notes(plan: ClusterPlan, facts: Facts) -> Iterator[str]:
    """What nothing here installs and no file shows."""
    least = facts.catalog.device_plugin["devicePlugin"]["minimumDriver"]
    yield (
        f"Nothing here installs a driver or a toolkit: before a node joins, it needs NVIDIA's driver ({least} or "
        "later) and the container toolkit."
    )
    wanted = facts.host_runtime_class
    for runtime, pools in _by_runtime(plan).items():
        names = ", ".join(pool.name for pool in pools)
        if wanted is None:
            yield (
                f"The default runtime of the nodes' container runtime must be `nvidia` (pools {names}), as "
                f"`nvidia-ctk runtime configure --runtime={runtime} --set-as-default` makes it: neither the device "
                "plugin nor pods that ask for GPUs name a runtime class."
            )
        else:
            yield (
                f"Pods that ask for GPUs name the runtime class `{wanted}` (pools {names}): its runtime comes with the "
                f"toolkit of the hosts, and {_found(facts)}."
            )
    for pool in plan.pools:
        if (mig := pool.profile.spec.gpu.mig) is not None:
            yield (
                f"The hosts of pool {pool.name} make the MIG layout `{mig.layout}` themselves, as `nvidia-mig-parted "
                "apply` does, before the kubelet starts; where it changes later, restart the device plugin's pod there."
            )


def _found(facts: Facts) -> str:
    assert facts.distribution is not None, "it has a runtime class"
    name = facts.distribution.name
    if facts.distribution.makes_runtime_class:
        return f"{name} finds it when it starts: restart {name} on nodes that got the toolkit later"
    return f"{name} has it where its image has the toolkit"


def _by_runtime(plan: ClusterPlan) -> dict[str, list[PoolPlan]]:
    found: dict[str, list[PoolPlan]] = {}
    for pool in plan.pools:
        runtime = pool.profile.spec.runtime.name
        found.setdefault(runtime if runtime != "cri-o" else "crio", []).append(pool)
    return found
