"""The GPUs of a pool: product, MIG partitioning, sharing."""

from __future__ import annotations

from typing import Any

from poolsmith.record import record
from poolsmith.shape.field import spec


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


@record
class Gpu:
    """The nodes' GPUs."""

    product: str = spec(
        "GPU product, as the label nvidia.com/gpu.product or the catalog names it.",
        pattern=r"[A-Za-z0-9][A-Za-z0-9 ._/()-]{0,79}",
        form="a product name",
        examples=("NVIDIA-A100-SXM4-80GB",),
    )
    count: int = spec("GPUs per node.", minimum=1, maximum=64, examples=(8,))
    architecture: str | None = spec(
        "Architecture; declares a product that the catalog does not know.",
        default=None,
        pattern=r"[a-z]([a-z0-9_-]{0,40}[a-z0-9])?",
        form="an architecture like hopper",
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
    mig: Mig | None = spec("MIG partitioning.", default=None)


@record
class TimeSlicing:
    """Several pods share a GPU by turns, without memory isolation."""

    resource: str = spec(
        "Resource to share.",
        default="nvidia.com/gpu",
        pattern=r"nvidia\.com/(gpu|mig-\d+g\.\d+gb([+.-][a-z.]+)?)",
        form="nvidia.com/gpu or nvidia.com/mig-<profile>",
    )
    replicas: int = spec("How many pods share one.", minimum=2, maximum=1000, examples=(4,))
    rename_by_default: bool = spec("Advertise the shared resource as <resource>.shared.", default=False)
    fail_requests_greater_than_one: bool = spec("Refuse pods that ask for more than one replica.", default=False)


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
