"""The records of a change as rows: what each says, which rows are alike, and how much attention they ask for."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_report import DisruptionKind, ReleaseChangeKind
from poolsmith.change.diff.change_sections import Part, Weight
from poolsmith.change.diff.engine_rows import action_rows, departure_rows
from poolsmith.change.diff.privilege_words import Right, gains, privilege_standing, resource_words
from poolsmith.change.diff.rows import NAME, NODES, POOLS, WAVES, By, Row, RowKind, on_pools
from poolsmith.change.diff.touched_clusters import of_clusters
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import counted, joined, shorten
from poolsmith.core.sources.pointer import split
from poolsmith.guard.ledger.ledger_delta import ChangeKind
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.change.diff.change_report import (
        ChangeReport,
        ClusterDiff,
        Disruption,
        ImageChange,
        OtherPoolChange,
        PoolChange,
        PrivilegeChange,
    )
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.ledger.ledger_delta import Change
    from poolsmith.guard.ledger.privilege import Privilege
    from poolsmith.kubernetes.server.field_changes import FieldChange

_FEW = 4
_OUTPUT = "output/clusters/"
_KINDS = tuple(DisruptionKind)
RELEASE = "/spec/stack/release"
_STANDINGS = tuple(Standing)
_IN_OWN_SECTION = frozenset((DisruptionKind.UNINSTALLED, DisruptionKind.LEFT))
_OF_RELEASES = dict.fromkeys(ReleaseChangeKind, Weight.NOTABLE) | {
    ReleaseChangeKind.PATH: Weight.GRAVE,
    ReleaseChangeKind.BY_HAND: Weight.GRAVE,
    ReleaseChangeKind.DEFINITIONS: Weight.PLAIN,
    ReleaseChangeKind.DEFAULT: Weight.PLAIN,
}
_OF_DISRUPTIONS = dict.fromkeys(DisruptionKind, Weight.NOTABLE) | {
    DisruptionKind.LOST: Weight.GRAVE,
    DisruptionKind.STARTED: Weight.PLAIN,
}
_OF_FINDINGS = {Severity.ERROR: Weight.GRAVE, Severity.WARNING: Weight.NOTABLE, Severity.NOTE: Weight.PLAIN}


def rows_of(part: Part, report: ChangeReport) -> Iterator[Row]:
    """What a change does, as far as one section is about it."""
    match part:
        case Part.UNKNOWN:
            for number, text in enumerate(report.unknown):
                yield Row(kind=RowKind.UNKNOWN, standing="", key=(number,), item=text, text=text, weight=Weight.GRAVE)
        case Part.NEW:
            yield from map(_new_finding, report.new_findings)
        case Part.FIXED:
            yield from map(_finding, report.fixed_findings)
    for cluster in report.clusters:
        for rows in _OF_CLUSTERS.get(part, ()):
            yield from rows(cluster)


def self_grant_rows(report: ChangeReport) -> Iterator[Row]:
    for number, item in enumerate(report.self_grants):
        weight = Weight.GRAVE if item.widens else Weight.PLAIN
        yield Row(
            kind=RowKind.SELF_GRANT,
            standing="",
            key=(number,),
            item=item,
            text=item.what,
            weight=weight,
            place=item.place,
        )


def _unknown(cluster: ClusterDiff) -> Iterator[Row]:
    for text in cluster.unknown:
        yield Row(
            kind=RowKind.UNKNOWN,
            standing="",
            key=(text,),
            item=text,
            cluster=cluster.name,
            text=text,
            weight=Weight.GRAVE,
            rank=1,
        )


def _new_finding(item: Diagnostic) -> Row:
    return _finding(item, Weight.PLAIN if item.is_waived else _OF_FINDINGS[item.severity])


def _finding(item: Diagnostic, weight: Weight = Weight.PLAIN) -> Row:
    path = item.primary.span.path
    return Row(
        kind=RowKind.FINDING,
        standing="",
        key=(item.severity, item.code, item.is_waived),
        item=item,
        cluster=path[len(_OUTPUT) :].partition("/")[0] if path.startswith(_OUTPUT) else of_clusters(path),
        place=item.primary,
        weight=weight,
    )


def _cross_pool(cluster: ClusterDiff) -> Iterator[Row]:
    """What stops workloads asks for a decision, unless it is acknowledged."""
    for item in cluster.others:
        text = item.words.replace(on_pools((item.pool,)), POOLS)
        yield Row(
            kind=RowKind.CROSS_POOL,
            standing="acknowledged" if item.acknowledged_by else "",
            key=(item.kind, text, item.acknowledged_by),
            item=item,
            cluster=cluster.name,
            pools=(item.pool,),
            text=text,
            place=item.place,
            weight=_of_cross_pool(item),
        )


def _of_cross_pool(item: OtherPoolChange) -> Weight:
    return Weight.GRAVE if item.stops and not item.acknowledged_by else Weight.NOTABLE


def _release(cluster: ClusterDiff) -> Iterator[Row]:
    for item in cluster.release:
        text = item.words.removesuffix(f", {on_pools(item.pools)}") if item.pools else item.words
        yield Row(
            kind=RowKind.RELEASE,
            standing="",
            key=(item.kind, text),
            item=item,
            cluster=cluster.name,
            pools=item.pools,
            text=text,
            place=item.place,
            weight=_OF_RELEASES[item.kind],
        )


def _admitted(cluster: ClusterDiff) -> Iterator[Row]:
    for item in cluster.admitted:
        yield Row(
            kind=RowKind.ADMITTED,
            standing="",
            key=(cluster.name, item.workloads, item.grants),
            item=item,
            cluster=cluster.name,
            name=shorten(item.pool),
            place=item.place,
            weight=Weight.NOTABLE,
            rank=-1,
            by=By.FLEET,
        )


def _more(cluster: ClusterDiff) -> Iterator[Row]:
    yield from _privileges(cluster, [item for item in cluster.privileges if gains(item.change)])


def _less(cluster: ClusterDiff) -> Iterator[Row]:
    yield from _privileges(cluster, [item for item in cluster.privileges if not gains(item.change)])


def _privileges(cluster: ClusterDiff, items: Iterable[PrivilegeChange]) -> Iterator[Row]:
    """One for each privilege of a container on nodes; of the API, one for all resources with the same verbs."""
    rights, added = [], cluster.added_pools
    for item in items:
        change = item.change
        if _is_right(change):
            rights.append(item)
            continue
        sides = bool(change.pools_before), bool(change.pools_after)
        key = change.kind, change.old, change.new, change.container, item.granted, sides
        yield _privilege(cluster, item, key, added)
    yield from _rights(cluster, rights, added)


def _rights(cluster: ClusterDiff, items: Iterable[PrivilegeChange], added: frozenset[str]) -> Iterator[Row]:
    verbs: dict[tuple[object, ...], dict[tuple[str, str], dict[str, PrivilegeChange]]] = defaultdict(dict)
    for item in items:
        change = item.change
        group, resource, verb, scope, name = _shown(change).arguments
        sides = bool(change.pools_before), bool(change.pools_after)
        who = change.namespace, change.workload, change.container
        verbs[change.kind, who, scope, name, item.granted, sides].setdefault((group, resource), {})[verb] = item
    for (kind, _, *rest), resources in verbs.items():
        alike: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
        for one, found in resources.items():
            alike[tuple(sorted(found))].append(one)
        for names, several in alike.items():
            right = Right(verbs=", ".join(names), resources=tuple(resource_words(*one) for one in sorted(several)))
            changes = [resources[one][verb] for one in several for verb in names]
            worst = min(changes, key=lambda item: item.change.reach)
            key = kind, *rest, names, right.resources
            yield _privilege(cluster, worst, key, added, right, len(names) * len(several))


def _privilege(
    cluster: ClusterDiff,
    item: PrivilegeChange,
    key: tuple[object, ...],
    added: frozenset[str],
    right: Right | None = None,
    count: int = 1,
) -> Row:
    change = item.change
    is_removed, is_moved = change.kind is ChangeKind.REMOVED, change.kind is ChangeKind.MOVED
    weight = Weight.PLAIN
    if gains(change):
        weight = Weight.GRAVE if item.granted is False else Weight.NOTABLE
    return Row(
        kind=RowKind.PRIVILEGE,
        standing=privilege_standing(change),
        key=key,
        item=(item, right),
        cluster=cluster.name,
        pools=change.pools_after if change.pools_after or not is_removed else None,
        pools_before=change.pools_before if is_removed or (is_moved and change.pools_before) else None,
        name=change.workload,
        place=item.place,
        weight=weight,
        rank=change.reach,
        count=count,
        by=_by(item, added),
    )


def _by(item: PrivilegeChange, added: frozenset[str]) -> By:
    if item.change.pools_after and added.issuperset(item.change.pools_after):
        return By.FLEET
    return By.RELEASE if item.place is not None and item.place.pointer == RELEASE else By.PERSON


def _is_right(change: Change) -> bool:
    return _shown(change).name == "rbac" and change.kind not in (ChangeKind.WIDENED, ChangeKind.NARROWED)


def _shown(change: Change) -> Privilege:
    privilege = change.new or change.old
    assert privilege is not None, "a change has one of them"
    return privilege


def _disruptions(cluster: ClusterDiff) -> Iterator[Row]:
    for item in cluster.disruptions:
        if item.kind in _IN_OWN_SECTION:
            continue
        text = _marked(item)
        yield Row(
            kind=RowKind.DISRUPTION,
            standing=item.kind,
            key=(item.kind, text, "" if text != item.words else cluster.name),
            item=item,
            cluster=cluster.name,
            pools=item.pools,
            name=item.what.partition("/")[2] or item.what,
            text=text,
            place=item.place,
            weight=_OF_DISRUPTIONS[item.kind],
            rank=_KINDS.index(item.kind),
            tie=text,
        )


def _marked(item: Disruption) -> str:
    """The sentence with marks for what differs from cluster to cluster: pools, how many nodes and waves there are."""
    words = item.words
    if where := on_pools(item.pools):
        words = words.replace(where, POOLS, 1)
    if item.kind is DisruptionKind.DRIVER:
        words = words.replace(f"`{shorten(item.what.partition('/')[2] or item.what)}`", NAME, 1)
    if item.waves is not None and POOLS in words and item.kind is DisruptionKind.DRIVER:
        if item.waves.nodes is not None:
            words = words.replace(f" {counted(item.waves.nodes, 'node')},", f" {NODES},", 1)
        if item.waves.waves is not None:
            words = words.replace(f", {counted(item.waves.waves, 'wave')}", f", {WAVES}", 1)
    return words


def _images(cluster: ClusterDiff) -> Iterator[Row]:
    """One for each repository: the tags that are pulled from now on, and no longer."""
    repositories: dict[str, list[ImageChange]] = defaultdict(list)
    for item in cluster.images:
        repositories[_repository(item.image)].append(item)
    for repository, items in sorted(repositories.items()):
        gone, come = (
            tuple(sorted(_tag(item.image) for item in items if (item.standing is Standing.REMOVED) is removed))
            for removed in (True, False)
        )
        standing = Standing.CHANGED if gone and come else Standing.ADDED if come else Standing.REMOVED
        yield Row(
            kind=RowKind.IMAGE,
            standing=standing,
            key=(repository, gone, come),
            item=items,
            cluster=cluster.name,
            pools=tuple(pool for item in items for pool in item.pools),
            name=repository,
            old=joined([f"`{shorten(tag)}`" for tag in gone], _FEW),
            new=joined([f"`{shorten(tag)}`" for tag in come], _FEW),
        )


def _repository(image: str) -> str:
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return head if colon and "/" not in tag else name


def _tag(image: str) -> str:
    return image[len(_repository(image)) :].lstrip(":") or "no tag"


def _fields(cluster: ClusterDiff) -> Iterator[Row]:
    """Fields of profiles, which people have changed, before the Helm values that follow from them."""
    for field in cluster.fields:
        yield _field(RowKind.FIELD, cluster, field, split(field.pointer))
    for pool in cluster.pools:
        if pool.standing in (Standing.CHANGED, Standing.RENAMED):
            for field in pool.fields:
                yield _field(RowKind.FIELD, cluster, field, split(field.pointer), (pool.name,))


def _values(cluster: ClusterDiff) -> Iterator[Row]:
    for field in cluster.values:
        release, *path = split(field.pointer)
        yield _field(RowKind.VALUE, cluster, field, path, of=f"value of `{shorten(release)}` ")


def _field(
    kind: RowKind,
    cluster: ClusterDiff,
    field: FieldChange,
    path: Iterable[str],
    pools: tuple[str, ...] = (),
    of: str = "",
) -> Row:
    standing = _standing(field)
    old = "" if standing is Standing.ADDED else _value(field.old)
    new = "" if standing is Standing.REMOVED else _value(field.new)
    is_release = kind is RowKind.FIELD and field.pointer == RELEASE and not pools
    return Row(
        kind=kind,
        standing=standing,
        by=By.RELEASE if is_release else By.PERSON,
        key=(of, field.pointer, standing, old, new, bool(pools)),
        item=field,
        cluster=cluster.name,
        pools=pools,
        name=f"{of}`{shorten('.'.join(path))}`",
        old=old,
        new=new,
        place=field.place,
        rank=kind is RowKind.VALUE,
    )


def _standing(field: FieldChange) -> Standing:
    """A field without a value is not there."""
    if field.standing is Standing.CHANGED and None in (field.old, field.new):
        return Standing.ADDED if field.old is None else Standing.REMOVED
    return field.standing


def _value(value: Any) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, default=str)
    return f"`{shorten(text)}`"


def _objects(cluster: ClusterDiff) -> Iterator[Row]:
    for item in cluster.objects:
        yield Row(
            kind=RowKind.OBJECT,
            standing=item.standing,
            key=(item.made, item.standing, item.kind),
            item=item,
            cluster=cluster.name,
            name=f"`{shorten(item.name)}`",
            rank=item.made * len(_STANDINGS) + _STANDINGS.index(item.standing),
            tie=item.kind,
        )


def fleet_rows(cluster: ClusterDiff) -> Iterator[Row]:
    """Clusters and pools that are added, removed or renamed."""
    if cluster.standing is not Standing.CHANGED:
        yield Row(
            kind=RowKind.CLUSTER,
            standing=cluster.standing,
            key=(cluster.name, cluster.standing, cluster.renamed_from),
            item=cluster,
            cluster=cluster.name,
            name=shorten(cluster.name),
            old=shorten(cluster.renamed_from),
            text=f", with {counted(len(cluster.pools), 'pool')}" if cluster.pools else "",
            weight=Weight.NOTABLE if cluster.standing is Standing.REMOVED else Weight.PLAIN,
            by=By.FLEET,
        )
        if cluster.standing is not Standing.RENAMED:
            return
    for pool in cluster.pools:
        if pool.standing is not Standing.CHANGED:
            text = _likeness(pool)
            old = shorten(pool.renamed_from) if pool.standing is Standing.RENAMED else ""
            yield Row(
                kind=RowKind.POOL,
                standing=pool.standing,
                key=(pool.standing, old and (old, pool.name), text),
                item=pool,
                cluster=cluster.name,
                pools=(pool.name,),
                name=pool.name,
                old=old,
                text=text,
                by=By.FLEET,
                place=pool.place,
                weight=Weight.NOTABLE if pool.standing is Standing.REMOVED else Weight.PLAIN,
            )


def _likeness(pool: PoolChange) -> str:
    """How a new pool differs from the one that is most like it."""
    if not pool.like:
        return ""
    if not pool.fields:
        return f", like `{shorten(pool.like)}` in all fields"
    fields = (f"`{shorten('.'.join(split(item.pointer)[1:]))}` ({_instead(item)})" for item in pool.fields)
    return f", like `{shorten(pool.like)}` but for {joined(list(fields), _FEW)}"


def _instead(field: FieldChange) -> str:
    if field.standing is Standing.REMOVED:
        return "none"
    old = "" if field.standing is Standing.ADDED else f", there {_value(field.old)}"
    return f"{_value(field.new)}{old}"


def _drift(cluster: ClusterDiff) -> Iterator[Row]:
    for item in cluster.drift:
        is_new = item.standing is not Standing.REMOVED
        yield Row(
            kind=RowKind.DRIFT,
            standing=Standing.ADDED if is_new else Standing.REMOVED,
            key=(is_new, item.words, item.cured),
            item=item,
            cluster=cluster.name,
            text=item.words,
            place=item.place,
            weight=Weight.NOTABLE if is_new and not item.cured else Weight.PLAIN,
        )


_OF_CLUSTERS: dict[Part, tuple[Callable[[ClusterDiff], Iterable[Row]], ...]] = {
    Part.LEAVES: (departure_rows,),
    Part.ENGINE: (action_rows,),
    Part.UNKNOWN: (_unknown,),
    Part.OTHERS: (_cross_pool,),
    Part.RELEASE: (_release,),
    Part.MORE: (_admitted, _more),
    Part.LESS: (_less,),
    Part.DISRUPTION: (_disruptions,),
    Part.IMAGES: (_images,),
    Part.FIELDS: (_fields, _values),
    Part.OBJECTS: (_objects,),
    Part.DRIFT: (_drift,),
}
