"""Which schema an object is judged by, and the packs of structural schemas: compact files.

A pack is zlib over lines of text. The first line is a JSON header (source, licence, versions); each other line is one
definition: name, versions it holds for (ranges of indices into the header's versions, or `*`), the kind that it is
the root of (`apps/v1 DaemonSet`, or empty), and its schema as JSON. Definitions refer to each other by name, within
one version. Nothing is parsed before it is needed.

Keys of a schema: those of OpenAPI (type, properties, items, required, additionalProperties, enum, pattern, format,
nullable, default, bounds), `$ref` with a definition's name, and our short forms of what Kubernetes adds:
`intOrString`, `quantity`, `preserve` (unknown fields), `listType`, `listMapKeys`, `rules` (CEL texts).
"""

from __future__ import annotations

import json
import os
import zlib
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import listed, nearest
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.store import DATA, read_json
from poolsmith.core.own_modules import read_file
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.kubernetes.schema.compiler import Compiler, Nulls
from poolsmith.kubernetes.schema.kind_schema import KindSchema
from poolsmith.kubernetes.schema.server_validation import RULES, validated

if TYPE_CHECKING:
    from poolsmith.kubernetes.schema.scalars import Schema


FOLDER = DATA / "schemas"
ENDING = ".schemas.z"


class SchemaPack:
    """One pack. `versions` are oldest first; `text` is what the importers make."""

    def __init__(self, text: str) -> None:
        self.text = text
        head, _, body = text.partition("\n")
        self.header: dict[str, Any] = json.loads(head)
        self.versions: tuple[str, ...] = tuple(self.header["versions"])
        self._rows = [line.split("\t", 3) for line in body.splitlines()]
        """Name, ranges of versions, kind and definition."""
        self._views: dict[str, PackView] = {}

    @cached_property
    def groups(self) -> frozenset[str]:
        """The API groups of all kinds in all versions; the core group is the empty string."""
        return frozenset(kind.partition(" ")[0].rpartition("/")[0] for _, _, kind, _ in self._rows if kind)

    def view(self, version: str) -> PackView:
        """The definitions of one version. Raises KeyError."""
        if version not in self._views:
            if version not in self.versions:
                raise KeyError(version)
            self._views[version] = PackView(self._rows, self.versions.index(version))
        return self._views[version]


class PackView:
    """What a pack says for one version: kinds, and definitions by name."""

    def __init__(self, rows: list[list[str]], index: int) -> None:
        covered = {ranges for ranges in {row[1] for row in rows} if ranges == "*" or _covers(ranges, index)}
        own = [row for row in rows if row[1] in covered]
        self._texts = {name: text for name, _, _, text in own}
        self.kinds = {kind: name for name, _, kind, _ in own if kind}

    def definition(self, name: str) -> Schema:
        schema: Schema = json.loads(self._texts[name])
        return schema


def read_pack(family: str) -> SchemaPack:
    return SchemaPack(zlib.decompress(read_file(f"{FOLDER}/{family}{ENDING}")).decode())


def families() -> tuple[str, ...]:
    listed = os.listdir(FOLDER)  # noqa: PTH208 - pathlib compiles an expression
    return tuple(sorted(name.removesuffix(ENDING) for name in listed if name.endswith(ENDING)))


def _covers(ranges: str, index: int) -> bool:
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        if int(first) <= index <= int(last):
            return True
    return False


CORE = "kubernetes"
_METADATA = "meta.v1.ObjectMeta"
_VERSION = pattern(r"v[0-9]+(alpha|beta)[0-9]+")


@record
class Release:
    """Of a family of definitions, which the caller names; None where nobody said it.

    One that `decides` serves all kinds of its groups that there are, and has to be named.
    """

    family: str
    version: str | None = None
    decides: bool = False


_NEWEST_ONLY = tuple(Release(family=name) for name in ("node-feature-discovery", "argo-cd", "flux", "karpenter"))


@record
class Versions:
    """What objects are judged against. Families that are not named are judged by their newest definitions."""

    kubernetes: str
    releases: tuple[Release, ...] = ()


@record(kw_only=False)
class NoSchema:
    """Why a kind can't be judged. `refused`: what should serve it is known, and does not. `is_foreign`: it belongs to
    a project whose definitions are not here, or to no API of Kubernetes."""

    reason: str
    help: str | None = None
    refused: bool = False
    is_foreign: bool = False


class Schemas:
    """All kinds that are known for a set of versions. Packs are read when they are first needed."""

    def __init__(self, versions: Versions) -> None:
        self.versions = versions
        self._found: dict[tuple[str, str], KindSchema | NoSchema] = {}

    def find(self, api_version: str, kind: str) -> KindSchema | NoSchema:
        key = api_version, kind
        if key not in self._found:
            self._found[key] = self._find(api_version, kind)
        return self._found[key]

    def _find(self, api_version: str, kind: str) -> KindSchema | NoSchema:
        group = api_version.rpartition("/")[0]
        wanted = f"{api_version} {kind}"
        if group == "kustomize.config.k8s.io":
            names: dict[str, str] = _kustomize()["kinds"]
            if wanted in names:
                return KindSchema(_kustomize_compiler(), names[wanted], "kustomize", "v5")
        elif group in read_cached(CORE).groups or group == _GONE:
            return self._core(group, wanted)
        for release in (*self.versions.releases, *_NEWEST_ONLY):
            if group in read_cached(release.family).groups:
                return self._custom(release, wanted)
        return NoSchema(f"no schema of {api_version} {kind} is known", is_foreign=True)

    def _core(self, group: str, wanted: str) -> KindSchema | NoSchema:
        version = self.versions.kubernetes
        if version not in kubernetes_minors():
            known = kubernetes_minors()
            return NoSchema(f"no schemas of Kubernetes {version} are known; there are {known[0]} to {known[-1]}")
        name = _view(CORE, version).kinds.get(wanted)
        if name is not None:
            return KindSchema(core_compiler(version), name, CORE, version)
        if _is_of_a_tool(wanted, _view(CORE, version)):
            return NoSchema(f"{wanted} is the form of a tool, and no object of Kubernetes", is_foreign=True)
        return _not_served(f"Kubernetes {version}", group, wanted, _view(CORE, version))

    def _custom(self, release: Release, wanted: str) -> KindSchema | NoSchema:
        family, version = release.family, release.version
        pack = read_cached(family)
        if version is None and release.decides:
            newest, group = _view(family, pack.versions[-1]), wanted.partition("/")[0]
            is_in_one = any(wanted in _view(family, item).kinds for item in pack.versions)
            if not is_in_one and _serves(newest, group) and _is_of_a_family(family, wanted.partition(" ")[2]):
                return _not_served(f"{family} in each known release", group, wanted, newest)
            return NoSchema(f"the {family} release is unknown", "name it with --release")
        if version is None:
            holders = [item for item in pack.versions if wanted in _view(family, item).kinds]
            if len(holders) > 1:
                return NoSchema(f"the release of {family} is unknown, and the definitions differ")
            version = pack.versions[-1]
        if version not in pack.versions:
            return NoSchema(f"no definitions of {family} {version} are known", f"known: {listed(pack.versions)}")
        view = _view(family, version)
        if wanted in view.kinds:
            core = self.versions.kubernetes if self.versions.kubernetes in kubernetes_minors() else None
            return KindSchema(_custom_compiler(family, version, core), view.kinds[wanted], family, version)
        group = wanted.partition("/")[0]
        if release.decides and _serves(view, group) and _is_of_a_family(family, wanted.partition(" ")[2]):
            return _not_served(f"{family} {version}", group, wanted, view)
        return NoSchema(f"no schema of {wanted} is known; {family} {version} has {listed(view.kinds)}")


@remembered
def schemas_for(versions: Versions) -> Schemas:
    """One object per set of versions and process: what is compiled stays compiled."""
    return Schemas(versions)


@cache
def kubernetes_minors() -> tuple[str, ...]:
    return read_cached(CORE).versions


def newest_kubernetes() -> str:
    return kubernetes_minors()[-1]


def releases_of(family: str) -> tuple[str, ...]:
    """Those that there are definitions of, oldest first."""
    return read_cached(family).versions


read_cached = cache(read_pack)


@cache
def _view(family: str, version: str) -> PackView:
    return read_cached(family).view(version)


@cache
def core_compiler(minor: str) -> Compiler:
    view = _view(CORE, minor)

    def definition(name: str) -> Schema:
        schema = validated(name, view.definition(name))
        return {**schema, "demand": RULES[name]} if name in RULES else schema

    return Compiler(definition, Nulls.ABSENT)


@cache
def _custom_compiler(family: str, version: str, minor: str | None) -> Compiler:
    metadata = core_compiler(minor or newest_kubernetes()).check({"$ref": _METADATA})
    return Compiler(_view(family, version).definition, Nulls.NULLABLE, metadata)


@cache
def _kustomize() -> dict[str, Any]:
    return read_json("schemas/kustomize.json")


@cache
def _kustomize_compiler() -> Compiler:
    definitions: dict[str, Schema] = _kustomize()["definitions"]
    return Compiler(definitions.__getitem__, Nulls.ABSENT)


_GONE = "extensions"
"""The group that Kubernetes began with; since 1.22 nothing is served in it: kubernetes.io/docs/reference/using-api."""
_FORMS = frozenset(("v1 Config",))
"""kubeconfig."""
_PLUGINS = "builtin "
"""Transformers and generators of kustomize."""


def _is_of_a_tool(wanted: str, view: PackView) -> bool:
    """A version without a group that is not `v1`, with a kind that Kubernetes does not have: Talos writes such."""
    api_version, _, kind = wanted.partition(" ")
    if wanted in _FORMS or wanted.startswith(_PLUGINS):
        return True
    if "/" in api_version or _VERSION.fullmatch(api_version) is None:
        return False
    return not any(item.endswith(f" {kind}") for item in view.kinds)


def _serves(view: PackView, group: str) -> bool:
    """Of a group that one version has not, another project's chart may bring the kinds: that of the DRA driver."""
    return any(item.startswith(f"{group}/") for item in view.kinds)


def _is_of_a_family(family: str, kind: str) -> bool:
    """Whether some release has the kind, or one that is nearly called so; others define kinds under the group too."""
    views = [_view(family, version) for version in read_cached(family).versions]
    known = {item.partition(" ")[2] for view in views for item in view.kinds}
    return kind in known or nearest(kind, known) is not None


def _not_served(server: str, group: str, wanted: str, view: PackView) -> NoSchema:
    """The server has this group, but not this kind in this version of it."""
    api_version, _, kind = wanted.partition(" ")
    same_kind = sorted(item.partition(" ")[0] for item in view.kinds if _group_and_kind(item) == (group, kind))
    if same_kind:
        return NoSchema(
            f"{server} does not serve {kind} as {api_version}", f"use `apiVersion: {same_kind[0]}`", refused=True
        )
    kinds = [item.partition(" ")[2] for item in view.kinds if item.partition(" ")[0] == api_version]
    match = nearest(kind, kinds)
    help_text = f"did you mean `{match}`?" if match is not None else None
    if help_text is None and (elsewhere := sorted(item for item in view.kinds if item.endswith(f" {kind}"))):
        help_text = f"{kind} is served as `apiVersion: {elsewhere[0].partition(' ')[0]}`"
    return NoSchema(f"{server} does not serve {api_version} {kind}", help_text, refused=True)


def _group_and_kind(wanted: str) -> tuple[str, str]:
    api_version, _, kind = wanted.partition(" ")
    return api_version.rpartition("/")[0], kind
