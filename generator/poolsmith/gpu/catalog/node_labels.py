"""Labels by which provisioners, feature discovery and the operator tell each other about nodes.

Source: NVIDIA/gpu-operator@v26.7.0:controllers/state_manager.go, internal/consts; node-feature-discovery's own names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GPU_PRESENT: Final = "nvidia.com/gpu.present"
WORKLOAD: Final = "nvidia.com/gpu.workload.config"
WORKLOADS: Final = ("container", "vm-passthrough", "vm-vgpu")
"""The values of that label; the operator takes its default workload in the place of others."""
MIG_CONFIG: Final = "nvidia.com/mig.config"
DEVICE_PLUGIN_CONFIG: Final = "nvidia.com/device-plugin.config"
VGPU_CONFIG: Final = "nvidia.com/vgpu.config"
CC_MODE: Final = "nvidia.com/cc.mode"
CC_CAPABLE: Final = "nvidia.com/cc.capable"
MPS_CAPABLE: Final = "nvidia.com/mps.capable"
CC_MODES: Final = ("on", "off", "ppcie", "devtools")
"""Of any release: NVIDIA/cloud-native-docs, pages configure-cc-mode and confidential-containers-deploy."""
DRIVER_OWNER: Final = "nvidia.com/gpu-operator.driver.owner"

GPU_PRODUCT: Final = "nvidia.com/gpu.product"
GPU_COUNT: Final = "nvidia.com/gpu.count"
DRIVER_VERSION: Final = "nvidia.com/cuda.driver-version.full"
DRIVER_VERSION_PARTS: Final = tuple(f"nvidia.com/cuda.driver.{part}" for part in ("major", "minor", "rev"))
"""What GPU feature discovery says; the parts are those of older ones. Source: NVIDIA/k8s-device-plugin."""
SHARED: Final = "-SHARED"
OF_A_SLICE: Final = "-MIG-"
"""What it appends to a product that is shared, and puts before the slice."""
UPGRADE_ENABLED: Final = "nvidia.com/gpu-driver-upgrade-enabled"
"""An annotation. Source: NVIDIA/gpu-operator@v26.7.0:controllers/state_manager.go."""
UPGRADE_STATE: Final = "nvidia.com/gpu-driver-upgrade-state"
UPGRADE_SETTLED: Final = ("", "upgrade-done", "upgrade-failed")
"""States of a node whose driver nobody upgrades. Source: NVIDIA/k8s-operator-libs, pkg/upgrade/consts.go."""

MIG_STATE: Final = "nvidia.com/mig.config.state"
VGPU_STATE: Final = "nvidia.com/vgpu.config.state"
CHANGING: Final = ("pending", "rebooting")
"""States while a layout is changed. Source: NVIDIA/mig-parted:pkg/mig/reconfigure/reconfigure.go;
NVIDIA/vgpu-device-manager:cmd/nvidia-k8s-vgpu-dm/main.go."""
PAUSED: Final = "paused-for-"
"""What stands in the value of a `gpu.deploy` label while an operand is off the node. Source: NVIDIA/mig-parted;
NVIDIA/k8s-driver-manager:cmd/driver-manager/main.go; NVIDIA/k8s-cc-manager:gpu_operator_eviction.py."""

DEPLOY: Final = "nvidia.com/gpu.deploy."
"""Before the name of an operand: whether it runs on the node."""
DEPLOY_OPERANDS: Final = DEPLOY + "operands"
DEPLOY_DRIVER: Final = DEPLOY + "driver"
DEPLOY_TOOLKIT: Final = DEPLOY + "container-toolkit"
DEPLOY_DEVICE_PLUGIN: Final = DEPLOY + "device-plugin"
DEPLOY_MIG_MANAGER: Final = DEPLOY + "mig-manager"

ARCHITECTURE: Final = "kubernetes.io/arch"
FEATURE: Final = "feature.node.kubernetes.io/"
PCI_NVIDIA: Final = FEATURE + "pci-10de.present"
_GPU_FEATURES: Final = (PCI_NVIDIA, *(f"{FEATURE}pci-{name}.present" for name in ("0302_10de", "0300_10de")))
PCI_MELLANOX: Final = FEATURE + "pci-15b3.present"
KERNEL: Final = FEATURE + "kernel-version.full"
OS_ID: Final = FEATURE + "system-os_release.ID"
OS_VERSION: Final = FEATURE + "system-os_release.VERSION_ID"
OS_MAJOR: Final = OS_VERSION + ".major"
OS_MINOR: Final = OS_VERSION + ".minor"
OS_TREE: Final = FEATURE + "system-os_release.OSTREE_VERSION"


def has_gpu(labels: Mapping[str, str]) -> bool:
    """Whether feature discovery found a GPU on the node, as the operator asks: by vendor, or by class and vendor."""
    return any(labels.get(key) == "true" for key in _GPU_FEATURES)


def matches(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    """Whether a node with these labels is one that a nodeSelector selects."""
    return all(labels.get(key) == value for key, value in selector.items())


class SelectedNodes:
    """Finds the nodes that a nodeSelector selects without asking each of them, by their positions."""

    def __init__(self, labels: Sequence[Mapping[str, str]]) -> None:
        self._labels = labels
        self._by_key: dict[str, dict[str, list[int]]] = {}

    def of(self, selector: Mapping[str, str]) -> list[int]:
        """In order; all nodes where nothing is selected by."""
        asked = ((key, value) for key, value in selector.items() if isinstance(value, str))
        having = (self._having(key).get(value, ()) for key, value in asked)
        fewest: Sequence[int] = min(having, key=len, default=range(len(self._labels)))
        return [index for index in fewest if matches(self._labels[index], selector)]

    def _having(self, key: str) -> dict[str, list[int]]:
        """The nodes by their value of a label."""
        known = self._by_key.get(key)
        if known is None:
            known = self._by_key[key] = {}
            for index, labels in enumerate(self._labels):
                if isinstance(value := labels.get(key), str):
                    known.setdefault(value, []).append(index)
        return known


def driver_version(labels: Mapping[str, str]) -> str:
    """As GPU feature discovery tells it; empty where it does not run."""
    return labels.get(DRIVER_VERSION) or ".".join(labels[key] for key in DRIVER_VERSION_PARTS if key in labels)


def product_of(labels: Mapping[str, str]) -> tuple[str, str]:
    """The model of a node's GPUs, and the slices that stand in the place of whole ones: empty for what nobody says."""
    whole, _, part = labels.get(GPU_PRODUCT, "").removesuffix(SHARED).partition(OF_A_SLICE)
    return whole, part
