"""Fields of pods that the privilege policy checks elsewhere, or not at all, and names that it knows.

Any field that is in none of these tables counts as a claim of its own, so that a new one of Kubernetes is refused
until somebody has decided what it means.
"""

from __future__ import annotations

TOKEN_VOLUME = "service-account-token"  # noqa: S105 - what its volume is called here
POD_FIELDS_WITHOUT_CLAIM = (
    "activeDeadlineSeconds",
    "affinity",
    "automountServiceAccountToken",
    "containers",
    "dnsPolicy",
    "enableServiceLinks",
    "ephemeralContainers",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostname",
    "imagePullSecrets",
    "initContainers",
    "nodeName",
    "nodeSelector",
    "os",
    "overhead",
    "preemptionPolicy",
    "priority",
    "priorityClassName",
    "readinessGates",
    "resourceClaims",
    "resources",
    "restartPolicy",
    "schedulerName",
    "schedulingGates",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "shareProcessNamespace",
    "subdomain",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
)
POD_CONTEXT_FIELDS_WITHOUT_CLAIM = (
    "appArmorProfile",
    "fsGroupChangePolicy",
    "runAsGroup",
    "runAsNonRoot",
    "runAsUser",
    "seLinuxOptions",
    "seccompProfile",
    "sysctls",
)
"""Most of them are looked at in the place of what a container does not say itself."""
CONTAINER_FIELDS_WITHOUT_CLAIM = (
    "args",
    "command",
    "env",
    "envFrom",
    "image",
    "imagePullPolicy",
    "lifecycle",
    "livenessProbe",
    "name",
    "ports",
    "readinessProbe",
    "resizePolicy",
    "resources",
    "securityContext",
    "startupProbe",
    "terminationMessagePolicy",
    "volumeMounts",
)
CONTEXT_FIELDS_WITHOUT_CLAIM = (
    "allowPrivilegeEscalation",
    "appArmorProfile",
    "capabilities",
    "privileged",
    "procMount",
    "readOnlyRootFilesystem",
    "runAsGroup",
    "runAsNonRoot",
    "runAsUser",
    "seLinuxOptions",
    "seccompProfile",
)
MESSAGE_PATH = "/dev/termination-log"
"""Where the message of a container is by default; the kubelet mounts a file there, whatever stands below."""
