"""What the API server asks of single fields of built-in objects beyond their published definitions.

Enumerations, bounds and names that its validation code holds (pkg/apis/*/validation), and fields that the definitions
demand but the server fills in. Each was asked of kube-apiserver 1.34, by server-side apply with strict validation; what
only some of the minors 1.25 to 1.37 take is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poolsmith.kubernetes.schema.scalars import Schema

_PROTOCOLS = ("TCP", "UDP", "SCTP", "")
_COUNT = {"minimum": 0}
_PORT = {"minimum": 1, "maximum": 65535}
_LABEL = {"pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}
_GIVEN = {"minLength": 1}
_SELECTS = ("In", "NotIn", "Exists", "DoesNotExist")
_MODE = {"minimum": 0, "maximum": 0o777}


def _one_of(*values: str) -> Schema:
    return {"enum": list(values)}


_PROFILES = {"type": _one_of("Localhost", "RuntimeDefault", "Unconfined")}
_IDENTITY = {"minimum": 0, "maximum": 2**31 - 1}

FIELDS: dict[str, dict[str, Schema]] = {
    "apps.v1.DaemonSetSpec": {"minReadySeconds": _COUNT, "revisionHistoryLimit": _COUNT},
    "apps.v1.DeploymentSpec": {
        "minReadySeconds": _COUNT,
        "progressDeadlineSeconds": _COUNT,
        "replicas": _COUNT,
        "revisionHistoryLimit": _COUNT,
    },
    "apps.v1.DaemonSetUpdateStrategy": {"type": _one_of("RollingUpdate", "OnDelete", "")},
    "apps.v1.DeploymentStrategy": {"type": _one_of("RollingUpdate", "Recreate", "")},
    "batch.v1.JobSpec": {
        "activeDeadlineSeconds": _COUNT,
        "backoffLimit": _COUNT,
        "backoffLimitPerIndex": _COUNT,
        "completionMode": _one_of("Indexed", "NonIndexed"),
        "completions": _COUNT,
        "parallelism": _COUNT,
        "ttlSecondsAfterFinished": _COUNT,
    },
    "core.v1.ConfigMapVolumeSource": {"defaultMode": _MODE, "name": _GIVEN},
    "core.v1.SecretVolumeSource": {"defaultMode": _MODE, "secretName": _GIVEN},
    "core.v1.Container": {
        "image": _GIVEN,
        "imagePullPolicy": _one_of("Always", "IfNotPresent", "Never", ""),
        "name": _LABEL,
        "terminationMessagePolicy": _one_of("File", "FallbackToLogsOnError", ""),
    },
    "core.v1.ContainerPort": {
        "containerPort": _PORT,
        "hostPort": {"minimum": 0, "maximum": 65535},
        "protocol": _one_of(*_PROTOCOLS),
    },
    "core.v1.EnvVar": {"name": _GIVEN},
    "core.v1.HostPathVolumeSource": {
        "path": _GIVEN,
        "type": _one_of(
            *("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
        ),
    },
    "core.v1.NodeSelectorRequirement": {"operator": _one_of(*_SELECTS, "Gt", "Lt")},
    "core.v1.AppArmorProfile": _PROFILES,
    "core.v1.SeccompProfile": _PROFILES,
    "core.v1.KeyToPath": {"key": _GIVEN, "mode": _MODE, "path": _GIVEN},
    "core.v1.PodSecurityContext": {
        "fsGroup": _IDENTITY,
        "fsGroupChangePolicy": _one_of("Always", "OnRootMismatch"),
        "runAsGroup": _IDENTITY,
        "runAsUser": _IDENTITY,
        "supplementalGroupsPolicy": _one_of("Merge", "Strict"),
    },
    "core.v1.PodAffinityTerm": {"topologyKey": _GIVEN},
    "core.v1.PreferredSchedulingTerm": {"weight": {"minimum": 1, "maximum": 100}},
    "core.v1.WeightedPodAffinityTerm": {"weight": {"minimum": 1, "maximum": 100}},
    "core.v1.TopologySpreadConstraint": {"whenUnsatisfiable": _one_of("DoNotSchedule", "ScheduleAnyway")},
    "core.v1.PodSpec": {
        "dnsPolicy": _one_of("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None", ""),
        "preemptionPolicy": _one_of("Never", "PreemptLowerPriority"),
        "restartPolicy": _one_of("Always", "OnFailure", "Never", ""),
    },
    "core.v1.SecurityContext": {
        "procMount": _one_of("Default", "Unmasked"),
        "runAsGroup": _IDENTITY,
        "runAsUser": _IDENTITY,
    },
    "core.v1.ServicePort": {"port": _PORT, "protocol": _one_of(*_PROTOCOLS)},
    "core.v1.ServiceSpec": {
        "internalTrafficPolicy": _one_of("Cluster", "Local"),
        "ipFamilyPolicy": _one_of("SingleStack", "PreferDualStack", "RequireDualStack"),
        "sessionAffinity": _one_of("ClientIP", "None", ""),
        "type": _one_of("ClusterIP", "NodePort", "LoadBalancer", "ExternalName", ""),
    },
    "core.v1.Toleration": {
        "effect": _one_of("NoSchedule", "PreferNoSchedule", "NoExecute", ""),
        "operator": _one_of("Equal", "Exists", "Lt", "Gt", ""),
    },
    "core.v1.Volume": {"name": _LABEL},
    "core.v1.VolumeMount": {
        "mountPath": _GIVEN,
        "mountPropagation": _one_of("None", "HostToContainer", "Bidirectional"),
        "recursiveReadOnly": _one_of("Disabled", "Enabled", "IfPossible"),
    },
    "core.v1.Probe": dict.fromkeys(
        ("failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold", "timeoutSeconds"), _COUNT
    ),
    "meta.v1.LabelSelectorRequirement": {"key": _GIVEN, "operator": _one_of(*_SELECTS)},
    "admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec": {
        "policyName": _GIVEN,
        "validationActions": {"minItems": 1, "items": {"type": "string", **_one_of("Audit", "Deny", "Warn")}},
    },
    "node.v1.RuntimeClass": {"handler": _LABEL},
    "rbac.v1.PolicyRule": {"verbs": {"minItems": 1}},
    "rbac.v1.RoleRef": {
        "apiGroup": _one_of("rbac.authorization.k8s.io", ""),
        "kind": _one_of("ClusterRole", "Role"),
        "name": _GIVEN,
    },
    "rbac.v1.Subject": {"kind": _one_of("Group", "ServiceAccount", "User"), "name": _GIVEN},
}
"""Definition to fields to what their schemas get besides. An empty text stands where the server reads it as absent.
"""

DEMANDED = {
    "core.v1.Container": ("image",),
    "core.v1.ConfigMapVolumeSource": ("name",),
    "core.v1.SecretVolumeSource": ("secretName",),
    "apps.v1.Deployment": ("spec",),
    "apps.v1.DaemonSet": ("spec",),
    "batch.v1.Job": ("spec",),
    "core.v1.PodTemplateSpec": ("spec",),
    "admissionregistration.v1.ValidatingAdmissionPolicyBinding": ("spec",),
    "admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec": ("policyName", "validationActions"),
}
"""What the server misses although the definition does not demand it."""

NOT_DEMANDED = {
    "rbac.v1.RoleRef": ("apiGroup",),
    "core.v1.PreferredSchedulingTerm": ("preference",),
    "batch.v1.PodFailurePolicy": ("rules",),
}
"""What the definition demands and the server fills in, or takes as empty."""


def validated(name: str, schema: Schema) -> Schema:
    """A definition as the server validates it."""
    fields, more, less = FIELDS.get(name, {}), DEMANDED.get(name, ()), NOT_DEMANDED.get(name, ())
    if not (fields or more or less):
        return schema
    properties = dict(schema.get("properties", {}))
    for key, limits in fields.items():
        if key in properties:
            properties[key] = {**properties[key], **limits}
    required = [key for key in (*schema.get("required", ()), *more) if key not in less]
    return {**schema, "properties": properties, **({"required": required} if required or less else {})}
