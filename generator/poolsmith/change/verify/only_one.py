"""Software of which a cluster has one, and writers of what the delivery writes: is there a second one?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import shown
from poolsmith.change.verify.workloads import Owners, key_of
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import NOT_THE_ONLY_ONE
from poolsmith.core.sources.pod_template import containers_of, mapping, mappings, pod_template_of, word, words
from poolsmith.gpu.catalog.live_cluster import read_around
from poolsmith.gpu.catalog.node_labels import DEPLOY
from poolsmith.kubernetes.live import api_resources as api

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.gpu.catalog.live_cluster import OnlyOne

_CHART = "helm.sh/chart"
_PLUGIN, _DRA = "device plugin", "DRA driver"
_OF_DELIVERY = ("helm.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "source.toolkit.fluxcd.io", "argoproj.io")


def judge_only_one(view: LiveView) -> Iterator[Diagnostic]:
    yield from _software(view)
    yield from _writers(view)
    yield from _rules(view)


def _software(view: LiveView) -> Iterator[Diagnostic]:
    """What nobody expects outside of the stack's namespaces, in which it is told for itself."""
    ours = {one.of for item in view.cluster.expected for one in _which(item.body)}
    others: dict[str, list[dict[str, Any]]] = {}
    owners = Owners(view.snapshot)
    for resource in (*api.WORKLOADS, api.PODS):
        for body in view.snapshot.items(resource):
            _, namespace, name = key_of(body)
            if namespace in view.cluster.stack_namespaces or (resource, namespace, name) in view.known:
                continue
            if owners.of(body) is None:
                for one in _which(body):
                    others.setdefault(one.of, []).append(body)
    for of, found in others.items():
        if of == _DRA and of not in ours and _PLUGIN in ours:
            yield from (_second(view, of, one, 0) for one in found[:1] if _gives_gpus(one))
            continue
        places = {key_of(body)[1] for body in found}
        if of in ours or len(places) > 1:
            yield _second(view, of, found[0], len(found) - 1)


def _gives_gpus(body: Mapping[str, Any]) -> bool:
    """Whether a DRA driver gives out GPUs, and not only domains for computing. Source:
    kubernetes-sigs/dra-driver-nvidia-gpu, deployments/helm, templates/kubeletplugin.yaml."""
    pod = mapping(mapping(pod_template_of(body)).get("spec"))
    return any(word(item.get("name")) == "gpus" for item in containers_of(pod))


def _which(body: Mapping[str, Any]) -> Iterator[OnlyOne]:
    """What a workload is, by its images and commands, and by the chart that brings it."""
    template = pod_template_of(body)
    if template is None:
        return
    labels = mapping(mapping(body.get("metadata")).get("labels"))
    chart = word(labels.get(_CHART)).rpartition("-")[0]
    containers = [item for item in containers_of(mapping(template.get("spec"))) if item.get("image")]
    for one in read_around().only_one:
        if any(_runs(item, one) for item in containers) or chart in one.charts:
            yield one


def _runs(container: Mapping[str, Any], one: OnlyOne) -> bool:
    image = word(container.get("image")).partition("@")[0].rpartition("/")[2].partition(":")[0]
    run = words(container.get("command"))[:1] or (word(container.get("name")),)
    command = run[0].rpartition("/")[2]
    return command in one.commands or (image in one.images and command not in one.others)


def _second(view: LiveView, of: str, body: dict[str, Any], more: int) -> Diagnostic:
    kind, namespace, name = key_of(body)
    images = [word(item.get("image")) for item in containers_of(mapping(mapping(pod_template_of(body)).get("spec")))]
    others = f", and {more} more like it" if more else ""
    message = (
        f"{shown(kind, name, namespace)} of cluster `{view.cluster.name}` is a second {of} (image `{images[0]}`)"
        f"{others}: the stack has its own, and both do the same work"
    )
    place, subject = view.cluster.of_cluster("/spec/stack"), view.cluster.subject(kind, name, namespace)
    return diagnose(NOT_THE_ONLY_ONE, message, place, subject=subject)


def _writers(view: LiveView) -> Iterator[Diagnostic]:
    """Who else delivers into a namespace of the stack, by the field that says so."""
    for resource, fields in _TARGETS.items():
        for body in view.snapshot.items(resource):
            _, namespace, name = key_of(body)
            if (resource, namespace, name) in view.known:
                continue
            for field, into in fields(body):
                if into in view.cluster.stack_namespaces:
                    message = (
                        f"{shown(resource.kind, name, namespace)} of cluster `{view.cluster.name}` writes into "
                        f"the stack's namespace `{into}` (`{field}`), and nobody predicted it: two write there"
                    )
                    place = view.cluster.of_cluster("/spec/stack")
                    subject = view.cluster.subject(resource.kind, name, namespace)
                    yield diagnose(NOT_THE_ONLY_ONE, message, place, subject=subject)
                    break


def _of_release(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    spec = mapping(body.get("spec"))
    target = word(spec.get("targetNamespace"))
    yield ("spec.targetNamespace", target) if target else ("metadata.namespace", key_of(dict(body))[1])


def _of_kustomization(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "spec.targetNamespace", word(mapping(body.get("spec")).get("targetNamespace"))
    for entry in mappings(mapping(mapping(body.get("status")).get("inventory")).get("entries")):
        namespace, _, rest = word(entry.get("id")).partition("_")
        if not any(rest.endswith(f"_{kind}") for kind in _KINDS_OF_DELIVERY) and not _is_of_delivery(rest):
            yield "status.inventory", namespace


_KINDS_OF_DELIVERY = ("Namespace", "HelmRelease", "Kustomization", "Application")


def _is_of_delivery(rest: str) -> bool:
    return any(f"_{group}_" in rest for group in _OF_DELIVERY)


def _of_application(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    destination = mapping(mapping(body.get("spec")).get("destination"))
    server, name = word(destination.get("server")), word(destination.get("name"))
    if name in ("", "in-cluster") and (not server or server.startswith("https://kubernetes.default")):
        yield "spec.destination.namespace", word(destination.get("namespace"))
        for item in mappings(mapping(body.get("status")).get("resources")):
            if word(item.get("kind")) not in _KINDS_OF_DELIVERY:
                yield "status.resources", word(item.get("namespace"))


_TARGETS = {api.HELM_RELEASES: _of_release, api.KUSTOMIZATIONS: _of_kustomization, api.APPLICATIONS: _of_application}


def _rules(view: LiveView) -> Iterator[Diagnostic]:
    """Rules of others by which feature discovery writes the label of the pools, or what the operator writes."""
    key = view.cluster.plan.cluster.spec.pool_label
    for body in view.snapshot.items(api.FEATURE_RULES):
        name = str(body["metadata"]["name"])
        if (api.FEATURE_RULES, "", name) in view.known:
            continue
        for number, rule in enumerate(mappings(mapping(body.get("spec")).get("rules"))):
            written = {*mapping(rule.get("labels")), *_of_template(rule.get("labelsTemplate"))}
            taken = sorted(label for label in written if label == key or label.startswith(DEPLOY))
            if taken:
                message = (
                    f"{shown(api.FEATURE_RULES.kind, name, '')} of cluster `{view.cluster.name}` writes the label "
                    f"`{taken[0]}` of nodes (`spec.rules[{number}]`), which decides what runs there, and nothing "
                    "that is committed brings it"
                )
                subject = view.cluster.subject(api.FEATURE_RULES.kind, name)
                yield diagnose(NOT_THE_ONLY_ONE, message, view.cluster.of_cluster("/spec/stack"), subject=subject)
                break


def _of_template(text: Any) -> Iterator[str]:
    """Names of labels of lines such as `name=value`; of what a template makes of them the plain ones."""
    for line in word(text).splitlines():
        yield line.partition("=")[0].strip()
