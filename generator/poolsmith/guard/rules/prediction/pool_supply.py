"""The last look at a prediction: each pool gets the driver, toolkit and device plugin of its plan.

Passes decide for each pool what it is to get; `stack.values` may still take it away, or start a second one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose
from poolsmith.core.diagnostics.codes.compatibility import POOL_NOT_SUPPLIED
from poolsmith.core.sources import pointer as pointers
from poolsmith.core.sources.pod_template import containers_of, mapping, pod_template_of, word
from poolsmith.fleet.operands.expansion import NO_OPERANDS
from poolsmith.fleet.plan.user_values import VALUES
from poolsmith.fleet.profiles.cluster import StackKind
from poolsmith.fleet.profiles.node_pool import ToolkitSource, Workload
from poolsmith.gpu.catalog.node_labels import DEPLOY_DEVICE_PLUGIN
from poolsmith.guard.ledger.placement import placement_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.fleet.operands.expansion import Made, Node
    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.guard.ledger.prediction import Prediction

_COMPONENTS = {
    "nvidia-driver-ctr": "driver",
    "nvidia-vgpu-manager-ctr": "driver",
    "nvidia-container-toolkit-ctr": "toolkit",
    "nvidia-device-plugin": "devicePlugin",
    "nvidia-device-plugin-ctr": "devicePlugin",
    "nvidia-sandbox-device-plugin-ctr": "sandboxDevicePlugin",
    "nvidia-kata-sandbox-device-plugin-ctr": "sandboxDevicePlugin",
}
"""By the name of a container; as the block of the operator's values that switches it."""
_CALLED = {
    "driver": "driver",
    "toolkit": "container toolkit",
    "devicePlugin": "device plugin",
    "sandboxDevicePlugin": "device plugin for passed-through GPUs",
}
_NOT_MODELLED = {
    "driver": ("state-driver:", "state-vgpu-manager:", "NVIDIADriver/"),
    "toolkit": ("state-container-toolkit:", "the toolkit of pool "),
    "devicePlugin": ("state-device-plugin:",),
    "sandboxDevicePlugin": ("state-sandbox-device-plugin:", "state-kata-device-plugin:"),
}
"""How it begins when it is said that something of a component is not known."""
_WHOLE_OPERATOR = "ClusterPolicy/"

_SEVERAL = 2
_ON_THE_HOST = ("driver", "toolkit")
"""Without these no container reaches a GPU; who advertises GPUs may also be something of the user's own."""


def pool_supply(prediction: Prediction, loaded: LoadedCluster) -> list[Diagnostic]:
    """Pools that would get less or more than they need. What is not modelled is not held against anybody."""
    landing = _landing(prediction)
    unasked = ("devicePlugin",) if prediction.plan.cluster.spec.stack.kind is StackKind.GPU_CLUSTER else ()
    nodes: defaultdict[str, list[Node]] = defaultdict(list)
    for node in prediction.installation.nodes:
        nodes[node.pool].append(node)
    found = []
    for component, called in _CALLED.items():
        unknown = (*_NOT_MODELLED[component], _WHOLE_OPERATOR, NO_OPERANDS)
        modelled = not any(text.startswith(unknown) for text in prediction.unknown)
        for pool in prediction.plan.pools:
            wanted = 0 if component in unasked else _wanted(component, pool)
            for running in _of_each_system(nodes[pool.name], landing[component, pool.name]):
                if len(running) > wanted or (len(running) < wanted and modelled):
                    names = [item.name for item in running]
                    found.append(_finding(prediction, loaded, pool, component, called, names))
                    break
            else:
                continue
            break
    return found


def _of_each_system(nodes: list[Node], running: list[Made]) -> Iterator[list[Made]]:
    """What runs on the nodes of each system of a pool: while nodes are rolled, not all of it runs everywhere."""
    if len(nodes) < _SEVERAL:
        yield running
        return
    for node in nodes:
        yield [item for item in running if placement_of(item.body["kind"], _pod(item)).takes(node)]


def _landing(prediction: Prediction) -> defaultdict[tuple[str, str], list[Made]]:
    """DaemonSets by component and pool."""
    landing: defaultdict[tuple[str, str], list[Made]] = defaultdict(list)
    for made in prediction.installation.made:
        if made.body["kind"] != "DaemonSet":
            continue
        names = [word(container.get("name")) for container in containers_of(_pod(made))]
        component = next((_COMPONENTS[name] for name in names if name in _COMPONENTS), None)
        for pool in prediction.ledger.landing.get(made.key, ()) if component else ():
            landing[str(component), pool].append(made)
    return landing


def _pod(made: Made) -> Mapping[str, Any]:
    return mapping(mapping(pod_template_of(made.body)).get("spec"))


def _wanted(component: str, pool: PoolPlan) -> int:
    """How many. The operator's device plugin runs on no node that a label keeps it off."""
    runs_containers = pool.profile.spec.workload is Workload.CONTAINER
    match component:
        case "driver":
            divides = pool.profile.spec.workload is Workload.VM_VGPU  # a driver object of a type for it, or the manager
            return int(divides or (pool.driver is not None and pool.driver.managed))
        case "toolkit":
            return int(pool.toolkit in (ToolkitSource.OPERATOR, ToolkitSource.OVERLAY))
        case "devicePlugin":
            return int(
                runs_containers
                and not any(label.key == DEPLOY_DEVICE_PLUGIN and label.value == "false" for label in pool.labels)
            )
    return int(not runs_containers)


def _finding(
    prediction: Prediction, loaded: LoadedCluster, pool: PoolPlan, component: str, called: str, running: list[str]
) -> Diagnostic:
    assert loaded.file is not None, "a predicted cluster has a profile"
    pointer = next(
        (path for path in (pointers.join(VALUES, component, "enabled"), VALUES) if loaded.file.has(path)),
        "/spec/stack",
    )
    message = f"pool `{pool.name}` would get " + (
        f"{len(running)} of the {called}: {', '.join(running)}" if running else f"no {called}"
    )
    layers = next(item.layers for item in loaded.pools if item.pool.name == pool.name)
    return diagnose(
        POOL_NOT_SUPPLIED,
        message,
        loaded.file.locate(pointer),
        help=f"let the pools' profiles decide on the {called}, and remove what `stack.values` says of it",
        subject=f"{prediction.plan.name}/{pool.name}",
        related=(layers.locate("/metadata/name", "the pool"),),
        severity=Severity.ERROR if component in _ON_THE_HOST else Severity.WARNING,
    )
