"""Which pools a change leaves alone, and what a cluster would be if the change touched nothing but one pool and what is
the cluster's own: what differs from that is what other pools do to this one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.spec_document import spec_document
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.change.review.change import SeenCluster
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster

_ACKNOWLEDGED = "acknowledge"


@record
class Without:
    """What a pool is held against: `seen` is the cluster as it would be without the change of other pools.

    `is_certain`: nobody had to guess. Else it is the base, and a difference may have come from the pool itself.
    """

    seen: SeenCluster
    is_certain: bool = True


class Counterfactuals:
    """Of one change of one cluster. `again` plans and predicts profiles; None where they do not fit together."""

    def __init__(
        self,
        before: SeenCluster,
        after: SeenCluster,
        renamed: Mapping[str, str],
        again: Callable[[LoadedCluster], SeenCluster | None],
    ) -> None:
        self.before = before
        self.after = after
        self._again = again
        old_names = {new: old for old, new in renamed.items()}
        then = {item.pool.name: item for item in before.loaded.pools}
        now = {item.pool.name: item for item in after.loaded.pools}
        both = {name for name in now if old_names.get(name, name) in then}
        self._old_names = {name: old_names.get(name, name) for name in both}
        self.untouched = frozenset(
            name for name in both if name in then and _spec(then[name].pool.spec) == _spec(now[name].pool.spec)
        )
        self.touched = frozenset(both - self.untouched)
        self.others_change = len(self.untouched) < max(len(then), len(now))
        self._is_cluster_same = _cluster(before) == _cluster(after)
        self._of_untouched: Without | None = None

    @property
    def of_untouched(self) -> Without:
        """For all pools that the change leaves alone."""
        if self._of_untouched is None:
            if self._is_cluster_same:
                self._of_untouched = Without(seen=self.before)
            else:
                self._of_untouched = self._with_pools(None)
        return self._of_untouched

    def of(self, pool: str) -> Without:
        """For a pool that both sides have."""
        return self.of_untouched if pool in self.untouched else self._with_pools(pool)

    def old_name(self, pool: str) -> str:
        """What a pool was called before the change."""
        return self._old_names.get(pool, pool)

    def changed_pools(self, but: str) -> Iterator[str]:
        """Names of other pools that come, change or go; those that are still there first."""
        now = [item.pool.name for item in self.after.loaded.pools]
        yield from (name for name in now if name not in self.untouched and name != but)
        old = set(self._old_names.values())
        yield from (item.pool.name for item in self.before.loaded.pools if item.pool.name not in old)

    def _with_pools(self, own: str | None) -> Without:
        """The pools of before the change, but `own` as it is now, and the cluster as it is now."""
        before, after = self.before.loaded, self.after.loaded
        mine = [item for item in after.pools if item.pool.name == own]
        replaced = self._old_names.get(own, own) if own is not None else None
        others = [item for item in before.pools if item.pool.name not in (replaced, own)]
        pools = tuple(sorted((*others, *mine), key=lambda item: item.pool.name))
        seen = self._again(replace(after, pools=pools))
        return Without(seen=seen) if seen is not None else Without(seen=self.before, is_certain=False)


def _spec(spec: Any) -> Any:
    """Without what is only acknowledged."""
    return {key: value for key, value in spec_document(spec).items() if key != _ACKNOWLEDGED}


def _cluster(seen: SeenCluster) -> Any:
    return _spec(seen.plan.cluster.spec)
