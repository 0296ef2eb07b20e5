"""The GPUs of a pool: product, MIG partitioning, sharing."""

from __future__ import annotations

from typing import Any

from poolsmith.core.record import record
from poolsmith.core.shape.field import spec
from poolsmith.fleet.profiles import known_words

_SHARED = r"nvidia\.com/(gpu|mig-\d+g\.\d+gb([+.-][a-z.]+)?)"
_SHARED_FORM = "nvidia.com/gpu or nvidia.com/mig-<profile>"


@record
class MigDevices:
    """One group of GPUs and the MIG devices to make on them; the MIG manager's own configuration."""

    devices: Any = spec("`all`, or a list of GPU indices.", default="all", examples=("all", [0, 1]))
    mig_enabled: bool = spec("Whether MIG is on for these GPUs.", default=True)
    mig_devices: dict[str, int] = spec(
        "How many of each MIG profile.",
        default={},
        keys=r"\d+g\.\d+gb([+-][a-z.]+)?",
        minimum=1,
        maximum=64,
        examples=({"1g.10gb": 2, "3g.40gb": 1},),
    )


@record
class Mig:
    """How the GPUs are partitioned."""

    layout: str = spec(
        "Name of a layout: one of the operator's, or of the `devices` given here.",
        pattern=r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?",
        form="a layout name",
        examples=("all-1g.10gb", "all-balanced"),
    )
    devices: tuple[MigDevices, ...] = spec("Your own layout, with the name in `layout`.", default=())

    @property
    def turns_on(self) -> bool:
        """Whether any GPU is to have MIG on."""
        return any(group.mig_enabled for group in self.devices) if self.devices else self.layout != "all-disabled"


@record
class VgpuDevices:
    """One group of GPUs and the vGPUs to make on them; the vGPU device manager's own configuration."""

    devices: Any = spec("`all`, or a list of GPU indices.", default="all", examples=("all", [0, 1]))
    vgpu_devices: dict[str, int] = spec(
        "How many of each type on one GPU.",
        keys=r"[A-Za-z0-9-]{1,40}-\d+[A-Z]+",
        minimum=1,
        maximum=64,
        examples=({"A10-4Q": 3, "A10-12Q": 1},),
    )


@record
class VgpuLayout:
    """Which vGPUs the GPUs of a vGPU host are divided into."""

    layout: str = spec(
        "Name of a layout: one of the operator's, which are `default` and the types, or of the `devices` given here.",
        pattern=r"[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?",
        form="a layout name",
        examples=("default", "A10-12Q"),
    )
    devices: tuple[VgpuDevices, ...] = spec("Your own layout, with the name in `layout`.", default=())


@record
class Gpu:
    """The nodes' GPUs."""

    product: str = spec(
        "GPU product, as the label nvidia.com/gpu.product or the catalog names it.",
        pattern=r"[A-Za-z0-9][A-Za-z0-9 ._/()-]{0,79}",
        form="a product name",
        examples=("NVIDIA-A100-SXM4-80GB",),
        known=known_words.products,
    )
    count: int = spec("GPUs per node.", minimum=1, maximum=64, examples=(8,))
    architecture: str | None = spec(
        "Architecture; declares a product that the catalog does not know.",
        default=None,
        pattern=r"[a-z]([a-z0-9_-]{0,40}[a-z0-9])?",
        form="an architecture like hopper",
        known=known_words.architectures,
    )
    pci_device_id: str | None = spec(
        "PCI device id without the vendor, if the product has several.",
        default=None,
        pattern=r"[0-9a-f]{4}",
        form='four lower-case hexadecimal digits, quoted, like "2236"',
        examples=("2236",),
    )
    passthrough_resource: str | None = spec(
        "Extended resource of one passed-through GPU, if the catalog does not know it.",
        default=None,
        pattern=r"nvidia\.com/[A-Za-z0-9][A-Za-z0-9_.-]{0,61}",
        form="a resource below nvidia.com/",
    )
    multi_node_nvlink: bool = spec(
        "NVLink over several nodes, as of GB200 NVL72: pods may ask for a ComputeDomain, in a cluster of kind "
        "gpu-cluster.",
        default=False,
    )
    mig: Mig | None = spec("MIG partitioning.", default=None)
    vgpu: VgpuLayout | None = spec("vGPUs of a vGPU host. Default: the operator's layout `default`.", default=None)


@record
class SharedResource:
    """One resource that pods share."""

    resource: str = spec(
        "Resource to share.",
        pattern=_SHARED,
        form=_SHARED_FORM,
        examples=("nvidia.com/mig-1g.10gb",),
    )
    replicas: int = spec("How many pods share one.", minimum=2, maximum=1000, examples=(4,))


@record
class TimeSlicing:
    """Several pods share a GPU by turns, without memory isolation."""

    resource: str = spec("Resource to share.", default="nvidia.com/gpu", pattern=_SHARED, form=_SHARED_FORM)
    replicas: int | None = spec("How many pods share one.", default=None, minimum=2, maximum=1000, examples=(4,))
    resources: tuple[SharedResource, ...] = spec(
        "Several resources of the same nodes, as slices of several sizes, each with its `replicas`; in the place of "
        "`resource` and `replicas`.",
        default=(),
    )
    rename_by_default: bool = spec("Advertise the shared resource as <resource>.shared.", default=False)
    fail_requests_greater_than_one: bool = spec("Refuse pods that ask for more than one replica.", default=False)

    @property
    def shared(self) -> dict[str, int]:
        """Resource to how many pods share one."""
        if self.replicas is not None:
            return {self.resource: self.replicas}
        return {item.resource: item.replicas for item in self.resources}


@record
class Mps:
    """Several pods share a GPU through the CUDA Multi-Process Service."""

    replicas: int = spec("How many pods share one.", minimum=2, maximum=1000, examples=(4,))
    rename_by_default: bool = spec("Advertise the shared resource as <resource>.shared.", default=False)


@record
class Sharing:
    """How GPUs are shared among pods: one way at the most."""

    time_slicing: TimeSlicing | None = spec("Time slicing.", default=None)
    mps: Mps | None = spec("Multi-Process Service.", default=None)
