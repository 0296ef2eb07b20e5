"""What every pass may look at, and where it reports."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, RuleInfo, Severity, diagnose
from poolsmith.core.record import record, replace
from poolsmith.fleet.plan.origin import FromProfile, Origin
from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, Singleton, ValueSetting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.core.shape.layers import Layers
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.plan.plan import DriverPlan
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.gpu.catalog.charts import Chart
    from poolsmith.gpu.catalog.platforms import Distribution
    from poolsmith.gpu.catalog.releases import Release


@record(frozen=False, kw_only=False)
class Facts:
    """The catalog, the loaded profiles, and what the look-ups of this cluster gave."""

    catalog: Catalog
    name: str
    file: SourceFile
    layers: dict[str, Layers]
    found: list[Diagnostic] = field(default_factory=list)
    release: Release | None = None
    chart: Chart | None = None
    distribution: Distribution | None = None

    @classmethod
    def of(cls, catalog: Catalog, loaded: LoadedCluster, file: SourceFile) -> Facts:
        layers = {item.pool.name: item.layers for item in loaded.pools}
        return cls(catalog=catalog, name=loaded.name, file=file, layers=layers)

    def at_cluster(self, pointer: str) -> Origin:
        return FromProfile(self.file.path, pointer)

    def at_pool(self, pool: PoolPlan, pointer: str) -> Origin:
        layers = self.layers[pool.name]
        return FromProfile(layers.owner(pointer).path, layers.said_at(pointer))

    def report_cluster(
        self,
        rule: RuleInfo,
        pointer: str,
        message: str,
        *,
        help: str | None = None,
        severity: Severity | None = None,
    ) -> None:
        self.found.append(
            diagnose(rule, message, self.file.locate(pointer), help=help, subject=self.name, severity=severity)
        )

    def report_pool(
        self,
        rule: RuleInfo,
        pool: PoolPlan,
        pointer: str,
        message: str,
        *,
        help: str | None = None,
        related: Iterable[tuple[PoolPlan, str, str]] = (),
        severity: Severity | None = None,
    ) -> None:
        """`related` are other pools with a pointer and what is to be seen there."""
        self.found.append(
            diagnose(
                rule,
                message,
                self.layers[pool.name].locate(pointer),
                help=help,
                subject=f"{self.name}/{pool.name}",
                related=tuple(self.layers[other.name].locate(where, note) for other, where, note in related),
                severity=severity,
            )
        )

    def report_found(self, rule: RuleInfo, pool: PoolPlan, finding: Finding[Location]) -> None:
        """What a rule over the pool's record found."""
        self.found.append(
            diagnose(
                rule,
                finding.message,
                finding.place,
                help=finding.help,
                subject=f"{self.name}/{pool.name}",
                related=finding.related,
                severity=finding.severity,
            )
        )

    @property
    def failed(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self.found)

    @property
    def host_runtime_class(self) -> str | None:
        """What pods with GPUs ask for under a toolkit of the hosts; None where the default has to be NVIDIA's."""
        return self.distribution.runtime_class if self.distribution is not None else None

    def need_release(self) -> Release:
        assert self.release is not None, "passes run after the look-ups"
        return self.release

    def need_chart(self) -> Chart:
        assert self.chart is not None, "passes run after the look-ups"
        return self.chart


def driver_of(pool: PoolPlan) -> DriverPlan:
    """The driver of a pool that was given one by an earlier pass."""
    assert pool.driver is not None
    return pool.driver


def with_values(plan: ClusterPlan, *settings: ValueSetting) -> ClusterPlan:
    """The plan with more values. Two passes never set one path."""
    return replace(plan, values=plan.values + settings) if settings else plan


def with_singleton(plan: ClusterPlan, name: str, value: str, pools: Iterable[PoolPlan], because: str) -> ClusterPlan:
    asked_by = tuple(pool.name for pool in pools)
    return replace(plan, singletons=(*plan.singletons, Singleton(name, value, asked_by, because)))


def map_pools(plan: ClusterPlan, change: Callable[[PoolPlan], PoolPlan]) -> ClusterPlan:
    return replace(plan, pools=tuple(change(pool) for pool in plan.pools))


def agreed(pools: Iterable[PoolPlan], value_of: Callable[[PoolPlan], Any]) -> tuple[Any, PoolPlan, PoolPlan | None]:
    """The first pool's value, that pool, and the first pool that differs from it. `pools` is not empty."""
    first, *others = pools
    value = value_of(first)
    return value, first, next((pool for pool in others if value_of(pool) != value), None)
