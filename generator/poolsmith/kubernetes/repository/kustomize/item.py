"""An object on its way through kustomize: its earlier names, whether its kind has a namespace, and YAML's old booleans.

`yes`, `off` and others like them are booleans where Kubernetes reads YAML, and texts where kustomize does. Kustomize
knows the kinds without a namespace by apiVersion; it does not know newer kinds and versions.

Source: kustomize api/resource, kyaml/resid.

Source: kyaml/openapi/openapi.go, precomputedIsNamespaceScoped.

Source: go.yaml.in/yaml v3, resolve.go, which kustomize reads with; what it prints has quotes around them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.delivered import Delivered, delivered

if TYPE_CHECKING:
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.delivered import Layer
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument


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
        return group in ("", self.group) and version in ("", self.version) and kind in ("", self.kind)


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

    @cached_property
    def identity(self) -> Identity:
        return identity_of(self.object.data)

    @property
    def previous(self) -> tuple[Identity, ...]:
        now = self.identity
        return tuple(Identity(now.group, now.version, kind, name, place) for place, name, kind in self.before)

    @cached_property
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


_KINDS: dict[str, tuple[str, ...]] = {
    "admissionregistration.k8s.io": ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
    "apiextensions.k8s.io": ("CustomResourceDefinition",),
    "apiregistration.k8s.io": ("APIService",),
    "certificates.k8s.io": ("CertificateSigningRequest",),
    "networking.k8s.io": ("IngressClass",),
    "node.k8s.io": ("RuntimeClass",),
    "rbac.authorization.k8s.io": ("ClusterRole", "ClusterRoleBinding"),
    "scheduling.k8s.io": ("PriorityClass",),
    "storage.k8s.io": ("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"),
}
_WITHOUT = frozenset(
    (
        *(
            (f"{group}/{version}", kind)
            for group, kinds in _KINDS.items()
            for kind in kinds
            for version in ("v1", "v1beta1")
        ),
        ("flowcontrol.apiserver.k8s.io/v1beta1", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io/v1beta1", "PriorityLevelConfiguration"),
        ("policy/v1beta1", "PodSecurityPolicy"),
        ("v1", "ComponentStatus"),
        ("v1", "Namespace"),
        ("v1", "Node"),
        ("v1", "NodeProxyOptions"),
        ("v1", "PersistentVolume"),
    )
)


def is_cluster_scoped(api_version: str, kind: str) -> bool:
    return (api_version, kind) in _WITHOUT


_WORDS = frozenset(
    word for plain in ("y", "n", "yes", "no", "on", "off") for word in (plain, plain.capitalize(), plain.upper())
)
_ENDS = r"[ \t]*(?:#|[,\]}]|\r?$)"
_WRITTEN = pattern(rf"(?:[:?-][ \t]+|[,\[{{][ \t]*|^[ \t]*)(?:{'|'.join(sorted(_WORDS))}){_ENDS}", re.MULTILINE)
_MAYBE = pattern(
    r"[ynYNoO](?:(?<=[\s,\[{].)|(?<=^.))"
    rf"(?:(?<=[yYnN])|(?<=[nN])[oO]|(?<=[oO])[nN]|(?<=[oO])[fF][fF]|(?<=[yY])[eE][sS]){_ENDS}",
    re.MULTILINE,
)
"""Such a word in any case, whatever stands before it: a search for its first letter is several times as fast."""


def has_old_words(text: str) -> bool:
    """Whether there may be any."""
    return any(
        _WRITTEN.search(text, text.rfind("\n", 0, found.start()) + 1, found.end()) for found in _MAYBE.finditer(text)
    )


def as_texts(document: CheckedDocument) -> Delivered:
    """The document with these words as texts."""
    item = delivered(document)
    data = texts_of(document.data, document.source)
    return item if data is document.data else delivered(document, data)


def texts_of(data: Any, source: SourceFile) -> Any:
    """Data with these words as texts."""
    return _texts(data, "", source)


def _texts(node: Any, pointer: str, source: SourceFile) -> Any:
    if isinstance(node, bool):
        written = source.written(pointer)
        return written if written in _WORDS else node
    if isinstance(node, dict):
        put = {key: _texts(value, join(pointer, key), source) for key, value in node.items()}
        return put if any(put[key] is not value for key, value in node.items()) else node
    if isinstance(node, list):
        items = [_texts(value, join(pointer, at), source) for at, value in enumerate(node)]
        return items if any(new is not old for new, old in zip(items, node, strict=True)) else node
    return node
