"""Resources that an API server serves, the least roles that let somebody read them, and how a cluster is to be read.

One role is for what has no namespace, one for namespaces. `list` is the only verb: nothing is watched, nothing is read
by its name, and no verb that writes is among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


@record(kw_only=False, order=True)
class ApiResource:
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


NODES = ApiResource("v1", "Node")
NAMESPACES = ApiResource("v1", "Namespace")
PODS = ApiResource("v1", "Pod")
DEFINITIONS = ApiResource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
SERVICES = ApiResource("v1", "Service")
ENDPOINT_SLICES = ApiResource("discovery.k8s.io/v1", "EndpointSlice")
ACCOUNTS = ApiResource("v1", "ServiceAccount")
CONFIG_MAPS = ApiResource("v1", "ConfigMap")
ROLE_BINDINGS = ApiResource("rbac.authorization.k8s.io/v1", "RoleBinding")
CLUSTER_ROLES = ApiResource("rbac.authorization.k8s.io/v1", "ClusterRole")
CLUSTER_ROLE_BINDINGS = ApiResource("rbac.authorization.k8s.io/v1", "ClusterRoleBinding")
WEBHOOKS = (
    ApiResource("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
    ApiResource("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
)
SECRETS = ApiResource("v1", "Secret")
"""Never read, but for Helm's own records where somebody asks for them."""
DAEMON_SETS = ApiResource("apps/v1", "DaemonSet")
DEPLOYMENTS = ApiResource("apps/v1", "Deployment")
REPLICA_SETS = ApiResource("apps/v1", "ReplicaSet")
"""Who really owns the pods of a Deployment."""
WORKLOADS = (
    DAEMON_SETS,
    DEPLOYMENTS,
    ApiResource("apps/v1", "StatefulSet"),
    ApiResource("batch/v1", "CronJob"),
    ApiResource("batch/v1", "Job"),
)
RUNTIME_CLASSES = ApiResource("node.k8s.io/v1", "RuntimeClass")
POLICIES = ApiResource("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy")
BINDINGS = ApiResource("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding")
_MUTATING_VERSIONS = ("admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1beta1")
MUTATING_POLICIES = tuple(ApiResource(version, "MutatingAdmissionPolicy") for version in _MUTATING_VERSIONS)
MUTATING_BINDINGS = tuple(ApiResource(version, "MutatingAdmissionPolicyBinding") for version in _MUTATING_VERSIONS)
"""Of 1.36 and later, and of 1.34 and later where somebody has switched them on."""

ROLES = ApiResource("rbac.authorization.k8s.io/v1", "Role")
QUOTAS = ApiResource("v1", "ResourceQuota")
LIMIT_RANGES = ApiResource("v1", "LimitRange")
NETWORK_POLICIES = ApiResource("networking.k8s.io/v1", "NetworkPolicy")
BUDGETS = ApiResource("policy/v1", "PodDisruptionBudget")
APPLICATIONS = ApiResource("argoproj.io/v1alpha1", "Application")
HELM_RELEASES = ApiResource("helm.toolkit.fluxcd.io/v2", "HelmRelease")
KUSTOMIZATIONS = ApiResource("kustomize.toolkit.fluxcd.io/v1", "Kustomization")
FEATURE_RULES = ApiResource("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule")
SOURCES = tuple(
    ApiResource("source.toolkit.fluxcd.io/v1", kind)
    for kind in ("GitRepository", "HelmRepository", "OCIRepository", "HelmChart", "Bucket")
)
DELIVERY = (APPLICATIONS, HELM_RELEASES, KUSTOMIZATIONS, *SOURCES)
"""What engines read: what they are to apply, and from where."""

OF_NAMESPACES = frozenset(
    (
        *WORKLOADS,
        REPLICA_SETS,
        PODS,
        *(SERVICES, ENDPOINT_SLICES, ACCOUNTS),
        CONFIG_MAPS,
        ROLE_BINDINGS,
        *(ROLES, QUOTAS, LIMIT_RANGES, NETWORK_POLICIES, BUDGETS),
        ApiResource("resource.k8s.io/v1", "ResourceClaimTemplate"),
        ApiResource("resource.k8s.io/v1beta2", "ResourceClaimTemplate"),
        ApiResource("resource.k8s.io/v1beta1", "ResourceClaimTemplate"),
        ApiResource("monitoring.coreos.com/v1", "ServiceMonitor"),
        ApiResource("monitoring.coreos.com/v1", "PodMonitor"),
        ApiResource("monitoring.coreos.com/v1", "PrometheusRule"),
        ApiResource("argoproj.io/v1alpha1", "AppProject"),
        *DELIVERY,
    )
)
"""Kinds that stand in namespaces, for roles that are written without a server to ask."""


READER = "poolsmith-reader"
_GROUP = "rbac.authorization.k8s.io"


def reading_roles(
    resources: Collection[ApiResource],
    namespaces: Iterable[str],
    subject: tuple[str, str],
    of_namespaces: Collection[ApiResource] = OF_NAMESPACES,
    *,
    everywhere: bool = False,
) -> tuple[dict[str, Any], ...]:
    """Roles and their bindings for `subject`, the namespace and name of a service account. `everywhere`: of all
    namespaces, for who does not know yet which ones matter."""
    wide = [item for item in resources if everywhere or item not in of_namespaces]
    narrow = [item for item in resources if item not in wide]
    subjects = [{"kind": "ServiceAccount", "name": subject[1], "namespace": subject[0]}]
    inside = f"{READER}-of-namespaces"
    found = [_role(READER, wide), _binding("ClusterRoleBinding", READER, "", subjects)]
    if narrow:
        found.insert(1, _role(inside, narrow))
    return (*found, *(_binding("RoleBinding", inside, name, subjects) for name in sorted(set(namespaces))))


def reading_around(resources: Collection[ApiResource], subject: tuple[str, str]) -> tuple[dict[str, Any], ...]:
    """A role for what stands around the stack, in all namespaces, and its binding."""
    name = f"{READER}-around"
    subjects = [{"kind": "ServiceAccount", "name": subject[1], "namespace": subject[0]}]
    return _role(name, resources), _binding("ClusterRoleBinding", name, "", subjects)


def reading_of_secrets(namespace: str, subject: tuple[str, str]) -> tuple[dict[str, Any], ...]:
    """A role for the Secrets of one namespace, and its binding: for Helm's own records of its releases."""
    name = f"{READER}-of-helm-records"
    subjects = [{"kind": "ServiceAccount", "name": subject[1], "namespace": subject[0]}]
    role = {**_role(name, [SECRETS]), "kind": "Role", "metadata": {"name": name, "namespace": namespace}}
    binding = _binding("RoleBinding", name, namespace, subjects)
    return role, {**binding, "roleRef": {**binding["roleRef"], "kind": "Role"}}


def _role(name: str, resources: Collection[ApiResource]) -> dict[str, Any]:
    by_group: dict[str, set[str]] = {}
    for item in resources:
        by_group.setdefault(item.group, set()).add(item.plural)
    rules = [
        {"apiGroups": [group], "resources": sorted(plurals), "verbs": ["list"]}
        for group, plurals in sorted(by_group.items())
    ]
    return {"apiVersion": f"{_GROUP}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}


def _binding(kind: str, role: str, namespace: str, subjects: list[dict[str, str]]) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": kind,
        "metadata": {"name": role, **place},
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": role},
        "subjects": subjects,
    }


class ClusterError(PoolsmithError):
    """The cluster could not be asked at all, or stopped to answer."""


@record
class Reading:
    """`seconds` limits one call, `whole_seconds` all of them. `kubeconfig` is a file; without one those are read whose
    paths are in `kubeconfigs`, and without these the account of the pod is taken that this runs in.

    `in_cluster`: with the account of the pod, whatever kubeconfig lies there, too. `environ` is what credential plugins
    find. Helm's own records are Secrets: they are read in `helm_namespaces` only, and nowhere by default. `schemas_of`
    are groups whose definitions are read with their schemas. Kinds of `everywhere` are read in all namespaces where
    that is allowed.
    """

    kubeconfig: str | None = None
    context: str | None = None
    in_cluster: bool = False
    seconds: float = 30.0
    whole_seconds: float = 600.0
    helm_namespaces: tuple[str, ...] = ()
    schemas_of: tuple[str, ...] = ()
    everywhere: frozenset[ApiResource] = frozenset()
    environ: Mapping[str, str] | None = None
    kubeconfigs: tuple[str, ...] = ()
