"""What a pool is, as rules see it: each field with the place of whichever surface says it.

A surface is a profile, Helm values with the objects and nodes beside them, or a live cluster. A field that no surface
says is None, which no rule may take for a no.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location, RuleInfo
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.gpu.catalog.gpus import GpuEntry
    from poolsmith.gpu.catalog.sandboxes import KataEra

T_co = TypeVar("T_co", covariant=True)
CONTAINER = "container"
KATA = ("kata", "kata-confidential")
VIRTUAL = "vm-vgpu"


class At(Protocol):
    """The line that says a field; `note` is what is to be seen there."""

    def __call__(self, note: str | None = None, /) -> Location: ...


@record(kw_only=False)
class Said(Generic[T_co]):
    """A value, where it stands, and how its surface calls it or who asks for it."""

    value: T_co
    at: At
    name: str = ""


@record
class Shared:
    """How GPUs are shared: by the device plugin's resources, with how many replicas each.

    `at` has the places of single resources where they have some, and under `mps` that of its replicas.
    `is_own`: no other pool takes the same configuration.
    """

    time_slicing: Mapping[str, int]
    mps: Mapping[str, int]
    time_slicing_at: At
    mps_at: At
    at: Mapping[str, At] = field(default_factory=dict)
    is_own: bool = True


@record
class PoolRecord:
    """`word` is pool or node, for messages. `advertised` are the resources of the device plugin.

    `era` is how the release brings Kata; `mig` the layout, `partitioned` whether it turns MIG on for some GPU;
    `capability` is the compute capability of its GPUs, `own_driver` whether the system's images have NVIDIA's driver.
    """

    name: str
    word: str
    at: At
    release: str | None = None
    era: KataEra | None = None
    workload: Said[str] | None = None
    runtime: Said[str] | None = None
    arch: Said[str] | None = None
    system: Said[str] | None = None
    own_driver: bool | None = None
    gpu: Said[GpuEntry] | None = None
    capability: str | None = None
    mig: Said[str] | None = None
    partitioned: bool | None = None
    strategy: Said[str] | None = None
    sharing: Said[Shared] | None = None
    advertised: tuple[str, ...] | None = None
    cc_mode: Said[str] | None = None
    vgpu: Said[str] | None = None

    @property
    def shown(self) -> str:
        return f"{self.word} `{self.name}`"

    @property
    def is_sandboxed(self) -> bool:
        """Known to give whole GPUs away; False where nobody says it."""
        return self.workload is not None and self.workload.value != CONTAINER


class PoolRule(Protocol):
    """A rule over what a pool is; written once for all surfaces."""

    @property
    def RULE(self) -> RuleInfo: ...  # noqa: N802 - a constant of the module

    def check(self, pool: PoolRecord, /) -> Iterator[Finding[Any]]: ...
