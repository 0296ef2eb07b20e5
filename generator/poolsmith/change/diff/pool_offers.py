"""What workloads ask for by name: resources of a pool's nodes, RuntimeClasses, DeviceClasses, and node labels.

Reports what is lost, and acknowledgements that no longer match what a pool offers or a cluster lacks.

Source: NVIDIA/k8s-device-plugin:internal/lm/{mig-strategy,resource}.go for what GPU feature discovery adds to the name
of a product.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.change.delivery.objects import of_plan
from poolsmith.change.diff.change_report import Disruption, DisruptionKind
from poolsmith.change.diff.rows import on_pools
from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.codes.compatibility import FIELD_WITHOUT_EFFECT
from poolsmith.core.diagnostics.message_text import joined, listed, shorten
from poolsmith.core.sources.pod_template import mapping, pod_template_of
from poolsmith.fleet.profiles.acknowledged_facts import (
    DELIVERY,
    GONE,
    LABEL,
    OFFERS,
    RELEASE,
    gone_fact,
    label_fact,
    offers_fact,
)
from poolsmith.fleet.profiles.cluster import Retiring
from poolsmith.gpu.catalog.node_labels import DEPLOY, DRIVER_OWNER
from poolsmith.guard.ledger.prediction import offered_resources, running_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.change.diff.causes import Causes
    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.plan.plan import PoolPlan


_CLASSES = {
    "RuntimeClass": "the API server refuses pods that name it",
    "DeviceClass": "claims for its devices stay pending",
}
_SHOWN = 3
_OF_CLASSES = (("operator", "runtimeClass"), ("cdi",), ("toolkit",), ("gpuCluster",), ("sandboxWorkloads",), ())
"""Values, the likeliest first; the last stands for all."""
_CAUSES = ("/spec/sharing", "/spec/gpu", "/spec/workload", "/spec/sandbox")


def lost_offers(before: SeenCluster, after: SeenCluster, causes: Causes) -> Iterator[Disruption]:
    """One for each name, with the pools that had it; what goes with a pool is told where no other pool has it."""
    yield from _resources(before, after, causes)
    yield from _classes(before, after, causes)


def _resources(before: SeenCluster, after: SeenCluster, causes: Causes) -> Iterator[Disruption]:
    then = {causes.renamed.get(pool, pool): names for pool, names in offered_resources(before.prediction).items()}
    now = offered_resources(after.prediction)
    anywhere = frozenset().union(*now.values())
    lost: dict[tuple[str, frozenset[str] | None], list[str]] = defaultdict(list)
    for pool, names in then.items():
        if pool in now:
            for name in names - now[pool]:
                lost[name, now[pool] - names].append(pool)
        else:
            for name in names - anywhere:
                lost[name, None].append(pool)
    asked = {(pool.name, pool.smoke.resource) for pool in before.plan.pools if pool.smoke.image is not None}
    for (name, instead), pools in sorted(lost.items(), key=lambda item: (item[0][0], item[1])):
        tested = [pool for pool in sorted(pools) if (causes.old_name(pool), name) in asked]
        yield Disruption(
            kind=DisruptionKind.LOST,
            what=name,
            pools=tuple(sorted(pools)),
            words=resource_words([name], instead, tuple(sorted(pools)), tested),
            place=causes.of_pools(pools, *_CAUSES)
            or causes.of_values(("devicePlugin",), ("mig",), ("sandboxWorkloads",)),
        )


def resource_words(
    names: Sequence[str], instead: frozenset[str] | None, pools: tuple[str, ...], tested: list[str]
) -> str:
    """What is lost on some pools, what they offer in the place of it (None: they are gone), and whose tests asked."""
    shown = listed(map(shorten, names))
    if instead is None:
        are = "is" if len(pools) == 1 else "are"
        words = f"{shown} is offered by no pool any more, now that {listed(pools)} {are} gone"
    else:
        now = f" but {listed(sorted(instead))}" if instead else ""
        words = f"{shown} {'is' if len(names) == 1 else 'are'} no longer offered {on_pools(pools)}{now}"
    smoke = f", as the smoke test of {listed(tested)} did," if tested else ""
    return f"{words}: new pods that ask for it{smoke} stay pending"


def _classes(before: SeenCluster, after: SeenCluster, causes: Causes) -> Iterator[Disruption]:
    then, now = names_of_classes(before), names_of_classes(after)
    pools = tuple(sorted({causes.renamed.get(pool.name, pool.name) for pool in before.plan.pools} & _pools(after)))
    for kind, name in sorted(then - now):
        yield Disruption(
            kind=DisruptionKind.LOST,
            what=f"{kind}/{name}",
            pools=pools,
            words=f"{kind} `{shorten(name)}` is gone: {_CLASSES[kind]}{_users(kind, name, before, after)}",
            place=causes.of_values(*_OF_CLASSES),
        )


def _users(kind: str, name: str, before: SeenCluster, after: SeenCluster) -> str:
    """Who named a RuntimeClass, and still does."""
    if kind != "RuntimeClass":
        return ""
    tested = [pool.name for pool in before.plan.pools if pool.smoke.runtime_class == name]
    still = sorted(item.name for item in after.prediction.installation.made if _runtime_class(item.body) == name)
    words = f", as the smoke test of {listed(tested)} did" if tested else ""
    return words + (f"; {joined([f'`{shorten(user)}`' for user in still], _SHOWN)} still name it" if still else "")


def _pools(seen: SeenCluster) -> set[str]:
    return {pool.name for pool in seen.plan.pools}


def names_of_classes(seen: SeenCluster) -> set[tuple[str, str]]:
    """Kind and name of each RuntimeClass and DeviceClass."""
    made = seen.prediction.installation.made
    return {(item.body["kind"], item.name) for item in made if item.body["kind"] in _CLASSES}


def _runtime_class(body: dict[str, object]) -> object:
    return mapping(mapping(pod_template_of(body)).get("spec")).get("runtimeClassName")


_DISCOVERY = "gpu-feature-discovery"
_STRATEGY = ("mig", "strategy")
_SINGLE = "single"
PRODUCT = "nvidia.com/gpu.product"
"""What discovery writes there follows from the resources that the device plugin offers."""
_MIG_STRATEGY = "nvidia.com/mig.strategy"
_OF_THE_OPERATOR = (DEPLOY, DRIVER_OWNER, _MIG_STRATEGY)
PRODUCT_END = "…"
"""For the name of the product itself, which the driver says."""
_OF_ONE_NODE = "kubernetes.io/hostname"


def is_selected_by(key: str) -> bool:
    """Whether workloads of users select nodes by such a label; others tell where the stack's own pods run, and how."""
    return not key.startswith(_OF_THE_OPERATOR)


def labels_of_pools(seen: SeenCluster) -> dict[str, dict[str, str]]:
    """By pool and key; where nodes of a pool run several systems, all values of a label in one text."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for node in seen.prediction.installation.nodes:
        for key, value in node.labels.items():
            if key != _OF_ONE_NODE:
                found[node.pool][key].add(value)
    labels = {pool: {key: ", ".join(sorted(values)) for key, values in sets.items()} for pool, sets in found.items()}
    strategy = seen.prediction.origins.value(_STRATEGY) or _SINGLE
    for pool in seen.plan.pools:
        if pool.profile.spec.gpu.mig is not None and _DISCOVERY in running_on(seen.prediction, pool.name):
            labels.setdefault(pool.name, {}).update(_discovered(pool, str(strategy)))
    return labels


def _discovered(pool: PoolPlan, strategy: str) -> dict[str, str]:
    """With the strategy `single` the product of slices has their size in its name."""
    size = _slices(pool) if strategy == _SINGLE else None
    return {PRODUCT: f"{PRODUCT_END}-MIG-{size}" if size is not None else PRODUCT_END, _MIG_STRATEGY: strategy}


def _slices(pool: PoolPlan) -> str | None:
    """The one size that all slices of a pool have; None where there are several, or none."""
    mig = pool.profile.spec.gpu.mig
    if mig is None or pool.mig_strategy != _SINGLE:
        return None
    sizes = {size for group in mig.devices for size in group.mig_devices}
    if sizes:
        return min(sizes)
    start, _, size = mig.layout.partition("all-")
    return size if not start and size[:1].isdigit() else None


_HELP = "remove it: a change that makes it so needs an acknowledgement of its own"


def stale_acknowledgements(seen: SeenCluster) -> Iterator[Diagnostic]:
    """At the line of each; of clusters that acknowledge nothing of that kind nothing is asked."""
    loaded = seen.loaded
    for index, item in enumerate(seen.plan.cluster.spec.acknowledge):
        there = _there(seen) if item.fact.startswith(GONE) else ()
        if item.fact in there and loaded.file is not None:
            place = loaded.file.locate(f"/spec/acknowledge/{index}/fact")
            message = f"`{item.fact.removeprefix(GONE)}` is not gone from `{seen.plan.name}`"
            yield diagnose(
                FIELD_WITHOUT_EFFECT, message, place, help=_HELP, severity=Severity.WARNING, subject=seen.plan.name
            )
    for pool in loaded.pools:
        for index, item in enumerate(pool.pool.spec.acknowledge):
            now = _now(seen, pool.pool.name, item.fact)
            if now is not None and item.fact != now:
                yield diagnose(
                    FIELD_WITHOUT_EFFECT,
                    f"pool `{pool.pool.name}` has `{now}`, and not `{item.fact}`",
                    pool.layers.locate(f"/spec/acknowledge/{index}/fact"),
                    help=_HELP,
                    severity=Severity.WARNING,
                    subject=seen.plan.name,
                )


def _there(seen: SeenCluster) -> set[str]:
    """Facts that would be wrong: classes, objects of the delivery, and the releases that these install."""
    delivered = of_plan(seen.plan).values()
    names = {*names_of_classes(seen), *((item.kind, item.name) for item in delivered)}
    names |= {(RELEASE, "/".join(item.release[1:])) for item in delivered if item.release is not None}
    if seen.plan.cluster.spec.delivery.retiring is not Retiring.REMOVE:
        names.add((DELIVERY, seen.plan.delivery_name))
    return {gone_fact(*entry) for entry in names}


def _now(seen: SeenCluster, pool: str, fact: str) -> str | None:
    """What the fact would have to be; None where it is of another kind."""
    if fact.startswith(OFFERS):
        return offers_fact(offered_resources(seen.prediction).get(pool, ()))
    if fact.startswith(LABEL):
        key = fact.removeprefix(LABEL).partition("=")[0]
        return label_fact(key, labels_of_pools(seen).get(pool, {}).get(key))
    return None
