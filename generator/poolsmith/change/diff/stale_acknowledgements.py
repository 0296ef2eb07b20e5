"""Acknowledgements of what a pool offers, or a cluster lacks, that is not so, or not any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.delivery_objects import of_plan
from poolsmith.change.diff.lost_offers import names_of_classes
from poolsmith.change.diff.pool_labels import labels_of_pools
from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.codes.compatibility import FIELD_WITHOUT_EFFECT
from poolsmith.fleet.profiles.acknowledged_facts import GONE, LABEL, OFFERS, RELEASE, gone_fact, label_fact, offers_fact
from poolsmith.guard.ledger.offers import offered_resources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.review.change import SeenCluster
    from poolsmith.core.diagnostics import Diagnostic

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
    return {gone_fact(*entry) for entry in names}


def _now(seen: SeenCluster, pool: str, fact: str) -> str | None:
    """What the fact would have to be; None where it is of another kind."""
    if fact.startswith(OFFERS):
        return offers_fact(offered_resources(seen.prediction).get(pool, ()))
    if fact.startswith(LABEL):
        key = fact.removeprefix(LABEL).partition("=")[0]
        return label_fact(key, labels_of_pools(seen).get(pool, {}).get(key))
    return None
