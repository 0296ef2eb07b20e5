"""What somebody has added to an object: fields that nobody gave, and the server does not fill in.

Every object that a cluster is predicted to have is known whole, but for its metadata and its status. A field that was
added changes what runs as much as one that was edited, and no delivery engine tells of it: for server-side apply it is
somebody else's.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.pod_likeness import tag_of
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.nvidia_drivers import DRIVER_DIGEST
from poolsmith.kubernetes.admission.defaulting import EMPTY_OBJECTS, defaulted_paths
from poolsmith.kubernetes.schema.schemas import KindSchema, Versions, newest_kubernetes, schemas_for
from poolsmith.kubernetes.server.fields import Difference, differences, is_nothing, paired
from poolsmith.kubernetes.server.filled_in import ANY_ITEM, filled_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.verify.expected import Expected

Path = tuple[str, ...]
_ENVELOPE = frozenset(("apiVersion", "kind", "metadata", "status"))
_OF_THE_SERVER = frozenset(
    (
        ("Namespace", "spec"),
        ("ServiceAccount", "imagePullSecrets"),
        ("ServiceAccount", "secrets"),
    )
)
"""What is written there by controllers of Kubernetes and of distributions."""
_PRIVILEGES = frozenset(
    ("hostNetwork", "hostPID", "hostIPC", "privileged", "allowPrivilegeEscalation", "capabilities", "procMount")
)
"""Fields of pods that the ledger tells of: what they allow is told there."""
_PULL_POLICY = "imagePullPolicy"
_TEMPLATE = "template"
_TEMPLATE_METADATA = ("spec", _TEMPLATE, "metadata")
"""Where tools write when they restart something."""


def additions(item: Expected, body: dict[str, Any], release: str | None) -> Iterator[Difference]:
    """To one live object; `release` is the operator's, for the definitions of its resources."""
    kind = item.resource.kind
    if _is_native(item.resource.group):
        native = _Native(kind)
        for key, value in body.items():
            if key not in _ENVELOPE and (kind, key) not in _OF_THE_SERVER:
                yield from native.field(item.body, key, value, (), "")
        return
    versions = Versions(kubernetes=newest_kubernetes(), operator=release)
    schema = schemas_for(versions).find(item.resource.api_version, kind)
    if isinstance(schema, KindSchema):
        whole = schema.with_defaults(item.body)
        given, filled, held = (mapping(holder.get("spec")) for holder in (item.body, whole, body))
        yield from _unknown(given, filled, held, "/spec")


def _is_native(group: str) -> bool:
    return "." not in group or group.endswith(".k8s.io")


def _unknown(
    given: Mapping[str, Any], whole: Mapping[str, Any], held: Mapping[str, Any], pointer: str
) -> Iterator[Difference]:
    """`whole` is what was given, with what the definition fills in."""
    for key, value in held.items():
        where, default = join(pointer, key), whole.get(key)
        if key not in whole:
            if not is_nothing(value, where):
                yield Difference(where, None, value)
        elif isinstance(value, dict) and isinstance(default, dict):
            yield from _unknown(mapping(given.get(key)), default, value, where)
        elif isinstance(value, list) and isinstance(default, list):
            ours = given.get(key)
            for index, one, other in paired(default, value):
                if isinstance(one, dict) and isinstance(other, dict):
                    was = ours[index] if isinstance(ours, list) else {}
                    yield from _unknown(mapping(was), one, other, f"{where}/{index}")
        elif key not in given:
            yield from differences(default, value, where)


class _Native:
    """A kind of Kubernetes itself: the server fills in by code, which fields is in the catalog."""

    def __init__(self, kind: str) -> None:
        self._values = filled_in(kind)
        self._paths = defaulted_paths(kind)
        self._above = _above(kind)

    def below(self, given: Any, held: Any, path: Path, pointer: str) -> Iterator[Difference]:
        """`path` has ANY_ITEM in the place of an item of a list."""
        if isinstance(held, dict):
            given = given if isinstance(given, dict) else {}
            for key, value in held.items():
                if (*path, key) != _TEMPLATE_METADATA:
                    yield from self.field(given, key, value, path, pointer)
        elif isinstance(held, list) and isinstance(given, list):
            for index, one, other in paired(given, held):
                yield from self.below(one, other, (*path, ANY_ITEM), f"{pointer}/{index}")

    def field(self, given: Mapping[str, Any], key: str, value: Any, path: Path, pointer: str) -> Iterator[Difference]:
        below, where = (*path, key), join(pointer, key)
        if key == "value" and given.get("name") == DRIVER_DIGEST:
            return
        if key in given:
            yield from self.below(given[key], value, below, where)
        elif below in self._values or key == _PULL_POLICY:
            filled = self._values[below] if below in self._values else _pull_policy(given.get("image"))
            if value != filled:
                yield Difference(where, None, value)
        elif is_nothing(value, where) or (key in _PRIVILEGES and _TEMPLATE in path):
            return
        elif isinstance(value, dict) and (key in EMPTY_OBJECTS or below in self._above):
            yield from self.below({}, value, below, where)
        elif below not in self._paths:
            yield Difference(where, None, value)


def _pull_policy(image: Any) -> str:
    """Source: kubernetes/kubernetes@v1.34.1:pkg/apis/core/v1/defaults.go, SetDefaults_Container."""
    is_latest = isinstance(image, str) and (tag_of(image) or ("" if "@" in image else "latest")) == "latest"
    return "Always" if is_latest else "IfNotPresent"


@cache
def _above(kind: str) -> frozenset[Path]:
    """Paths of objects that have fields which are filled in."""
    return frozenset(path[:length] for path in defaulted_paths(kind) for length in range(1, len(path)))
