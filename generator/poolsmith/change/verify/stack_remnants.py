"""Objects that stay behind after a change of stack, release or mode or after an uninstall, and dead webhooks.

Requests to a webhook that nobody answers are refused, or pass unchecked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import shown
from poolsmith.change.verify.version_skew import other_release
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import LEFT_OVER
from poolsmith.core.diagnostics.message_text import counted, listed
from poolsmith.core.sources.pod_template import mapping, mappings
from poolsmith.fleet.profiles.cluster import StackKind
from poolsmith.gpu.catalog.live_cluster import OF_KATA, OF_OPERATOR, read_left_overs
from poolsmith.gpu.catalog.live_resources import CC_RUNTIMES, CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS
from poolsmith.gpu.catalog.node_labels import DEPLOY, WORKLOAD
from poolsmith.kubernetes.live import api_resources as api

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.change.verify.node_placement import Placing
    from poolsmith.core.diagnostics import Diagnostic


_RESOURCES = (CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS, CC_RUNTIMES)
_HANDLERS = ("nvidia", "kata")
"""How handlers begin that the operator, kata-deploy and the CoCo operator write RuntimeClasses for."""
_DEFINITIONS = {
    "nvidia.com": "the GPU operator",
    "confidentialcontainers.org": "the Confidential Containers operator",
}
_KATA = "katacontainers.io/kata-runtime"
_FEW = 4


def judge_left_overs(view: LiveView, placing: Placing) -> Iterator[Diagnostic]:
    for resource in _RESOURCES:
        for body in view.snapshot.items(resource):
            name = str(body["metadata"]["name"])
            if (resource, "", name) not in view.known:
                subject = view.cluster.subject(resource.kind, name)
                yield _left(view, shown(resource.kind, name, ""), "nothing that is committed brings it", subject)
    others = _runtime_classes_of_others(view)
    for body in view.snapshot.items(api.RUNTIME_CLASSES):
        name, handler = str(body["metadata"]["name"]), str(body.get("handler") or "")
        if handler.startswith(_HANDLERS) and name not in others and (api.RUNTIME_CLASSES, "", name) not in view.known:
            subject = view.cluster.subject("RuntimeClass", name)
            yield _left(view, shown("RuntimeClass", name, ""), f"no pool has the handler `{handler}` by it", subject)
    yield from _definitions(view)
    yield from _labels(view, placing)
    yield from _rights(view)


def _runtime_classes_of_others(view: LiveView) -> tuple[str, ...]:
    """Names of those that the distribution brings, or people where the toolkit is none of the operator's."""
    facts, plan = read_left_overs(), view.cluster.plan
    spec = plan.cluster.spec
    by_hand = spec.stack.kind is StackKind.DEVICE_PLUGIN or any(pool.toolkit != "operator" for pool in plan.pools)
    return facts.of_distributions.get(spec.kubernetes.distribution, ()) + (facts.by_hand if by_hand else ())


def _definitions(view: LiveView) -> Iterator[Diagnostic]:
    """Definitions of a product of which nothing is expected."""
    groups = {item.resource.group for item in view.cluster.expected}
    operator = view.cluster.plan.chart is not None
    for group, product in _DEFINITIONS.items():
        used = operator if group == "nvidia.com" else group in groups
        names = [
            str(body["metadata"]["name"])
            for body in view.snapshot.items(api.DEFINITIONS)
            if mapping(body.get("spec")).get("group") == group
        ]
        if names and not used:
            what = f"{counted(len(names), 'CustomResourceDefinition')} of {product} ({listed(names, _FEW)})"
            yield _left(view, what, "the cluster has no such operator")


def _rights(view: LiveView) -> Iterator[Diagnostic]:
    """Roles, bindings and accounts that only the operator makes, of another stack or mode than the committed one."""
    if other_release(view):
        return
    facts = read_left_overs()
    for resource in (api.CLUSTER_ROLES, api.CLUSTER_ROLE_BINDINGS, api.ACCOUNTS):
        names = []
        for body in view.snapshot.items(resource):
            namespace, name = str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])
            ours = not namespace or namespace in view.cluster.stack_namespaces
            if ours and facts.is_of_operator(name) and (resource, namespace, name) not in view.known:
                names.append(name)
        if names:
            what = f"{counted(len(names), resource.kind)} of the operator ({listed(sorted(names), _FEW)})"
            yield _left(view, what, "nothing that is committed brings it")


def _labels(view: LiveView, placing: Placing) -> Iterator[Diagnostic]:
    """What nodes still say of a former stack, mode or era, and where it has written on them; labels that say nothing
    count for none."""
    plan, facts = view.cluster.plan, read_left_overs()
    kata = any(pool.runtime_class for pool in plan.pools)
    wanted = _wanted(view)
    stale: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    pools = {placed.node.name: placed.seems.name for placed in placing.placed}
    for node in view.nodes:
        labels, pool = node.labels, pools.get(node.name)

        def left(what: str, directories: tuple[str, ...] = (), node: str = node.name) -> None:
            stale.setdefault((what, directories), set()).add(node)

        keys = {*labels}
        if plan.chart is None:
            keys |= {*node.annotations}
            if any(key.startswith((DEPLOY, *facts.annotations)) for key in keys):
                left(f"labels `{DEPLOY}*` of the operator", facts.directories(*OF_OPERATOR))
        if pool is None:
            continue
        if _KATA in labels and not kata:
            left(f"label `{_KATA}`", facts.directories(*OF_KATA))
        if WORKLOAD in labels and WORKLOAD not in wanted[pool] and labels[WORKLOAD] != "container":
            left(f"label `{WORKLOAD}`")
        for fact in facts.labels:
            if fact.key not in labels or fact.key in wanted[pool] or labels[fact.key] in ("", *fact.harmless):
                continue
            if plan.chart is not None or not fact.key.startswith(DEPLOY):
                left(f"label `{fact.key}` of {fact.of}", fact.directories)
    for (what, directories), names in stale.items():
        nodes = sorted(names)
        why = "no pool asks for it"
        if directories:
            why += f"; look on these nodes for what was written to {listed(directories, len(directories))}"
        yield _left(view, f"{what} on {counted(len(nodes), 'node')} ({listed(nodes, _FEW)})", why)


def keys_of_former_modes(view: LiveView) -> dict[str, frozenset[str]]:
    """By pool: labels that its nodes have of a former mode alone, where they have them."""
    keys = frozenset(fact.key for fact in read_left_overs().labels)
    return {pool: keys - wanted for pool, wanted in _wanted(view).items()}


def _wanted(view: LiveView) -> dict[str, set[str]]:
    """Keys of labels that nodes of a pool are given, or are predicted to have."""
    found = {pool.name: {label.key for label in pool.labels} for pool in view.cluster.plan.pools}
    for node in view.cluster.prediction.installation.nodes:
        found.setdefault(node.pool, set()).update(node.labels)
    return found


def _left(view: LiveView, what: str, why: str, subject: str = "") -> Diagnostic:
    message = f"{what} is left on cluster `{view.cluster.name}`: {why}"
    place = view.cluster.of_cluster("/spec/stack")
    return diagnose(LEFT_OVER, message, place, subject=subject or view.cluster.name)


_OF_SERVICE = "kubernetes.io/service-name"


def judge_webhooks(view: LiveView) -> Iterator[Diagnostic]:
    """Those whose service stands in a namespace of the stack, or of a stack that people have had."""
    namespaces = view.cluster.stack_namespaces | read_left_overs().namespaces
    for resource in api.WEBHOOKS:
        for body in view.snapshot.items(resource):
            reasons: dict[str, bool] = {}
            for webhook in mappings(body.get("webhooks")):
                service = mapping(mapping(webhook.get("clientConfig")).get("service"))
                namespace, name = service.get("namespace"), service.get("name")
                if isinstance(namespace, str) and isinstance(name, str) and namespace in namespaces:
                    why = why_nobody_answers(view, namespace, name)
                    if why:
                        reasons[why] = reasons.get(why, False) or webhook.get("failurePolicy", "Fail") == "Fail"
            for why, fails in reasons.items():
                yield _finding(view, resource, body, why, fails=fails)


def _finding(view: LiveView, resource: api.ApiResource, body: dict[str, Any], why: str, *, fails: bool) -> Diagnostic:
    called = str(body["metadata"]["name"])
    name = shown(resource.kind, called, "")
    effect = "each request that it is for is refused" if fails else "requests that it is for pass unseen"
    message = f"{name} is left on cluster `{view.cluster.name}`: {why}; {effect}"
    subject = view.cluster.subject(resource.kind, called)
    return diagnose(LEFT_OVER, message, view.cluster.of_cluster("/spec/stack"), subject=subject)


def why_nobody_answers(view: LiveView, namespace: str, name: str) -> str:
    """Why nobody answers; empty where somebody does, or it is not known."""
    listed = view.snapshot.listed(api.NAMESPACES)
    if listed is not None and listed.is_known:
        there = {str(item["metadata"]["name"]) for item in listed.items}
        if namespace not in there:
            return f"the namespace `{namespace}` of its service is not there"
    if not _is_read(view, api.SERVICES, namespace):
        return ""
    if not any(_is(item, namespace, name) for item in view.snapshot.items(api.SERVICES)):
        return f"its service `{name}` in `{namespace}` is not there"
    if not _is_read(view, api.ENDPOINT_SLICES, namespace):
        return ""
    for item in view.snapshot.items(api.ENDPOINT_SLICES):
        labels = mapping(item["metadata"].get("labels"))
        if item["metadata"].get("namespace") == namespace and labels.get(_OF_SERVICE) == name:
            for endpoint in mappings(item.get("endpoints")):
                if mapping(endpoint.get("conditions")).get("ready") is not False:
                    return ""
    return f"no pod answers behind its service `{name}` in `{namespace}`"


def _is(item: dict[str, Any], namespace: str, name: str) -> bool:
    return (item["metadata"].get("namespace"), item["metadata"]["name"]) == (namespace, name)


def _is_read(view: LiveView, resource: api.ApiResource, namespace: str) -> bool:
    listed = view.snapshot.listed(resource)
    return listed is not None and listed.is_known and namespace in (listed.namespaces or (namespace,))
