"""`transformers` and `generators` of a kustomization: those that are part of kustomize itself.

Source: kustomize api/internal/plugins/builtinhelpers and api/internal/builtins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, word, words
from poolsmith.kubernetes.repository.kustomize.field_specs import specs_in
from poolsmith.kubernetes.repository.kustomize.generators import generated
from poolsmith.kubernetes.repository.kustomize.item import RefusedError
from poolsmith.kubernetes.repository.kustomize.kustomization_file import MissingError
from poolsmith.kubernetes.repository.kustomize.patches import operated, patched, patched_strategically
from poolsmith.kubernetes.repository.kustomize.replacements import Standing
from poolsmith.kubernetes.repository.kustomize.transform import in_namespace, marked, renamed, replicated, with_images

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.kubernetes.repository.kustomize.item import Item
    from poolsmith.kubernetes.repository.kustomize.kustomization_file import FolderFiles, Place

BUILTIN = "builtin"
_GENERATORS = {"ConfigMapGenerator": "ConfigMap", "SecretGenerator": "Secret"}


def applied(items: list[Item], data: Any, place: Place, files: FolderFiles) -> list[Item]:
    """The items after one plugin. Raises RefusedError, and MissingError of one that is no part of kustomize."""
    kind = word(data.get("kind"))
    if data.get("apiVersion") != BUILTIN or (kind not in _TRANSFORMERS and kind not in _GENERATORS):
        raise MissingError(f"the plugin {kind[:60]}, which is no part of kustomize")
    if kind in _GENERATORS:
        metadata = mapping(data.get("metadata"))
        entry = {**{key: metadata[key] for key in ("name", "namespace") if key in metadata}, **data}
        entry.pop("metadata", None)
        return generated(items, _GENERATORS[kind], entry, None, place, "", files)
    return _TRANSFORMERS[kind](items, data, place, files)


def _namespace(items: list[Item], data: Any, place: Place, _files: FolderFiles) -> list[Item]:
    namespace = word(mapping(data.get("metadata")).get("namespace"))
    subjects = word(data.get("setRoleBindingSubjects")) or "defaultOnly"
    if subjects not in ("defaultOnly", "allServiceAccounts", "none"):
        raise RefusedError("`setRoleBindingSubjects` has an unknown value")
    if not namespace:
        return items
    return in_namespace(
        items,
        namespace,
        tuple(specs_in(data.get("fieldSpecs"))),
        place,
        subjects=subjects,
        only_unset=data.get("unsetOnly") is True,
        pointer="/metadata/namespace",
    )


def _affix(*fields: str) -> Callable[[list[Item], Any, Place, FolderFiles], list[Item]]:
    def change(items: list[Item], data: Any, _place: Place, _files: FolderFiles) -> list[Item]:
        if not isinstance(data.get("fieldSpecs"), list):
            raise RefusedError("`fieldSpecs` is not there")
        specs = tuple(specs_in(data["fieldSpecs"]))
        for field in fields:
            if text := word(data.get(field)):
                items = renamed(items, "namePrefix" if field == "prefix" else "nameSuffix", text, specs)
        return items

    return change


def _marks(field: str) -> Callable[[list[Item], Any, Place, FolderFiles], list[Item]]:
    def change(items: list[Item], data: Any, place: Place, _files: FolderFiles) -> list[Item]:
        return marked(items, mapping(data.get(field)), tuple(specs_in(data.get("fieldSpecs"))), place, f"/{field}")

    return change


def _patch(items: list[Item], data: Any, place: Place, files: FolderFiles) -> list[Item]:
    return patched(items, data, place, "", files)


def _strategic(items: list[Item], data: Any, place: Place, files: FolderFiles) -> list[Item]:
    for index, path in enumerate(words(data.get("paths"))):
        items = patched_strategically(items, path, place, f"/paths/{index}", files)
    if word(data.get("patches")):
        items = patched_strategically(items, data["patches"], place, "/patches", files)
    return items


def _json(items: list[Item], data: Any, place: Place, files: FolderFiles) -> list[Item]:
    return operated(items, data, place, "", files, "jsonOp")


def _image(items: list[Item], data: Any, place: Place, _files: FolderFiles) -> list[Item]:
    return with_images(items, data.get("imageTag"), tuple(specs_in(data.get("fieldSpecs"))), place, "/imageTag")


def _replicas(items: list[Item], data: Any, place: Place, _files: FolderFiles) -> list[Item]:
    return replicated(items, data.get("replica"), tuple(specs_in(data.get("fieldSpecs"))), place, "/replica")


def _replacements(items: list[Item], data: Any, place: Place, files: FolderFiles) -> list[Item]:
    listed = data.get("replacements")
    standing = Standing(items)
    for index, entry in enumerate(listed if isinstance(listed, list) else ()):
        standing.replaced(standing.items, entry, place, f"/replacements/{index}", files)
    return standing.items


_TRANSFORMERS: dict[str, Callable[[list[Item], Any, Place, FolderFiles], list[Item]]] = {
    "AnnotationsTransformer": _marks("annotations"),
    "ImageTagTransformer": _image,
    "LabelTransformer": _marks("labels"),
    "NamespaceTransformer": _namespace,
    "PatchJson6902Transformer": _json,
    "PatchStrategicMergeTransformer": _strategic,
    "PatchTransformer": _patch,
    "PrefixSuffixTransformer": _affix("prefix", "suffix"),
    "PrefixTransformer": _affix("prefix"),
    "ReplacementTransformer": _replacements,
    "ReplicaCountTransformer": _replicas,
    "SuffixTransformer": _affix("suffix"),
}
