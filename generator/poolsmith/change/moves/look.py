"""What to look for on the cluster after a step, and what people have to do there: in commands, by engine.

Source: fluxcd/helm-controller@v1.6.3:internal/controller/helmrelease_controller.go, reconcileDelete (a suspended
HelmRelease leaves its release alone); fluxcd/kustomize-controller@v1.9.4:internal/controller/
kustomization_controller.go, finalizerShouldDeleteResources; argoproj/argo-cd@v3.5.1:controller/appcontroller.go,
canProcessApp (an Application that
is skipped is not deleted with hooks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.delivery.objects import APPLICATION, HELM_RELEASE, KUSTOMIZATION, SOURCES, of_plan
from poolsmith.change.moves.step import named
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.project.output.argocd import CASCADE
from poolsmith.project.output.delivery_units import values_config_map
from poolsmith.project.output.tree import FOLDER
from poolsmith.project.run.project import CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.fleet.plan.plan import ClusterPlan


def names_of(plan: ClusterPlan, *kinds: str) -> list[str]:
    """Of the delivery's objects of these kinds, in order."""
    return sorted(item.name for item in of_plan(plan).values() if item.kind in kinds)


def delivery_folder(plan: ClusterPlan, name: str = "", path: str = "") -> str:
    _, _, clusters = CLUSTERS.partition("/")
    return f"{path or plan.cluster.spec.delivery.path}/{clusters}/{name or plan.name}/{FOLDER}"


def holder_reads(plan: ClusterPlan, name: str = "", path: str = "") -> tuple[str, ...]:
    """Where what holds the delivery has to look from now on; `name` of the cluster and `path` of the output are those
    after the step, if they are others."""
    folder = delivery_folder(plan, name, path)
    verify = f"`poolsmith verify {name or plan.name}` finds nothing that differs"
    if plan.cluster.spec.delivery.engine is Engine.FLUX:
        return (
            (
                f"point the Kustomization that holds the delivery at `./{folder}`: until then it reports that its path "
                "is missing, and neither applies nor prunes anything"
            ),
            verify,
        )
    return (
        (
            f"apply output/fleet/: the ApplicationSet then lets `{plan.delivery_name}-gpu` read `{folder}`; an "
            "Application of your own has to be pointed there. Until then it reports that its path is missing"
        ),
        verify,
    )


def let_go(plan: ClusterPlan, *, holder_stays: bool = False) -> tuple[str, ...]:
    """After the step in which a delivery is suspended: what holds it lets go, too, unless it delivers what comes."""
    namespace = plan.cluster.spec.delivery.objects_namespace
    if plan.cluster.spec.delivery.engine is Engine.FLUX:
        names = named(names_of(plan, HELM_RELEASE, KUSTOMIZATION))
        found = [
            (
                f"see that all of {names} are suspended: `kubectl -n {namespace} get helmreleases,kustomizations "
                "-o custom-columns=NAME:.metadata.name,SUSPENDED:.spec.suspend`"
            )
        ]
        if not holder_stays:
            found.append(
                "suspend the Kustomization that holds the delivery, and then delete it: suspended, it leaves all as it "
                "is"
            )
        return tuple(found)
    patches = (
        f"take off what Argo CD added for hooks: `{_without_finalizers(namespace, name)}`"
        for name in names_of(plan, APPLICATION)
    )
    return (
        *patches,
        (
            f"see that none is left, a minute later too: `kubectl -n {namespace} get applications -o "
            "custom-columns=NAME:.metadata.name,FINALIZERS:.metadata.finalizers`"
        ),
        (
            "apply output/fleet/, whose list has the cluster no more, and delete the Application that holds the "
            "delivery, which must have no finalizer: "
            f"`kubectl -n {namespace} delete application {plan.delivery_name}-gpu`"
        ),
    )


def _without_finalizers(namespace: str, name: str) -> str:
    patch = '\'{"metadata": {"finalizers": null}}\''
    return f"kubectl -n {namespace} patch application {name} --type merge --patch {patch}"


def taken_over(plan: ClusterPlan, engine: Engine) -> tuple[str, ...]:
    """After the step in which an engine gets the delivery; `plan` is what it was before."""
    is_other = plan.cluster.spec.delivery.engine is not engine
    ready = "Ready" if engine is Engine.FLUX else "Synced"
    return (
        f"let {engine.called} read `{delivery_folder(plan)}`, and wait until all of it is {ready}",
        *(_tracking(plan) if engine is Engine.ARGOCD and not is_other else ()),
        *(f"delete what is left of the old delivery: `{command}`" for command in _left_over(plan, is_other=is_other)),
        f"`poolsmith verify {plan.name}` finds nothing that differs",
    )


def _tracking(plan: ClusterPlan) -> tuple[str, ...]:
    """Another Application is refused for what carries it. Source: argoproj/argo-cd@v3.5.1:controller/state.go"""
    names = named(names_of(plan, APPLICATION))
    return (f"let {names} take the tracking of the old ones, each by one sync, as docs/moves.md says",)


def _left_over(old: ClusterPlan, *, is_other: bool) -> Iterator[str]:
    """Commands. Suspended objects leave what they applied. Helm's record is of no use to another engine."""
    delivery = old.cluster.spec.delivery
    namespace = delivery.objects_namespace
    if delivery.engine is Engine.ARGOCD:
        yield from _deletions(namespace, "applications", names_of(old, APPLICATION))
        return
    yield from _deletions(namespace, "helmreleases", names_of(old, HELM_RELEASE))
    yield from _deletions(namespace, "kustomizations", names_of(old, KUSTOMIZATION))
    for kind in sorted(SOURCES):
        yield from _deletions(namespace, _PLURALS.get(kind, f"{kind.lower()}s"), names_of(old, kind))
    charts = [old.chart, *(unit.chart for unit in old.units)]
    yield from _deletions(
        namespace, "configmaps", sorted(values_config_map(old, chart) for chart in charts if chart is not None)
    )
    if is_other:
        for item in of_plan(old).values():
            if item.release is not None:
                storage, _, name = item.release
                yield f"kubectl -n {storage} delete secrets --selector owner=helm,name={name}"


_PLURALS = {
    "GitRepository": "gitrepositories",
    "HelmRepository": "helmrepositories",
    "OCIRepository": "ocirepositories",
}


def _deletions(namespace: str, kind: str, names: Iterable[str]) -> Iterator[str]:
    if found := " ".join(names):
        yield f"kubectl -n {namespace} delete {kind} {found} --ignore-not-found"


def removed(plan: ClusterPlan, *, keeps: bool) -> tuple[str, ...]:
    """After the step in which a cluster's profiles go."""
    if keeps:
        return tuple(
            f"delete what is left of the delivery: `{command}`" for command in _left_over(plan, is_other=False)
        )
    return (*_with_all(plan), *namespaces_of(plan))


def _with_all(plan: ClusterPlan) -> tuple[str, ...]:
    delivery, name = plan.cluster.spec.delivery, f"{plan.delivery_name}-gpu"
    if delivery.engine is Engine.FLUX:
        return (
            (
                "delete the Kustomization that held the delivery: with `prune: true` it takes along all that it "
                "applied, and the releases are uninstalled"
            ),
        )
    patch = f'\'{{"metadata": {{"finalizers": ["{CASCADE}"]}}}}\''
    start = f"kubectl -n {delivery.objects_namespace}"
    return (
        "apply output/fleet/: its list has the cluster no more",
        (
            "delete the Application that held the delivery, with all that the others applied: "
            f"`{start} patch application {name} --type merge --patch {patch}`, `{start} delete application {name}`"
        ),
    )


def namespaces_of(plan: ClusterPlan) -> tuple[str, ...]:
    """What is left of a stack that is gone."""
    names = " ".join(item.name for item in plan.namespaces)
    return (f"delete what is guarded, once it is empty: `kubectl delete namespaces {names}`",) if names else ()
