"""Profile fields, values, images, objects, pools, clusters and drift, each told once for all clusters alike.

What the change of some pools does to others, told once for all pools and clusters that it is the same for.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_sections import Point, Weight, Where, on_pools
from poolsmith.core.diagnostics.message_text import counted, joined, shorten
from poolsmith.core.sources.pointer import split
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from poolsmith.change.diff.change_report import ClusterDiff, ImageChange, ObjectChange, OtherPoolChange
    from poolsmith.change.diff.change_sections import Fleet
    from poolsmith.kubernetes.server.field_changes import FieldChange


_FEW = 4
_FEW_IMAGES = 8
_ALL = 200
_VERBS = {Standing.ADDED: "new", Standing.REMOVED: "gone", Standing.CHANGED: "changed", Standing.RENAMED: "renamed"}


class Gathered:
    """Sentences that are the same for several clusters, with where that is."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self._groups: dict[tuple[object, ...], tuple[Where, dict[object, None], dict[str, None], list[int]]] = {}
        self._words: dict[tuple[object, ...], tuple[Callable[[str], str], Weight]] = {}

    def add(
        self,
        key: tuple[object, ...],
        words: Callable[[str], str],
        cluster: str,
        pools: Iterable[str] = (),
        *,
        weight: Weight = Weight.PLAIN,
        place: object = None,
        details: Iterable[str] = (),
    ) -> None:
        """`words` make the sentence of where it is."""
        where, places, told, count = self._groups.setdefault(key, (Where(self.fleet), {}, {}, [0]))
        self._words.setdefault(key, (words, weight))
        where.add(cluster, pools)
        if place is not None:
            places[place] = None
        told |= dict.fromkeys(details)
        count[0] += 1

    def points(self) -> tuple[Point, ...]:
        found = []
        for key, (where, places, details, count) in self._groups.items():
            words, weight = self._words[key]
            point = Point(
                words=words(str(where)),
                weight=weight,
                clusters=where.clusters,
                places=tuple(places),  # type: ignore[arg-type]
                details=tuple(details),
                stands_for=count[0],
            )
            found.append((weight.rank, -len(where.clusters), point))
        return tuple(point for *_, point in sorted(found, key=lambda item: item[:2]))


def field_points(clusters: Iterable[ClusterDiff], fleet: Fleet) -> tuple[Point, ...]:
    """Fields of profiles first, which people have changed; then the Helm values that they come to."""
    profiles, values = Gathered(fleet), Gathered(fleet)
    for cluster in clusters:
        for field in cluster.fields:
            _add_field(profiles, cluster.name, (), field, split(field.pointer))
        for pool in cluster.pools:
            if pool.standing in (Standing.CHANGED, Standing.RENAMED):
                for field in pool.fields:
                    _add_field(profiles, cluster.name, (pool.name,), field, split(field.pointer))
        for field in cluster.values:
            release, *path = split(field.pointer)
            _add_field(values, cluster.name, (), field, path, f"value of `{shorten(release)}` ")
    return (*profiles.points(), *values.points())


def _add_field(
    gathered: Gathered, cluster: str, pools: tuple[str, ...], field: FieldChange, path: Sequence[str], of: str = ""
) -> None:
    name, how = f"{of}`{shorten('.'.join(path))}`", _how(field)
    gathered.add(
        (of, field.pointer, how, bool(pools)),
        lambda where: f"{name}{f' {where}' if where else ''}: {how}",
        cluster,
        pools,
        place=field.place,
    )


def _how(field: FieldChange) -> str:
    match field.standing:
        case Standing.ADDED:
            return f"now {_value(field.new)}"
        case Standing.REMOVED:
            return f"no longer {_value(field.old)}"
    return f"{_value(field.old)} to {_value(field.new)}"


def _value(value: Any) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, default=str)
    return f"`{shorten(text)}`"


def image_points(clusters: Iterable[ClusterDiff], fleet: Fleet) -> tuple[Point, ...]:
    """One for each repository: the tags that are pulled from now on, and no longer."""
    gathered = Gathered(fleet)
    for cluster in clusters:
        repositories: dict[str, list[ImageChange]] = defaultdict(list)
        for image in cluster.images:
            repositories[_repository(image.image)].append(image)
        for repository, images in sorted(repositories.items()):
            gone = tuple(sorted(_tag(item.image) for item in images if item.standing is Standing.REMOVED))
            come = tuple(sorted(_tag(item.image) for item in images if item.standing is not Standing.REMOVED))
            pools = [pool for item in images for pool in item.pools]
            gathered.add((repository, gone, come), _image_words(repository, gone, come), cluster.name, pools)
    return gathered.points()


def images_in_short(clusters: Iterable[ClusterDiff]) -> str:
    names = {_repository(item.image).rpartition("/")[2] for cluster in clusters for item in cluster.images}
    shown = joined([f"`{shorten(name)}`" for name in sorted(names)], _FEW_IMAGES)
    return f"{counted(len(names), 'image')}: {shown}"


def _image_words(repository: str, gone: tuple[str, ...], come: tuple[str, ...]) -> Callable[[str], str]:
    name = f"`{shorten(repository)}`"
    old, new = (joined([f"`{shorten(tag)}`" for tag in tags], _FEW) for tags in (gone, come))

    def words(where: str) -> str:
        at = f" {where}" if where else ""
        if gone and come:
            return f"{name}{at}: {old} to {new}"
        return f"{name}{at}: new, {new}" if come else f"{name}{at}: gone, {old}"

    return words


def _repository(image: str) -> str:
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return head if colon and "/" not in tag else name


def _tag(image: str) -> str:
    return image[len(_repository(image)) :].lstrip(":") or "no tag"


def object_points(clusters: Iterable[ClusterDiff], fleet: Fleet) -> tuple[Point, ...]:
    """One for each kind and what becomes of it; names and fields are in the details."""
    groups: dict[tuple[bool, Standing, str], list[tuple[str, ObjectChange]]] = defaultdict(list)
    for cluster in clusters:
        for item in cluster.objects:
            groups[item.made, item.standing, item.kind].append((cluster.name, item))
    order = list(Standing)
    return tuple(
        _object_point(made, standing, kind, found, fleet=fleet)
        for (made, standing, kind), found in sorted(
            groups.items(), key=lambda entry: (entry[0][0], order.index(entry[0][1]), entry[0][2])
        )
    )


def objects_in_short(clusters: Iterable[ClusterDiff]) -> str:
    """How many of each standing, those that are applied and those that the operator makes."""
    found = [item for cluster in clusters for item in cluster.objects]
    phrases = []
    for made, of in ((False, "applied"), (True, "made by the operator")):
        standings = [item.standing for item in found if item.made is made]
        counts = [f"{count:,} {_VERBS[one]}" for one in Standing if (count := standings.count(one))]
        if counts:
            phrases.append(f"{', '.join(counts)} of those {of}")
    return "; ".join(phrases)


def _object_point(
    made: bool,
    standing: Standing,
    kind: str,
    found: list[tuple[str, ObjectChange]],
    *,
    fleet: Fleet,
) -> Point:
    where = Where(fleet)
    for cluster, _ in found:
        where.add(cluster)
    names = dict.fromkeys(f"`{shorten(item.name)}`" for _, item in found)
    by = " (made by the operator)" if made else ""
    at = f" {where}" if str(where) else ""
    what = f"{len(found):,} {kind}" if len(found) > 1 else kind
    return Point(
        words=f"{what} {_VERBS[standing]}{by}{at}: {joined(names, _FEW)}",
        clusters=where.clusters,
        details=tuple(dict.fromkeys(_object_detail(item) for _, item in found if item.fields or len(names) > _FEW)),
        stands_for=len(found),
    )


def _object_detail(item: ObjectChange) -> str:
    where = f" in namespace `{shorten(item.namespace)}`" if item.namespace else ""
    fields = [f"`{shorten('.'.join(split(field.pointer)))}`" for field in item.fields]
    what = f": {joined(fields, _ALL)}" if fields else ""
    return f"`{shorten(item.kind)}/{shorten(item.name)}`{where} {_VERBS[item.standing]}{what}"


def fleet_points(clusters: Iterable[ClusterDiff], fleet: Fleet) -> tuple[Point, ...]:
    """Clusters and pools that come, go, or are called otherwise."""
    gathered = Gathered(fleet)
    for cluster in clusters:
        for words, standing, place, name in _fleet(cluster):
            weight = Weight.NOTABLE if standing is Standing.REMOVED else Weight.PLAIN
            is_pool = bool(name)
            key = (words, "" if is_pool else cluster.name)

            def told(where: str, words: str = words, is_pool: bool = is_pool) -> str:
                return f"{words} {where}" if is_pool and where else words

            gathered.add(key, told, cluster.name, weight=weight, place=place)
    return gathered.points()


def _fleet(cluster: ClusterDiff) -> Iterator[tuple[str, Standing, object, str]]:
    if cluster.standing is not Standing.CHANGED:
        yield f"cluster {_named(cluster.name, cluster.renamed_from, cluster.standing)}", cluster.standing, None, ""
        if cluster.standing is not Standing.RENAMED:
            count = counted(len(cluster.pools), "pool")
            verb = "comes" if cluster.standing is Standing.ADDED else "goes"
            if cluster.pools:
                yield f"{count} {verb} with cluster `{shorten(cluster.name)}`", Standing.ADDED, None, ""
            return
    for pool in cluster.pools:
        if pool.standing is not Standing.CHANGED:
            yield (
                f"pool {_named(pool.name, pool.renamed_from, pool.standing)}",
                pool.standing,
                pool.place,
                pool.name,
            )


def _named(name: str, renamed_from: str, standing: Standing) -> str:
    if standing is Standing.RENAMED:
        return f"`{shorten(renamed_from)}` is called `{shorten(name)}` from now on"
    return f"`{shorten(name)}` is {_VERBS[standing]}"


def drift_points(clusters: Iterable[ClusterDiff], fleet: Fleet) -> tuple[Point, ...]:
    gathered = Gathered(fleet)
    for cluster in clusters:
        for item in cluster.drift:
            is_new = item.standing is not Standing.REMOVED
            weight = Weight.NOTABLE if is_new and not item.cured else Weight.PLAIN
            state = "new" if is_new else "no longer"
            words = f"{state}: {item.words}"

            def told(where: str, words: str = words) -> str:
                return f"{words} ({where})" if where else words

            gathered.add((words, item.cured), told, cluster.name, weight=weight, place=item.place)
    return gathered.points()


_POOLS = "\0"


def other_pool_points(clusters: Iterable[ClusterDiff], fleet: Fleet) -> tuple[Point, ...]:
    """What stops workloads first. What is acknowledged asks nobody to decide, and is told."""
    gathered = Gathered(fleet)
    for cluster in clusters:
        for item in cluster.others:
            template = item.words.replace(on_pools((item.pool,)), _POOLS)

            def told(where: str, template: str = template, by: str = item.acknowledged_by) -> str:
                words = template.replace(_POOLS, where)
                return f"{words}; acknowledged with this change, by `{shorten(by)}`" if by else words

            gathered.add(
                (item.kind, template, item.acknowledged_by),
                told,
                cluster.name,
                (item.pool,),
                weight=_weight(item),
                place=item.place,
            )
    return gathered.points()


def _weight(item: OtherPoolChange) -> Weight:
    return Weight.GRAVE if item.stops and not item.acknowledged_by else Weight.NOTABLE
