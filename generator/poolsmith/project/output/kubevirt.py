"""What KubeVirt's own object has to permit, so that virtual machines may ask for the pools' GPUs.

Nobody but its owner writes that object: this is a part to take over.
Source: NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:gpu-operator/gpu-operator-kubevirt.rst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.manifest import Manifest

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan

PATH = "kubevirt/permitted-host-devices.yaml"
_GATES = "GPU"
_GATE_OF_VGPUS = "DisableMDEVConfiguration"


def render_kubevirt(plan: ClusterPlan, header: tuple[str, ...]) -> list[Manifest]:
    """One file, in no kustomization; nothing where no pool gives GPUs to virtual machines."""
    devices = dict.fromkeys(device for pool in plan.pools for device in pool.host_devices)
    if not devices:
        return []
    permitted: dict[str, list[dict[str, Any]]] = {}
    for device in devices:
        kind, selector = (
            ("mediatedDevices", "mdevNameSelector") if device.mediated else ("pciHostDevices", "pciVendorSelector")
        )
        permitted.setdefault(kind, []).append(
            {selector: device.selector, "resourceName": device.resource, "externalResourceProvider": True}
        )
    gates = [_GATES, *([_GATE_OF_VGPUS] if any(device.mediated for device in devices) else [])]
    body = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
        "spec": {
            "configuration": {
                "developerConfiguration": {"featureGates": gates},
                "permittedHostDevices": dict(sorted(permitted.items())),
            }
        },
    }
    lines = (
        *header,
        "",
        "Not applied: what the KubeVirt object of this cluster has to have, beside all that it has already.",
    )
    return [Manifest(path=PATH, documents=(body,), header=lines, applied=False)]
