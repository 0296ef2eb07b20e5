"""What happens around the stack of a cluster: rows of a change, what has to be said of it, and a harmless twin.

Each is made to a cluster that the operator's own program has left (`recorded_snapshot`). `docs/live.md` has the table
(`make docs`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from poolsmith.kubernetes.live.api_resources import (
    ACCOUNTS,
    APPLICATIONS,
    BINDINGS,
    BUDGETS,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    DAEMON_SETS,
    DEPLOYMENTS,
    FEATURE_RULES,
    HELM_RELEASES,
    KUSTOMIZATIONS,
    LIMIT_RANGES,
    MUTATING_BINDINGS,
    MUTATING_POLICIES,
    NAMESPACES,
    NETWORK_POLICIES,
    NODES,
    PODS,
    POLICIES,
    QUOTAS,
    REPLICA_SETS,
    ROLE_BINDINGS,
    ROLES,
    SOURCES,
    WEBHOOKS,
    ApiResource,
)
from poolsmith.kubernetes.live.snapshot import ListedObjects, Snapshot, State

NS = "gpu-operator"
PLUGIN = "nvidia-device-plugin-daemonset"
POOL_LABEL = "example.com/gpu-pool"
MUTATING, VALIDATING = WEBHOOKS
GIT = next(item for item in SOURCES if item.kind == "GitRepository")
Change = Callable[[Snapshot], Snapshot]


@dataclass(frozen=True)
class Row:
    """`said`: in each finding, and there is none besides. `twin` is of the same kind, and nothing is said of it."""

    sort: str
    name: str
    change: Change
    said: tuple[tuple[str, ...], ...]
    twin_name: str
    twin: Change
    cluster: str = "prod-eu"


def put(resource: ApiResource, name: str, namespace: str = "", **body: Any) -> Change:
    """One more object."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **body.pop("metadata", {})}
    item = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **body}

    def change(snapshot: Snapshot) -> Snapshot:
        return _with(snapshot, resource, lambda items: [*items, item])

    return change


def edit(resource: ApiResource, name: str, what: Callable[[dict[str, Any]], object]) -> Change:
    """One object, in place; its name may be the beginning of one, and the first counts."""

    def change(snapshot: Snapshot) -> Snapshot:
        def edited(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
            items = copy.deepcopy(items)
            what(next(item for item in items if item["metadata"]["name"].startswith(name)))
            return items

        return _with(snapshot, resource, edited)

    return change


def both(*changes: Change) -> Change:
    def change(snapshot: Snapshot) -> Snapshot:
        for one in changes:
            snapshot = one(snapshot)
        return snapshot

    return change


def _with(
    snapshot: Snapshot, resource: ApiResource, what: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> Snapshot:
    items = what(list(snapshot.items(resource)))
    lists = [item for item in snapshot.lists if item.resource != resource]
    return replace(snapshot, lists=(*lists, ListedObjects(resource, State.READ, tuple(items))))


def template(what: Callable[[dict[str, Any]], object], name: str = PLUGIN) -> Change:
    return edit(DAEMON_SETS, name, lambda body: what(body["spec"]["template"]))


def group(name: str) -> dict[str, str]:
    return {"kind": "Group", "name": name, "apiGroup": "rbac.authorization.k8s.io"}


def account(name: str, namespace: str) -> dict[str, str]:
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def binding(role: str, *subjects: dict[str, str], namespace: str = "", kind: str = "ClusterRole") -> Change:
    resource = ROLE_BINDINGS if namespace else CLUSTER_ROLE_BINDINGS
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}
    return put(resource, "handy", namespace, roleRef=reference, subjects=list(subjects))


def role(*rules: tuple[str, str, str], namespace: str = NS) -> Change:
    """Each rule: group, resource, verb."""
    body = [{"apiGroups": [one], "resources": [what], "verbs": [verb]} for one, what, verb in rules]
    return put(ROLES, "handy", namespace, rules=body)


def workload(called: str, namespace: str, image: str, resource: ApiResource = DAEMON_SETS, **container: Any) -> Change:
    labels = {"app": called}
    spec = {"containers": [{"name": "main", "image": image} | container]}
    pods = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}
    return put(resource, called, namespace, spec=pods)


def webhook(name: str, *, resource: ApiResource = MUTATING, service: str = "hooks", **more: Any) -> Change:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    hook = {
        "name": f"{name}.example.com",
        "clientConfig": {"service": {"namespace": service, "name": "hook"}},
        "rules": [rule],
        "failurePolicy": "Ignore",
        **more,
    }
    return put(resource, name, webhooks=[hook])


def when(expression: str) -> dict[str, str]:
    return {"name": "when", "expression": expression}


def mutating(name: str, bound: dict[str, Any] | None = {}, **more: Any) -> Change:  # noqa: B006 - never changed
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
    patch = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
    spec = {"matchConstraints": {"resourceRules": rules}, "mutations": [patch], **more}
    made = put(MUTATING_POLICIES[0], name, spec=spec)
    if bound is None:
        return made
    return both(made, put(MUTATING_BINDINGS[0], name, spec={"policyName": name, "matchResources": bound}))


def policy(expression: str, action: str = "Deny", **rule: Any) -> Change:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"], **rule}]
    spec = {"matchConstraints": {"resourceRules": rules}, "validations": [{"expression": expression}]}
    bound = {"policyName": "of-others", "validationActions": [action]}
    return both(put(POLICIES, "of-others", spec=spec), put(BINDINGS, "of-others", spec=bound))


def network(*kinds: str, **rules: Any) -> Change:
    return put(NETWORK_POLICIES, "walls", NS, spec={"podSelector": {}, "policyTypes": list(kinds), **rules})


def gpu_pod(name: str, namespace: str) -> Change:
    container = {"name": "main", "image": "example.com/train:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    return put(PODS, name, namespace, metadata={"labels": {"app": name}}, spec={"containers": [container]})


def budget(namespace: str, app: str, **spec: Any) -> Change:
    return put(BUDGETS, "stay", namespace, spec={"selector": {"matchLabels": {"app": app}}, **spec})


def labelled(key: str, value: str, field: str = "labels") -> Callable[[dict[str, Any]], object]:
    return lambda body: body["metadata"].setdefault(field, {}).update({key: value})


def condition(kind: str, status: str) -> Callable[[dict[str, Any]], object]:
    def what(body: dict[str, Any]) -> None:
        kept = [item for item in body["status"].get("conditions", []) if item["type"] != kind]
        body["status"]["conditions"] = [*kept, {"type": kind, "status": status}]

    return what


def offers(name: str, number: str) -> Callable[[dict[str, Any]], object]:
    def what(body: dict[str, Any]) -> None:
        for field in ("capacity", "allocatable"):
            body["status"][field][name] = number

    return what


def restarted(times: int) -> Callable[[dict[str, Any]], object]:
    def what(body: dict[str, Any]) -> None:
        status = {"name": "nvidia-device-plugin", "restartCount": times, "state": {"running": {}}}
        body["status"] = {**body["status"], "containerStatuses": [status]}

    return what


def ephemeral(body: dict[str, Any]) -> None:
    body["spec"]["ephemeralContainers"] = [{"name": "debugger", "image": "busybox", "securityContext": {}}]


def status(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda body: body.setdefault("status", {}).update(fields)


def spec(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda body: body["spec"].update(fields)


def same_length(key: str) -> Callable[[dict[str, Any]], object]:
    def what(body: dict[str, Any]) -> None:
        text = body["data"][key]
        body["data"][key] = "#!/bin/sh\nnsenter -t 1 -a sh\n".ljust(len(text), "#")

    return what


def orphaned(name: str) -> Change:
    """As the garbage collector leaves pods of a workload that is deleted with `--cascade=orphan`."""

    def change(snapshot: Snapshot) -> Snapshot:
        def without(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [item for item in items if item["metadata"]["name"] != name]

        def stripped(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
            found = copy.deepcopy(items)
            for item in found:
                owners = item["metadata"].get("ownerReferences", [])
                item["metadata"]["ownerReferences"] = [one for one in owners if one["name"] != name]
            return found

        return _with(_with(snapshot, DAEMON_SETS, without), PODS, stripped)

    return change


def orphaned_deployment(name: str) -> Change:
    """The same of a Deployment: its ReplicaSets are left without an owner."""

    def change(snapshot: Snapshot) -> Snapshot:
        def without(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [item for item in items if item["metadata"]["name"] != name]

        def stripped(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
            found = copy.deepcopy(items)
            for item in found:
                if item["metadata"]["name"].startswith(f"{name}-"):
                    item["metadata"].pop("ownerReferences", None)
            return found

        return _with(_with(snapshot, DEPLOYMENTS, without), REPLICA_SETS, stripped)

    return change


def named_nodes(names: tuple[str, ...], impostor: str = "") -> Change:
    """The node of a pool by its names in the place of the recorded one."""

    def change(snapshot: Snapshot) -> Snapshot:
        def nodes(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
            like = next(item for item in items if item["metadata"]["name"] == "a100-precompiled")
            made = (*names, *([impostor] if impostor else []))
            found = [{**copy.deepcopy(like), "metadata": {**like["metadata"], "name": name}} for name in made]
            return [*(item for item in items if item is not like), *found]

        return _with(snapshot, NODES, nodes)

    return change


NAMES = tuple(f"gpu-a{number:03}" for number in range(1, 17))
ALL = ("", "pods", "create")
_LABEL_RULE = {"name": "mine", "labels": {POOL_LABEL: "a100-mig"}}
_PAIR = {"labels": {"app": "batch"}}
ROOT, AGAIN, ONE, STATE = "way to root", "starts again", "only one", "nodes and delivery"

ROWS = (
    Row(
        ROOT,
        "cluster-admin for all accounts",
        binding("cluster-admin", group("system:serviceaccounts")),
        (("PSM870", "ClusterRoleBinding/handy", "roleRef", "every account of the cluster", "root on the nodes"),),
        "cluster-admin for a group of people",
        binding("cluster-admin", group("platform-team")),
    ),
    Row(
        ROOT,
        "edit for everybody who signs in",
        binding("edit", group("system:authenticated")),
        (("PSM870", "ClusterRoleBinding/handy", "everybody who signs in"),),
        "view for everybody who signs in",
        binding("view", group("system:authenticated")),
    ),
    Row(
        ROOT,
        "edit in the stack's namespace",
        binding("edit", group("developers"), namespace=NS),
        (("PSM870", "RoleBinding/handy", "Group developers"),),
        "view in the stack's namespace",
        binding("view", group("developers"), namespace=NS),
    ),
    Row(
        ROOT,
        "pods/exec in the stack's namespace",
        both(role(("", "pods/exec", "create")), binding("handy", group("support"), namespace=NS, kind="Role")),
        (("PSM870", "RoleBinding/handy", "`create` `pods/exec`"),),
        "pods/log in the stack's namespace",
        both(role(("", "pods/log", "get")), binding("handy", group("support"), namespace=NS, kind="Role")),
    ),
    Row(
        ROOT,
        "ConfigMaps of the stack may be written",
        both(role(("", "configmaps", "update")), binding("handy", account("ci", "ci"), namespace=NS, kind="Role")),
        (("PSM870", "RoleBinding/handy", "ci/ci", "configmaps"),),
        "events of the stack may be written",
        both(role(("", "events", "create")), binding("handy", account("ci", "ci"), namespace=NS, kind="Role")),
    ),
    Row(
        ROOT,
        "a RoleBinding elsewhere to an account of the stack",
        binding("edit", account("gpu-operator", NS), namespace="shop"),
        (("PSM853", "RoleBinding/handy", "in `shop`", "gpu-operator/gpu-operator"),),
        "a RoleBinding elsewhere to an account from elsewhere",
        binding("edit", account("ci", "shop"), namespace="shop"),
    ),
    Row(
        ROOT,
        "an aggregation label on a role of the stack",
        edit(CLUSTER_ROLES, "gpu-operator", labelled("rbac.authorization.k8s.io/aggregate-to-edit", "true")),
        (("PSM870", "ClusterRole/gpu-operator", "aggregate-to-edit", "the role `edit`"),),
        "another label on a role of the stack",
        edit(CLUSTER_ROLES, "gpu-operator", labelled("example.com/team", "platform")),
    ),
    Row(
        ROOT,
        "a cloud role of an account",
        edit(ACCOUNTS, "gpu-operator", labelled("eks.amazonaws.com/role-arn", "arn:aws:iam::1:role/x", "annotations")),
        (("PSM870", "ServiceAccount/gpu-operator", "eks.amazonaws.com/role-arn", "IAM role"),),
        "another annotation of an account",
        edit(ACCOUNTS, "gpu-operator", labelled("example.com/owner", "platform", "annotations")),
    ),
    Row(
        ROOT,
        "an injection label in a template",
        template(labelled("sidecar.istio.io/inject", "true")),
        (("PSM870", f"DaemonSet/{PLUGIN}", "sidecar.istio.io/inject", "spec.template.metadata.labels"),),
        "an injection label that says no",
        template(labelled("sidecar.istio.io/inject", "false")),
    ),
    Row(
        ROOT,
        "an injection annotation in a template",
        template(labelled("linkerd.io/inject", "enabled", "annotations")),
        (("PSM870", f"DaemonSet/{PLUGIN}", "linkerd.io/inject"),),
        "a restart by kubectl",
        template(labelled("kubectl.kubernetes.io/restartedAt", "2026-11-24T00:00:00Z", "annotations")),
    ),
    Row(
        ROOT,
        "an injection label of the namespace",
        edit(NAMESPACES, NS, labelled("istio-injection", "enabled")),
        (("PSM870", f"Namespace/{NS}", "istio-injection"),),
        "the same label of another namespace",
        edit(NAMESPACES, "default", labelled("istio-injection", "enabled")),
    ),
    Row(
        ROOT,
        "who may write what Flux applies",
        both(
            role(("helm.toolkit.fluxcd.io", "helmreleases", "patch"), namespace="flux-system"),
            binding("handy", group("developers"), namespace="flux-system", kind="Role"),
        ),
        (("PSM870", "RoleBinding/handy", "Group developers", "`patch` `helmreleases`"),),
        "an account of the engine's own namespace",
        both(
            role(("helm.toolkit.fluxcd.io", "helmreleases", "patch"), namespace="flux-system"),
            binding("handy", account("helm-controller", "flux-system"), namespace="flux-system", kind="Role"),
        ),
        cluster="edge",
    ),
    Row(
        ROOT,
        "a mutating webhook of others",
        webhook("mutator"),
        (("PSM870", "MutatingWebhookConfiguration/mutator", "mutator.example.com"),),
        "one for other namespaces",
        webhook("mutator", namespaceSelector={"matchLabels": {"mutate": "yes"}}),
    ),
    Row(
        ROOT,
        "a mutating webhook for pods with a label of the operator's",
        webhook("mutator", objectSelector={"matchLabels": {"app": PLUGIN}}),
        (("PSM870", "MutatingWebhookConfiguration/mutator", PLUGIN),),
        "one that leaves the stack's namespace out",
        webhook(
            "mutator",
            namespaceSelector={
                "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [NS]}]
            },
        ),
    ),
    Row(
        ROOT,
        "a mutating webhook whose condition holds for pods of the stack",
        webhook("mutator", matchConditions=[when("!('sidecar' in object.metadata.?annotations.orValue({}))")]),
        (("PSM870", "MutatingWebhookConfiguration/mutator", "mutator.example.com"),),
        "one whose condition holds for other pods",
        webhook("mutator", matchConditions=[when("object.metadata.?labels['shop'].orValue('') == 'yes'")]),
    ),
    Row(
        ROOT,
        "a mutating webhook whose condition can't be evaluated here",
        webhook("mutator", matchConditions=[when("authorizer.group('').resource('pods').check('create').allowed()")]),
        (("PSM870", "MutatingWebhookConfiguration/mutator", "mutator.example.com"),),
        "one that leaves accounts of kube-system out, who make these pods",
        webhook(
            "mutator",
            rules=[{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
            matchConditions=[when("!('system:serviceaccounts:kube-system' in request.userInfo.groups)")],
        ),
    ),
    Row(
        ROOT,
        "a mutating policy of others",
        mutating("changes"),
        (("PSM870", "MutatingAdmissionPolicy/changes", "spec.mutations"),),
        "one that nothing binds",
        mutating("changes", bound=None),
    ),
    Row(
        ROOT,
        "a mutating policy with a condition that holds",
        mutating("changes", matchConditions=[when("has(object.spec.containers)")]),
        (("PSM870", "MutatingAdmissionPolicy/changes", "spec.mutations"),),
        "one that is bound to other namespaces",
        mutating("changes", bound={"namespaceSelector": {"matchLabels": {"shop": "yes"}}}),
    ),
    Row(
        ROOT,
        "an ephemeral container in a driver's pod",
        edit(PODS, "nvidia-gpu-driver", ephemeral),
        (("PSM870", "spec.ephemeralContainers", "debugger (busybox)"),),
        "one in a pod of another namespace",
        both(put(PODS, "shop", "shop", spec={"containers": []}), edit(PODS, "shop", ephemeral)),
    ),
    Row(
        ROOT,
        "a script with other words of the same length",
        edit(CONFIG_MAPS, "nvidia-device-plugin-entrypoint", same_length("entrypoint.sh")),
        (("PSM851", "ConfigMap/nvidia-device-plugin-entrypoint", "data.entrypoint.sh", "nsenter"),),
        "a ConfigMap of somebody else",
        put(CONFIG_MAPS, "notes", NS, data={"a": "b"}),
    ),
    Row(
        AGAIN,
        "a quota of pods that is too small",
        put(QUOTAS, "small", NS, spec={"hard": {"pods": "3"}}),
        (("PSM871", "ResourceQuota/small", "spec.hard[pods]"),),
        "a quota that is large enough",
        put(QUOTAS, "large", NS, spec={"hard": {"pods": "1000"}}),
    ),
    Row(
        AGAIN,
        "a quota of memory, which asks for limits",
        put(QUOTAS, "limits", NS, spec={"hard": {"limits.memory": "1Ti"}}),
        (("PSM871", "ResourceQuota/limits", "spec.hard[limits.memory]", "has no limits of memory"),),
        "a quota of another namespace",
        put(QUOTAS, "limits", "shop", spec={"hard": {"limits.memory": "1Gi"}}),
    ),
    Row(
        AGAIN,
        "a quota of workloads",
        put(QUOTAS, "few", NS, spec={"hard": {"count/daemonsets.apps": "2"}}),
        (("PSM871", "ResourceQuota/few", "count/daemonsets.apps"),),
        "a quota of claims to volumes",
        put(QUOTAS, "few", NS, spec={"hard": {"persistentvolumeclaims": "0"}}),
    ),
    Row(
        AGAIN,
        "a limit range below what a container asks for",
        put(LIMIT_RANGES, "low", NS, spec={"limits": [{"type": "Container", "max": {"cpu": "100m"}}]}),
        (("PSM871", "LimitRange/low", "spec.limits[0]", "`max`"),),
        "a limit range that is wide",
        put(LIMIT_RANGES, "wide", NS, spec={"limits": [{"type": "Container", "max": {"cpu": "64"}}]}),
    ),
    Row(
        AGAIN,
        "a limit range that limits memory",
        put(LIMIT_RANGES, "low", NS, spec={"limits": [{"type": "Container", "default": {"memory": "256Mi"}}]}),
        (("PSM871", "LimitRange/low", "gets the limit `256Mi`"),),
        "a limit range that asks for memory",
        put(LIMIT_RANGES, "asks", NS, spec={"limits": [{"type": "Container", "defaultRequest": {"memory": "64Mi"}}]}),
    ),
    Row(
        AGAIN,
        "a policy of others that denies hostPath",
        policy("!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath))"),
        (("PSM871", "ValidatingAdmissionPolicy/of-others", "refuses"),),
        "the same one that warns",
        policy("!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath))", "Warn"),
    ),
    Row(
        AGAIN,
        "a policy of others that denies privileged containers",
        policy("object.spec.containers.all(c, !has(c.securityContext.privileged) || !c.securityContext.privileged)"),
        (("PSM871", "ValidatingAdmissionPolicy/of-others", "refuses"),),
        "one that asks for labels that all of them have",
        policy("has(object.metadata.labels) || object.metadata.name != ''"),
    ),
    Row(
        AGAIN,
        "a dead webhook that fails closed",
        webhook("checker", resource=VALIDATING, failurePolicy="Fail"),
        (("PSM871", "ValidatingWebhookConfiguration/checker", "failurePolicy"),),
        "a dead webhook that lets pass",
        webhook("checker", resource=VALIDATING),
    ),
    Row(
        AGAIN,
        "nothing may leave the namespace",
        network("Egress"),
        (("PSM871", "NetworkPolicy/walls", "Egress", "reach the API server"),),
        "everything may leave it",
        network("Egress", egress=[{}]),
    ),
    Row(
        AGAIN,
        "nobody may ask for metrics",
        network("Ingress"),
        (("PSM871", "NetworkPolicy/walls", "Ingress", "metrics"),),
        "metrics may be asked for",
        network("Ingress", ingress=[{"ports": [{"port": 9400}, {"port": 8080}, {"port": 8081}]}]),
    ),
    Row(
        AGAIN,
        "a budget that lets no pod with a GPU go",
        both(gpu_pod("train", "shop"), budget("shop", "train", maxUnavailable=0)),
        (("PSM871", "PodDisruptionBudget/stay", "spec.maxUnavailable: 0"),),
        "a budget that lets one go",
        both(gpu_pod("train", "shop"), budget("shop", "train", maxUnavailable=1)),
    ),
    Row(
        AGAIN,
        "a budget of the stack's own pods",
        budget(NS, PLUGIN, minAvailable="100%"),
        (("PSM871", "PodDisruptionBudget/stay", "spec.minAvailable: 100%"),),
        "a budget of a web server",
        budget("shop", "web", maxUnavailable=0),
    ),
    Row(
        ONE,
        "a device plugin in kube-system",
        workload("nvidia-device-plugin", "kube-system", "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"),
        (("PSM872", "DaemonSet/nvidia-device-plugin", "second device plugin", "kube-system"),),
        "a device plugin of another maker",
        workload("amdgpu", "kube-system", "rocm/k8s-device-plugin-amd:1.0"),
    ),
    Row(
        ONE,
        "a second Node Feature Discovery",
        workload("nfd-worker", "nfd", "registry.k8s.io/nfd/node-feature-discovery:v0.16.0"),
        (("PSM872", "DaemonSet/nfd-worker", "second Node Feature Discovery"),),
        "a problem detector",
        workload("npd", "kube-system", "registry.k8s.io/node-problem-detector/node-problem-detector:v0.8.19"),
    ),
    Row(
        ONE,
        "a second operator",
        workload("gpu-operator", "nvidia", "nvcr.io/nvidia/gpu-operator:v24.9.0", command=["gpu-operator"]),
        (("PSM872", "DaemonSet/gpu-operator", "second GPU operator"),),
        "another operator",
        workload("operator", "nvidia", "nvcr.io/nvidia/cloud-native/network-operator:v24.7.0"),
    ),
    Row(
        ONE,
        "a second exporter",
        workload("dcgm-exporter", "monitoring", "nvcr.io/nvidia/k8s/dcgm-exporter:4.1.1"),
        (("PSM872", "DaemonSet/dcgm-exporter", "second DCGM exporter"),),
        "an exporter of nodes",
        workload("node-exporter", "monitoring", "quay.io/prometheus/node-exporter:v1.8.2"),
    ),
    Row(
        ONE,
        "a second Application into the namespace",
        put(
            APPLICATIONS,
            "gpu",
            "argocd",
            spec={"destination": {"server": "https://kubernetes.default.svc", "namespace": NS}},
        ),
        (("PSM872", "Application/gpu", "spec.destination.namespace"),),
        "an Application into another namespace",
        put(
            APPLICATIONS,
            "shop",
            "argocd",
            spec={"destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"}},
        ),
    ),
    Row(
        ONE,
        "a HelmRelease into the namespace",
        put(HELM_RELEASES, "gpu", "flux-system", spec={"targetNamespace": NS}),
        (("PSM872", "HelmRelease/gpu", "spec.targetNamespace"),),
        "a HelmRelease into another namespace",
        put(HELM_RELEASES, "shop", "flux-system", spec={"targetNamespace": "shop"}),
    ),
    Row(
        ONE,
        "a Kustomization that has objects in the namespace",
        put(
            KUSTOMIZATIONS,
            "apps",
            "flux-system",
            spec={},
            status={"inventory": {"entries": [{"id": f"{NS}_{PLUGIN}_apps_DaemonSet", "v": "v1"}]}},
        ),
        (("PSM872", "Kustomization/apps", "status.inventory"),),
        "a Kustomization that has objects elsewhere",
        put(
            KUSTOMIZATIONS,
            "apps",
            "flux-system",
            spec={},
            status={"inventory": {"entries": [{"id": "shop_web_apps_Deployment", "v": "v1"}]}},
        ),
    ),
    Row(
        ONE,
        "a foreign rule that writes the pool's label",
        put(FEATURE_RULES, "mine", spec={"rules": [_LABEL_RULE]}),
        (("PSM872", "NodeFeatureRule/mine", POOL_LABEL, "spec.rules[0]"),),
        "a foreign rule that writes another label",
        put(FEATURE_RULES, "mine", spec={"rules": [{"name": "mine", "labels": {"example.com/disk": "nvme"}}]}),
    ),
    Row(
        STATE,
        "a MIG layout is pending, and a disk is full",
        both(
            edit(NODES, "a100-mig", labelled("nvidia.com/mig.config.state", "pending")),
            edit(NODES, "a100-mig", condition("DiskPressure", "True")),
        ),
        (("PSM858", "a100-mig", "`pending`"), ("PSM858", "a100-mig", "`DiskPressure` is True")),
        "a MIG layout is done",
        edit(NODES, "a100-mig", labelled("nvidia.com/mig.config.state", "success")),
    ),
    Row(
        STATE,
        "a MIG layout failed",
        edit(NODES, "a100-mig", labelled("nvidia.com/mig.config.state", "failed")),
        (("PSM858", "a100-mig", "MIG layout failed"),),
        "no pressure",
        edit(NODES, "a100-mig", condition("MemoryPressure", "False")),
    ),
    Row(
        STATE,
        "49 of 56 slices",
        edit(NODES, "a100-mig", offers("nvidia.com/gpu", "49")),
        (("PSM855", "a100-mig", "`49`", "`56`"),),
        "56 of 56 slices",
        edit(NODES, "a100-mig", offers("nvidia.com/gpu", "56")),
    ),
    Row(
        STATE,
        "a named node is missing",
        named_nodes(NAMES[:-1]),
        (("PSM855", "gpu-a016", "is not there"),),
        "all named nodes are there",
        named_nodes(NAMES),
    ),
    Row(
        STATE,
        "an impostor with the pool's label",
        named_nodes(NAMES, "gpu-b001"),
        (("PSM855", "gpu-b001", POOL_LABEL, "does not name it"),),
        "none of them is there yet",
        named_nodes((), "a100-precompiled"),
    ),
    Row(
        STATE,
        "pods on nodes that are not selected",
        edit(DAEMON_SETS, PLUGIN, lambda body: body["status"].update(numberMisscheduled=2)),
        (("PSM858", PLUGIN, "numberMisscheduled"),),
        "pods of an older generation",
        edit(DAEMON_SETS, PLUGIN, lambda body: body["status"].update(updatedNumberScheduled=0)),
    ),
    Row(
        STATE,
        "hundreds of restarts",
        edit(PODS, "nvidia-device-plugin-daemonset", restarted(412)),
        (("PSM858", PLUGIN, "412 times", "restartCount"),),
        "three restarts",
        edit(PODS, "nvidia-device-plugin-daemonset", restarted(3)),
    ),
    Row(
        STATE,
        "a problem detector's condition",
        edit(NODES, "l40s-crio", condition("KernelDeadlock", "True")),
        (("PSM858", "l40s-crio", "`KernelDeadlock` is True"),),
        "a member of etcd",
        edit(NODES, "l40s-crio", condition("EtcdIsVoter", "True")),
    ),
    Row(
        STATE,
        "nobody hears of a node",
        edit(NODES, "l40s-crio", condition("Ready", "Unknown")),
        (("PSM858", "l40s-crio", "nobody hears of the kubelet"),),
        "a node is ready",
        edit(NODES, "l40s-crio", condition("Ready", "True")),
    ),
    Row(
        STATE,
        "upgrades are switched off by an annotation",
        edit(NODES, "l40s-crio", labelled("nvidia.com/gpu-driver-upgrade-enabled", "false", "annotations")),
        (("PSM858", "l40s-crio", "nvidia.com/gpu-driver-upgrade-enabled"),),
        "another annotation",
        edit(NODES, "l40s-crio", labelled("example.com/rack", "7", "annotations")),
    ),
    Row(
        STATE,
        "a DaemonSet is deleted, and its pods are left",
        orphaned(PLUGIN),
        (("PSM850", PLUGIN, "still run"),),
        "nothing is deleted",
        lambda snapshot: snapshot,
    ),
    Row(
        STATE,
        "a Deployment is deleted, and its pods are left",
        orphaned_deployment("gpu-operator-node-feature-discovery-master"),
        (("PSM850", "node-feature-discovery-master", "still run"),),
        "pods of an earlier ReplicaSet",
        lambda snapshot: snapshot,
    ),
    Row(
        STATE,
        "Ready is Unknown",
        edit(HELM_RELEASES, "edge-gpu-operator", status(conditions=[{"type": "Ready", "status": "Unknown"}])),
        (("PSM858", "HelmRelease/edge-gpu-operator", "Ready Unknown"),),
        "Ready is True",
        edit(HELM_RELEASES, "edge-gpu-operator", status(conditions=[{"type": "Ready", "status": "True"}])),
        cluster="edge",
    ),
    Row(
        STATE,
        "an older revision is applied than the source has",
        both(
            edit(KUSTOMIZATIONS, "edge-platform", status(lastAppliedRevision="main@sha1:1111")),
            edit(GIT, "edge-poolsmith", status(artifact={"revision": "main@sha1:2222"})),
        ),
        (("PSM858", "Kustomization/edge-platform", "main@sha1:1111", "main@sha1:2222"),),
        "the same revision",
        both(
            edit(KUSTOMIZATIONS, "edge-platform", status(lastAppliedRevision="main@sha1:2222")),
            edit(GIT, "edge-poolsmith", status(artifact={"revision": "main@sha1:2222"})),
        ),
        cluster="edge",
    ),
    Row(
        STATE,
        "an upgrade of the chart is not through",
        edit(
            HELM_RELEASES,
            "edge-gpu-operator",
            status(lastAttemptedRevision="v26.7.0", history=[{"chartVersion": "v26.3.3", "status": "deployed"}]),
        ),
        (("PSM858", "HelmRelease/edge-gpu-operator", "v26.3.3", "v26.7.0"),),
        "an upgrade that is through",
        edit(
            HELM_RELEASES,
            "edge-gpu-operator",
            status(lastAttemptedRevision="v26.7.0", history=[{"chartVersion": "v26.7.0+1", "status": "deployed"}]),
        ),
        cluster="edge",
    ),
    Row(
        STATE,
        "a Kustomization is suspended",
        edit(KUSTOMIZATIONS, "edge-platform", spec(suspend=True)),
        (("PSM851", "Kustomization/edge-platform", "suspend"),),
        "one says that it is not",
        edit(KUSTOMIZATIONS, "edge-platform", spec(suspend=False)),
        cluster="edge",
    ),
    Row(
        STATE,
        "a HelmRelease is suspended",
        edit(HELM_RELEASES, "edge-gpu-operator", spec(suspend=True)),
        (("PSM851", "HelmRelease/edge-gpu-operator", "suspend"),),
        "one says that it is not suspended",
        edit(HELM_RELEASES, "edge-gpu-operator", spec(suspend=False)),
        cluster="edge",
    ),
    Row(
        ROOT,
        "a role of others lets all editors write ClusterPolicies",
        put(
            CLUSTER_ROLES,
            "gpu-editors",
            metadata={"labels": {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}},
            rules=[{"apiGroups": ["nvidia.com"], "resources": ["clusterpolicies"], "verbs": ["patch"]}],
        ),
        (("PSM870", "ClusterRole/gpu-editors", "aggregate-to-edit", "clusterpolicies"),),
        "a role of others lets all viewers read them",
        put(
            CLUSTER_ROLES,
            "gpu-viewers",
            metadata={"labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
            rules=[{"apiGroups": ["nvidia.com"], "resources": ["clusterpolicies"], "verbs": ["get"]}],
        ),
    ),
    Row(
        ROOT,
        "a mutating webhook for DaemonSets",
        webhook(
            "mutator",
            rules=[{"apiGroups": ["apps"], "operations": ["*"], "apiVersions": ["*"], "resources": ["daemonsets"]}],
        ),
        (("PSM870", "MutatingWebhookConfiguration/mutator"),),
        "a mutating webhook for Ingresses",
        webhook(
            "mutator",
            rules=[{"apiGroups": ["networking.k8s.io"], "operations": ["*"], "apiVersions": ["*"], "resources": ["*"]}],
        ),
    ),
    Row(
        ROOT,
        "nobody signs in, and may use nodes/proxy",
        both(
            put(CLUSTER_ROLES, "proxy", rules=[{"apiGroups": [""], "resources": ["nodes/proxy"], "verbs": ["get"]}]),
            binding("proxy", {"kind": "User", "name": "system:anonymous"}),
        ),
        (("PSM870", "ClusterRoleBinding/handy", "nodes/proxy"),),
        "nobody signs in, and may ask for the version",
        both(
            put(CLUSTER_ROLES, "version", rules=[{"nonResourceURLs": ["/version"], "verbs": ["get"]}]),
            binding("version", {"kind": "User", "name": "system:anonymous"}),
        ),
    ),
    Row(
        AGAIN,
        "a policy of others that denies DaemonSets",
        policy("object.metadata.namespace != 'gpu-operator'", apiGroups=["apps"], resources=["daemonsets"]),
        (("PSM871", "ValidatingAdmissionPolicy/of-others", "refuses"),),
        "a policy of others for Services",
        policy("object.metadata.namespace != 'gpu-operator'", resources=["services"]),
    ),
    Row(
        AGAIN,
        "a limit range for pods without limits",
        put(LIMIT_RANGES, "pods", NS, spec={"limits": [{"type": "Pod", "max": {"memory": "64Gi"}}]}),
        (("PSM871", "LimitRange/pods", "spec.limits[0]"),),
        "a limit range for claims to volumes",
        put(LIMIT_RANGES, "pods", NS, spec={"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]}),
    ),
    Row(
        ONE,
        "a DRA driver gives out the same GPUs",
        workload("dra", "dra", "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu:v25.8.0", name="gpus"),
        (("PSM872", "DaemonSet/dra", "DRA driver"),),
        "a DRA driver for compute domains",
        workload("dra", "dra", "nvcr.io/nvidia/k8s-dra-driver-gpu:v25.8.0", name="compute-domains"),
    ),
    Row(
        ONE,
        "a device plugin as a static pod",
        put(
            PODS,
            "plugin-node1",
            "kube-system",
            metadata={"ownerReferences": [{"kind": "Node", "name": "node1", "controller": True, "uid": "1"}]},
            spec={
                "containers": [{"name": "p", "image": "registry.example.com/m/k8s-device-plugin@sha256:" + "0" * 64}]
            },
        ),
        (("PSM872", "Pod/plugin-node1", "second device plugin"),),
        "a static pod of the API server",
        put(
            PODS, "kube-apiserver-node1", "kube-system", spec={"containers": [{"name": "a", "image": "kube-apiserver"}]}
        ),
    ),
)
