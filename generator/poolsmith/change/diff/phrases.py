"""The one table of phrases: a sentence for each kind of row and what happens to it. All report formats use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.delivery.outcomes import action_words, departure_words
from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.change_sections import Hunk, Point
from poolsmith.change.diff.privilege_words import FEW_RESOURCES, FEWER_POOLS, MORE_POOLS, gains, may, privilege_standing
from poolsmith.change.diff.rows import NAME, NODES, POOLS, WAVES, By, RowKind, on_pools
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import counted, joined, listed, plural, shorten
from poolsmith.core.sources.pointer import split
from poolsmith.guard.ledger.ledger_delta import ChangeKind
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from poolsmith.change.delivery.outcomes import Departure
    from poolsmith.change.diff.change_report import AdmittedPool, Disruption, ObjectChange
    from poolsmith.change.diff.rows import Group, Row
    from poolsmith.guard.ledger.ledger_delta import Change
    from poolsmith.guard.ledger.privilege import Privilege

_ACKNOWLEDGED = "; acknowledged with this change, by `{by}`"
_FIELD: Mapping[str, str] = {
    Standing.ADDED: "{name} is now {new}{at}",
    Standing.REMOVED: "{name} is no longer {old}{at}",
    Standing.CHANGED: "{name} goes from {old} to {new}{at}",
}
VERBS = {Standing.ADDED: "new", Standing.REMOVED: "gone", Standing.CHANGED: "changed", Standing.RENAMED: "renamed"}
PHRASES: Mapping[RowKind, Mapping[str, str]] = {
    RowKind.DEPARTURE: {"": "{text}", "acknowledged": "{text}" + _ACKNOWLEDGED},
    RowKind.ACTION: {"": "{text}"},
    RowKind.UNKNOWN: {"": "{text}{within}"},
    RowKind.SELF_GRANT: {"": "{text}"},
    RowKind.CROSS_POOL: {"": "{text}", "acknowledged": "{text}" + _ACKNOWLEDGED},
    RowKind.RELEASE: {"": "{text}{beside}"},
    RowKind.ADMITTED: {
        "": "{pools} new: {who} may be root there, by {grants} for pools by a pattern and not for {which} ({named})"
    },
    RowKind.PRIVILEGE: {
        ChangeKind.ADDED: "{who} may now {what}{at}{grant}",
        ChangeKind.REMOVED: "{who} may no longer {what}{gone}{grant}",
        ChangeKind.WIDENED: "{who} may now {what}; before only {old}{at}{grant}",
        ChangeKind.NARROWED: "{who} may now only {what}; before {old}{at}{grant}",
        ChangeKind.MOVED: "{who} may {what}{at} now, and no longer{gone}{grant}",
        MORE_POOLS: "{who} may {what}{at} as well{grant}",
        FEWER_POOLS: "{who} may {what} no longer{gone}, elsewhere it still may{grant}",
    },
    RowKind.DISRUPTION: dict.fromkeys(DisruptionKind, "{text}"),
    RowKind.IMAGE: {
        Standing.ADDED: "`{name}`{at}: new, {new}",
        Standing.REMOVED: "`{name}`{at}: gone, {old}",
        Standing.CHANGED: "`{name}`{at}: {old} to {new}",
    },
    RowKind.FIELD: _FIELD,
    RowKind.VALUE: _FIELD,
    RowKind.OBJECT: {standing: f"{{what}} {verb}{{by}}{{at}}: {{names}}" for standing, verb in VERBS.items()},
    RowKind.FINDING: {"": "{severity} {code} {name}{waived}: {message}{more}"},
    RowKind.CLUSTER: {
        Standing.ADDED: "cluster `{name}` is new{text}",
        Standing.REMOVED: "cluster `{name}` is gone{text}",
        Standing.RENAMED: "cluster `{old}` is called `{name}` from now on",
    },
    RowKind.POOL: {
        Standing.ADDED: "{pools} new{within}{text}",
        Standing.REMOVED: "{pools} gone{within}",
        Standing.RENAMED: "pool `{old}` is called `{name}` from now on{within}",
    },
    RowKind.DRIFT: {Standing.ADDED: "new: {text}{within}", Standing.REMOVED: "no longer: {text}{within}"},
}
"""In words of the first row and of the group: {at} is where it is, {gone} where it is no longer."""
_NEW_THERE = "new there"
FOLDED: Mapping[str, str] = {
    DisruptionKind.RESTART: "{workloads} restart{at}: {names}",
    DisruptionKind.STARTED: "{workloads} start{at}: {names}",
    DisruptionKind.STOPPED: "{workloads} stop{at}: {names}",
    By.FLEET.name: "{workloads} may do{at} what they may on other pools{grant}: {names}",
    _NEW_THERE: "{workloads} may do{at} what no workload of that name may elsewhere{grant}: {names}",
    By.RELEASE.name: "{workloads} may do more with the release{at}{grant}: {names}",
}
"""Of many groups of the same kind, or of privileges that the same brought about, as one sentence."""
_HAS_ONLY_FEWER_POOLS = "{who} may no longer {what}{gone}; elsewhere it still may"

_FEW_NAMES, _FEW_WORKLOADS, _FEW_ADMITTED, _FEW_OBJECTS, _FEW_POOLS = 6, 2, 3, 4, 4
FEW_FOLDED = 2
_ALL = 200


def point_of(group: Group) -> Point:
    """A group as one point of a section."""
    first = group.first
    details = _DETAILS.get(first.kind)
    is_finding = first.kind is RowKind.FINDING
    return Point(
        words=sentence(group),
        weight=first.weight,
        clusters=group.clusters,
        places=group.places,
        details=tuple(details(group)) if details is not None else (),
        stands_for=group.count,
        is_note=is_finding and (first.item.severity is Severity.NOTE or first.item.is_waived),
        hunks=_hunks(group),
    )


def _hunks(group: Group) -> tuple[Hunk, ...]:
    """What is alike in many clusters, once: the differing fields are compared, and not where they come from."""
    found: dict[tuple[str, str], Hunk] = {}
    for row in group.rows:
        hunk = _hunk(row)
        if hunk is not None and hunk.fields:
            told = repr([(field.pointer, field.standing, field.old, field.new) for field in hunk.fields])
            found.setdefault((hunk.title, told), hunk)
    return tuple(found.values())


def _hunk(row: Row) -> Hunk | None:
    item = row.item
    if row.kind is RowKind.OBJECT:
        return Hunk(f"{item.kind}/{item.name}", item.fields)
    return Hunk(item.what, item.why) if row.kind is RowKind.DISRUPTION else None


def fold_of(row: Row) -> str | None:
    """The name of the phrase for many groups like that of the row; None where each is told."""
    if row.kind is RowKind.DISRUPTION:
        return row.standing if row.standing in FOLDED else None
    if row.kind is not RowKind.PRIVILEGE or not gains(row.item[0].change):
        return None
    if row.by is By.FLEET:
        return row.by.name if row.standing == MORE_POOLS else _NEW_THERE
    return row.by.name if row.by is By.RELEASE else None


def folded_point(groups: Sequence[Group], whole: Group) -> Point:
    """Several groups of one kind as one point; `whole` has the rows of all."""
    first = whole.first
    words = FOLDED[fold_of(first) or ""].format(
        workloads=counted(len(whole.names), "workload"),
        at=_spaced(str(whole.where)),
        names=joined([f"`{shorten(name.rpartition('/')[2])}`" for name in whole.names], _FEW_NAMES),
        grant=_without_grants(whole),
    )
    return Point(
        words=words,
        weight=first.weight,
        clusters=whole.clusters,
        places=whole.places,
        details=tuple(sentence(group) for group in groups),
        stands_for=whole.count,
        hunks=_hunks(whole),
    )


def _without_grants(whole: Group) -> str:
    rows = [row for row in whole.rows if row.kind is RowKind.PRIVILEGE and row.item[0].granted is False]
    return "" if not rows else ", without a grant" if len(rows) == len(whole.rows) else ", some of it without a grant"


def sentence(group: Group) -> str:
    first = group.first
    where = str(group.where)
    words = {
        "name": shorten(first.name) if first.kind is RowKind.IMAGE else first.name,
        "old": first.old,
        "new": first.new,
        "text": first.text,
        "at": _spaced(where),
        "beside": _after_comma(where),
        "within": f" ({where})" if where else "",
    }
    own = _WORDS.get(first.kind)
    if own is not None:
        words |= own(group)
    return PHRASES[first.kind][first.standing].format(**words)


def _spaced(text: str) -> str:
    return f" {text}" if text else ""


def _after_comma(text: str) -> str:
    return f", {text}" if text else ""


def change_words(change: Change) -> str:
    """A change of privileges in one sentence: who, what, and where."""
    standing = privilege_standing(change)
    phrase = _HAS_ONLY_FEWER_POOLS if standing == FEWER_POOLS else PHRASES[RowKind.PRIVILEGE][standing]
    return phrase.format(
        who=_in_container(f"`{shorten(change.workload.partition('/')[2])}`", change.container),
        what=may(change.new or change.old),
        old=may(change.old),
        at=_after_comma(on_pools(change.pools_after)),
        gone=_after_comma(on_pools(change.pools_before)),
        grant="",
    )


def _in_container(who: str, container: str) -> str:
    return f"{who} container `{shorten(container)}`" if container else who


def _of_privileges(group: Group) -> dict[str, str]:
    item, right = group.first.item
    change = item.change
    privilege: Privilege = change.new or change.old
    workloads = _workloads(group)
    many = f"{len(workloads)} workloads ({joined(workloads, _FEW_WORKLOADS)})"
    return {
        "who": _in_container(workloads[0] if len(workloads) == 1 else many, change.container),
        "what": may(privilege) if right is None else right.words(privilege),
        "old": may(change.old),
        "at": _after_comma(group.where.words(any_node=right is None)),
        "gone": _after_comma(group.gone_from.words(any_node=right is None)),
        "grant": "; no grant allows it" if item.granted is False else "",
    }


def _privilege_details(group: Group) -> Iterator[str]:
    workloads, (_, right) = _workloads(group), group.first.item
    if len(workloads) > _FEW_WORKLOADS:
        yield f"workloads: {joined(workloads, 50)}"
    if right is not None and len(right.resources) > FEW_RESOURCES:
        yield f"resources: {joined(right.resources, 100)}"


def _workloads(group: Group) -> list[str]:
    return [f"`{shorten(name.partition('/')[2])}`" for name in sorted(group.names)]


def _of_admitted(group: Group) -> dict[str, str]:
    first: AdmittedPool = group.first.item
    named = listed((row.name for row in group.rows), _FEW_ADMITTED)
    is_one = len(group.rows) == 1
    return {
        "pools": f"pool {named} is" if is_one else f"pools {named} are",
        "who": counted(first.workloads, "workload"),
        "grants": counted(len(first.grants), "grant"),
        "which": "this one" if is_one else "these",
        "named": listed(map(shorten, first.grants), _FEW_ADMITTED),
    }


def _of_pools(group: Group) -> dict[str, str]:
    names = list(dict.fromkeys(shorten(row.name) for row in group.rows))
    clusters = group.clusters
    of = f" on cluster `{shorten(clusters[0])}`" if len(clusters) == 1 else f" on {len(clusters):,} clusters"
    pools = f"{plural(len(names), 'pool')} {joined([f'`{name}`' for name in names], _FEW_POOLS)}"
    return {
        "pools": f"{pools} {'is' if len(names) == 1 else 'are'}",
        "name": names[0],
        "within": "" if group.where.fleet.only else of,
    }


def _of_cross_pool(group: Group) -> dict[str, str]:
    text = group.first.text.replace(POOLS, str(group.where))
    return {"text": text, "by": shorten(group.first.item.acknowledged_by)}


def _of_disruptions(group: Group) -> dict[str, str]:
    found: list[Disruption] = [row.item for row in group.rows]
    waves = counted(max((item.waves.waves or 0 for item in found if item.waves is not None), default=0), "wave")
    nodes = sum(item.waves.nodes or 0 for item in found if item.waves is not None)
    text = group.first.text.replace(NODES, counted(nodes, "node"))
    text = text.replace(WAVES, waves if len(found) == 1 else f"up to {waves} each")
    text = text.replace(NAME, joined([f"`{shorten(name)}`" for name in group.names], _FEW_WORKLOADS))
    where = str(group.where)
    if POOLS in text:
        return {"text": text.replace(POOLS, where)}
    is_told = not where or where in text or bool(group.where.pools)
    return {"text": text if is_told else f"{text}, {where}"}


def _of_objects(group: Group) -> dict[str, str]:
    first: ObjectChange = group.first.item
    count = len(group.rows)
    return {
        "what": f"{count:,} {first.kind}" if count > 1 else first.kind,
        "by": " (made by the operator)" if first.made else "",
        "names": joined(group.names, _FEW_OBJECTS),
    }


def _object_details(group: Group) -> Iterable[str]:
    is_cut = len(group.names) > _FEW_OBJECTS
    return dict.fromkeys(_object_detail(row.item) for row in group.rows if row.item.fields or is_cut)


def _object_detail(item: ObjectChange) -> str:
    where = f" in namespace `{shorten(item.namespace)}`" if item.namespace else ""
    fields = [f"`{shorten('.'.join(split(field.pointer)))}`" for field in item.fields]
    what = f": {joined(fields, _ALL)}" if fields else ""
    return f"`{shorten(item.kind)}/{shorten(item.name)}`{where} {VERBS[item.standing]}{what}"


def _of_findings(group: Group) -> dict[str, str]:
    item, rest = group.first.item, len(group.rows) - 1
    return {
        "severity": item.severity.value,
        "code": item.code,
        "name": item.name,
        "waived": ", waived" if item.is_waived else "",
        "message": item.message,
        "more": f" (and {rest:,} more)" if rest else "",
    }


def _finding_details(group: Group) -> Iterator[str]:
    return (f"{row.item.primary.span}: {row.item.message}" for row in group.rows[1:])


def _of_departures(group: Group) -> dict[str, str]:
    found: list[Departure] = [row.item for row in group.rows]
    at = str(group.where) or f"on cluster `{shorten(group.first.cluster)}`"
    drivers = str(group.gone_from) if found[0].drivers and len(group.clusters) > 1 else None
    return {"text": departure_words(found, at, drivers), "by": shorten(found[0].acknowledged_by)}


def _departure_details(group: Group) -> Iterable[str]:
    return [row.item.words for row in group.rows] if len(group.rows) > 1 else ()


def _of_actions(group: Group) -> dict[str, str]:
    at = str(group.where)
    return {"text": action_words([row.item for row in group.rows], f" {at}" if at else "")}


def _action_details(group: Group) -> Iterable[str]:
    return [action_words([row.item]) for row in group.rows] if len(group.rows) > 1 else ()


_WORDS: Mapping[RowKind, Callable[[Group], dict[str, str]]] = {
    RowKind.DEPARTURE: _of_departures,
    RowKind.ACTION: _of_actions,
    RowKind.CROSS_POOL: _of_cross_pool,
    RowKind.ADMITTED: _of_admitted,
    RowKind.POOL: _of_pools,
    RowKind.PRIVILEGE: _of_privileges,
    RowKind.DISRUPTION: _of_disruptions,
    RowKind.OBJECT: _of_objects,
    RowKind.FINDING: _of_findings,
}
_DETAILS: Mapping[RowKind, Callable[[Group], Iterable[str]]] = {
    RowKind.DEPARTURE: _departure_details,
    RowKind.ACTION: _action_details,
    RowKind.PRIVILEGE: _privilege_details,
    RowKind.OBJECT: _object_details,
    RowKind.FINDING: _finding_details,
}
