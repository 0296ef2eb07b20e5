"""What the engine does between base and change, in its order, with how that is known.

First whoever holds the delivery creates and changes its objects, and lets go of those that are gone. Then each unit, in
the order of the delivery, applies what it holds and prunes what it held. An engine may be at several things at a time;
what waits for what is told.

Sources: fluxcd/kustomize-controller@v1.9.4:internal/controller/kustomization_controller.go (apply, then prune; objects
of another owner are not pruned), fluxcd/helm-controller@v1.6.3:internal/action/install.go (`TakeOwnership`) and
internal/reconcile/state.go, argoproj/argo-cd@v3.5.1:controller/{state,sync}.go, docs/user-guide/sync-waves.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.delivery.effects import cascades
from poolsmith.change.delivery.fields import changed_fields
from poolsmith.change.delivery.objects import APPLICATION, ELEMENT, HELM_CHART, HELM_RELEASE, KUSTOMIZATION, is_guarded
from poolsmith.change.delivery.outcomes import Action, DepartureOutcome, Evidence, Verb
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.project.output.argocd import SYNC_WAVE
from poolsmith.project.output.delivery_units import delivery_units
from poolsmith.project.output.kustomization import FILE
from poolsmith.project.output.tree import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from poolsmith.change.delivery.departures import DeliveryChange, Handed
    from poolsmith.change.delivery.objects import DeliveryObject
    from poolsmith.change.delivery.outcomes import Departure
    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.operands.manifest import ManifestTree
    from poolsmith.fleet.plan.plan import ClusterPlan

ObjectKey = tuple[str, str, str, str]
"""API group, kind, namespace and name."""
_CHARTS = (HELM_RELEASE, HELM_CHART, APPLICATION)


@record(kw_only=False)
class Applied:
    """An object of a unit, with the unit that applies it."""

    body: dict[str, Any]
    unit: str


@record
class UnitFiles:
    """What the units of one side hold: objects by key, values of charts by the unit's name, and units in order."""

    objects: Mapping[ObjectKey, Applied]
    values: Mapping[str, object]
    order: tuple[str, ...]


def unit_files(plan: ClusterPlan, tree: ManifestTree) -> UnitFiles:
    folders = frozenset(item.path.rpartition("/")[0] for item in tree.manifests if item.path.endswith(f"/{FILE}"))
    units = delivery_units(plan, folders - {FOLDER})
    objects: dict[ObjectKey, Applied] = {}
    for path, body in tree.objects():
        unit = next((one.name for one in units if one.folder and path.startswith(f"{one.folder}/")), None)
        if unit is not None and isinstance(body, dict) and (key := _key(body)) is not None:
            objects.setdefault(key, Applied(body, unit))
    wanted = {one.chart.values_file for one in units if one.chart is not None}
    contents = {item.path: (item.text, item.documents) for item in tree.manifests if item.path in wanted}
    values = {one.name: contents.get(one.chart.values_file) for one in units if one.chart is not None}
    return UnitFiles(objects=objects, values=values, order=tuple(one.name for one in units))


def _key(body: dict[str, Any]) -> ObjectKey | None:
    metadata = mapping(body.get("metadata"))
    kind, name = word(body.get("kind")), word(metadata.get("name"))
    if not kind or not name or (kind == "Kustomization" and not metadata.get("namespace")):
        return None
    return word(body.get("apiVersion")).rpartition("/")[0], kind, word(metadata.get("namespace")), name


def actions(
    change: DeliveryChange,
    leaving: Sequence[Departure],
    was: UnitFiles,
    now: UnitFiles,
    refused: Mapping[tuple[str, str, str], tuple[str, ...]],
) -> tuple[Action, ...]:
    """Of one cluster. `refused` are pointers of fields that the API server lets nobody change, by kind, namespace and
    name."""
    first = tuple(_of_holder(change, leaving, was, now))
    return (
        *first,
        *_departing(leaving),
        *_of_units(change, leaving, was, now, refused, _idle(change, first)),
    )


_TOLD = (Verb.ADOPT, Verb.REFUSE, Verb.REPLACE, Verb.WAIT, Verb.LEAVE)
_TURNS = (
    "/spec/path",
    "/spec/sourceRef",
    "/spec/source",
    "/spec/url",
    "/spec/project",
    "/spec/prune",
    "/spec/deletionPolicy",
    "/metadata/finalizers",
)
"""Fields by which an object turns to something else, or has another end."""


def beyond_applying(found: Sequence[Action], leaving: Sequence[Departure]) -> Iterator[Action]:
    """What is more than to apply what is there, and is not told of `leaving` already. What the API server refuses is
    told where it disturbs."""
    told = {(item.kind, item.namespace, item.name) for item in leaving}
    for item in found:
        if (item.kind, item.namespace, item.name) in told or item.fields == ("/spec/dependsOn",):
            continue
        if item.within:
            if item.words in _WITH_ITS_UNIT:
                continue
            is_told = item.verb in (Verb.ADOPT, Verb.REPLACE) or (item.verb is Verb.LEAVE and item.words == _GUARDED)
        else:
            is_told = item.verb in _TOLD or any(field in _TURNS for field in item.fields)
        if is_told:
            yield item


def first_actions(handed: Handed) -> tuple[Action, ...]:
    """Of a cluster that is new."""
    found = [item for _, item in sorted(handed.generated.items())]
    return tuple(_first(item, _made_idle(item, found)) for item in found)


def _first(item: DeliveryObject, idle: tuple[str, Evidence] | None) -> Action:
    said = _MADE.get(item.kind, "its chart is installed" if item.is_chart else "it is fetched")
    words, evidence = idle or (said, Evidence.SEEN)
    return _of_item(item, Verb.WAIT if idle else Verb.CREATE, words, evidence)


def _departing(leaving: Sequence[Departure]) -> Iterator[Action]:
    for item in leaving:
        yield Action(
            verb=item.verb,
            kind=item.kind,
            namespace=item.namespace,
            name=item.name,
            within="",
            words=item.effect,
            evidence=item.evidence,
            place=item.place,
        )


def _of_holder(
    change: DeliveryChange, leaving: Sequence[Departure], before: UnitFiles, files: UnitFiles
) -> Iterator[Action]:
    if change.now is None:
        return
    told = {(item.kind, item.namespace, item.name) for item in leaving}
    for identity, new in sorted(change.coming.items()):
        old = (change.was.held or {}).get(identity, change.was.generated.get(identity))
        if old is None:
            yield _created(change, new, before, files)
            yield from _waits(new)
        elif identity not in told:
            if old.body != new.body:
                yield from _changed(change, old, new)
            if new.is_chart and _values_differ(new, change, before, files):
                yield _values_changed(change, new)


def _values_differ(item: DeliveryObject, change: DeliveryChange, before: UnitFiles, after: UnitFiles) -> bool:
    assert change.after is not None, "it is there"
    unit = item.name.removeprefix(f"{change.after.plan.delivery_name}-")
    return unit in before.values and before.values[unit] != after.values.get(unit)


def _values_changed(change: DeliveryChange, item: DeliveryObject) -> Action:
    does = "Argo CD applies what the chart makes of other values"
    if item.kind == HELM_RELEASE:
        does = "helm-controller upgrades the release with other values"
    if item.is_suspended:
        return _action(
            change,
            item,
            Verb.WAIT,
            "its values are others, and nothing is done as long as it is suspended",
            Evidence.READ,
        )
    return _action(change, item, Verb.UPDATE, does, Evidence.SEEN)


def _changed(change: DeliveryChange, old: DeliveryObject, new: DeliveryObject) -> Iterator[Action]:
    if new.kind == ELEMENT:
        said = "the Application of the whole cluster reads another place"
        yield _action(change, new, Verb.UPDATE, said, Evidence.READ)
        return
    found = [effect for effect in changed_fields(old, new) if not new.is_suspended or effect.verb is Verb.WAIT]
    if new.is_suspended and not found:
        yield _action(
            change, new, Verb.WAIT, "it is suspended, and changed all the same: nothing is done", Evidence.READ
        )
        return
    for effect in found:
        yield _action(change, new, effect.verb, effect.words, effect.evidence, (effect.pointer,))
    if not found:
        said = "it is changed in fields of which nothing is known"
        yield _action(change, new, Verb.UPDATE, said, Evidence.UNKNOWN)


def _created(change: DeliveryChange, new: DeliveryObject, before: UnitFiles, files: UnitFiles) -> Action:
    """A chart or objects that others have already are taken over, or refused."""
    if (idle := _made_idle(new, _come(change))) is not None:
        return _action(change, new, Verb.WAIT, *idle)
    if new.kind in _CHARTS and new.release is not None:
        for old in change.was.generated.values():
            if old.kind in _CHARTS and old.release is not None and old.release[1:] == new.release[1:]:
                held = (change.was.held or {}).get(old.identity, old)
                return _taken(change, held, new)
        return _installed_elsewhere(change, new)
    if (tracked := _tracked(change, new, before, files)) is not None:
        return _taken(change, tracked, new)
    return _action(change, new, Verb.CREATE, _MADE.get(new.kind, "it is fetched"), Evidence.SEEN)


def _installed_elsewhere(change: DeliveryChange, new: DeliveryObject) -> Action:
    """A chart of which nothing stands in the namespace; what it has for the whole cluster may be another one's."""
    for old in change.was.generated.values():
        held = (change.was.held or {}).get(old.identity, old)
        if new.kind == held.kind == APPLICATION and new.chart == held.chart and not cascades(held):
            said = "what the chart has for the whole cluster carries the tracking of the old one, and nothing is synced"
            return _action(change, new, Verb.REFUSE, f"{said} (FailOnSharedResource)", Evidence.SEEN)
    return _action(change, new, Verb.CREATE, "its chart is installed", Evidence.SEEN)


def _tracked(change: DeliveryChange, new: DeliveryObject, before: UnitFiles, files: UnitFiles) -> DeliveryObject | None:
    """The Application of another name whose objects a new one is to apply, and that leaves one of them behind."""
    if new.kind != APPLICATION or change.after is None:
        return None
    unit = new.name.removeprefix(f"{change.after.plan.delivery_name}-")
    for key in (key for key, item in files.objects.items() if item.unit == unit and key in before.objects):
        old = _owner(change, before.objects[key].unit)
        if old is not None and not (cascades(old) and not _is_kept(change, before.objects[key].body)):
            return old if old.kind == APPLICATION and old.identity != new.identity else None
    return None


def _owner(change: DeliveryChange, unit: str) -> DeliveryObject | None:
    """What the base has for a folder of objects, as it was applied last."""
    name = f"{change.before.plan.delivery_name}-{unit}"
    for identity, item in change.was.generated.items():
        if item.name == name and item.kind in (KUSTOMIZATION, APPLICATION):
            return (change.was.held or {}).get(identity, item)
    return None


def _come(change: DeliveryChange) -> list[DeliveryObject]:
    known = {*change.was.generated, *(change.was.held or ())}
    return [item for identity, item in change.coming.items() if identity not in known]


def _made_idle(new: DeliveryObject, come: Iterable[DeliveryObject]) -> tuple[str, Evidence] | None:
    """Why nothing comes of an object that is new; `come` are all that are. What holds the delivery waits for the health
    of the Applications of a wave, and one that nobody looks at has none."""
    is_application = new.kind == APPLICATION
    held = [item for item in come if is_application and item.kind == APPLICATION and item.is_suspended]
    first = min(held, key=_wave, default=new)
    if _wave(first) < _wave(new):
        return f"it is not made as long as Application `{first.name}` is left alone", Evidence.SEEN
    if new.is_suspended:
        return (_LEFT_ALONE, Evidence.SEEN) if is_application else (_MADE_SUSPENDED, Evidence.READ)
    return None


def _wave(item: DeliveryObject) -> int:
    text = word(mapping(value_at(item.body, ("metadata", "annotations"))).get(SYNC_WAVE))
    return int(text) if text.removeprefix("-").isdecimal() else 0


_LEFT_ALONE = "it is made, Argo CD leaves it alone, and what holds the delivery waits for it: nothing of it is applied"
_MADE_SUSPENDED = "it is made, and as long as it is suspended nothing of it is applied"
_MADE = {
    KUSTOMIZATION: "all that it holds is applied",
    APPLICATION: "all that it holds is applied",
    ELEMENT: "an Application for the whole cluster is made, and applies all of the delivery",
}


def _taken(change: DeliveryChange, old: DeliveryObject, new: DeliveryObject) -> Action:
    """What was installed by one object of the delivery is to be installed by another one."""
    if new.kind == HELM_RELEASE and old.kind == HELM_RELEASE:
        return _same_release(change, old, new)
    if new.kind == APPLICATION and old.kind == APPLICATION:
        if old.is_suspended:
            said = "it applies the objects that are there, once the tracking of the old one is taken off them"
            return _action(change, new, Verb.ADOPT, f"{said}; until then it is refused", Evidence.READ)
        said = "the objects carry the tracking of the old one, and nothing is synced as long as they do"
        return _action(change, new, Verb.REFUSE, f"{said} (FailOnSharedResource)", Evidence.SEEN)
    if cascades(old) or (old.kind == HELM_RELEASE and not old.is_guarded and not old.is_suspended):
        said = "what the old owner installed goes with that one, and the chart is installed again"
        return _action(change, new, Verb.CREATE, said, Evidence.SEEN)
    does = "Argo CD applies the objects that are there, each in its place"
    evidence = Evidence.READ if old.is_suspended else Evidence.SEEN
    if new.kind == HELM_RELEASE:
        does = "there is no release, and helm-controller installs one and takes the objects that are there"
        evidence = Evidence.SEEN
    beside = "" if old.is_suspended else ", beside what the old owner does"
    return _action(change, new, Verb.ADOPT, f"{does}{beside}", evidence)


def _same_release(change: DeliveryChange, old: DeliveryObject, new: DeliveryObject) -> Action:
    if old.is_suspended or old.is_guarded:
        return _action(change, new, Verb.ADOPT, "it finds the release, and upgrades it", Evidence.SEEN)
    said = "the release is uninstalled with the old one, and it fails: `has no deployed releases`"
    return _action(change, new, Verb.REFUSE, said, Evidence.SEEN)


def _waits(item: DeliveryObject) -> Iterator[Action]:
    """A Kustomization or a HelmRelease, for others of its kind."""
    for other in mappings(value_at(item.body, ("spec", "dependsOn"))):
        said = f"it waits until {item.kind} `{word(other.get('name'))}` is ready"
        yield _of_item(item, Verb.WAIT, said, Evidence.SEEN, ("/spec/dependsOn",))


def _action(
    change: DeliveryChange,
    item: DeliveryObject,
    verb: Verb,
    said: str,
    evidence: Evidence,
    fields: tuple[str, ...] = (),
) -> Action:
    """At the line that was edited."""
    return _of_item(item, verb, said, evidence, fields, next(iter(change.edited), None))


def _of_item(
    item: DeliveryObject,
    verb: Verb,
    said: str,
    evidence: Evidence,
    fields: tuple[str, ...] = (),
    place: Location | None = None,
) -> Action:
    return Action(
        verb=verb,
        kind=item.kind,
        namespace=item.namespace,
        name=item.name,
        within="",
        words=said,
        evidence=evidence,
        fields=fields,
        place=place,
    )


def _idle(change: DeliveryChange, found: Sequence[Action]) -> dict[str, tuple[str, Evidence]]:
    """Units that apply nothing, and why. Some wait for a Kustomization that waits for a HelmRelease that is refused:
    seen on Flux 2.9."""
    if change.now is None or change.after is None:
        return {}
    idle = {item.name: _NOT_MADE for item in found if item.verb is Verb.WAIT and item.kind == APPLICATION}
    coming = change.coming.values()
    idle |= {item.name: _IS_SUSPENDED for item in coming if item.is_suspended}
    failed = {item.name for item in found if item.verb is Verb.REFUSE and item.kind == HELM_RELEASE}
    objects = [item for item in coming if item.kind == KUSTOMIZATION]
    stuck = {item.name for item in objects if failed & _named(item, "healthChecks")}
    waiting: set[str] = set()
    while more := {item.name for item in objects if (stuck | waiting) & _named(item, "dependsOn")} - waiting:
        waiting |= more
    idle |= dict.fromkeys(waiting, (_WAITS, Evidence.SEEN))
    return {name.removeprefix(f"{change.after.plan.delivery_name}-"): why for name, why in idle.items()}


def _named(item: DeliveryObject, field: str) -> set[str]:
    return {word(other.get("name")) for other in mappings(value_at(item.body, ("spec", field)))}


def _of_units(
    change: DeliveryChange,
    leaving: Sequence[Departure],
    was: UnitFiles,
    now: UnitFiles,
    refused: Mapping[tuple[str, str, str], tuple[str, ...]],
    idle: Mapping[str, tuple[str, Evidence]],
) -> Iterator[Action]:
    order = {name: number for number, name in enumerate((*now.order, *was.order))}
    keys = sorted({*was.objects, *now.objects}, key=lambda key: _place(key, was, now, order))
    ends = {item.name: item for item in leaving if item.leaves and item.kind in (KUSTOMIZATION, APPLICATION)}
    for key in keys:
        old, new = was.objects.get(key), now.objects.get(key)
        unit = ends.get(f"{change.before.plan.delivery_name}-{old.unit}") if old is not None else None
        if old is not None and unit is not None:
            yield _left(change, key, old, None if new is not None and new.unit in idle else new, unit)
        elif new is None and old is not None:
            yield _pruned(change, key, old, is_idle=old.unit in idle)
        elif new is not None and new.unit in idle and new != old:
            yield _object(key, new.unit, Verb.WAIT, *idle[new.unit])
        elif new is not None and (old is None or old.body != new.body or old.unit != new.unit):
            yield _applied(change, key, old, new, refused.get(key[1:], ()))


def _place(key: ObjectKey, was: UnitFiles, now: UnitFiles, order: Mapping[str, int]) -> tuple[object, ...]:
    """By unit; what is applied before what is pruned."""
    there = now.objects.get(key)
    found = there or was.objects[key]
    return order.get(found.unit, len(order)), there is None, key


_GUARDED = "its unit holds it no more, and it is guarded: it stays as it is"


def _pruned(change: DeliveryChange, key: ObjectKey, old: Applied, *, is_idle: bool) -> Action:
    if _is_kept(change, old.body):
        evidence = Evidence.READ if _is_argo(change.before) else Evidence.SEEN
        return _object(key, old.unit, Verb.LEAVE, _GUARDED, evidence)
    if is_idle:
        return _object(key, old.unit, Verb.LEAVE, "its unit does nothing, and prunes nothing", Evidence.READ)
    return _object(key, old.unit, Verb.DELETE, "its unit holds it no more, and prunes it", Evidence.SEEN)


_IS_SUSPENDED = "its unit is suspended, and applies nothing", Evidence.READ
_NOT_MADE = "its unit is not made, since what holds the delivery waits for another one", Evidence.SEEN
_WAITS = "its unit waits for a HelmRelease that is refused, and applies nothing"
_GOES_ALONG = "its unit leaves the delivery, and takes it along"
_COMES_AGAIN = "its unit leaves the delivery, and takes it along, until somebody applies it again"
_STAYS = "its unit leaves the delivery, and leaves it behind"
_IS_TAKEN = "its unit leaves the delivery and leaves it behind, and it is applied from elsewhere"
_IS_TRACKED = "its unit leaves the delivery, and as long as it carries that one's tracking nobody applies it"
_WITH_ITS_UNIT = (_GOES_ALONG, _COMES_AGAIN, _STAYS, _IS_TAKEN, _IS_TRACKED)


def _left(change: DeliveryChange, key: ObjectKey, old: Applied, new: Applied | None, unit: Departure) -> Action:
    """Of a unit that leaves: what it says of itself is true of what it holds, but for what is guarded."""
    owner = _owner(change, old.unit)
    takes = unit.outcome is DepartureOutcome.DELETED or (owner is not None and cascades(owner))
    if takes and not _is_kept(change, old.body):
        verb, said = (Verb.DELETE, _GOES_ALONG) if new is None else (Verb.REPLACE, _COMES_AGAIN)
    elif new is None:
        verb, said = Verb.LEAVE, _STAYS
    elif unit.kind == APPLICATION and change.after is not None and _is_argo(change.after):
        verb, said = Verb.WAIT, _IS_TRACKED
    else:
        verb, said = Verb.ADOPT, _IS_TAKEN
    return _object(key, old.unit, verb, said, unit.evidence)


def _is_argo(side: SeenCluster) -> bool:
    return side.plan.cluster.spec.delivery.engine is Engine.ARGOCD


def _is_kept(change: DeliveryChange, body: dict[str, Any]) -> bool:
    return is_guarded(body, change.before.plan.cluster.spec.delivery.engine)


def _applied(
    change: DeliveryChange, key: ObjectKey, old: Applied | None, new: Applied, refused: tuple[str, ...]
) -> Action:
    if old is None:
        return _object(key, new.unit, Verb.CREATE, "it is applied", Evidence.SEEN)
    if refused:
        said = "the API server takes no other value of these fields"
        return _object(key, new.unit, Verb.REFUSE, said, Evidence.SEEN, refused)
    if old.unit != new.unit:
        return _other_unit(change, key, old, new)
    return _object(key, new.unit, Verb.UPDATE, "it is applied with other content", Evidence.SEEN)


def _other_unit(change: DeliveryChange, key: ObjectKey, old: Applied, new: Applied) -> Action:
    """Source: fluxcd/kustomize-controller, deleteObjects (what has the labels of another owner stays)."""
    if not _is_argo(change.before):
        said = f"`{new.unit}` applies it, and `{old.unit}` does not prune what has another owner"
        return _object(key, new.unit, Verb.ADOPT, said, Evidence.READ)
    said = f"`{old.unit}` prunes it, and `{new.unit}` is refused until then"
    return _object(key, new.unit, Verb.REPLACE, said, Evidence.READ)


def _object(
    key: ObjectKey, unit: str, verb: Verb, said: str, evidence: Evidence, fields: tuple[str, ...] = ()
) -> Action:
    _, kind, namespace, name = key
    return Action(
        verb=verb, kind=kind, namespace=namespace, name=name, within=unit, words=said, evidence=evidence, fields=fields
    )
