"""Kinds of Kubernetes objects as an API server serves them."""

from __future__ import annotations

from poolsmith.core.record import record


@record(kw_only=False, order=True)
class Resource:
    """A kind by its group and version, as `apps/v1` and `DaemonSet`: two products have a ClusterPolicy."""

    api_version: str
    kind: str

    @property
    def group(self) -> str:
        """Empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def plural(self) -> str:
        """As the API calls it, where nobody can be asked.

        Source: k8s.io/apimachinery, UnsafeGuessKindToResource; no kind that is read here is an exception to it.
        """
        word = self.kind.lower()
        if word.endswith("s"):
            return f"{word}es"
        return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"

    @property
    def named(self) -> str:
        """As RBAC and messages name it: `daemonsets.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def __str__(self) -> str:
        return f"{self.api_version} {self.kind}"


NODES = Resource("v1", "Node")
NAMESPACES = Resource("v1", "Namespace")
PODS = Resource("v1", "Pod")
DEFINITIONS = Resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
SERVICES = Resource("v1", "Service")
ENDPOINT_SLICES = Resource("discovery.k8s.io/v1", "EndpointSlice")
ACCOUNTS = Resource("v1", "ServiceAccount")
CONFIG_MAPS = Resource("v1", "ConfigMap")
ROLE_BINDINGS = Resource("rbac.authorization.k8s.io/v1", "RoleBinding")
CLUSTER_ROLES = Resource("rbac.authorization.k8s.io/v1", "ClusterRole")
CLUSTER_ROLE_BINDINGS = Resource("rbac.authorization.k8s.io/v1", "ClusterRoleBinding")
WEBHOOKS = (
    Resource("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
    Resource("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
)
SECRETS = Resource("v1", "Secret")
"""Never read, but for Helm's own records where somebody asks for them."""
DAEMON_SETS = Resource("apps/v1", "DaemonSet")
DEPLOYMENTS = Resource("apps/v1", "Deployment")
REPLICA_SETS = Resource("apps/v1", "ReplicaSet")
"""Who really owns the pods of a Deployment."""
WORKLOADS = (
    DAEMON_SETS,
    DEPLOYMENTS,
    Resource("apps/v1", "StatefulSet"),
    Resource("batch/v1", "CronJob"),
    Resource("batch/v1", "Job"),
)
RUNTIME_CLASSES = Resource("node.k8s.io/v1", "RuntimeClass")
POLICIES = Resource("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy")
BINDINGS = Resource("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding")
CLUSTER_POLICIES = Resource("nvidia.com/v1", "ClusterPolicy")
DRIVERS = Resource("nvidia.com/v1alpha1", "NVIDIADriver")
GPU_CLUSTERS = Resource("nvidia.com/v1alpha1", "GPUCluster")
CC_RUNTIMES = Resource("confidentialcontainers.org/v1beta1", "CcRuntime")

OF_NAMESPACES = frozenset(
    (
        *WORKLOADS,
        REPLICA_SETS,
        PODS,
        *(SERVICES, ENDPOINT_SLICES, ACCOUNTS),
        CONFIG_MAPS,
        ROLE_BINDINGS,
        Resource("rbac.authorization.k8s.io/v1", "Role"),
        Resource("resource.k8s.io/v1", "ResourceClaimTemplate"),
        Resource("resource.k8s.io/v1beta2", "ResourceClaimTemplate"),
        Resource("resource.k8s.io/v1beta1", "ResourceClaimTemplate"),
        Resource("monitoring.coreos.com/v1", "ServiceMonitor"),
        Resource("monitoring.coreos.com/v1", "PodMonitor"),
        Resource("monitoring.coreos.com/v1", "PrometheusRule"),
        Resource("argoproj.io/v1alpha1", "Application"),
        Resource("argoproj.io/v1alpha1", "AppProject"),
        Resource("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
        Resource("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
        *(
            Resource("source.toolkit.fluxcd.io/v1", kind)
            for kind in ("GitRepository", "HelmRepository", "OCIRepository", "HelmChart", "Bucket")
        ),
    )
)
"""Kinds that stand in namespaces, for roles that are written without a server to ask."""
