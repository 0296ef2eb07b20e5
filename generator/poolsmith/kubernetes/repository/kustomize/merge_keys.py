"""What tells the items of a list apart when a patch is merged: for the kinds that kustomize knows, and no others.

Source: kyaml/openapi/kubernetesapi of kustomize 5, which is Kubernetes 1.21: a kind or a version that came later is
merged as a custom one is, its lists replaced as a whole.
"""

from __future__ import annotations

from poolsmith.core.record import record


@record(kw_only=False)
class Merged:
    """A field below which lists are merged. `keys` of a list: none where its items are plain texts."""

    type: str = ""
    """The type of the field, or of the items of the list; empty where no list below it is merged."""
    keys: tuple[str, ...] | None = None


_METADATA = Merged("ObjectMeta")
_TEMPLATE = Merged("PodTemplate")
_CONDITIONS = {"conditions": Merged(keys=("type",))}
_NAMED = ("name",)
_OF_CONTAINERS = {
    "env": Merged(keys=_NAMED),
    "volumeDevices": Merged(keys=("devicePath",)),
    "volumeMounts": Merged(keys=("mountPath",)),
}
_WORKLOAD = {"metadata": _METADATA, "spec": Merged("WorkloadSpec"), "status": Merged("Conditions")}

TYPES: dict[str, dict[str, Merged]] = {
    "ObjectMeta": {"finalizers": Merged(keys=()), "ownerReferences": Merged(keys=("uid",))},
    "Conditions": _CONDITIONS,
    "Plain": {"metadata": _METADATA},
    "WithConditions": {"metadata": _METADATA, "status": Merged("Conditions")},
    "Workload": _WORKLOAD,
    "WorkloadSpec": {"template": _TEMPLATE},
    "CronJob": {"metadata": _METADATA, "spec": Merged("CronJobSpec")},
    "CronJobSpec": {"jobTemplate": Merged("JobTemplate")},
    "JobTemplate": {"metadata": _METADATA, "spec": Merged("WorkloadSpec")},
    "PodTemplateObject": {"metadata": _METADATA, "template": _TEMPLATE},
    "PodTemplate": {"metadata": _METADATA, "spec": Merged("PodSpec")},
    "Pod": {"metadata": _METADATA, "spec": Merged("PodSpec"), "status": Merged("PodStatus")},
    "PodStatus": {**_CONDITIONS, "podIPs": Merged(keys=("ip",))},
    "PodSpec": {
        "containers": Merged("Container", _NAMED),
        "ephemeralContainers": Merged("EphemeralContainer", _NAMED),
        "hostAliases": Merged(keys=("ip",)),
        "imagePullSecrets": Merged(keys=_NAMED),
        "initContainers": Merged("Container", _NAMED),
        "topologySpreadConstraints": Merged(keys=("topologyKey", "whenUnsatisfiable")),
        "volumes": Merged("Volume", _NAMED),
    },
    "Container": {**_OF_CONTAINERS, "ports": Merged(keys=("containerPort", "protocol"))},
    "EphemeralContainer": _OF_CONTAINERS,
    "Volume": {"ephemeral": Merged("EphemeralVolume")},
    "EphemeralVolume": {"volumeClaimTemplate": Merged("Plain")},
    "Service": {"metadata": _METADATA, "spec": Merged("ServiceSpec"), "status": Merged("Conditions")},
    "ServiceSpec": {"ports": Merged(keys=("port", "protocol"))},
    "ServiceAccount": {"metadata": _METADATA, "secrets": Merged(keys=_NAMED)},
    "Webhooks": {"metadata": _METADATA, "webhooks": Merged(keys=_NAMED)},
    "Node": {"metadata": _METADATA, "spec": Merged("NodeSpec"), "status": Merged("NodeStatus")},
    "NodeSpec": {"podCIDRs": Merged(keys=())},
    "NodeStatus": {**_CONDITIONS, "addresses": Merged(keys=("type",))},
    "CSINode": {"metadata": _METADATA, "spec": Merged("CSINodeSpec")},
    "CSINodeSpec": {"drivers": Merged(keys=_NAMED)},
    "ComponentStatus": {"metadata": _METADATA, **_CONDITIONS},
}

_CORE: dict[str, str] = {
    "Binding": "Plain",
    "ComponentStatus": "ComponentStatus",
    "ConfigMap": "Plain",
    "Endpoints": "Plain",
    "Event": "Plain",
    "LimitRange": "Plain",
    "Namespace": "WithConditions",
    "Node": "Node",
    "PersistentVolume": "Plain",
    "PersistentVolumeClaim": "WithConditions",
    "Pod": "Pod",
    "PodTemplate": "PodTemplateObject",
    "ReplicationController": "Workload",
    "ResourceQuota": "Plain",
    "Secret": "Plain",
    "Service": "Service",
    "ServiceAccount": "ServiceAccount",
}
_WORKLOADS = dict.fromkeys(("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"), "Workload")
_ROLES = dict.fromkeys(("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"), "Plain")
_WEBHOOKS = dict.fromkeys(("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"), "Webhooks")
_STORAGE = {**dict.fromkeys(("CSIDriver", "StorageClass", "VolumeAttachment"), "Plain"), "CSINode": "CSINode"}
_INGRESS = dict.fromkeys(("Ingress", "IngressClass"), "Plain")
_SCALER = {"HorizontalPodAutoscaler": "Plain"}

KINDS: dict[str, dict[str, str]] = {
    "v1": _CORE,
    "admissionregistration.k8s.io/v1": _WEBHOOKS,
    "admissionregistration.k8s.io/v1beta1": _WEBHOOKS,
    "apiextensions.k8s.io/v1": {"CustomResourceDefinition": "Plain"},
    "apiextensions.k8s.io/v1beta1": {"CustomResourceDefinition": "Plain"},
    "apiregistration.k8s.io/v1": {"APIService": "WithConditions"},
    "apiregistration.k8s.io/v1beta1": {"APIService": "WithConditions"},
    "apps/v1": {**_WORKLOADS, "ControllerRevision": "Plain"},
    "autoscaling/v1": {**_SCALER, "Scale": "Plain"},
    "autoscaling/v2beta1": _SCALER,
    "autoscaling/v2beta2": _SCALER,
    "batch/v1": {"CronJob": "CronJob", "Job": "Workload"},
    "batch/v1beta1": {"CronJob": "CronJob"},
    "certificates.k8s.io/v1": {"CertificateSigningRequest": "Plain"},
    "certificates.k8s.io/v1beta1": {"CertificateSigningRequest": "Plain"},
    "coordination.k8s.io/v1": {"Lease": "Plain"},
    "coordination.k8s.io/v1beta1": {"Lease": "Plain"},
    "discovery.k8s.io/v1": {"EndpointSlice": "Plain"},
    "discovery.k8s.io/v1beta1": {"EndpointSlice": "Plain"},
    "events.k8s.io/v1": {"Event": "Plain"},
    "events.k8s.io/v1beta1": {"Event": "Plain"},
    "extensions/v1beta1": {"Ingress": "Plain"},
    "flowcontrol.apiserver.k8s.io/v1beta1": {"FlowSchema": "Plain", "PriorityLevelConfiguration": "Plain"},
    "networking.k8s.io/v1": {**_INGRESS, "NetworkPolicy": "Plain"},
    "networking.k8s.io/v1beta1": _INGRESS,
    "node.k8s.io/v1": {"RuntimeClass": "Plain"},
    "node.k8s.io/v1beta1": {"RuntimeClass": "Plain"},
    "policy/v1": {"PodDisruptionBudget": "WithConditions"},
    "policy/v1beta1": {"PodDisruptionBudget": "WithConditions", "PodSecurityPolicy": "Plain", "Eviction": "Plain"},
    "rbac.authorization.k8s.io/v1": _ROLES,
    "rbac.authorization.k8s.io/v1beta1": _ROLES,
    "scheduling.k8s.io/v1": {"PriorityClass": "Plain"},
    "scheduling.k8s.io/v1beta1": {"PriorityClass": "Plain"},
    "storage.k8s.io/v1": _STORAGE,
    "storage.k8s.io/v1beta1": {**_STORAGE, "CSIStorageCapacity": "Plain"},
}
"""By apiVersion and kind the name of its type."""


def type_of(api_version: str, kind: str) -> str:
    """Empty where all lists of a kind are replaced as a whole."""
    return KINDS.get(api_version, {}).get(kind, "")
