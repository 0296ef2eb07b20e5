"""Clusters of later rings that have something newer than an earlier ring that has the same thing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes.shape import RING_AHEAD
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.gpu.drivers.driver_image import branch_of, is_full

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster, LoadedPool
    from poolsmith.fleet.profiles.rings_and_teams import RingOrderSpec

_NUMBER = pattern(r"\d{1,9}", re.ASCII)
_RELEASE = pattern(r"v?\d{1,9}(\.\d{1,9}){1,3}", re.ASCII)
_VERSION = pattern(r"\d{1,9}([.-]\d{1,9}){0,5}", re.ASCII)


@record(kw_only=False)
class _Held:
    """One thing that rolls: what it is, its version, and the line that says so. Only equal things are compared."""

    what: tuple[str, ...]
    name: str
    version: str
    order: tuple[int, ...]
    cluster: str
    subject: str
    place: Location


def ahead_of_rings(order: RingOrderSpec, clusters: Iterable[LoadedCluster]) -> Iterator[Diagnostic]:
    """One for each line that is newer than all that the nearest such earlier ring has of the same."""
    held: dict[str, list[_Held]] = {ring: [] for ring in order.order}
    for loaded in clusters:
        if loaded.cluster is not None and loaded.cluster.spec.ring in held:
            held[loaded.cluster.spec.ring].extend(_held(loaded))
    newest: dict[tuple[str, ...], dict[str, _Held]] = {}
    for ring, items in held.items():
        for item in items:
            behind = [
                (earlier, other) for earlier, other in newest.get(item.what, {}).items() if other.order < item.order
            ]
            if behind:
                yield _ahead(ring, item, *behind[0])
        for item in items:
            of_ring = newest.setdefault(item.what, {})
            if ring not in of_ring or of_ring[ring].order < item.order:
                of_ring[ring] = item


def _ahead(ring: str, item: _Held, earlier: str, other: _Held) -> Diagnostic:
    return diagnose(
        RING_AHEAD,
        f"`{item.subject}` of ring `{ring}` has {item.name} {item.version}, and the earlier ring `{earlier}` at most "
        f"{other.version}, in `{other.subject}`",
        item.place,
        help=f"change ring `{earlier}` first",
        subject=item.subject,
        related=(other.place,),
    )


def _held(loaded: LoadedCluster) -> Iterator[_Held]:
    if loaded.cluster is None or loaded.file is None:
        return
    stack = loaded.cluster.spec.stack
    if _RELEASE.fullmatch(stack.release):
        place = loaded.file.locate("/spec/stack/release")
        numbers = _numbers(stack.release)
        what = ("release", stack.kind.value)
        yield _Held(what, "release", stack.release, numbers, loaded.name, loaded.name, place)
    for item in loaded.pools:
        yield from _drivers(loaded.name, item)
        yield from _bases(loaded.name, item)


def _drivers(cluster: str, item: LoadedPool) -> Iterator[_Held]:
    """A whole version is compared with whole versions only, and a branch with branches of the rest."""
    spec = item.pool.spec
    driver = spec.driver
    if driver.source is None or driver.version is None or driver.vgpu is not None:
        return
    branch = branch_of(driver.version)
    if branch is None:
        return
    place = item.layers.locate("/spec/driver/version")
    what = (driver.source.value, spec.gpu.product)
    told = f"for {spec.gpu.product} the {driver.source.value} driver"
    subject = f"{cluster}/{item.pool.name}"
    yield _Held(("branch", *what), f"{told} branch", str(branch), (branch,), cluster, subject, place)
    if is_full(driver.version):
        key = ("version", *what, str(branch))
        yield _Held(key, told, driver.version, _numbers(driver.version), cluster, subject, place)


def _bases(cluster: str, item: LoadedPool) -> Iterator[_Held]:
    """Versions of one base are compared where they are written alike: numbers, as many of them."""
    for file in item.layers.files:
        spec = file.data.get("spec")
        names = spec.get("extends") if isinstance(spec, dict) else None
        for index, name in enumerate(names if isinstance(names, list) else ()):
            base, _, version = name.partition("@") if isinstance(name, str) else ("", "", "")
            if _VERSION.fullmatch(version):
                numbers = _numbers(version)
                what = ("base", base, str(len(numbers)))
                place = file.locate(f"/spec/extends/{index}")
                subject = f"{cluster}/{item.pool.name}"
                yield _Held(what, f"the base `{base}` at", version, numbers, cluster, subject, place)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _NUMBER.findall(text))
