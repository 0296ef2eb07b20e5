"""Objects before and after a change: those that are applied, and those that charts and the operator make.

An object is the same while API group, kind, namespace and name are the same; another version of the API is a changed
field. Clusters that are installed alike share one comparison.

If an immutable field changes, the API server refuses the change until the object is deleted and recreated; nothing
deletes it by itself. Sources: argoproj/gitops-engine:pkg/sync (`Replace=true`, `Force=true`),
fluxcd/kustomize-controller:docs/spec/v1 (`spec.force`), helm.sh/helm: an upgrade patches, and fails;
NVIDIA/gpu-operator:controllers: a failed update is tried again and again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.change.delivery.departures import acknowledged_with
from poolsmith.change.diff.change_report import Disruption, DisruptionKind, ObjectChange
from poolsmith.change.diff.rows import keyed_changes
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import dotted, reach, split, value_at
from poolsmith.fleet.operands.expansion import Maker
from poolsmith.fleet.profiles.acknowledged_facts import refused_fact
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.schemas import NoSchema, Schemas
from poolsmith.kubernetes.server.field_changes import FieldChange, Standing, field_changes
from poolsmith.kubernetes.server.immutable_fields import immutable_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.fleet.operands.expansion import Installation
    from poolsmith.fleet.operands.manifest import ManifestTree
    from poolsmith.guard.ledger.prediction import Shared
    from poolsmith.kubernetes.server.field_changes import FieldChange, Standing


Key = tuple[str, str, str, str]
_MADE = (Maker.OPERATOR, Maker.OPERAND)


@record(kw_only=False)
class StandingObject:
    """An object, the generated file that holds it (empty: none does), and whether the operator makes it."""

    body: dict[str, Any]
    file: str = ""
    made: bool = False


def applied_objects(tree: ManifestTree) -> dict[Key, StandingObject]:
    """The objects of the generated files."""
    found: dict[Key, StandingObject] = {}
    for file, body in tree.objects():
        if (key := _key(body)) is not None:
            found.setdefault(key, StandingObject(body, file))
    return found


def made_objects(installation: Installation) -> dict[Key, StandingObject]:
    """What charts and the operator make of these."""
    found: dict[Key, StandingObject] = {}
    for item in installation.made:
        if item.maker is not Maker.POOLSMITH and (key := _key(item.body)) is not None:
            found.setdefault(key, StandingObject(item.body, made=item.maker in _MADE))
    return found


def object_changes(before: dict[Key, StandingObject], after: dict[Key, StandingObject]) -> tuple[ObjectChange, ...]:
    """What is applied first, then by kind, namespace and name. What comes or goes as a whole has no fields."""
    return in_order(_changes(before, after))


def differing(
    before: dict[Key, StandingObject], after: dict[Key, StandingObject]
) -> Iterator[tuple[Key, StandingObject, StandingObject]]:
    """What both sides have, and not alike."""
    changes = keyed_changes(before, after, _is_alike)
    yield from sorted(
        ((item.key, item.old, item.new) for item in changes if item.old is not None and item.new is not None),
        key=lambda entry: entry[0],
    )


def _is_alike(old: StandingObject, new: StandingObject) -> bool:
    return old.body is new.body or old.body == new.body


def in_order(changes: Iterable[ObjectChange]) -> tuple[ObjectChange, ...]:
    return tuple(sorted(changes, key=_order))


def _changes(before: dict[Key, StandingObject], after: dict[Key, StandingObject]) -> Iterator[ObjectChange]:
    for item in keyed_changes(before, after, _is_alike):
        if item.old is not None and item.new is not None:
            if fields := field_changes(item.old.body, item.new.body):
                yield _change(item.key, item.new, item.standing, fields)
        elif (there := item.new or item.old) is not None:
            yield _change(item.key, there, item.standing)


def _change(key: Key, item: StandingObject, standing: Standing, fields: Iterable[FieldChange] = ()) -> ObjectChange:
    _, kind, namespace, name = key
    return ObjectChange(
        api_version=str(item.body.get("apiVersion", "")),
        kind=kind,
        name=name,
        standing=standing,
        namespace=namespace,
        file=item.file,
        made=item.made,
        fields=tuple(fields),
    )


def _key(body: Any) -> Key | None:
    """None of what is no object."""
    if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
        return None
    group = str(body.get("apiVersion", "")).rpartition("/")[0]
    metadata = body["metadata"]
    name = metadata.get("name") or metadata.get("generateName")
    if not body.get("kind") or not name:
        return None
    return group, str(body["kind"]), str(metadata.get("namespace") or ""), str(name)


def _order(item: ObjectChange) -> tuple[object, ...]:
    return item.made, item.file == "", item.kind, item.namespace, item.name, item.api_version


_SYNC = {
    Engine.ARGOCD: "every sync of Argo CD fails until somebody deletes the object",
    Engine.FLUX: "Flux reports its Kustomization as failed until somebody deletes the object",
}
_CHART = _SYNC | {Engine.FLUX: "the Helm upgrade fails until somebody deletes the object"}
_OPERATOR = "the operator tries again and again until somebody deletes the object"


def recreated(
    before: SeenCluster, after: SeenCluster, differing: Iterable[tuple[Key, StandingObject, StandingObject]]
) -> Iterator[Disruption]:
    """Of objects that both sides have and that differ, those with a changed field that may not change.

    Hooks of charts are left out: Helm deletes them before they run again.
    """
    spec = after.plan.cluster.spec
    schemas = Schemas(
        schema_versions(kubernetes=spec.kubernetes.version, operator=after.prediction.installation.release)
    )
    for (_, kind, namespace, name), old, new in differing:
        why = tuple(refused_fields(old.body, new.body, schemas)) if not is_hook(new.body) else ()
        if not why:
            continue
        fact = "" if new.made else refused_fact(f"{kind}/{name}")
        fields = ", ".join(dict.fromkeys(f"`{dotted(split(item.pointer))}`" for item in why))
        yield Disruption(
            kind=DisruptionKind.RECREATED,
            what=f"{kind}/{name}",
            namespace=namespace,
            words=f"the API server takes no other {fields} of {kind} `{shorten(name)}`: "
            f"{_outcome(new, spec.delivery.engine)}",
            why=why,
            fact=fact,
            acknowledged_by=acknowledged_with(before, after, fact) if fact else "",
        )


def is_hook(body: dict[str, Any]) -> bool:
    return "helm.sh/hook" in mapping(value_at(body, ("metadata", "annotations")))


def refused_fields(old: dict[str, Any], new: dict[str, Any], schemas: Schemas) -> Iterator[FieldChange]:
    """Of built-in kinds by the table, of custom resources by the rules of their definition."""
    pointers = list(immutable_changes(old, new))
    schema = schemas.find(str(new.get("apiVersion", "")), str(new.get("kind", "")))
    if not isinstance(schema, NoSchema) and schema.is_custom:
        pointers.extend(item.pointer for item in schema.transition_violations(old, new))
    for pointer in dict.fromkeys(pointers):
        above, _, last = pointer.rpartition("/")
        before, now = ({last: found} if whole else {} for found, whole in (reach(side, pointer) for side in (old, new)))
        yield from field_changes(before, now, within=above)


def _outcome(new: StandingObject, engine: Engine) -> str:
    if new.made:
        return _OPERATOR
    return (_SYNC if new.file else _CHART)[engine]


def refusals(
    before: SeenCluster, after: SeenCluster, trees: tuple[ManifestTree, ManifestTree]
) -> tuple[Disruption, ...]:
    """Of what is applied and of what charts make."""
    then, now = map(applied_objects, trees)
    made = map(made_objects, (before.prediction.installation, after.prediction.installation))
    found = (*differing(then, now), *differing(*made))
    return tuple(recreated(before, after, (item for item in found if not item[2].made)))


_REMEMBERED = 32


@record
class InstallationPair:
    """`made` are changes of what charts and the operator make, `differing` what of it both sides have. Without
    `has_ledger_changes` nobody may do more or less; `is_delivered_alike`: the same is applied, to whatever nodes. The
    installations are kept: as long as they live, no other has their identity.
    """

    before: Shared
    after: Shared
    made: tuple[ObjectChange, ...]
    differing: tuple[tuple[Key, StandingObject, StandingObject], ...]
    has_ledger_changes: bool
    is_delivered_alike: bool

    @property
    def is_same(self) -> bool:
        return self.before is self.after


class InstallationPairs:
    """Remembers the last ones."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], InstallationPair] = {}

    def of(self, before: Shared, after: Shared) -> InstallationPair:
        key = (id(before), id(after))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _compared(before, after)
            while len(self._known) > _REMEMBERED:
                del self._known[next(iter(self._known))]
        return found


def _compared(before: Shared, after: Shared) -> InstallationPair:
    if before is after:
        return InstallationPair(
            before=before, after=after, made=(), differing=(), has_ledger_changes=False, is_delivered_alike=True
        )
    then, now = made_objects(before.installation), made_objects(after.installation)
    applied = (replace(side.given, nodes=()).key for side in (before, after))
    return InstallationPair(
        before=before,
        after=after,
        made=object_changes(then, now),
        differing=tuple(differing(then, now)),
        has_ledger_changes=before.ledger != after.ledger,
        is_delivered_alike=len(set(applied)) == 1,
    )
