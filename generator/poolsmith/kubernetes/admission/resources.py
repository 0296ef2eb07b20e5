"""From a kind to the resource that requests for it name.

Of Kubernetes' own kinds and of those that the operator's neighbours bring, from a table; of others by their
CustomResourceDefinition, else by the usual way to build the plural, which is then called a guess.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.kubernetes.schema.schemas import CORE, kubernetes_minors, read_cached

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FILE = "api_server/resources.yaml"
_PLURALS = {"Endpoints": "endpoints"}
_CLUSTER_WIDE = ("nodes",)


@record
class Resource:
    """What a request is for. `namespaced` None: nobody knows. `guessed`: the plural follows from the kind's name."""

    group: str
    version: str
    kind: str
    plural: str
    subresource: str = ""
    namespaced: bool | None = True
    guessed: bool = False

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def is_connection(self) -> bool:
        """Whether the kind is nothing but the options of a CONNECT, as PodExecOptions."""
        return not self.group and bool(self.subresource) and self.kind.endswith("Options")


class Resources:
    """The kinds that are known for one Kubernetes minor, with the CustomResourceDefinitions at hand."""

    def __init__(self, kubernetes: str, definitions: Iterable[Mapping[str, Any]] = ()) -> None:
        self.kubernetes = kubernetes
        self._custom = {(item.group, item.kind): (item, versions) for item, versions in map(_defined, definitions)}

    def of(self, api_version: str, kind: str) -> Resource:
        group, _, version = api_version.rpartition("/")
        native = _native().get((group, kind))
        if native is not None:
            return replace(native, version=version)
        if (group, kind) in self._custom:
            return replace(self._custom[group, kind][0], version=version)
        part = store.table(_FILE)["parts"].get(f"{group}/{kind}" if group else kind)
        if part is not None:
            plural, _, subresource = part.partition("/")
            namespaced = plural not in _CLUSTER_WIDE
            return Resource(
                group="" if group == "authentication.k8s.io" or kind == "Eviction" else group,
                version="v1",
                kind=kind,
                plural=plural,
                subresource=subresource,
                namespaced=namespaced,
            )
        plural = plural_of(kind)
        return Resource(group=group, version=version, kind=kind, plural=plural, namespaced=None, guessed=True)

    def other_versions(self, resource: Resource) -> frozenset[str] | None:
        """The versions beside its own in which the API server has the same objects; None: nobody knows."""
        if (resource.group, resource.kind) in self._custom:
            return frozenset(self._custom[resource.group, resource.kind][1]) - {resource.version}
        if resource.guessed or (resource.group, resource.kind) not in _native():
            return None if resource.guessed else frozenset()
        served = _served(self.kubernetes).get((resource.group, resource.kind), frozenset())
        return served - {resource.version}


def plural_of(kind: str) -> str:
    """The usual plural of a kind, in small letters."""
    if kind in _PLURALS:
        return _PLURALS[kind]
    word_ = kind.lower()
    if word_.endswith("y") and word_[-2:-1] not in tuple("aeiou"):
        return f"{word_[:-1]}ies"
    return f"{word_}es" if word_.endswith(("s", "x", "z", "ch", "sh")) else f"{word_}s"


@cache
def _native() -> dict[tuple[str, str], Resource]:
    return {
        (group, kind.rstrip("*")): Resource(
            group=group,
            version="",
            kind=kind.rstrip("*"),
            plural=plural_of(kind.rstrip("*")),
            namespaced=not kind.endswith("*"),
        )
        for group, kinds in store.table(_FILE)["kinds"].items()
        for kind in kinds.split()
    }


@cache
def _served(kubernetes: str) -> dict[tuple[str, str], frozenset[str]]:
    """Versions by group and kind."""
    minors = kubernetes_minors()
    view = read_cached(CORE).view(kubernetes if kubernetes in minors else minors[-1])
    found: dict[tuple[str, str], frozenset[str]] = {}
    for api, _, kind in (item.partition(" ") for item in view.kinds):
        group, _, version = api.rpartition("/")
        found[group, kind] = found.get((group, kind), frozenset()) | {version}
    return found


def _defined(definition: Mapping[str, Any]) -> tuple[Resource, tuple[str, ...]]:
    spec = mapping(definition.get("spec"))
    names = mapping(spec.get("names"))
    kind = word(names.get("kind"))
    resource = Resource(
        group=word(spec.get("group")),
        version="",
        kind=kind,
        plural=word(names.get("plural")) or plural_of(kind),
        namespaced=spec.get("scope") != "Cluster",
    )
    served = (word(item.get("name")) for item in mappings(spec.get("versions")) if item.get("served") is not False)
    return resource, tuple(served)
