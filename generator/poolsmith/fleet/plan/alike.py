"""Clusters that are alike are resolved once: they differ in the cluster's name, and in where Argo CD delivers to.

A plan says both only in its cluster and its pools, in the lines that values come from, and in findings. So the plan of
one is the plan of the other, once these are put in place. Where a plan or a finding says the name anywhere else, where
passes may ask for it, or where a finding stands elsewhere in the other's file, the cluster is resolved by itself.
"""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING

from poolsmith.core.latest import Latest
from poolsmith.core.sources.input_tree import Seen
from poolsmith.fleet.plan.pipeline import resolve_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.plan.moved import MovableFindings, MovablePlan
    from poolsmith.fleet.plan.pipeline import Resolved
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.gpu.catalog import Catalog

_REMEMBERED, _KINDS = 32, 4
_DESTINATION = ("name", "server")
NO_NAME = "a-name-of-no-cluster-as-long-as-a-name-may-be".ljust(63, "x")
"""Findings are made for it where those of many clusters are to say their own: what is cut for length is cut for all."""


class AlikePlans:
    """The last plans that are one for several clusters."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._seen = Seen()
        self._known = Latest(_REMEMBERED)

    def of(self, loaded: LoadedCluster) -> tuple[Resolved, bytes]:
        """As `resolve_cluster`, and what is the same for all clusters that have this plan; empty where that is none."""
        key = _key(loaded)
        mould: MovablePlan | None = self._known.get(key)
        if mould is not None and (found := mould.of(loaded)) is not None:
            return found, key
        resolved = resolve_cluster(loaded, self._catalog)
        if key and resolved.plan is not None and self._seen.has(key):
            from poolsmith.fleet.plan.moved import MovableFindings, MovablePlan  # on demand

            self._known.keep(key, MovablePlan(resolved.plan, MovableFindings(loaded, resolved.diagnostics)))
        return resolved, b""


class AlikeFindings:
    """Findings on clusters that are alike, made once for all of them: of a cluster of no name, which each then gets."""

    def __init__(self) -> None:
        self._known = Latest(_REMEMBERED * _KINDS)

    def of(
        self, work: str, alike: bytes, loaded: LoadedCluster, find: Callable[[str], Iterable[Diagnostic]]
    ) -> tuple[Diagnostic, ...]:
        """What `find` finds on a cluster that it is told the name of; it follows from the plan and the profiles alone.

        `alike` as `AlikePlans` tells it. Where the first one's findings are not those of no name, each has its own.
        """
        known: MovableFindings | None = self._known.get((work, alike))
        if known is not None and (moved := known.of(loaded)) is not None:
            return moved
        found = tuple(find(loaded.name))
        if alike and (work, alike) not in self._known:
            self._known.keep((work, alike), _mould(loaded, found, tuple(find(NO_NAME))))
        return found


def _mould(
    loaded: LoadedCluster, found: tuple[Diagnostic, ...], unnamed: tuple[Diagnostic, ...]
) -> MovableFindings | None:
    """Of findings on a cluster, and those of no name; None where more than the name tells one from the other."""
    from poolsmith.fleet.plan.moved import MovableFindings  # on demand, as above

    if unnamed == found:
        return MovableFindings(loaded, found)
    mould = MovableFindings(loaded, unnamed, NO_NAME)
    return mould if mould.of(loaded) == found else None


def _key(loaded: LoadedCluster) -> bytes:
    """Of all that passes read; empty of a cluster whose name they may ask for, or that is more than its files say."""
    file, cluster = loaded.file, loaded.cluster
    if file is None or cluster is None or cluster.spec.delivery.after or cluster.spec.ring is not None:
        return b""
    metadata = {**file.data["metadata"], "name": ""}
    spec = dict(file.data["spec"])
    delivery = dict(spec.get("delivery") or {})
    if isinstance(destination := delivery.get("destination"), dict):
        blank = {name: "" for name in _DESTINATION if isinstance(destination.get(name), str)}
        delivery["destination"] = destination | blank
    spec["delivery"] = delivery
    own = file.path.rpartition("/")[0]
    pools = [[(one.path.removeprefix(own), one.digest) for one in item.layers.files] for item in loaded.pools]
    try:
        said = marshal.dumps((file.path.removeprefix(own), {**file.data, "metadata": metadata, "spec": spec}, pools), 2)
    except ValueError:
        return b""
    from _blake2 import blake2b  # what hashlib would give, without loading OpenSSL

    return blake2b(said, digest_size=16).digest()
