"""What workloads ask for by name and no longer find: resources of a pool's nodes, RuntimeClasses, DeviceClasses."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import Disruption, DisruptionKind
from poolsmith.change.diff.pool_words import on_pools
from poolsmith.core.diagnostics.listing import joined, listed
from poolsmith.core.diagnostics.printable import shorten
from poolsmith.core.sources.pod_template import mapping, pod_template_of
from poolsmith.guard.ledger.offers import offered_resources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.change.diff.causes import Causes
    from poolsmith.change.review.change import SeenCluster

_CLASSES = {
    "RuntimeClass": "the API server refuses pods that name it",
    "DeviceClass": "claims for its devices stay pending",
}
_SHOWN = 3
_VALUES = (("devicePlugin",), ("sandboxDevicePlugin",), ("mig",), ("sandboxWorkloads",), ("gpuCluster",), ())
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
