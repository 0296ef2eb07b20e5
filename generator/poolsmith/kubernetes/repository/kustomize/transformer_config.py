"""Which fields kustomize's transformers change, by default and with a kustomization's own `configurations`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mappings, word
from poolsmith.kubernetes.repository.kustomize.field_specs import (
    FieldSpec,
    NameReference,
    default_references,
    default_specs,
    merged,
    specs_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


@record
class TransformerConfig:
    """By the transformer the fields that it changes."""

    name_prefix: tuple[FieldSpec, ...] = ()
    name_suffix: tuple[FieldSpec, ...] = ()
    namespace: tuple[FieldSpec, ...] = ()
    common_labels: tuple[FieldSpec, ...] = ()
    labels: tuple[FieldSpec, ...] = ()
    template_labels: tuple[FieldSpec, ...] = ()
    common_annotations: tuple[FieldSpec, ...] = ()
    images: tuple[FieldSpec, ...] = ()
    replicas: tuple[FieldSpec, ...] = ()
    var_reference: tuple[FieldSpec, ...] = ()
    name_references: tuple[NameReference, ...] = ()


_FIELDS = {
    "name_prefix": "namePrefix",
    "name_suffix": "nameSuffix",
    "namespace": "namespace",
    "common_labels": "commonLabels",
    "labels": "labels",
    "template_labels": "templateLabels",
    "common_annotations": "commonAnnotations",
    "images": "images",
    "replicas": "replicas",
    "var_reference": "varReference",
}


@lru_cache(maxsize=1)
def default_config() -> TransformerConfig:
    by_field = {field: default_specs(transformer) for field, transformer in _FIELDS.items()}
    by_field["common_labels"] = (*default_specs("selectors"), *by_field["template_labels"])
    return TransformerConfig(**by_field, name_references=default_references())


def with_written(config: TransformerConfig, documents: Iterable[Any]) -> TransformerConfig:
    """`config` with what files of `configurations` add."""
    for data in documents:
        if isinstance(data, dict):
            config = with_config(config, _written(data))
    return config


def with_config(config: TransformerConfig, other: TransformerConfig) -> TransformerConfig:
    """Both together."""
    if config is other:
        return config
    if not config.name_prefix:
        return other
    fields: dict[str, Any] = {name: merged(getattr(config, name), getattr(other, name)) for name in _FIELDS}
    references = list(config.name_references)
    references += [item for item in other.name_references if item not in config.name_references]
    return TransformerConfig(**fields, name_references=tuple(references))


def _written(data: dict[str, Any]) -> TransformerConfig:
    fields: dict[str, Any] = {name: tuple(specs_in(data.get(written))) for name, written in _FIELDS.items()}
    references = tuple(
        NameReference(word(entry.get("kind")), spec, word(entry.get("group")), word(entry.get("version")))
        for entry in mappings(data.get("nameReference"))
        for spec in specs_in(entry.get("fieldSpecs"))
    )
    return TransformerConfig(**fields, name_references=references)
