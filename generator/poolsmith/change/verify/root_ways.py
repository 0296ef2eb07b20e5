"""Who may become root on the nodes today, beside the workloads that are predicted.

Pods of the stack are root on their nodes. So is who may make, change or enter pods in their namespaces; who may write
what they run; who gives their accounts rights, of the cluster or of a cloud; and what puts something into them on the
way. What is predicted is a line of the ledger, and no finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import shown
from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.codes.live import UNPREDICTED_PRIVILEGE, WAY_TO_ROOT
from poolsmith.core.diagnostics.message_text import counted, joined, listed
from poolsmith.core.sources.pod_template import mapping, mappings, pod_template_of, word
from poolsmith.gpu.catalog.live_cluster import read_around, read_left_overs
from poolsmith.gpu.catalog.stack_objects import OPERATOR_GROUP
from poolsmith.guard.ledger.reach import Reach, reach_of
from poolsmith.guard.ledger.workload_privileges import pod_privileges
from poolsmith.kubernetes.admission.selector import labels_of, selects
from poolsmith.kubernetes.live import api_resources as api

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.ledger.privilege import Privilege
    from poolsmith.kubernetes.live.api_resources import ApiResource

_FEW = 4
_ROLES = ("ClusterRole", "Role")
_AS_IT_SIGNS_IN = {"User": "system:serviceaccount:", "Group": "system:serviceaccounts:"}
"""What an account is called where subjects are no accounts; its namespace follows.

Source: kubernetes/kubernetes@v1.34.1:staging/src/k8s.io/apiserver/pkg/authentication/serviceaccount/util.go.
"""
_EVERYBODY = {
    ("Group", "system:serviceaccounts"): "every account of the cluster",
    ("Group", "system:authenticated"): "everybody who signs in",
    ("Group", "system:unauthenticated"): "everybody, without signing in",
    ("User", "system:anonymous"): "everybody, without signing in",
}
_WORST = Reach.SECRETS
"""Rights that reach so far, or further, lead to a pod of the stack or to the credentials of one."""
_BUILT_IN = {"admin": "pods and their exec", "edit": "pods and their exec"}
"""Roles that Kubernetes brings, for snapshots that leave them out."""
_WRITING = frozenset(("create", "update", "patch", "*"))
_AGGREGATES = "rbac.authorization.k8s.io/aggregate-to-"


def judge_root_ways(view: LiveView) -> Iterator[Diagnostic]:
    yield from _bindings(view)
    yield from _aggregations(view)
    yield from _cloud_roles(view)
    yield from _injections(view)
    yield from _ephemeral(view)
    yield from _mutating(view)
    yield from _changing_policies(view)


def _bindings(view: LiveView) -> Iterator[Diagnostic]:
    """Those that nobody expects; what an operator of another release has left is told elsewhere."""
    expected = ((item.resource.kind, item.namespace, item.pattern) for item in view.cluster.expected)
    roles = {key for key in expected if key[0] in _ROLES}
    former = read_left_overs()
    for resource in (api.CLUSTER_ROLE_BINDINGS, api.ROLE_BINDINGS):
        for body in view.snapshot.items(resource):
            namespace, name = str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])
            if (resource, namespace, name) in view.known or former.is_of_operator(name):
                continue
            role = mapping(body.get("roleRef"))
            kind, called = word(role.get("kind")), word(role.get("name"))
            is_ours = (kind, namespace if kind == "Role" else "", called) in roles
            subjects = [_subject(item, namespace) for item in mappings(body.get("subjects"))]
            ours = [text for text, of in subjects if is_ours or of in view.cluster.stack_namespaces]
            if ours:
                message = f"gives {kind} `{called}` to {listed(ours, _FEW)}, and nobody predicted it"
                yield _finding(view, resource, body, message, rule=UNPREDICTED_PRIVILEGE)
            elif (whom := _who_gets_in(view, body, namespace)) and (way := _way(view, kind, called, namespace)):
                message = f"gives {kind} `{called}` to {whom}: by its `roleRef`, {way}"
                yield _finding(view, resource, body, message)
            elif way := _way_by_delivery(view, kind, called, namespace):
                others = [text for text, of in subjects if of != namespace]  # who delivers lives there
                if others:
                    message = f"gives {kind} `{called}` to {listed(others, _FEW)}: by its `roleRef`, {way}"
                    yield _finding(view, resource, body, message)


def _way_by_delivery(view: LiveView, kind: str, role: str, namespace: str) -> str:
    """What a role allows where the stack is delivered from: to write what an engine applies is to write the stack."""
    if not namespace or namespace not in view.cluster.delivery_namespaces:
        return ""
    rights, _ = view.rights.of_role(kind, role, namespace)
    groups = {item.group for item in api.DELIVERY}
    writes = [right for right in rights if right.arguments[0] in groups and right.arguments[2] in _WRITING]
    if writes:
        return f"who has it may {_as_words(min(writes, key=_how_bad))}, and so says what the stack runs"
    return ""


def _who_gets_in(view: LiveView, body: Mapping[str, Any], namespace: str) -> str:
    """Everybody, by a binding that holds in a namespace of the stack; in such a namespace anybody."""
    if namespace and namespace not in view.cluster.stack_namespaces:
        return ""
    subjects = list(mappings(body.get("subjects")))
    known = ((word(item.get("kind")), word(item.get("name"))) for item in subjects)
    everybody = [f"`{key[1]}` ({_EVERYBODY[key]})" for key in known if key in _EVERYBODY]
    if everybody or not namespace:
        return ", ".join(dict.fromkeys(everybody))
    return listed([_subject(item, namespace)[0] for item in subjects], _FEW) if subjects else ""


def _way(view: LiveView, kind: str, role: str, namespace: str) -> str:
    """The worst that a role allows in a namespace of the stack; empty where it leads to no pod of it."""
    rights, _ = view.rights.of_role(kind, role, namespace or None)
    worst = sorted((right for right in rights if reach_of(right) <= _WORST), key=_how_bad)
    if worst:
        return f"who has it may {_as_words(worst[0])}, and so becomes root on the nodes of the stack's pods"
    if not rights and kind == "ClusterRole" and role in _BUILT_IN:
        return f"who has it may write {_BUILT_IN[role]}, and so becomes root on the nodes of the stack's pods"
    return ""


def _how_bad(right: Privilege) -> tuple[int, bool, str]:
    _, resource, verb, *_ = right.arguments
    return int(reach_of(right)), not resource.startswith(("*", "pods", "daemonsets")), f"{resource}{verb}"


def _as_words(right: Privilege) -> str:
    group, resource, verb, *_ = right.arguments
    what = "everything" if resource == "*" else f"`{resource}`" + ("" if group in ("core", "*") else f" of {group}")
    return f"`{verb}` {what}"


def _subject(item: Any, namespace: str) -> tuple[str, str]:
    """As it is shown, and the namespace of the account, or of all the accounts that a group stands for."""
    kind, name = word(item.get("kind")), word(item.get("name"))
    if kind == "ServiceAccount":
        where = word(item.get("namespace")) or namespace
        return f"{where}/{name}", where
    prefix = _AS_IT_SIGNS_IN.get(kind)
    where = name.removeprefix(prefix).partition(":")[0] if prefix and name.startswith(prefix) else ""
    return f"{kind} {name}", where


def _aggregations(view: LiveView) -> Iterator[Diagnostic]:
    """Roles of the stack whose rights others get by a label, or that get the rights of others."""
    selectors = [
        (str(body["metadata"]["name"]), selector)
        for body in view.snapshot.items(api.CLUSTER_ROLES)
        for selector in mappings(mapping(body.get("aggregationRule")).get("clusterRoleSelectors"))
    ]
    for item in view.cluster.expected:
        for body in view.find(item) if item.resource == api.CLUSTER_ROLES else ():
            given, held = labels_of(item.body), labels_of(body)
            more = {key: value for key, value in held.items() if given.get(key) != value}
            into = [
                key.removeprefix(_AGGREGATES) for key in more if key.startswith(_AGGREGATES) and more[key] == "true"
            ]
            into += [name for name, selector in selectors if selects(selector, held) and not selects(selector, given)]
            if into and more:
                message = (
                    f"has the label `{next(iter(sorted(more)))}`, which nobody predicted: its rights go to everybody "
                    f"who has the role {listed(sorted(set(into)), _FEW)}"
                )
                yield _finding(view, api.CLUSTER_ROLES, body, message)
            if body.get("aggregationRule") and not item.body.get("aggregationRule"):
                message = "has an `aggregationRule`, which nobody predicted: whoever labels a role gives it rights"
                yield _finding(view, api.CLUSTER_ROLES, body, message)

    for body in view.snapshot.items(api.CLUSTER_ROLES):
        into = [key.removeprefix(_AGGREGATES) for key, value in labels_of(body).items() if key.startswith(_AGGREGATES)]
        name = str(body["metadata"]["name"])
        if into and (api.CLUSTER_ROLES, "", name) not in view.known and (way := _writes_stack(view, name)):
            message = f"has the label `{_AGGREGATES}{into[0]}`: everybody who has the role `{into[0]}` may {way}"
            yield _finding(view, api.CLUSTER_ROLES, body, message)


def _writes_stack(view: LiveView, role: str) -> str:
    """What of the operator's resources a role may write, by which images are chosen that run as root."""
    rights, _ = view.rights.of_role("ClusterRole", role, None)
    own = (right for right in rights if right.arguments[0] == OPERATOR_GROUP and reach_of(right) <= _WORST)
    return next((_as_words(right) for right in sorted(own, key=_how_bad)), "")


def _cloud_roles(view: LiveView) -> Iterator[Diagnostic]:
    for body in view.snapshot.items(api.ACCOUNTS):
        if str(body["metadata"].get("namespace") or "") not in view.cluster.stack_namespaces:
            continue
        known = view.expected_as(body)
        given = mapping(known.body["metadata"].get("annotations")) if known is not None else {}
        held = mapping(body["metadata"].get("annotations"))
        for key, of in read_around().cloud_roles.items():
            if word(held.get(key)) and held[key] != given.get(key):
                message = f"has the annotation `{key}: {held[key]}`, which nobody predicted: its pods get {of}"
                yield _finding(view, api.ACCOUNTS, body, message)


def _injections(view: LiveView) -> Iterator[Diagnostic]:
    """By labels and annotations of the stack's namespaces, and of its templates."""
    for item in view.cluster.expected:
        template = pod_template_of(item.body)
        of_stack = item.resource == api.NAMESPACES and item.pattern in view.cluster.stack_namespaces
        if template is None and not of_stack:
            continue
        for body in view.find(item):
            live = body if of_stack else mapping(pod_template_of(body))
            where = "" if of_stack else "spec.template."
            for field, key, of in _asked_for(item.body if of_stack else mapping(template), live):
                message = (
                    f"has `{key}` among its `{where}metadata.{field}`: {of} puts containers of its own into the pods"
                )
                yield _finding(view, item.resource, body, message)


def _asked_for(given: Mapping[str, Any], held: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """One of each product."""
    told = set()
    for field in ("labels", "annotations"):
        ours, theirs = (mapping(mapping(body.get("metadata")).get(field)) for body in (given, held))
        for key, value in sorted(theirs.items()):
            for injection in read_around().injections:
                if ours.get(key) != value and injection.is_asked_by(key, value) and injection.of not in told:
                    told.add(injection.of)
                    yield field, key, injection.of


def _ephemeral(view: LiveView) -> Iterator[Diagnostic]:
    for body in view.snapshot.items(api.PODS):
        if str(body["metadata"].get("namespace") or "") not in view.cluster.stack_namespaces:
            continue
        added = list(mappings(mapping(body.get("spec")).get("ephemeralContainers")))
        if added:
            names = listed([f"{word(item.get('name'))} ({word(item.get('image'))})" for item in added], _FEW)
            called = {word(item.get("name")) for item in added}
            holds = [str(held) for name, held in pod_privileges(body) if name in called]
            names += f", which holds {listed(sorted(set(holds)), _FEW)}" if holds else ""
            message = (
                f"has {counted(len(added), 'container')} in `spec.ephemeralContainers` that somebody added while "
                f"it ran: {names}; who may do that enters a pod that is root on its node"
            )
            yield _finding(view, api.PODS, body, message)


def _mutating(view: LiveView) -> Iterator[Diagnostic]:
    """Webhooks of others that may change pods of the stack."""
    distribution = view.cluster.plan.cluster.spec.kubernetes.distribution
    usual = read_around().webhooks.get(distribution, frozenset())
    resource = api.WEBHOOKS[0]
    for body in view.snapshot.items(resource):
        name = str(body["metadata"]["name"])
        if (resource, "", name) in view.known or name in usual or _is_of_stack(view, body):
            continue
        hooks = {word(hook.get("name")): met_by(view, hook) for hook in mappings(body.get("webhooks"))}
        if any(hooks.values()):
            names = ", ".join(name for name, met in hooks.items() if met)
            told = f"(`webhooks` {names}): who answers there decides what runs as root on the nodes"
            yield _change_finding(view, resource, body, next(filter(None, hooks.values())), told)


def _changing_policies(view: LiveView) -> Iterator[Diagnostic]:
    """Of others, with a binding: they change objects by what they say themselves."""
    seen: set[str] = set()
    for resource, of_bindings in zip(api.MUTATING_POLICIES, api.MUTATING_BINDINGS, strict=True):
        bindings = [mapping(body.get("spec")) for body in view.snapshot.items(of_bindings)]
        for body in view.snapshot.items(resource):
            name = str(body["metadata"]["name"])
            if name in seen or (resource, "", name) in view.known:
                continue
            seen.add(name)
            bound = [item for item in bindings if item.get("policyName") == name]
            if met := next(filter(None, (_met_by_policy(view, mapping(body.get("spec")), item) for item in bound)), ""):
                told = "(`spec.mutations`): what it writes runs as root on the nodes"
                yield _change_finding(view, resource, body, met, told)


def _met_by_policy(view: LiveView, spec: Mapping[str, Any], binding: Mapping[str, Any]) -> str:
    chosen = [mapping(spec.get("matchConstraints")), mapping(binding.get("matchResources"))]
    conditions = () if spec.get("paramKind") else mappings(spec.get("matchConditions"))
    return view.requests.first_met([item for item in chosen if item], conditions, mappings(spec.get("variables")))


def _change_finding(view: LiveView, resource: ApiResource, body: Mapping[str, Any], met: str, told: str) -> Diagnostic:
    message = f"may change pods of the stack when they are made, such as those of {met} {told}"
    return _finding(view, resource, body, message, severity=Severity.WARNING)


def _is_of_stack(view: LiveView, body: Mapping[str, Any]) -> bool:
    """Whether each of its services is one of the stack's own, which is told elsewhere."""
    services = [mapping(mapping(item.get("clientConfig")).get("service")) for item in mappings(body.get("webhooks"))]
    return bool(services) and all(word(item.get("namespace")) in view.cluster.stack_namespaces for item in services)


def met_by(view: LiveView, webhook: Mapping[str, Any]) -> str:
    """A workload of the stack that it is asked about, or whose pods, when they are made; empty where there is none."""
    fields = ("namespaceSelector", "objectSelector", "matchPolicy")
    chosen = {"resourceRules": webhook.get("rules"), **{field: webhook.get(field) for field in fields}}
    return view.requests.first_met([chosen], mappings(webhook.get("matchConditions")))


def _finding(
    view: LiveView,
    resource: ApiResource,
    body: Mapping[str, Any],
    message: str,
    *,
    rule: Any = WAY_TO_ROOT,
    severity: Severity | None = None,
) -> Diagnostic:
    namespace, name = str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])
    text = f"{shown(resource.kind, name, namespace)} of cluster `{view.cluster.name}` {message}"
    place, subject = view.cluster.of_cluster("/spec/stack"), view.cluster.subject(resource.kind, name, namespace)
    return diagnose(rule, text, place, subject=subject, severity=severity or rule.severity)


def root_today(view: LiveView) -> str:
    """One sentence for the report: whom the ledger knows already."""
    known = [
        pod for _, pod in view.running if any(reach_of(held) is Reach.NODE_ROOT for _, held in pod_privileges(pod))
    ]
    accounts = {word(mapping(pod.get("spec")).get("serviceAccountName")) or "default" for _, pod in view.running}
    others = sorted(_by_cluster_wide_rights(view))
    more = f"; by rights in the whole cluster also {counted(len(others), 'subject')} ({joined(others, _FEW)})"
    return (
        f"root on the nodes by what is predicted: {counted(len(known), 'workload')}, with "
        f"{counted(len(accounts), 'account')}{more if others else ''}; others who can become root are reported as "
        f"PSM870"
    )


def _by_cluster_wide_rights(view: LiveView) -> set[str]:
    """Who is neither the stack nor everybody, nor of Kubernetes itself: administrators, and other operators."""
    ours = {*view.cluster.stack_namespaces, "kube-system"}
    found = set()
    for body in view.snapshot.items(api.CLUSTER_ROLE_BINDINGS):
        role = mapping(body.get("roleRef"))
        subjects = [_subject(item, "") for item in mappings(body.get("subjects"))]
        others = [text for text, namespace in subjects if not (namespace in ours or " system:" in text)]
        if others and _way(view, word(role.get("kind")), word(role.get("name")), ""):
            found.update(others)
    return found
