"""Passes: where the output is read from, the chart to install, its CRDs and namespace."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.fleet.plan.facts import with_singleton, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, HelmChart, NamespacePlan, ValueSetting
from poolsmith.fleet.plan.source_verification import OCI, TAG, check_verification
from poolsmith.fleet.profiles.cluster import Engine, NfdProvider

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts

SYSTEM_NAMESPACES = frozenset(("default", "kube-system", "kube-public", "kube-node-lease"))
_CRD_OWNER = {
    Engine.ARGOCD: "Argo CD renders and updates the chart's CRDs itself; the hook job would be a second owner",
    Engine.FLUX: "the HelmRelease replaces CRDs on upgrade; the hook job would be a second owner",
}

_FETCHED = {
    Engine.ARGOCD: ("Argo CD", ("https://", "ssh://", "git@"), "write an https:// or ssh:// address"),
    Engine.FLUX: (
        "Flux",
        ("https://",),
        "name an existing source, with its credentials, in `delivery.sourceRef`, or write an https or oci address",
    ),
}


_REVISION = "/spec/delivery/revision"


def check_source(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """What is generated holds no credentials, so that Flux itself can fetch from https addresses only."""
    delivery = plan.cluster.spec.delivery
    if delivery.engine is Engine.FLUX:
        check_verification(delivery, facts)
        if delivery.source_ref is not None:
            return plan
        if delivery.repo_url.startswith(OCI):
            if delivery.revision.startswith((TAG, "sha256:")):
                return plan
            facts.report_cluster(
                codes.DELIVERY_SOURCE,
                _REVISION if facts.file.has(_REVISION) else "/spec/delivery/repoURL",
                f"`delivery.repoURL` is an OCI artefact, which has no revision `{delivery.revision}`",
                help="write its tag as refs/tags/<tag>, or its digest as sha256:<digest>",
            )
            return plan
    if delivery.revision.startswith("sha256:"):
        facts.report_cluster(
            codes.DELIVERY_SOURCE,
            "/spec/delivery/revision",
            "a digest is the revision of an OCI artefact, and a git repository has none of it",
            help="write refs/heads/<branch>, refs/tags/<tag> or a full commit id",
        )
    engine, fetched, ways_out = _FETCHED[delivery.engine]
    if not delivery.repo_url.startswith(fetched):
        facts.report_cluster(
            codes.DELIVERY_SOURCE,
            "/spec/delivery/repoURL",
            f"{engine} can't read a git repository from `{delivery.repo_url}` with what is generated",
            help=ways_out,
        )
    return plan


def deliver_operator(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Operator chart, CRD owner, Node Feature Discovery, namespace with its Pod Security level."""
    spec = plan.cluster.spec
    releases = facts.catalog.releases
    chart = HelmChart(
        name=releases.chart_name,
        version=spec.stack.release,
        repository=spec.delivery.chart_repo or releases.chart_repository,
        publisher=releases.chart_repository,
        values_file="platform/values/gpu-operator.yaml",
    )
    plan = replace(plan, chart=chart, ignore_differences=facts.need_release().ignore_differences)
    plan = _namespace(plan, facts)
    if facts.need_chart().default(("operator", "upgradeCRD")):
        engine = facts.at_cluster("/spec/delivery/engine")
        origin = Derived("delivery", _CRD_OWNER[spec.delivery.engine], (engine,))
        plan = with_values(plan, ValueSetting(("operator", "upgradeCRD"), False, origin))
    plan = with_singleton(
        plan,
        "CRD owner",
        spec.delivery.engine.value,
        plan.pools,
        "operator.upgradeCRD is off, one owner remains",
    )
    if spec.nfd.provider is NfdProvider.EXTERNAL:
        provider = facts.at_cluster("/spec/nfd/provider")
        plan = with_values(plan, ValueSetting(("nfd", "enabled"), False, provider))
    return plan


def _namespace(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    if plan.namespace in SYSTEM_NAMESPACES:
        return plan
    origin = Derived(
        "delivery",
        "operands are privileged; Pod Security admission would refuse them",
        (facts.at_cluster("/spec/stack/namespace"),),
    )
    return replace(
        plan,
        namespaces=(*plan.namespaces, NamespacePlan(name=plan.namespace, level="privileged", origin=origin)),
    )
