"""Which kinds have no namespace, as far as kustomize knows: by apiVersion, so newer kinds and versions are not here.

Source: kyaml/openapi/openapi.go, precomputedIsNamespaceScoped.
"""

from __future__ import annotations

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
