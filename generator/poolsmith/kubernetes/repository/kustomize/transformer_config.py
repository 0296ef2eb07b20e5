"""Which fields kustomize's transformers change, by default and with a kustomization's own `configurations`.

Source: kustomize api/internal/konfig/builtinpluginconsts, api/internal/plugins/builtinconfig.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mappings, word
from poolsmith.kubernetes.repository.kustomize.field_specs import (
    FieldSpec,
    NameReference,
    default_references,
    merged,
    specs_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

WORKLOADS = {
    "Deployment": "spec/template",
    "ReplicaSet": "spec/template",
    "DaemonSet": "spec/template",
    "StatefulSet": "spec/template",
    "Job": "spec/template",
    "CronJob": "spec/jobTemplate/spec/template",
    "Pod": "",
}
_METADATA_LABELS = FieldSpec("metadata/labels", create=True)
_AFFINITIES = tuple(
    f"spec/template/spec/affinity/{kind}/{when}"
    for kind in ("podAffinity", "podAntiAffinity")
    for when in (
        "preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm",
        "requiredDuringSchedulingIgnoredDuringExecution",
    )
)
_SPREAD = (*_AFFINITIES, "spec/template/spec/topologySpreadConstraints")


def _template_marks(field: str) -> tuple[FieldSpec, ...]:
    """Labels or annotations of pod templates."""
    path = f"spec/template/metadata/{field}"
    labels = field == "labels"
    return (
        FieldSpec(path, "ReplicationController", version="v1", create=True),
        FieldSpec(path, "Deployment", create=True),
        FieldSpec(path, "ReplicaSet", create=True),
        FieldSpec(path, "DaemonSet", create=True),
        FieldSpec(path, "StatefulSet", "apps" if labels else "", create=True),
        *((FieldSpec("spec/volumeClaimTemplates[]/metadata/labels", "StatefulSet", "apps", create=True),) * labels),
        FieldSpec(path, "Job", "batch", create=True),
        FieldSpec(f"spec/jobTemplate/metadata/{field}", "CronJob", "batch", create=True),
        FieldSpec(f"spec/jobTemplate/spec/template/metadata/{field}", "CronJob", "batch", create=True),
    )


_TEMPLATE_LABELS = (_METADATA_LABELS, *_template_marks("labels"))
_SELECTORS = (
    FieldSpec("spec/selector", "Service", version="v1", create=True),
    FieldSpec("spec/selector", "ReplicationController", version="v1", create=True),
    FieldSpec("spec/selector/matchLabels", "Deployment", create=True),
    FieldSpec("spec/selector/matchLabels", "ReplicaSet", create=True),
    FieldSpec("spec/selector/matchLabels", "DaemonSet", create=True),
    FieldSpec("spec/selector/matchLabels", "StatefulSet", "apps", create=True),
    *(
        FieldSpec(f"{path}/labelSelector/matchLabels", kind, "apps")
        for kind in ("Deployment", "StatefulSet")
        for path in _SPREAD
    ),
    FieldSpec("spec/selector/matchLabels", "Job", "batch"),
    FieldSpec("spec/jobTemplate/spec/selector/matchLabels", "CronJob", "batch"),
    FieldSpec("spec/selector/matchLabels", "PodDisruptionBudget", "policy"),
    FieldSpec("spec/podSelector/matchLabels", "NetworkPolicy", "networking.k8s.io"),
    FieldSpec("spec/ingress/from/podSelector/matchLabels", "NetworkPolicy", "networking.k8s.io"),
    FieldSpec("spec/egress/to/podSelector/matchLabels", "NetworkPolicy", "networking.k8s.io"),
)
_NAME = (FieldSpec("metadata/name"),)


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
    return TransformerConfig(
        name_prefix=_NAME,
        name_suffix=_NAME,
        namespace=(
            FieldSpec("metadata/name", "Namespace", create=True),
            FieldSpec("spec/service/namespace", "APIService", "apiregistration.k8s.io", create=True),
            FieldSpec(
                "spec/conversion/webhook/clientConfig/service/namespace",
                "CustomResourceDefinition",
                "apiextensions.k8s.io",
            ),
        ),
        common_labels=(*_SELECTORS, *_TEMPLATE_LABELS),
        template_labels=_TEMPLATE_LABELS,
        common_annotations=(FieldSpec("metadata/annotations", create=True), *_template_marks("annotations")),
        images=tuple(
            FieldSpec(f"{pod}/{path}", create=True)
            for pod in ("spec", "spec/template/spec")
            for path in ("containers[]/image", "initContainers[]/image", "volumes[]/image/reference")
        ),
        replicas=tuple(
            FieldSpec("spec/replicas", kind, create=True)
            for kind in ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")
        ),
        var_reference=_var_references(),
        name_references=default_references(),
    )


def _var_references() -> tuple[FieldSpec, ...]:
    found: list[FieldSpec] = []
    for kind, template in WORKLOADS.items():
        pod = f"{template}/spec" if template else "spec"
        for listed in ("containers", "initContainers"):
            found += [
                FieldSpec(f"{pod}/{listed}/{field}", kind)
                for field in ("args", "command", "env/value", "volumeMounts/mountPath")
            ]
        if kind == "CronJob":
            found.append(FieldSpec("spec/jobTemplate/spec/template/volumes/nfs/server", kind))
        elif kind == "StatefulSet":
            found.append(FieldSpec("spec/volumeClaimTemplates/spec/nfs/server", kind))
        else:
            found.append(FieldSpec(f"{pod}/volumes/nfs/server", kind))
    others = (
        ("Deployment", "spec/template/metadata/annotations"),
        ("Ingress", "spec/rules/host"),
        ("Ingress", "spec/tls/hosts"),
        ("Ingress", "spec/tls/secretName"),
        ("Service", "spec/ports/port"),
        ("Service", "spec/ports/targetPort"),
        ("PersistentVolume", "spec/nfs/server"),
        ("", "metadata/labels"),
        ("", "metadata/annotations"),
    )
    return (*found, *(FieldSpec(path, kind) for kind, path in others))


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
