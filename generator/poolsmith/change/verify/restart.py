"""Would the stack start again? What the cluster's own limits, policies, webhooks and networks would do to its pods.

Each predicted pod is judged as admission gets it. Quotas are judged as if no pod of the stack ran.
 Of networks only what has an address of its own is judged, and only whether anything at all is let through.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import shown
from poolsmith.change.verify.root_ways import met_by
from poolsmith.change.verify.stack_remnants import why_nobody_answers
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import WOULD_NOT_START
from poolsmith.core.diagnostics.message_text import counted, joined, listed, shorten
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.gpu.catalog.gpu_requests import is_gpu_resource
from poolsmith.gpu.catalog.live_cluster import read_around
from poolsmith.kubernetes.admission.policy import Action
from poolsmith.kubernetes.admission.policy_reading import read_policies
from poolsmith.kubernetes.admission.selector import labels_of, selects
from poolsmith.kubernetes.admission.verdict import Verdict
from poolsmith.kubernetes.admission_run.run import run_policies
from poolsmith.kubernetes.live import api_resources as api
from poolsmith.kubernetes.objects_file import PlacedObject
from poolsmith.kubernetes.quantity import QuantityError, quantity_amount

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.change.verify.stack_requests import StackPod
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.kubernetes.live.snapshot import KubernetesObject

_FEW = 3


def judge_restart(view: LiveView) -> tuple[list[Diagnostic], list[tuple[str, str]]]:
    """Findings, and what could not be evaluated with the reason."""
    pods = view.requests.pods
    told = [*_quotas(view, pods), *_limits(view, pods), *_dead_webhooks(view), *_networks(view, pods), *_budgets(view)]
    by_policy, undecided = _policies(view)
    return [*told, *by_policy], undecided


def _inside(
    view: LiveView, resource: api.ApiResource, *, ours: bool = False
) -> Iterator[tuple[str, str, KubernetesObject]]:
    """Objects of the stack's namespaces with namespace and name; by default those that nobody expects."""
    for body in view.snapshot.items(resource):
        namespace, name = str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])
        if namespace in view.cluster.stack_namespaces and (ours or (resource, namespace, name) not in view.known):
            yield namespace, name, body


def _amount(value: Any) -> Decimal | None:
    try:
        return quantity_amount(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    except QuantityError:
        return None


# Quotas. Source: kubernetes/kubernetes@v1.34.1, pkg/quota/v1/evaluator/core/pods.go.
_COUNTED = {
    "pods": api.ApiResource("v1", "Pod"),
    "configmaps": api.ApiResource("v1", "ConfigMap"),
    "services": api.ApiResource("v1", "Service"),
}
_BOTH = ("cpu", "memory", "ephemeral-storage")


def _quotas(view: LiveView, pods: tuple[StackPod, ...]) -> Iterator[Diagnostic]:
    for namespace, name, body in _inside(view, api.QUOTAS):
        spec = mapping(body.get("spec"))
        there = [pod for pod in pods if pod.item.namespace == namespace and _is_in_scope(pod, spec)]
        for key, hard in sorted(mapping(spec.get("hard")).items()):
            if (most := _amount(hard)) is not None and (why := _over(view, key, most, namespace, there)):
                yield _finding(view, api.QUOTAS, (namespace, name), f"`spec.hard[{key}]` is `{hard}`, and {why}")
                break


def _over(view: LiveView, key: str, most: Decimal, namespace: str, pods: list[StackPod]) -> str:
    """Why not all of it fits; empty where it does, and where nobody knows."""
    kind = _counted_kind(view, key)
    if kind == api.PODS:
        wanted = sum(max(pod.count, 1) for pod in pods)
        return f"the stack has {counted(wanted, 'pod')} there" if wanted > most else ""
    if kind is not None:
        number = sum(item.resource == kind and item.namespace == namespace for item in view.cluster.expected)
        return f"the stack brings {number} {kind.plural}" if number > most else ""
    part, _, resource = key.rpartition(".")
    part, resource = (part, resource) if part in ("requests", "limits") else ("requests", key)
    if resource not in _BOTH:
        return ""
    limits = [
        body for _, _, body in _inside(view, api.LIMIT_RANGES, ours=True) if body["metadata"]["namespace"] == namespace
    ]
    total = Decimal(0)
    for pod in pods:
        for container in mappings(pod.spec.get("containers")):
            amount = _asked(container, part, resource) or _default(limits, part, resource)
            if amount is None:
                name = word(container.get("name"))
                return f"container `{name}` of {pod.shown} has no {part} of {resource}: its pods are refused"
            total += amount * max(pod.count, 1)
    return f"the pods of the stack ask for {total.normalize():f}" if total > most else ""


def _counted_kind(view: LiveView, key: str) -> api.ApiResource | None:
    if key in _COUNTED:
        return _COUNTED[key]
    sort, _, named = key.partition("/")
    if sort != "count":
        return None
    return next((kind for kind in (api.PODS, *view.cluster.required) if kind.named == named), None)


def _asked(container: Mapping[str, Any], part: str, resource: str) -> Decimal | None:
    held = mapping(container.get("resources"))
    found = _amount(mapping(held.get(part)).get(resource))
    return found if found is not None or part == "limits" else _amount(mapping(held.get("limits")).get(resource))


def _default(limits: list[KubernetesObject], part: str, resource: str) -> Decimal | None:
    """What a LimitRange gives a container that says nothing. Source: the same, plugin/pkg/admission/limitranger."""
    fields = ("default", "max") if part == "limits" else ("defaultRequest", "default", "min", "max")
    for body in limits:
        for item in mappings(mapping(body.get("spec")).get("limits")):
            for field in fields if item.get("type") == "Container" else ():
                if (found := _amount(mapping(item.get(field)).get(resource))) is not None:
                    return found
    return None


def _is_in_scope(pod: StackPod, spec: Mapping[str, Any]) -> bool:
    chosen: list[tuple[str, str, tuple[str, ...]]] = [(name, "Exists", ()) for name in words(spec.get("scopes"))]
    expressions = mappings(mapping(spec.get("scopeSelector")).get("matchExpressions"))
    chosen += [
        (word(item.get("scopeName")), word(item.get("operator")), words(item.get("values"))) for item in expressions
    ]
    return all(_is_of(pod, *scope) for scope in chosen)


def _is_of(pod: StackPod, name: str, operator: str, values: tuple[str, ...]) -> bool:
    priority = word(pod.spec.get("priorityClassName"))
    if name == "PriorityClass":
        return {"In": priority in values, "NotIn": priority not in values, "Exists": bool(priority)}.get(
            operator, not priority
        )
    ends = isinstance(pod.spec.get("activeDeadlineSeconds"), int)
    idle = not any(
        mapping(item.get("resources")).get(part) for item in pod.containers for part in ("requests", "limits")
    )
    known = {"Terminating": ends, "NotTerminating": not ends, "BestEffort": idle, "NotBestEffort": not idle}
    return known.get(name, False)


# Limit ranges. Source: kubernetes/kubernetes@v1.34.1, plugin/pkg/admission/limitranger/admission.go.
def _limits(view: LiveView, pods: tuple[StackPod, ...]) -> Iterator[Diagnostic]:
    for namespace, name, body in _inside(view, api.LIMIT_RANGES):
        told: Counter[str] = Counter()
        for pod in pods:
            if pod.item.namespace == namespace:
                told.update(dict.fromkeys(_beyond(pod, body), 1))
        if told:
            (why, _), more = told.most_common(1)[0], sum(told.values()) - 1
            others = f"; {counted(more, 'limit')} more are in the way" if more else ""
            yield _finding(view, api.LIMIT_RANGES, (namespace, name), why + others)


def _beyond(pod: StackPod, body: KubernetesObject) -> Iterator[str]:
    for number, item in enumerate(mappings(mapping(body.get("spec")).get("limits"))):
        for resource in _BOTH:
            where = f"`spec.limits[{number}]` of {resource}"
            if item.get("type") == "Pod" and (most := _amount(mapping(item.get("max")).get(resource))) is not None:
                asked = [_asked(one, "limits", resource) for one in mappings(pod.spec.get("containers"))]
                if None in asked or sum(filter(None, asked), Decimal(0)) > most:
                    yield f"{where}: pods of {pod.shown} have no limit, or more than the `max`, and are refused"
            for container in pod.containers if item.get("type") == "Container" else ():
                if why := _outside(container, item, resource):
                    yield f"{where}: container `{word(container.get('name'))}` of {pod.shown} {why}"


def _outside(container: Mapping[str, Any], item: Mapping[str, Any], resource: str) -> str:
    request, limit = (_asked(container, part, resource) for part in ("requests", "limits"))
    given, most, least = (mapping(item.get(field)).get(resource) for field in ("default", "max", "min"))
    if limit is None and given is not None and resource != "cpu":
        return f"gets the limit `{given}`, which nobody predicted"
    over = next((value for value in (limit, request) if value is not None and (_amount(most) or value) < value), None)
    if over is not None:
        return f"asks for more than the `max` of `{most}`, and is refused"
    if request is not None and (_amount(least) or request) > request:
        return f"asks for less than the `min` of `{least}`, and is refused"
    return ""


def _dead_webhooks(view: LiveView) -> Iterator[Diagnostic]:
    """Of others: they are asked about pods of the stack, nobody answers, and then the pod is refused."""
    for resource in api.WEBHOOKS:
        for body in view.snapshot.items(resource):
            name = str(body["metadata"]["name"])
            for hook in mappings(body.get("webhooks")):
                service = mapping(mapping(hook.get("clientConfig")).get("service"))
                where = word(service.get("namespace"))
                if hook.get("failurePolicy", "Fail") != "Fail" or not where or where in view.cluster.stack_namespaces:
                    continue
                met = met_by(view, hook)
                if met and (why := why_nobody_answers(view, where, word(service.get("name")))):
                    called = word(hook.get("name"))
                    text = f"webhook `{called}` is asked about {met}, {why}, and its `failurePolicy` is `Fail`"
                    yield _finding(view, resource, ("", name), text)
                    break


# Networks. Source: kubernetes/api@v0.34.1, networking/v1.
_API_PORTS = (443, 6443)


def _networks(view: LiveView, pods: tuple[StackPod, ...]) -> Iterator[Diagnostic]:
    policies = list(_inside(view, api.NETWORK_POLICIES, ours=True))
    told: dict[tuple[str, str, str], list[str]] = {}
    for pod in pods:
        if pod.spec.get("hostNetwork") is True:
            continue
        labels = labels_of(pod.body)
        mine = [item for item in policies if item[0] == pod.item.namespace and _chooses(item[2], labels)]
        for way, ports in (("Egress", _API_PORTS), ("Ingress", _metrics(pod))):
            chosen = [item for item in mine if _is_for(item[2], way)]
            rules = [rule for item in chosen for rule in mappings(mapping(item[2].get("spec")).get(way.lower()))]
            if chosen and ports and not any(_lets(rule, ports) for rule in rules):
                told.setdefault((chosen[0][0], chosen[0][1], way), []).append(pod.shown)
    for (namespace, name, way), names in told.items():
        what = "reach the API server" if way == "Egress" else "be asked for metrics"
        text = f"`spec.policyTypes` has {way}, and no rule lets pods of {joined(names, _FEW)} {what}"
        yield _finding(view, api.NETWORK_POLICIES, (namespace, name), text)


def _chooses(body: KubernetesObject, labels: Mapping[str, str]) -> bool:
    return selects(mapping(mapping(body.get("spec")).get("podSelector")), labels) is True


def _is_for(body: KubernetesObject, way: str) -> bool:
    spec = mapping(body.get("spec"))
    kinds = words(spec.get("policyTypes")) or ("Ingress", *(["Egress"] if spec.get("egress") else []))
    return way in kinds


def _lets(rule: Mapping[str, Any], ports: tuple[int, ...]) -> bool:
    """Whether anybody is let through to one of the ports; named ports may be them."""
    given = list(mappings(rule.get("ports")))
    return not given or any(_is_port(item, ports) for item in given)


def _is_port(item: Mapping[str, Any], ports: tuple[int, ...]) -> bool:
    first, last = item.get("port"), item.get("endPort")
    if item.get("protocol", "TCP") != "TCP":
        return False
    if not isinstance(first, int):
        return True
    return any(first <= port <= (last if isinstance(last, int) else first) for port in ports)


def _metrics(pod: StackPod) -> tuple[int, ...]:
    names = read_around().metrics
    found = (port for item in pod.containers for port in mappings(item.get("ports")) if port.get("name") in names)
    return tuple(number for port in found if isinstance(number := port.get("containerPort"), int))


def _budgets(view: LiveView) -> Iterator[Diagnostic]:
    """Those that never let a pod go which a driver's upgrade evicts: pods with GPUs, and of the stack."""
    if not any(pool.driver is not None and pool.driver.managed for pool in view.cluster.plan.pools):
        return
    for body in view.snapshot.items(api.BUDGETS):
        namespace, name = str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])
        never = _never(body)
        if (api.BUDGETS, namespace, name) in view.known or not never:
            continue
        selector = mapping(mapping(body.get("spec")).get("selector"))
        held = [
            str(pod["metadata"]["name"])
            for pod in view.snapshot.items(api.PODS)
            if pod["metadata"].get("namespace") == namespace
            and (namespace in view.cluster.stack_namespaces or _uses_gpus(pod))
            and selects(selector, labels_of(pod))
        ]
        if held:
            pods = f"{counted(len(held), 'pod')} go ({listed(sorted(held), _FEW)})"
            text = f"`{never}` lets none of {pods}, which an upgrade of the driver evicts"
            yield _finding(view, api.BUDGETS, (namespace, name), text)


def _never(body: KubernetesObject) -> str:
    """The field by which no pod may ever be evicted; empty where some may."""
    spec, status = mapping(body.get("spec")), mapping(body.get("status"))
    if spec.get("maxUnavailable") in (0, "0", "0%"):
        return f"spec.maxUnavailable: {spec['maxUnavailable']}"
    least, there = spec.get("minAvailable"), status.get("expectedPods")
    if least == "100%" or (isinstance(least, int) and isinstance(there, int) and 0 < there <= least):
        return f"spec.minAvailable: {least}"
    return ""


def _uses_gpus(pod: KubernetesObject) -> bool:
    containers = mappings(mapping(pod.get("spec")).get("containers"))
    limits = (mapping(mapping(item.get("resources")).get("limits")) for item in containers)
    return any(is_gpu_resource(key) for held in limits for key in held)


def _policies(view: LiveView) -> tuple[list[Diagnostic], list[tuple[str, str]]]:
    """Of others: what they refuse, by our own CEL, and what could not be told."""
    bodies = [
        body
        for resource in (api.POLICIES, api.BINDINGS)
        for body in view.snapshot.items(resource)
        if (resource, "", str(body["metadata"]["name"])) not in view.known
    ]
    names = {str(body["metadata"]["name"]) for body in bodies if body["kind"] == api.POLICIES.kind}
    if not names or not view.requests.pods:
        return [], []
    asked = view.requests.asked
    policies, _ = read_policies([PlacedObject(body, view.requests.places) for body in bodies], view.requests.kubernetes)
    asking = {item.name for item in policies.policies if item.param_kind is not None}
    policies = replace(policies, policies=tuple(item for item in policies.policies if item.name not in asking))
    requests = [request for _, request in asked]
    run = run_policies(policies, requests, view.requests.resources, imply_bindings=False, static=False)
    refused: dict[str, list[tuple[str, str]]] = {}
    bound = {item.policy for item in policies.bindings if Action.DENY in item.actions}
    unknown = dict.fromkeys(sorted(asking & bound), "its parameters are not read") | dict(run.stopped)
    for (who, _), evaluation in zip(asked, run.evaluations, strict=False):
        for result in evaluation.results:
            if result.denied:
                refused.setdefault(result.policy, []).append((who, result.message))
            elif result.verdict is Verdict.NOT_EVALUATED and "Deny" in result.actions:
                unknown.setdefault(result.policy, result.message)
    told = [
        _finding(
            view,
            api.POLICIES,
            ("", name),
            f"refuses {joined(dict.fromkeys(who for who, _ in found), _FEW)}, or its pods: {shorten(found[0][1])}",
        )
        for name, found in refused.items()
    ]
    return told, [(f"policy {name} on the pods of the stack", why) for name, why in unknown.items()]


def _finding(view: LiveView, resource: api.ApiResource, place: tuple[str, str], text: str) -> Diagnostic:
    namespace, name = place
    message = f"{shown(resource.kind, name, namespace)} of cluster `{view.cluster.name}`: {text}"
    subject = view.cluster.subject(resource.kind, name, namespace)
    return diagnose(WOULD_NOT_START, message, view.cluster.of_cluster("/spec/stack"), subject=subject)
