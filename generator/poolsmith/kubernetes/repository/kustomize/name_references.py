"""Which fields name another object, so that they follow when kustomize renames it.

Source: kustomize api/internal/konfig/builtinpluginconsts/namereference.go.
"""

from __future__ import annotations

from typing import NamedTuple

from poolsmith.kubernetes.repository.kustomize.field_specs import FieldSpec


class NameReference(NamedTuple):
    """The field `spec` names an object of the kind `of`; empty words of group and version stand for any."""

    of: str
    spec: FieldSpec
    group: str = ""
    version: str = ""


_PODS = {
    "Pod": "spec",
    "PodTemplate": "template/spec",
    "Deployment": "spec/template/spec",
    "ReplicaSet": "spec/template/spec",
    "DaemonSet": "spec/template/spec",
    "StatefulSet": "spec/template/spec",
    "ReplicationController": "spec/template/spec",
    "Job": "spec/template/spec",
    "CronJob": "spec/jobTemplate/spec/template/spec",
}
_WITH_CONFIG = ("Pod", "PodTemplate", "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "CronJob")
_WITH_ACCOUNT = ("Pod", "StatefulSet", "Deployment", "ReplicationController", "CronJob", "Job", "DaemonSet")
_CONTAINERS = ("containers", "initContainers")


def _in_pods(kinds: tuple[str, ...], *paths: str) -> tuple[FieldSpec, ...]:
    return tuple(FieldSpec(f"{_PODS[kind]}/{path}", kind) for kind in kinds for path in paths)


def _of_config(of: str) -> tuple[str, ...]:
    return tuple(
        f"{listed}/{path}"
        for listed in _CONTAINERS
        for path in (f"env/valueFrom/{of}KeyRef/name", f"envFrom/{of}Ref/name")
    )


_ROLES = (FieldSpec("rules/resourceNames", "Role"), FieldSpec("rules/resourceNames", "ClusterRole"))
_NGINX = "metadata/annotations/nginx.ingress.kubernetes.io\\/"
_RBAC = "rbac.authorization.k8s.io"
_HOOKS = "admissionregistration.k8s.io"

_TABLE: tuple[tuple[str, str, str, tuple[FieldSpec, ...]], ...] = (
    (
        "ConfigMap",
        "",
        "v1",
        (
            *_in_pods(
                _WITH_CONFIG,
                "volumes/configMap/name",
                "volumes/projected/sources/configMap/name",
                *_of_config("configMap"),
            ),
            FieldSpec("spec/configSource/configMap", "Node"),
            *_ROLES,
            FieldSpec(f"{_NGINX}fastcgi-params-configmap", "Ingress"),
        ),
    ),
    (
        "Secret",
        "",
        "v1",
        (
            *_in_pods(
                _WITH_CONFIG,
                "volumes/secret/secretName",
                "volumes/projected/sources/secret/name",
                "imagePullSecrets/name",
                *_of_config("secret"),
            ),
            FieldSpec("spec/tls/secretName", "Ingress"),
            FieldSpec("metadata/annotations/ingress.kubernetes.io\\/auth-secret", "Ingress"),
            FieldSpec(f"{_NGINX}auth-secret", "Ingress"),
            FieldSpec(f"{_NGINX}auth-tls-secret", "Ingress"),
            FieldSpec("imagePullSecrets/name", "ServiceAccount"),
            *(
                FieldSpec(f"parameters/{name}", "StorageClass")
                for name in ("secretName", "adminSecretName", "userSecretName", "secretRef")
            ),
            *_ROLES,
            FieldSpec(
                "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", "Service", "serving.knative.dev", "v1"
            ),
            FieldSpec("spec/azureFile/secretName", "PersistentVolume"),
        ),
    ),
    (
        "Service",
        "",
        "v1",
        (
            FieldSpec("spec/serviceName", "StatefulSet", "apps"),
            FieldSpec("spec/rules/http/paths/backend/serviceName", "Ingress"),
            FieldSpec("spec/backend/serviceName", "Ingress"),
            FieldSpec("spec/rules/http/paths/backend/service/name", "Ingress"),
            FieldSpec("spec/defaultBackend/service/name", "Ingress"),
            FieldSpec("spec/service/name", "APIService", "apiregistration.k8s.io"),
            FieldSpec("webhooks/clientConfig/service", "ValidatingWebhookConfiguration", _HOOKS),
            FieldSpec("webhooks/clientConfig/service", "MutatingWebhookConfiguration", _HOOKS),
        ),
    ),
    ("Role", _RBAC, "", (FieldSpec("roleRef/name", "RoleBinding", _RBAC),)),
    (
        "ClusterRole",
        _RBAC,
        "",
        (FieldSpec("roleRef/name", "RoleBinding", _RBAC), FieldSpec("roleRef/name", "ClusterRoleBinding", _RBAC)),
    ),
    (
        "ServiceAccount",
        "",
        "v1",
        (
            FieldSpec("subjects", "RoleBinding", _RBAC),
            FieldSpec("subjects", "ClusterRoleBinding", _RBAC),
            *_in_pods(_WITH_ACCOUNT, "serviceAccountName"),
        ),
    ),
    ("PersistentVolumeClaim", "", "v1", _in_pods(_WITH_ACCOUNT, "volumes/persistentVolumeClaim/claimName")),
    (
        "PersistentVolume",
        "",
        "v1",
        (FieldSpec("spec/volumeName", "PersistentVolumeClaim"), FieldSpec("rules/resourceNames", "ClusterRole")),
    ),
    (
        "StorageClass",
        "storage.k8s.io",
        "v1",
        (
            FieldSpec("spec/storageClassName", "PersistentVolume"),
            FieldSpec("spec/storageClassName", "PersistentVolumeClaim"),
            FieldSpec("spec/volumeClaimTemplates/spec/storageClassName", "StatefulSet"),
        ),
    ),
    ("PriorityClass", "scheduling.k8s.io", "v1", _in_pods(_WITH_ACCOUNT, "priorityClassName")),
    ("IngressClass", "networking.k8s.io/v1", "v1", (FieldSpec("spec/ingressClassName", "Ingress"),)),
    (
        "ValidatingAdmissionPolicy",
        _HOOKS,
        "",
        (FieldSpec("spec/policyName", "ValidatingAdmissionPolicyBinding", _HOOKS),),
    ),
)
"""Kind, group and version of what is named, and the fields that name it."""
_SCALED = ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")


def default_references() -> tuple[NameReference, ...]:
    named = tuple(NameReference(kind, spec, group, version) for kind, group, version, specs in _TABLE for spec in specs)
    scaler = FieldSpec("spec/scaleTargetRef/name", "HorizontalPodAutoscaler")
    return (*named, *(NameReference(kind, scaler) for kind in _SCALED))
