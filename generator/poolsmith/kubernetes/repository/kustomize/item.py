"""An object on its way through kustomize: what it is now, and under which names it was known before.

Source: kustomize api/resource, kyaml/resid.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping
from poolsmith.kubernetes.repository.delivered import Delivered, delivered

if TYPE_CHECKING:
    from poolsmith.kubernetes.repository.delivered import Layer

NOWHERE = "_non_namespaceable_"
_DEFAULT = "default"


class RefusedError(Exception):
    """Why kustomize stops there."""


def text_of(value: Any) -> str:
    """A scalar as YAML spells it; empty of what is none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or isinstance(value, (dict, list)) else str(value)


class Identity(NamedTuple):
    """What tells objects apart."""

    group: str
    version: str
    kind: str
    name: str
    namespace: str

    @property
    def place(self) -> str:
        """Its namespace in effect."""
        from poolsmith.kubernetes.repository.kustomize.scopes import is_cluster_scoped  # on demand

        if self.namespace == NOWHERE or is_cluster_scoped(self.api_version, self.kind):
            return NOWHERE
        return self.namespace or _DEFAULT

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def is_same(self, other: Identity) -> bool:
        return self[:4] == other[:4] and self.place == other.place

    def is_selected(self, group: str, version: str, kind: str) -> bool:
        """An empty word selects everything."""
        wanted = (group, version, kind)
        return all(not word or word == own for word, own in zip(wanted, self[:3], strict=True))


def identity_of(data: Any) -> Identity:
    group, slash, version = text_of(data.get("apiVersion")).partition("/")
    metadata = mapping(data.get("metadata"))
    return Identity(
        group if slash else "",
        version if slash else group,
        text_of(data.get("kind")),
        text_of(metadata.get("name")),
        text_of(metadata.get("namespace")),
    )


@record(kw_only=False, slots=False)
class Item:
    """`before` are namespace, name and kind that the object had, the first ones first."""

    object: Delivered
    before: tuple[tuple[str, str, str], ...] = ()
    prefixes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    needs_hash: bool = False
    behavior: str = ""
    vars: tuple[str, ...] = ()

    @property
    def data(self) -> Any:
        return self.object.data

    @property
    def identity(self) -> Identity:
        return identity_of(self.object.data)

    @property
    def previous(self) -> tuple[Identity, ...]:
        now = self.identity
        return tuple(Identity(now.group, now.version, kind, name, place) for place, name, kind in self.before)

    @property
    def identities(self) -> tuple[Identity, ...]:
        """All that it ever was, the first one first."""
        return (*self.previous, self.identity)

    @property
    def first(self) -> Identity:
        return self.identities[0]

    def remembered(self) -> Item:
        """With what it is now among what it was."""
        now = self.identity
        return replace(self, before=(*self.before, (now.place, now.name, now.kind)))

    def changed(self, data: Any, layers: tuple[Layer, ...] = ()) -> Item:
        """With other data; itself where nothing is different."""
        if data is self.object.data:
            return self
        return replace(self, object=delivered(self.object, data, layers))
