"""Objects that would have to be deleted and made anew: the change asks for what the API server does not take.

Nothing deletes them by itself. Sources: argoproj/gitops-engine:pkg/sync (`Replace=true`, `Force=true`),
fluxcd/kustomize-controller:docs/spec/v1 (`spec.force`), helm.sh/helm: an upgrade patches, and fails;
NVIDIA/gpu-operator:controllers: a failed update is tried again and again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_report import Disruption, DisruptionKind
from poolsmith.core.diagnostics.printable import shorten
from poolsmith.core.sources.nested import value_at
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import dotted, reach, split
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.kubernetes.schema.schemas import NoSchema, Schemas, Versions
from poolsmith.kubernetes.server.field_changes import field_changes
from poolsmith.kubernetes.server.immutable_fields import immutable_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.diff.object_changes import Key, StandingObject
    from poolsmith.change.review.change import SeenCluster
    from poolsmith.kubernetes.server.field_change import FieldChange

_SYNC = {
    Engine.ARGOCD: "every sync of Argo CD fails until somebody deletes the object",
    Engine.FLUX: "Flux reports its Kustomization as failed until somebody deletes the object",
}
_CHART = _SYNC | {Engine.FLUX: "the Helm upgrade fails until somebody deletes the object"}
_OPERATOR = "the operator tries again and again until somebody deletes the object"


def recreated(
    after: SeenCluster, differing: Iterable[tuple[Key, StandingObject, StandingObject]]
) -> Iterator[Disruption]:
    """Of objects that both sides have and that differ, those with a changed field that may not change.

    Hooks of charts are left out: Helm deletes them before they run again.
    """
    spec = after.plan.cluster.spec
    schemas = Schemas(Versions(kubernetes=spec.kubernetes.version, operator=after.prediction.installation.release))
    for (_, kind, namespace, name), old, new in differing:
        why = tuple(refused_fields(old.body, new.body, schemas)) if not is_hook(new.body) else ()
        if not why:
            continue
        fields = ", ".join(dict.fromkeys(f"`{dotted(split(item.pointer))}`" for item in why))
        yield Disruption(
            kind=DisruptionKind.RECREATED,
            what=f"{kind}/{name}",
            namespace=namespace,
            words=f"the API server takes no other {fields} of {kind} `{shorten(name)}`: "
            f"{_outcome(new, spec.delivery.engine)}",
            why=why,
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
