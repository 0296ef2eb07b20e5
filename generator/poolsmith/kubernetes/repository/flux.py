"""What Flux applies to a cluster: its Kustomizations from the top down, with the variables of `postBuild`.

Each Kustomization is read as its parents have changed it.

Source: fluxcd/kustomize-controller docs/spec/v1/kustomizations.md. A folder without kustomization.yaml is taken with
all that is below it; `components`, `patches`, `images`, `namePrefix`, `nameSuffix`, `targetNamespace` and
`commonMetadata` are put on what is built, and variables come last.

Source: fluxcd/pkg kustomize/kustomize_varsub.go (variables are looked up in each object's YAML, which is read again
afterwards), and drone/envsubst.
"""

from __future__ import annotations

import base64
import marshal
import posixpath
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.core.sources.scalars import NotJsonError, resolve_plain, text_of
from poolsmith.kubernetes.repository.argo_applications import normal
from poolsmith.kubernetes.repository.delivered import Delivered, Unknown, delivered
from poolsmith.kubernetes.repository.manifest_files import is_encrypted
from poolsmith.kubernetes.repository.source_ignore import left_out_of

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.kustomize.build import Builder
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles


DISABLED = "kustomize.toolkit.fluxcd.io/substitute"
"""A label or annotation of objects that are left as they are, with the value `disabled`."""
_REFERENCE = pattern(
    r"\$(?P<escaped>\$)?\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<operator>:=|:-|=|-|:\?|:\+)(?P<default>[^{}]*)"
    r"|(?P<other>[^{}A-Za-z0-9_][^{}]*))?\}"
)
_NEEDS_QUOTES = pattern(r"^[\s!&*\-?|>@`\"'%,\[\]{}#:]|:\s|\s#|\s$|:$")


@record
class Variables:
    """`known` by name. `is_complete`: nothing else is put in, so that every other name stands for an empty text;
    otherwise `hidden` are names whose values can't be read, and nobody knows which others there are."""

    known: Mapping[str, str]
    hidden: frozenset[str] = frozenset()
    is_complete: bool = True


def substituted(value: Any, variables: Variables) -> Any:
    """A tree with its variables put in; the same tree where there are none. Unknown ones stay as they are written."""
    if isinstance(value, str):
        return _text(value, variables) if "${" in value else value
    if isinstance(value, dict):
        changed = {key: substituted(item, variables) for key, item in value.items()}
        if any("${" in key for key in changed):
            changed = {str(substituted(key, variables)): item for key, item in changed.items()}
            return changed
        return changed if any(changed[key] is not value[key] for key in changed) else value
    if isinstance(value, list):
        items = [substituted(item, variables) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def is_left_alone(data: Any) -> bool:
    """Whether an object refuses to have variables put in."""
    metadata = data.get("metadata") if isinstance(data, dict) else None
    if not isinstance(metadata, dict):
        return False
    marks = (metadata.get("labels"), metadata.get("annotations"))
    return any(isinstance(mark, dict) and mark.get(DISABLED) == "disabled" for mark in marks)


def _text(text: str, variables: Variables) -> Any:
    open_ones = False

    def put_in(match: re.Match[str]) -> str:
        nonlocal open_ones
        if match["escaped"]:
            return match[0][1:]
        value = _value(match, variables)
        if value is None:
            open_ones = True
            return match[0]
        return value

    result = _REFERENCE.sub(put_in, text)
    if result == text:
        return text
    if open_ones or "\n" in text or not _was_plain(text):
        return result
    try:
        return resolve_plain(result)
    except NotJsonError:
        return result


def _value(match: re.Match[str], variables: Variables) -> str | None:
    """None where nobody can tell."""
    name, operator, default = match["name"], match["operator"], match["default"]
    value = variables.known.get(name)
    if value is None and (name in variables.hidden or (not variables.is_complete and default is None)):
        return None
    if match["other"] is not None:
        return None if value is not None or not variables.is_complete else ""
    if operator == ":+":
        return default if value else ""
    if operator in (":=", ":-", ":?"):
        return value or (default if operator != ":?" else "")
    if operator in ("=", "-"):
        return default if value is None else value
    return value or ""


def _was_plain(text: str) -> bool:
    """Whether the object's YAML has the text without quotes, so that what is put in decides its type."""
    return _NEEDS_QUOTES.search(text) is None


def undefined(value: Any, variables: Variables, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Names in a tree that nothing stands for, each with the pointer to its text: an empty text is put in."""
    if isinstance(value, str):
        for match in _REFERENCE.finditer(value) if variables.is_complete and "${" in value else ():
            name = match["name"]
            is_plain = not match["escaped"] and match["operator"] is None and match["other"] is None
            if is_plain and name not in variables.known and name not in variables.hidden:
                yield pointer, name
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from undefined(item, variables, join(pointer, str(key)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from undefined(item, variables, f"{pointer}/{index}")


@record(kw_only=False)
class Emptied:
    """A variable of the text at `pointer` of an object that nothing stands for; `unit` says which ones there are."""

    name: str
    item: Delivered
    pointer: str
    unit: Location


GROUP = "kustomize.toolkit.fluxcd.io"
_FIELDS = {"targetNamespace": "namespace"}
_COPIED = ("patches", "images", "namePrefix", "nameSuffix")
MOST_NESTED = 30
_MOST_IN_ITSELF = 8
"""Units that change a folder in which they stand: each makes all of them once more, under other names."""
_PLAIN = 2
"""The form of marshal whose bytes follow from the values alone."""
BOOTSTRAP = "flux-system"

Identity = tuple[str, int]
"""Path and index of a document."""


@record
class FluxDelivery:
    """What reaches one cluster through the Kustomization `top`."""

    top: CheckedDocument
    objects: tuple[Delivered, ...]
    unknown: tuple[Unknown, ...]
    taken: frozenset[Identity]
    """The documents that are the first layer of some object."""
    folders: frozenset[str]
    """Those that were built."""
    emptied: tuple[Emptied, ...] = ()
    units: tuple[tuple[Delivered, ...], ...] = ()
    """What each Kustomization applies at once."""
    left_out: frozenset[str] = frozenset()
    """Files that the source of a Kustomization leaves out."""


def is_flux_kustomization(item: CheckedDocument) -> bool:
    return item.kind == "Kustomization" and item.api_version.startswith(f"{GROUP}/")


class FluxClusters:
    """Evaluates the Kustomizations of a repository; each folder is built once."""

    def __init__(
        self, files: RepositoryFiles, builder: Builder, others: Callable[[str, str], Sequence[CheckedDocument]]
    ) -> None:
        """`others` finds the objects of the files by kind and name, for variables that no delivered object has."""
        self._files = files
        self._builder = builder
        self._others = others
        self.made: dict[tuple[str, str, bytes], _Made] = {}
        """By where a cluster's delivery begins, the folder, and what a unit puts on it."""

    def deliveries(self, items: Iterable[CheckedDocument]) -> Iterator[FluxDelivery]:
        """One for each Kustomization that no other one delivers."""
        tops = [item for item in items if is_flux_kustomization(item)]
        by_folder: dict[str, set[Identity]] = {}
        for item in tops:
            if (folder := self.folder(item)) is not None:
                by_folder.setdefault(folder, set()).add(identity(item))
        inside: set[Identity] = set()
        for folder, own in by_folder.items():
            found = {identity(unit) for unit in self._builder.folder(folder).objects if is_flux_kustomization(unit)}
            inside |= found - own if len(own) == 1 else found  # flux-system applies itself
        roots = [item for item in tops if identity(item) not in inside]
        if roots:
            yield from map(self._delivered, roots)
        else:
            yield from self._of_circles(tops)

    def _of_circles(self, tops: Iterable[CheckedDocument]) -> Iterator[FluxDelivery]:
        """Where each delivers another no one is first: of those that one brings no other is asked."""
        taken: set[Identity] = set()
        for item in tops:
            if identity(item) not in taken:
                found = self._delivered(item)
                taken |= found.taken
                yield found

    def folder(self, item: CheckedDocument) -> str | None:
        """The folder of the repository that a Kustomization applies; None where it is of another repository.

        One without source and path is a patch that nobody names now: it does not apply the whole repository.
        """
        spec = mapping(item.data.get("spec"))
        if not spec.get("sourceRef") and not spec.get("path"):
            return None
        if word(value_at(spec, ("sourceRef", "kind"))) not in ("GitRepository", "OCIRepository", "Bucket", ""):
            return None
        path = normal(word(spec.get("path")) or ".")
        if path is None or not self._is_own(mapping(spec.get("sourceRef")), path):
            return None
        return self._files.in_repository(self._files.told_from(path, item.path))

    def _is_own(self, reference: Any, path: str) -> bool:
        """Whether a source is this repository, by its address; the one that bootstrapped Flux is."""
        source = next(iter(self._others(word(reference.get("kind")), word(reference.get("name")))), None)
        own = next(iter(self._others("GitRepository", BOOTSTRAP)), None)
        if source is None or source is own:
            return True
        address = value_at(source.data, ("spec", "url"))
        if own is not None:
            return bool(address == value_at(own.data, ("spec", "url")))
        return bool(path)  # the top of a repository is said by name or not at all

    def _delivered(self, top: CheckedDocument) -> FluxDelivery:
        run = _Run(self, self._files, self._builder, self._others, posixpath.dirname(top.path))
        run.add(delivered(top), 0)
        return FluxDelivery(
            top=top,
            objects=tuple(run.objects),
            unknown=tuple(run.unknown),
            taken=frozenset(map(identity, run.objects)) | {identity(top)},
            folders=frozenset(run.folders),
            emptied=tuple(run.emptied),
            units=tuple(run.units),
            left_out=frozenset(run.left_out),
        )

    def leaves_out(self, item: CheckedDocument, folder: str, path: str) -> bool:
        """Whether the source of a Kustomization, which applies `folder`, has not got a file."""
        spec = mapping(item.data.get("spec"))
        reference = mapping(spec.get("sourceRef"))
        if word(reference.get("kind")) != "GitRepository":
            return False
        source = next(iter(self._others("GitRepository", word(reference.get("name")))), None)
        said = word(value_at(source.data, ("spec", "ignore"))) if source is not None else ""
        below = normal(word(spec.get("path")) or ".") or ""
        top = folder.removesuffix(below).rstrip("/") if folder.endswith(below) else ""
        return left_out_of(top, path, said, self._files)


class _Run:
    """One cluster on its way."""

    def __init__(
        self,
        clusters: FluxClusters,
        files: RepositoryFiles,
        builder: Builder,
        others: Callable[[str, str], Sequence[CheckedDocument]],
        place: str,
    ) -> None:
        self.clusters, self.files, self.builder, self.others = clusters, files, builder, others
        self.place = place
        self.objects: list[Delivered] = []
        self.unknown: list[Unknown] = []
        self.folders: set[str] = set()
        self.emptied: list[Emptied] = []
        self.units: list[tuple[Delivered, ...]] = []
        self.left_out: set[str] = set()
        self._seen: set[tuple[str, str, str]] = set()
        self._named: dict[tuple[str, str], list[Delivered]] = {}
        self._in_themselves: Counter[str] = Counter()
        self._applied: dict[tuple[str, str, bytes], list[Delivered]] = {}
        """What was made for a unit, by its case, and what the first such unit left to others: itself."""

    def add(self, item: Delivered, depth: int) -> None:
        spec = mapping(item.data.get("spec"))
        metadata = item.metadata
        name = (word(metadata.get("namespace")), word(metadata.get("name")), word(spec.get("path")))
        if name in self._seen or depth > MOST_NESTED:
            return
        self._seen.add(name)
        folder = self.clusters.folder(item)
        if folder is None:
            what = f"{item.name} applies `{word(spec.get('path')) or '.'}`, which is not among the files"
            self.unknown.append(Unknown(item.source.locate("/spec/path"), what))
            return
        self.folders.add(folder)
        overlay = _overlay(spec, folder)
        variables = self._variables(item, spec.get("postBuild")) if self.builder.folder(folder).objects else None
        is_changed = bool(overlay) or variables is not None
        if is_changed and self._in_themselves[folder] >= _MOST_IN_ITSELF:
            what = f"{item.name} is one of many that stand in the folder which they change"
            self.unknown.append(Unknown(item.source.locate("/spec/path"), what, is_here=True))
            return
        case = self.place, folder, _said(spec, overlay, variables)
        if case not in self.clusters.made:
            self.clusters.made[case] = self._made(item, folder, overlay, variables)
        made = self.clusters.made[case]
        self.emptied += (replace(one, unit=_place_of(item)) for one in made.emptied)
        if case in self._applied:
            self._keep(self._applied[case])
            self._applied[case] = []
            return
        self.unknown += made.unknown
        self.left_out |= made.left_out
        objects = made.objects
        self.units.append(objects)
        own = [found for found in objects if identity(found) == identity(item) and is_flux_kustomization(found)]
        self._in_themselves[folder] += bool(own) and is_changed
        self._keep(found for found in objects if not any(found is one for one in own))
        self._applied[case] = own
        for found in objects:
            if is_flux_kustomization(found):
                self.add(found, depth + 1)

    def _made(self, item: Delivered, folder: str, overlay: dict[str, Any], variables: Variables | None) -> _Made:
        built = self.builder.folder(folder)
        if overlay:
            built = self.builder.overlay(built, overlay, item.source, "/spec", _PLACES)
        unseen = {path for path in {one.path for one in built.objects} if self.clusters.leaves_out(item, folder, path)}
        here = tuple(one for one in built.objects if one.path not in unseen)
        return _Made(
            objects=here if variables is None else tuple(_with_variables(one, variables) for one in here),
            emptied=() if variables is None else tuple(_emptied(here, variables, _place_of(item))),
            unknown=tuple(built.unknown),
            left_out=frozenset(unseen),
        )

    def _keep(self, objects: Iterable[Delivered]) -> None:
        for found in objects:
            self.objects.append(found)
            self._named.setdefault((found.kind, word(found.metadata.get("name"))), []).append(found)

    def _variables(self, item: Delivered, build: Any) -> Variables | None:
        """None where a unit puts none in."""
        if not isinstance(build, dict):
            return None
        known: dict[str, str] = {}
        hidden: set[str] = set()
        is_complete = True
        for index, reference in enumerate(mappings(build.get("substituteFrom"))):
            kind, name = word(reference.get("kind")), word(reference.get("name"))
            source, is_sure = self._source(kind, name, item)
            is_complete &= is_sure
            if source is None:
                if not reference.get("optional"):
                    place = item.source.locate(f"/spec/postBuild/substituteFrom/{index}")
                    self.unknown.append(Unknown(place, f"variables of {kind} `{name}`, which is not among the files"))
                is_complete = False
                continue
            values, secret = _pairs(source.data)
            known |= values
            hidden = (hidden - values.keys()) | secret
            known = {key: value for key, value in known.items() if key not in secret}
        for key, value in mapping(build.get("substitute")).items():
            known[key] = text_of(value)
            hidden.discard(key)
        return Variables(known=known, hidden=frozenset(hidden), is_complete=is_complete)

    def _source(self, kind: str, name: str, item: Delivered) -> tuple[CheckedDocument | None, bool]:
        """The object that variables are read from, and whether it is surely that one, and filled by nobody else.

        Of several that nobody delivers the nearest is taken: folders of clusters have one each, by the same name."""
        is_filled = kind == "Secret" and bool(self.others("ExternalSecret", name))
        namespace = word(item.metadata.get("namespace"))
        delivered_ones = self._named.get((kind, name), [])
        there = {identity(found): found for found in (*self.others(kind, name), *delivered_ones)}
        near = sorted(there.values(), key=lambda found: -len(posixpath.commonprefix([found.path, item.path])))
        candidates = [*delivered_ones, *near]
        own = [found for found in candidates if word(found.metadata.get("namespace")) == namespace]
        free = [found for found in candidates if not found.metadata.get("namespace")]
        source = next(iter((*own, *free, *candidates)), None)
        is_only = len({identity(found) for found in own} or there) == 1
        return source, not is_filled and (is_only or own[:1] == delivered_ones[:1] != [])


@record
class _Made:
    """What units apply of one folder that put the same on it."""

    objects: tuple[Delivered, ...]
    emptied: tuple[Emptied, ...]
    unknown: tuple[Unknown, ...]
    left_out: frozenset[str]


def _overlay(spec: Any, folder: str) -> dict[str, Any]:
    """What a unit puts on all that is built of a folder, as fields of a kustomization."""
    overlay = {key: spec[key] for key in _COPIED if spec.get(key)}
    overlay |= {new: spec[key] for key, new in _FIELDS.items() if spec.get(key)}
    components = [path for path in spec.get("components") or () if isinstance(path, str)]
    if components:
        overlay["components"] = [posixpath.join(folder, path) for path in components]
    common = mapping(spec.get("commonMetadata"))
    if common.get("labels"):
        overlay["labels"] = [{"pairs": common["labels"]}]
    if common.get("annotations"):
        overlay["commonAnnotations"] = common["annotations"]
    return overlay


def _said(spec: Any, overlay: dict[str, Any], variables: Variables | None) -> bytes:
    """All that decides what a unit makes of a folder; the same bytes for what is equal."""
    put_in = None if variables is None else (variables.known, sorted(variables.hidden), variables.is_complete)
    said: Any = (spec.get("sourceRef"), spec.get("path"), overlay, put_in)
    return marshal.dumps(said, _PLAIN)


def _place_of(item: Delivered) -> Location:
    return item.source.locate("/spec/postBuild")


def _emptied(objects: Iterable[Delivered], variables: Variables, unit: Location) -> Iterator[Emptied]:
    for found in objects:
        for pointer, name in undefined(found.data, variables) if not is_left_alone(found.data) else ():
            yield Emptied(name, found, pointer, unit)


def _with_variables(found: Delivered, variables: Variables) -> Delivered:
    data = found.data if is_left_alone(found.data) else substituted(found.data, variables)
    return found if data is found.data else delivered(found, data)


_PLACES = {"namespace": "targetNamespace", "labels": "commonMetadata", "commonAnnotations": "commonMetadata"}
"""Where the fields of a kustomization stand in Flux's object."""


def identity(item: CheckedDocument) -> Identity:
    return item.path, item.index


def _pairs(data: Any) -> tuple[dict[str, str], set[str]]:
    """The variables of a ConfigMap or Secret: those whose values can be read, and the names of the others."""
    values: dict[str, str] = {}
    secret: set[str] = set()
    encrypted = is_encrypted(data) or data.get("kind") == "SealedSecret"
    fields = [mapping(data.get("stringData"))]
    fields.insert(0, mapping(data.get("data")) or mapping(value_at(data, ("spec", "encryptedData"))))
    for field in fields:
        for key, value in field.items():
            if encrypted:
                secret.add(key)
            elif data.get("kind") == "Secret" and field is fields[0]:
                decoded = _decoded(value)
                if decoded is None:
                    secret.add(key)
                else:
                    values[key] = decoded
            else:
                values[key] = text_of(value)
    return values, secret


def _decoded(value: Any) -> str | None:
    try:
        return base64.b64decode(str(value), validate=True).decode()
    except ValueError:
        return None
