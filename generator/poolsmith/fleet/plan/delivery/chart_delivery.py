"""Delivery of the operator's chart: the source and its verification, CRDs and namespace, and what is delivered before.

`delivery.verify` may demand only what the generated source can check. What the stack is delivered after must be
something that the engine can wait for, and no part of the stack itself.

Source: fluxcd/source-controller@v1.9.4:docs/spec/v1/{gitrepositories,ocirepositories}.md

Sources: fluxcd/kustomize-controller and fluxcd/helm-controller, `dependsOn` (each kind waits for its own kind only);
Argo CD, sync waves (an Application can't wait for another one; who holds both can).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.message_text import joined
from poolsmith.core.record import replace
from poolsmith.fleet.plan.facts import with_singleton, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, HelmChart, NamespacePlan, ValueSetting
from poolsmith.fleet.profiles.cluster import DeliveryKind, Engine, NfdProvider, Retiring, VerifyMode, VerifyProvider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.profiles.cluster import Delivery, Verify


OCI, TAG = "oci://", "refs/tags/"


def check_verification(delivery: Delivery, facts: Facts) -> None:
    """A demand that nothing checks would be worse than none."""
    verify = delivery.verify
    if verify is None:
        return
    if delivery.source_ref is not None:
        facts.report_cluster(
            codes.FIELD_WITHOUT_EFFECT,
            "/spec/delivery/verify",
            "`delivery.verify` has no effect beside `delivery.sourceRef`: that source is not generated",
            help="set `spec.verify` of that source, and remove it here",
        )
        return
    found = _of_artefact(verify) if delivery.repo_url.startswith(OCI) else _of_git(verify, delivery.revision)
    for field, message, advice in found:
        pointer = f"/spec/delivery/verify{field}"
        facts.report_cluster(codes.SOURCE_VERIFICATION, pointer, message, help=advice)


def _of_git(verify: Verify, revision: str) -> Iterator[tuple[str, str, str]]:
    for field, given in (("provider", verify.provider), ("identities", verify.identities)):
        if given:
            message = f"`{field}` is for OCI artefacts, and `repoURL` is a git repository"
            yield f"/{field}", message, "remove it; commits and tags are verified with the keys in `secret`"
    if verify.secret is None:
        yield "", "Flux verifies a git repository with keys only, and no `secret` has any", "name one in `secret`"
    if verify.mode in (VerifyMode.TAG, VerifyMode.TAG_AND_HEAD) and not revision.startswith(TAG):
        message = f"`mode: {verify.mode.value}` demands a signed tag, and `{revision}` is none"
        yield "/mode", message, "write `revision: refs/tags/<tag>`, or `mode: HEAD`"


def _of_artefact(verify: Verify) -> Iterator[tuple[str, str, str]]:
    if verify.mode is not None:
        yield "/mode", "`mode` is for git repositories, and `repoURL` is an OCI artefact", "remove it"
    if verify.provider is VerifyProvider.NOTATION:
        if verify.secret is None:
            advice = "name the secret with its trust policy and certificates in `secret`"
            yield "", "notation verifies with certificates only, and no `secret` has any", advice
        if verify.identities:
            yield "/identities", "`identities` are for cosign; notation reads its trust policy", "remove it"
        return
    if verify.secret is None and not verify.identities:
        message = "anybody may have signed: without keys, cosign accepts every identity that is not restricted"
        yield "", message, "name the keys in `secret`, or who has to have signed in `identities`"
    if verify.secret is not None and verify.identities:
        message = "`identities` have no effect beside `secret`: Flux then asks the keys alone"
        yield "/identities", message, "keep one of both"
    for index, item in enumerate(verify.identities):
        for field, pattern in (("issuer", item.issuer), ("subject", item.subject)):
            if problem := _too_wide(pattern):
                message = f"`{field}` is a regular expression {problem}: others than meant could have signed"
                advice = "write it as ^...$, with `|` in parentheses only, and name the signer"
                yield f"/identities/{index}/{field}", message, advice


_LONGEST_PATTERN = 500


def _too_wide(pattern: str) -> str | None:
    """What lets an expression match more than its author sees."""
    if len(pattern) > _LONGEST_PATTERN:
        return f"of more than {_LONGEST_PATTERN} characters"
    body = re.sub(r"\\.|\[\^?\]?[^]]*\]", "x", pattern)
    if not (body.startswith("^") and body.endswith("$")):
        return "that may match a part of it"
    while (simpler := re.sub(r"\([^()]*\)", "x", body)) != body:
        body = simpler
    if "|" in body:
        return "with an alternative that may match a part of it"
    if re.fullmatch(r"\^(\((\?:)?)?[.][*+]\)?\$", pattern):
        return "that matches everybody"
    try:
        re.compile(pattern)
    except re.error:
        return "that nobody can read"
    return None


SYSTEM_NAMESPACES = frozenset(("default", "kube-system", "kube-public", "kube-node-lease"))
_CRD_OWNER = {
    Engine.ARGOCD: "Argo CD renders and updates the chart's CRDs itself; the hook job would be a second owner",
    Engine.FLUX: "the HelmRelease replaces CRDs on upgrade; the hook job would be a second owner",
}

_FETCHED = {
    Engine.ARGOCD: (("https://", "ssh://", "git@"), "write an https:// or ssh:// address"),
    Engine.FLUX: (
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
    fetched, ways_out = _FETCHED[delivery.engine]
    if not delivery.repo_url.startswith(fetched):
        facts.report_cluster(
            codes.DELIVERY_SOURCE,
            "/spec/delivery/repoURL",
            f"{delivery.engine.called} can't read a git repository from `{delivery.repo_url}` with what is generated",
            help=ways_out,
        )
    return plan


_GIVEN_UP = {
    Retiring.KEEP: "The delivery of this cluster is suspended: all of it keeps running, and nothing updates it, until "
    "`delivery.retiring` leaves the profile.",
    Retiring.REMOVE: "The delivery of this cluster is given up: all that it applied goes with its objects.",
}


def note_giving_up(plan: ClusterPlan, _facts: Facts) -> ClusterPlan:
    retiring = plan.cluster.spec.delivery.retiring
    return replace(plan, notes=(*plan.notes, _GIVEN_UP[retiring])) if retiring is not None else plan


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


_KINDS = {
    Engine.ARGOCD: (DeliveryKind.APPLICATION,),
    Engine.FLUX: (DeliveryKind.KUSTOMIZATION, DeliveryKind.HELM_RELEASE),
}
_FEW = 4


def order_delivery(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Refuses what could never be waited for, and notes what has to be true beside it."""
    delivery = plan.cluster.spec.delivery
    if not delivery.after:
        return plan
    kinds = _KINDS[delivery.engine]
    own = delivery.objects_namespace
    seen: set[tuple[str, str, str]] = set()
    for index, item in enumerate(delivery.after):
        place = f"/spec/delivery/after/{index}"
        if item.kind not in kinds:
            facts.report_cluster(
                codes.FIELD_WITHOUT_EFFECT,
                f"{place}/kind",
                f"{delivery.engine.called} can't wait for an object of kind {item.kind}",
                help=f"name one of kind {' or '.join(kinds)}",
            )
        where = item.namespace or own
        if where == own and item.name.startswith(f"{plan.delivery_name}-") and _is_own(item.name, plan):
            facts.report_cluster(
                codes.FIELD_WITHOUT_EFFECT,
                f"{place}/name",
                f"`{item.name}` is a part of this stack, which would wait for itself",
                help="remove it: the parts of the stack have their order",
            )
        if (identity := (item.kind.value, where, item.name)) in seen:
            facts.report_cluster(
                codes.FIELD_WITHOUT_EFFECT,
                f"{place}/name",
                f"{item.kind} `{item.name}` is named twice",
                help="remove one of them",
            )
        seen.add(identity)
    return replace(plan, notes=(*plan.notes, _note(plan)))


def _is_own(name: str, plan: ClusterPlan) -> bool:
    part = name.removeprefix(f"{plan.delivery_name}-")
    units = (end for unit in plan.units for end in (unit.name, f"{unit.name}-chart", f"{unit.name}-upstream"))
    chart = plan.chart.name if plan.chart is not None else ""
    return part in ("platform", "pools", chart, *units)


def _note(plan: ClusterPlan) -> str:
    """What the engine does with it, and what it does not."""
    delivery = plan.cluster.spec.delivery
    names = joined([f"{item.kind} {item.name}" for item in delivery.after], _FEW)
    if delivery.engine is Engine.ARGOCD:
        return (
            f"This stack is to come after {names}. Argo CD orders only what one Application holds: put them into wave "
            "0 or lower of the Application that holds delivery/ (whose own waves begin at 1), and let Argo CD assess "
            "the health of Applications; else nothing waits."
        )
    waits = ["Kustomizations wait for Kustomizations, and HelmReleases for HelmReleases"]
    if not any(item.kind is DeliveryKind.HELM_RELEASE for item in delivery.after) and plan.chart is not None:
        waits.append("the chart waits on its first installation only, for its values come with the first Kustomization")
    return f"This stack comes after {names}: {'; '.join(waits)}."
