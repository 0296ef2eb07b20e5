"""What somebody has added to an object that is known whole: fields that nobody gave, and the server does not fill in.

Whole are workloads of charts and operators, and custom resources that a chart renders. Of what is delivered only the
given fields are looked at: others may have a hand in the rest, as server-side apply lets them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.catalog.filled_in import ANY_ITEM, filled_in
from poolsmith.live.resources import CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS
from poolsmith.operands.kube import DRIVER_DIGEST
from poolsmith.policies.admission.defaulting import EMPTY_OBJECTS, defaulted_paths
from poolsmith.schema.schemas import KindSchema, Versions, newest_kubernetes, schemas_for
from poolsmith.sources.pod_template import mapping
from poolsmith.sources.pointer import join
from poolsmith.verify.expected import Bringer
from poolsmith.verify.fields import Difference, is_nothing, paired

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.verify.expected import Expected
    from poolsmith.verify.view import LiveView

_WORKLOADS = ("DaemonSet", "Deployment")
_RESOURCES = (CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS)
_WHOLE = (Bringer.CHART, Bringer.OPERATOR)
_PRIVILEGES = frozenset(
    ("hostNetwork", "hostPID", "hostIPC", "privileged", "allowPrivilegeEscalation", "capabilities", "procMount")
)
"""Fields that the ledger tells of: what they allow is told there."""
_POD = ("spec", "template", "spec")
Path = tuple[str, ...]


def additions(view: LiveView, item: Expected, body: dict[str, Any]) -> Iterator[Difference]:
    """Of one live object."""
    if item.resource in _RESOURCES:
        yield from _to_resource(view, item, body)
    elif item.resource.kind in _WORKLOADS and item.bringer in _WHOLE:
        given, held = mapping(item.body.get("spec")), mapping(body.get("spec"))
        yield from _Workload(item.resource.kind).below(given, held, ("spec",), "/spec")


def _to_resource(view: LiveView, item: Expected, body: dict[str, Any]) -> Iterator[Difference]:
    release = view.cluster.plan.cluster.spec.stack.release
    versions = Versions(kubernetes=newest_kubernetes(), operator=release)
    schema = schemas_for(versions).find(item.resource.api_version, item.resource.kind)
    if isinstance(schema, KindSchema):
        whole = schema.with_defaults(item.body)
        yield from _unknown(mapping(whole.get("spec")), mapping(body.get("spec")), "/spec")


def _unknown(given: Mapping[str, Any], held: Mapping[str, Any], pointer: str) -> Iterator[Difference]:
    """Fields of mappings; lists are compared as they are given."""
    for key, value in held.items():
        where = join(pointer, key)
        if key not in given:
            if not is_nothing(value):
                yield Difference(where, None, value)
        elif isinstance(value, dict) and isinstance(given[key], dict):
            yield from _unknown(given[key], value, where)


class _Workload:
    def __init__(self, kind: str) -> None:
        self._values = filled_in(kind)
        self._paths = defaulted_paths(kind)

    def below(self, given: Any, held: Any, path: Path, pointer: str) -> Iterator[Difference]:
        """`path` has ANY_ITEM in the place of an item of a list."""
        if isinstance(held, dict):
            given = given if isinstance(given, dict) else {}
            for key, value in held.items():
                if (*path, key) == ("spec", "template", "metadata"):
                    continue  # where tools write when they restart something
                yield from self._field(given, key, value, path, pointer)
        elif isinstance(held, list) and isinstance(given, list):
            for index, one, other in paired(given, held):
                yield from self.below(one, other, (*path, ANY_ITEM), f"{pointer}/{index}")

    def _field(self, given: dict[str, Any], key: str, value: Any, path: Path, pointer: str) -> Iterator[Difference]:
        below, where = (*path, key), join(pointer, key)
        if key == "value" and given.get("name") == DRIVER_DIGEST:
            return
        if key in given:
            yield from self.below(given[key], value, below, where)
        elif below in self._values:
            if value != self._values[below]:
                yield Difference(where, None, value)
        elif is_nothing(value) or key in _PRIVILEGES:
            return
        elif isinstance(value, dict) and (key in EMPTY_OBJECTS or self._is_filled_in_below(below)):
            yield from self.below({}, value, below, where)
        elif below not in self._paths:
            yield Difference(where, None, value)

    def _is_filled_in_below(self, path: Path) -> bool:
        return any(len(known) > len(path) and known[: len(path)] == path for known in self._paths)
