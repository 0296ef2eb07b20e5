"""README.md of a cluster: pools, what runs where and why, and what waits for what on the nodes of each pool."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import printable
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.operands.start_order import start_order, steps_of
from poolsmith.fleet.plan.origin import profile_inputs
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.nodes.node_makers import node_makers
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.project.output.helm_values import origin_text
from poolsmith.project.output.readme_text import readme_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.operands.start_order import Start
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.nodes.node_makers import NodeMaker
    from poolsmith.guard.ledger.workload_ledger import ClusterLedger


_KIND = "DaemonSet/"
_DRIVER = "driver"


def pool_orders(ledger: ClusterLedger, objects: Iterable[KubernetesObject]) -> dict[str, tuple[Start, ...]]:
    """By pool, the DaemonSets that wait or are waited for on its nodes; pools without any are left out."""
    by_name = {item["metadata"]["name"]: item for item in objects if item["kind"] == "DaemonSet"}
    pools: dict[str, list[str]] = {}
    for item in ledger.workloads:
        name = item.workload.removeprefix(_KIND)
        if item.workload.startswith(_KIND) and name in by_name:
            for pool in item.pools:
                pools.setdefault(pool, []).append(name)
    steps = steps_of(by_name.values())
    found = {pool: start_order({name: steps[name] for name in names}) for pool, names in sorted(pools.items())}
    waited = {pool: {name for start in starts for name in start.after} for pool, starts in found.items()}
    kept = {
        pool: tuple(start for start in starts if start.after or start.name in waited[pool])
        for pool, starts in found.items()
    }
    return {pool: starts for pool, starts in kept.items() if starts}


def start_words(start: Start, starts: Iterable[Start]) -> str:
    """`first`, or after whom, and by which file that is known."""
    if not start.after:
        return "first"
    files = f" ({', '.join(start.files)})" if start.files else ""
    shown = {item.name: shown_name(item) for item in starts}
    return f"after {', '.join(sorted({shown[name] for name in start.after}))}{files}"


def shown_name(start: Start) -> str:
    """A pool's driver is called by what it is: its DaemonSet has a name of its own in each pool."""
    return _DRIVER if start.is_driver else start.name


_MARKDOWN = pattern(r"([\\`*_{}\[\]<>#|!~&])")
_PLACES = {ANY_NODE: "any node", NO_KNOWN_NODE: "none that is known"}


class _Markdown(str):
    """Text that is Markdown already."""

    __slots__ = ()


def workload_table(ledger: ClusterLedger) -> str:
    """Rows of Markdown: what will run, worst first."""
    return "\n".join(
        f"| {_code(item.workload)} in {_escape(item.namespace)} | {_escape(item.maker)} | {_escape(item.reach)} "
        f"| {_escape(', '.join(_PLACES.get(pool, pool) for pool in item.pools))} |"
        for item in sorted(ledger.workloads, key=lambda item: item.reach)
    )


def order_table(ledger: ClusterLedger, objects: Iterable[KubernetesObject]) -> str:
    """Rows of Markdown: what waits for what on the nodes of which pools; pools that are alike share a row."""
    rows: dict[tuple[str, str], list[str]] = {}
    for pool, starts in pool_orders(ledger, objects).items():
        for start in starts:
            rows.setdefault((shown_name(start), start_words(start, starts)), []).append(pool)
    return "\n".join(
        f"| {_code(name)} | {_escape(words)} | {_escape(', '.join(pools))} |" for (name, words), pools in rows.items()
    )


def render_readme(plan: ClusterPlan, predicted: Predicted) -> Manifest:
    parts = readme_text(
        escape=_escape,
        plan=plan,
        predicted=predicted,
        summary=_Markdown(predicted.summary),
        order=_Markdown(predicted.order),
        spec=plan.cluster.spec,
        operator_runtime=next((item.value for item in plan.singletons if item.name == "container runtime"), ""),
        operator=plan.cluster.spec.stack.by_operator,
        argocd=plan.cluster.spec.delivery.engine is Engine.ARGOCD,
        driver_of=driver_words,
        layout_of=layout_words,
        has_patches=any(pool.profile.spec.nodes.provisioned_by is not None for pool in plan.pools),
        kept_off=list(_kept_off(plan)),
        labelled_by=lambda pool: "NodeFeatureRule" if pool.node_names else "provisioner",
        lines_of=lambda setting: list(map(origin_text, profile_inputs(setting.origin))),
        because=lambda setting: getattr(setting.origin, "because", ""),
        code=_code,
    )
    return Manifest(path="README.md", text="".join(parts), applied=False)


def _kept_off(plan: ClusterPlan) -> Iterator[NodeMaker]:
    """Clouds that are to install no driver on nodes of some pool."""
    for maker in (node_makers()[name] for name in plan.provisioners if name in node_makers()):
        if any(maker.keeps_off(own_driver=pool.own_driver, has_operator=bool(plan.chart)) for pool in plan.pools):
            yield maker


def _code(value: object) -> _Markdown:
    """A code span; backticks and pipes would end it or its table cell."""
    return _Markdown("`" + printable(masked(str(value))).replace("`", "'").replace("|", "/") + "`")


def _escape(value: Any) -> str:
    return value if isinstance(value, _Markdown) else _escaped(str(value))


@lru_cache(maxsize=1024)
def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", printable(masked(text).replace("\n", " ")))


def driver_words(pool: PoolPlan) -> str:
    """Where the driver of a pool comes from, and which it is."""
    manager = pool.profile.spec.driver.vgpu_manager
    if manager is not None:
        return f"vGPU manager {manager.version}"
    if pool.driver is None:
        return "none on the host"
    version = pool.driver.version or "version not declared"
    guest = ", vGPU guest" if pool.driver.vgpu is not None else ""
    return f"{pool.driver.source}, {version}{guest}"


def layout_words(pool: PoolPlan) -> str:
    """How its GPUs are divided."""
    spec = pool.profile.spec
    parts = []
    if spec.gpu.mig is not None:
        parts.append(f"MIG {spec.gpu.mig.layout}")
    if spec.workload is Workload.VM_VGPU:
        parts.append(f"vGPU {spec.gpu.vgpu.layout if spec.gpu.vgpu is not None else 'default'}")
    if spec.sharing.time_slicing is not None:
        shared = spec.sharing.time_slicing.shared
        told = [f"x{replicas}" + (f" of {name}" if len(shared) > 1 else "") for name, replicas in shared.items()]
        parts.append(f"time slicing {' and '.join(told)}")
    if spec.sharing.mps is not None:
        parts.append(f"MPS x{spec.sharing.mps.replicas}")
    return ", ".join(parts) or "whole GPUs"


@record
class Predicted:
    """What a plan produces, as text without headers; clusters that are installed alike have the same."""

    ledger: str
    images: str
    workloads: str
    summary: str
    """A table for the README."""
    order: str = ""
    """Another one: what waits for what."""
    unknown: tuple[str, ...] = ()
    toolkit_overlays: Mapping[str, tuple[KubernetesObject, ...]] = field(default_factory=dict)
    """What pools with a toolkit of their own get, by pool."""
