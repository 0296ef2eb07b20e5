"""Everything that one cluster's pods, charts and drivers name."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, cast

from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import dotted_pointer, reached, value_at
from poolsmith.gpu.catalog.stack_objects import CHARTS
from poolsmith.gpu.catalog.stack_words import may_be_of_stack
from poolsmith.guard.rules.names.kept import kept, kept_all
from poolsmith.guard.rules.names.need import Names, Need, Offer, State, there
from poolsmith.guard.rules.names.needs_of_pods import NamingPod, needs_of_object, needs_of_owner, needs_of_pod
from poolsmith.guard.rules.names.needs_of_values import NamingFields, needs_of
from poolsmith.guard.rules.names.offers import offers_of
from poolsmith.guard.rules.setup.named_objects import fields_of, needs_of_driver
from poolsmith.guard.rules.setup.repository_setups import olm_namespace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkedPod, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject


_OF_PODS = "needs of pods"
_ACCOUNT = "ServiceAccount"


@kept
def names_of(view: LinkView) -> Names:
    """What is named in a view, and what supplies it; made by the first rule that asks."""
    needs = chain(needs_of_view(view), _needs_of_domains(view))
    offered = chain.from_iterable(domain.offers(view) for domain in view.domains)
    supplies = {domain.kind: domain.supply(view) for domain in view.domains}
    made = chain.from_iterable(_made_by_charts(view, kind) for kind in _OWN_NAME)
    return Names(chain(offers_of(view.objects), made, _built_in(view), offered), needs, supplies)


def _needs_of_domains(view: LinkView) -> Iterator[Need]:
    return chain.from_iterable(domain.needs(view) for domain in view.domains)


def needs_of_view(view: LinkView) -> Iterator[Need]:
    for pod in view.pods:
        yield from needs_of_linked_pod(view, pod)
    for chart in view.charts:
        yield from needs_of_chart(chart)
    yield from needs_of_objects(view)
    yield from needs_of_bindings(view)
    yield from needs_of_operator(view)


def needs_of_bindings(view: LinkView) -> Iterator[Need]:
    """Accounts in namespaces where a chart makes some that are known."""
    of_charts = {offer.namespace for offer in _made_by_charts(view, _ACCOUNT)}
    for item in view.of_kind("RoleBinding", "ClusterRoleBinding") if of_charts else ():
        for at, subject in reached(item.data, ("subjects", "*")):
            name, namespace = word(mapping(subject).get("name")), word(mapping(subject).get("namespace"))
            if mapping(subject).get("kind") == _ACCOUNT and name and namespace in of_charts:
                yield Need(
                    kind=_ACCOUNT,
                    name=name,
                    where=dotted_pointer(f"{at}/name"),
                    who=item.name,
                    locate=item.place,
                    pointer=f"{at}/name",
                    namespace=namespace,
                )


def _made_by_charts(view: LinkView, kind: str) -> Iterator[Offer]:
    rows = store.table("named_objects.yaml")["made"][kind]
    for chart in view.charts:
        is_own = any(map(chart.says, (_OWN_NAME[kind], "nameOverride"))) or chart.partial
        for name in () if is_own or not chart.namespace else rows.get(chart.name, ()):
            release = chart.release_name or chart.name
            own = release if chart.name in release else f"{release}-{chart.name}"
            full = word(chart.known("fullnameOverride")) or own
            yield Offer(kind=kind, name=name.replace("{fullname}", full), namespace=chart.namespace or "")


_OWN_NAME = {_ACCOUNT: "serviceAccount", "ConfigMap": "namespaceOverride"}
"""Values by which such an object gets another name, or stands elsewhere."""


def _built_in(view: LinkView) -> Iterator[Offer]:
    for row in store.table("named_objects.yaml")["builtIn"]:
        for name in row["names"] if any(view.of_kind(row["for"])) else ():
            yield Offer(kind=row["kind"], name=name, namespace=row["namespace"])


@kept_all
def needs_of_objects(view: LinkView) -> Iterator[Need]:
    """Of releases of the stack's charts, of queues, and of pools of machines; read once."""
    kinds = dict.fromkeys(row["of"] for row in store.table("named_objects.yaml")["objects"])
    return (need for item in view.of_kind(*kinds) for need in _of_object(item))


def _of_object(item: SetupObject) -> Iterator[Need]:
    chart = value_at(item.spec, ("chart", "spec", "chart"))
    package = word(item.spec.get("name")) if item.kind == "Subscription" else None
    if (chart is not None and word(chart) not in CHARTS) or (package and not may_be_of_stack(package.encode())):
        return
    namespace = word(item.metadata.get("namespace")) or None
    naming = NamingPod(spec=item.data, place=item.place, namespace=namespace, who=item.name)
    yield from needs_of_object(naming, item.kind, item.group)


def needs_of_operator(view: LinkView) -> Iterator[Need]:
    """By values, by a ClusterPolicy that stands here without the chart, and by NVIDIADrivers."""
    rows = store.table("named_objects.yaml")["values"]
    operators = [chart for chart in view.charts if chart.is_operator]
    for chart in operators:
        yield from needs_of(rows, _fields(chart))
    namespace = operators[0].namespace if operators else olm_namespace(view.of_kind("Subscription"))
    for item in view.of_kind("ClusterPolicy") if not operators else ():
        yield from needs_of(rows, fields_of(item, namespace))
    for item in view.of_kind("NVIDIADriver"):
        yield from needs_of_driver(item, namespace)


def state_of(view: LinkView, need: Need) -> State:
    """The verdict, with what policies/external.yaml says of the cluster."""
    state = names_of(view).verdict(need).state
    if state is not State.OUTSIDE or view.external is None:
        return state
    is_known = view.external.has(need.kind, need.name, need.namespace, view.cluster)
    return State.EXTERNAL if is_known else state


def counted(view: LinkView) -> Counter[State]:
    """How the needs of the stack stand: those of charts, of the operator, and of pods that ask for GPUs."""
    of_pods = (need for pod in view.gpu_pods for need in needs_of_linked_pod(view, pod))
    of_charts = (need for chart in view.charts for need in needs_of_chart(chart))
    needs = (
        *of_pods,
        *of_charts,
        *needs_of_objects(view),
        *needs_of_bindings(view),
        *needs_of_operator(view),
        *_needs_of_domains(view),
    )
    return Counter(state_of(view, need) for need in needs) if view.is_whole else Counter()


def needs_of_linked_pod(view: LinkView, pod: LinkedPod) -> tuple[Need, ...]:
    """Read once: the pods are the view's, so that their identity stays their own."""
    known = cast("dict[int, tuple[Need, ...]]", view.made.setdefault(_OF_PODS, {}))
    if id(pod) not in known:
        naming = NamingPod(spec=pod.spec, place=pod.place, namespace=pod.namespace or None, who=pod.owner.name)
        owner = replace(naming, spec=pod.owner.data, place=pod.owner.place)
        known[id(pod)] = (*needs_of_pod(naming), *needs_of_owner(owner))
    return known[id(pod)]


def needs_of_chart(chart: LinkedChart) -> Iterator[Need]:
    """Those of the operator's operands apart."""
    yield from needs_of(store.table("named_objects.yaml")["charts"].get(chart.name, ()), _fields(chart))
    if chart.namespace_wanted_at is not None and chart.namespace:
        yield Need(
            kind="Namespace",
            name=chart.namespace,
            where="the namespace",
            who=f"the chart {chart.name}",
            locate=there(chart.namespace_wanted_at),
            pointer="",
        )


def _fields(chart: LinkedChart) -> NamingFields:
    return NamingFields(
        value=chart.known,
        is_set=chart.says,
        place=chart.place,
        namespace=chart.namespace,
        who=f"the chart {chart.name}",
        follows=(chart.namespace or "default") if chart.by_kustomize else None,
    )
