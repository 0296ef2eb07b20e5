"""What a cluster's plan produces: its installation, its ledger, and the resources that its nodes offer to workloads.

Clusters that are installed alike share the work; where the lines of their profiles stand does not matter for it.

Source: NVIDIA/k8s-device-plugin:README.md (resource names of MIG strategies, time slicing and MPS).
"""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.latest import Latest
from poolsmith.core.record import record, replace
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.operands.chart.operator_part import ChartParts
from poolsmith.fleet.operands.expansion import OneOfEqual
from poolsmith.fleet.operands.install import InstallationInput, install, installation_input
from poolsmith.fleet.operands.pool_nodes import pool_nodes
from poolsmith.fleet.operands.pulled_images import image_uses
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.fleet.plan.sharing.mig import WHOLE_GPU
from poolsmith.gpu.catalog.unpublished import unpublished
from poolsmith.guard.ledger.installed_ledger import PredictedMemory, installed_ledger
from poolsmith.guard.ledger.ledger import ANY_NODE
from poolsmith.guard.ledger.origins import Origins, is_users, value_effects
from poolsmith.guard.ledger.workload_ledger import ClusterLedger, by_workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.fleet.operands.expansion import Installation, Made
    from poolsmith.fleet.operands.pulled_images import ImageUse
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ValuePath
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.gpu.catalog.charts import Chart
    from poolsmith.guard.ledger.ledger import Ledger, LedgerLine, LineOrigins
    from poolsmith.guard.ledger.ledger_view import SeenWorkload
    from poolsmith.guard.ledger.origins import Effects


_KATA_MANAGER = "nvidia-kata-manager"
_REMEMBERED = 32
_REMEMBERED_OBJECTS = 1_000
"""Installations that are kept; a fleet of many unlike clusters must not grow without bound."""


@record(frozen=False, kw_only=False)
class Shared:
    """What clusters with the same input share."""

    given: InstallationInput
    installation: Installation
    ledger: Ledger
    made: dict[str, Made]
    effects: dict[tuple[ValuePath, ...], Effects] = field(default_factory=dict)
    seen: tuple[SeenWorkload, ...] | None = None
    """Workloads as rules see them, once some cluster was judged."""

    @property
    def unknown(self) -> tuple[str, ...]:
        return (*self.installation.unknown, *self.ledger.unknown)


@record(kw_only=False)
class Prediction:
    """One cluster's. `ledger` has no origins yet; `origins` tells them.

    `running` is that of the release which an upgrade replaces, for as long as pods of both may start. `alike` is the
    same for all clusters whose plans say the same but for the cluster's name; empty where nothing is known of others.
    """

    plan: ClusterPlan
    shared: Shared
    origins: Origins
    running: Prediction | None = None
    alike: bytes = b""

    @property
    def installation(self) -> Installation:
        return self.shared.installation

    @property
    def ledger(self) -> Ledger:
        return self.shared.ledger

    @property
    def unknown(self) -> tuple[str, ...]:
        return self.shared.unknown

    def origins_of(self, line: LedgerLine) -> LineOrigins:
        """What brings a line about, nearest first."""
        return self.origins.of_line(f"{line.namespace}/{line.workload}", line.container, line.privilege, line.pool)

    def cluster_ledger(self) -> ClusterLedger:
        return ClusterLedger(
            cluster=self.plan.name,
            release=self.installation.release,
            workloads=by_workload(self.ledger, self.origins),
            unknown=self.unknown,
            errors=self.installation.errors,
            notes=self.installation.notes,
        )

    def images(self) -> tuple[ImageUse, ...]:
        """Those that there are: `unpublished` says which of the pods' are not."""
        return tuple(use for use in self._pulled() if not unpublished(use.image))

    def unpublished(self) -> tuple[str, ...]:
        """Why an image that a pod names can't be pulled."""
        return tuple(filter(None, (unpublished(use.image) for use in self._pulled())))

    def _pulled(self) -> tuple[ImageUse, ...]:
        systems = {pool.name: pool.profile.spec.system_words for pool in self.plan.pools}
        return image_uses(self.installation, self.ledger.landing, systems, (*self.smoke_images(), *self._artifacts()))

    def smoke_images(self) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        """Of the jobs that prove a pool, run on purpose."""
        namespace = self.plan.cluster.spec.smoke_test.namespace
        return tuple(
            (pool.smoke.image, f"{namespace}/Job/gpu-smoke-{pool.name}-*", (pool.name,))
            for pool in self.plan.pools
            if pool.smoke.image is not None
        )

    def _artifacts(self) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        """Images that the Kata manager unpacks on its nodes, by the values that name them."""
        key = next((item.key for item in self.installation.made if item.name == _KATA_MANAGER), None)
        classes = self.origins.value(("kataManager", "config", "runtimeClasses")) if key is not None else None
        urls = (value_at(item, ("artifacts", "url")) for item in classes or ())
        pools = self.ledger.landing.get(key or "", ())
        return tuple((url, key or "", pools) for url in urls if isinstance(url, str) and url)


class Predictions:
    """Remembers the last installations by what they follow from."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known = Latest(_REMEMBERED)
        self._alike = Latest(_REMEMBERED)
        self._charts = ChartParts()
        self._objects = OneOfEqual(_REMEMBERED_OBJECTS)
        self._memory = PredictedMemory()

    def of(self, plan: ClusterPlan, loaded: LoadedCluster, alike: bytes = b"") -> Prediction:
        """`alike` as in `Prediction`."""
        chart = self._chart(plan)

        def installed() -> Shared:
            return self._shared(installation_input(plan, pool_nodes(plan, self._catalog.gpus), chart))

        shared = self._alike.of(alike, installed) if alike else installed()
        effects = self._effects(plan, shared)
        return Prediction(plan, shared, Origins(plan, chart, shared.made, _locate(loaded), effects), alike=alike)

    def _effects(self, plan: ClusterPlan, shared: Shared) -> Effects:
        """Of the values that the cluster's profile sets itself."""
        paths = tuple(setting.path for setting in plan.values if is_users(setting))
        if not paths:
            return {}
        if paths not in shared.effects:
            shared.effects[paths] = value_effects(shared.given, shared.ledger, paths, self._charts)
        return shared.effects[paths]

    def with_values(self, prediction: Prediction, values: dict[str, Any]) -> Shared:
        """The same cluster, with other values of the operator's chart."""
        return self._shared(replace(prediction.shared.given, values=values))

    def _chart(self, plan: ClusterPlan) -> Chart | None:
        if plan.chart is None:
            return None
        return self._catalog.chart(plan.chart.name, plan.cluster.spec.stack.release)

    def _shared(self, given: InstallationInput) -> Shared:
        return self._known.of(given.key, lambda: self._installed(given))

    def _installed(self, given: InstallationInput) -> Shared:
        installation = install(given, self._charts)
        installation = replace(installation, made=tuple(self._objects.of(installation.made)))
        ledger = installed_ledger(installation, self._memory)
        return Shared(given, installation, ledger, {item.key: item for item in installation.made})


def _locate(loaded: LoadedCluster) -> Callable[[str, str], FromProfile | None]:
    layers = {item.pool.name: item.layers for item in loaded.pools}

    @cache
    def locate(pool: str, pointer: str) -> FromProfile | None:
        if pool not in layers:
            return None
        file, pointer = layers[pool].owner(pointer), layers[pool].said_at(pointer)
        return FromProfile(file.path, pointer) if file.has(pointer) else None

    return locate


PLUGINS = frozenset(("nvidia-device-plugin-daemonset", "nvidia-device-plugin"))
"""Of the operator and of the plain manifest, and of the plugin's own chart."""
_SANDBOX_PLUGINS = frozenset(("nvidia-sandbox-device-plugin-daemonset", "nvidia-kata-sandbox-device-plugin-daemonset"))
_STRATEGY = ("mig", "strategy")
_NO_STRATEGY = "none"
_SHARED = ".shared"


def offered_resources(prediction: Prediction) -> dict[str, frozenset[str]]:
    """By pool: names that pods may ask for. Nothing of vGPU hosts: their names are those of their vGPU types."""
    whole = prediction.origins.value(_STRATEGY) == _NO_STRATEGY
    return {
        pool.name: frozenset(_names(pool, running_on(prediction, pool.name), whole=whole))
        for pool in prediction.plan.pools
    }


def running_on(prediction: Prediction, pool: str) -> frozenset[str]:
    """The names of the DaemonSets that run on a pool."""
    landing = prediction.ledger.landing
    return frozenset(key.rpartition("/")[2] for key, pools in landing.items() if pool in pools or ANY_NODE in pools)


def _names(pool: PoolPlan, running: frozenset[str], *, whole: bool) -> Iterator[str]:
    if not running.isdisjoint(PLUGINS):
        for name in (WHOLE_GPU,) if whole else pool.resources:
            yield f"{name}{_SHARED}" if _is_renamed(pool, name) else name
    if pool.passthrough_resource is not None and not running.isdisjoint(_SANDBOX_PLUGINS):
        yield pool.passthrough_resource


def _is_renamed(pool: PoolPlan, resource: str) -> bool:
    """Whether what is shared has a name of its own."""
    slicing, mps = pool.profile.spec.sharing.time_slicing, pool.profile.spec.sharing.mps
    if slicing is not None:
        return slicing.rename_by_default and resource in slicing.shared
    return mps is not None and mps.rename_by_default and resource == WHOLE_GPU
