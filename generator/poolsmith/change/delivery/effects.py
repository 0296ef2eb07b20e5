"""What Flux and Argo CD do with something that leaves the delivery, as far as anybody has seen or read it.

Seen on Flux 2.9, Argo CD 3.2.0 and 3.5.1: a cluster renamed, an engine changed, the stack's namespace changed. Read:
fluxcd/kustomize-controller:internal/controller/kustomization_controller.go (what is pruned, and what is deleted with a
Kustomization), fluxcd/helm-controller:internal/action/verify.go (what makes a release another one),
argoproj/argo-cd:controller (finalizers). All else is said to be unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.delivery.objects import (
    APPLICATION,
    APPLICATION_SET,
    ELEMENT,
    HELM_CHART,
    HELM_RELEASE,
    KUSTOMIZATION,
)
from poolsmith.change.delivery.outcomes import DepartureOutcome, Evidence
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, words
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.profiles.cluster import NfdProvider, Retiring
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.project.output.argocd import CASCADE, SKIP_RECONCILE
from poolsmith.project.output.delivery_units import FOLDER as PLATFORM
from poolsmith.project.output.pools import FOLDER as POOLS

if TYPE_CHECKING:
    from poolsmith.change.delivery.objects import DeliveryObject
    from poolsmith.change.review.seen_cluster import SeenCluster

_DISCOVERY = "node-feature-discovery"
_PRUNE_JOB = "Node Feature Discovery's prune job, which takes the feature labels off all nodes"
_LATER = (
    "once whoever holds the delivery prunes it or is deleted (until then its folder is missing, and it reports that), "
)
_OTHER_NAMES = ("RENAMED", "DELIVERY_NAME")
_SAME_STACK = frozenset(("RENAMED", "DELIVERY_NAME", "ENGINE", "NAMESPACE"))
"""Causes that change nothing of what is to run."""


@record
class Leaving:
    """`instead` is what is to install the same from now on. `is_known`: the base holds the object, so that what it
    says is what was applied. `cause` is the name of one."""

    item: DeliveryObject
    before: SeenCluster
    after: SeenCluster | None
    instead: DeliveryObject | None
    is_known: bool
    cause: str

    @property
    def title(self) -> str:
        if self.item.chart == OPERATOR_CHART:
            return "the GPU Operator"
        return f"`{shorten(self.item.chart or self.item.name)}`"

    def is_intended(self, outcome: DepartureOutcome) -> bool:
        """Whether the base says that it is to end so. What was given up does not end where it begins again."""
        retiring = self.before.plan.cluster.spec.delivery.retiring
        if outcome is DepartureOutcome.LEFT:
            return retiring is Retiring.KEEP
        is_end = self.after is None or "KIND" in self.turns
        return retiring is Retiring.REMOVE and is_end and outcome is not DepartureOutcome.CONTESTED

    @property
    def turns(self) -> frozenset[str]:
        """What else is another one after the change, whichever cause is told: several moves may be made at once."""
        if self.after is None:
            return frozenset()
        old, new = self.before.plan, self.after.plan
        was, now = old.cluster.spec, new.cluster.spec
        found = {
            "ENGINE": was.delivery.engine is not now.delivery.engine,
            "KIND": was.stack.kind is not now.stack.kind,
            "STACK_NAMESPACE": old.namespace != new.namespace,
        }
        return frozenset(name for name, is_so in found.items() if is_so)

    @property
    def is_handed_over(self) -> bool:
        """Whether something else takes what this one lets go of."""
        return self.instead is not None or self.turns == {"ENGINE"}

    @property
    def is_plugin_refused(self) -> bool:
        """Whether it is the Application of a plugin without a chart, and another one is to take its place."""
        beside = [f"{self.before.plan.delivery_name}-{unit}" for unit in (PLATFORM, POOLS)]
        stays = self.after is not None and not self.turns
        return stays and self.cause in _SAME_STACK and self.item.name not in beside

    @property
    def parting(self) -> str:
        """What it means that it leaves, and what it installed does not."""
        return f"hands {self.title} over" if self.is_handed_over else f"leaves {self.title} behind"

    @property
    def is_operator(self) -> bool:
        return self.item.chart == OPERATOR_CHART

    @property
    def has_prune_job(self) -> bool:
        """Whether the chart brings Node Feature Discovery, with its post-delete hook."""
        external = self.before.plan.cluster.spec.nfd.provider is NfdProvider.EXTERNAL
        return self.item.chart == _DISCOVERY or (self.is_operator and not external)

    @property
    def hook(self) -> str:
        """What its end starts, for behind what becomes of it."""
        return f"; that starts the chart's post-delete hook: {_PRUNE_JOB}" if self.has_prune_job else ""

    @property
    def is_out_of_its_place(self) -> bool:
        """Whether the change leaves an Application nothing to render: Argo CD then takes the hook's finalizer off."""
        return self.after is None or self.cause == "RENAMED" or "KIND" in self.turns

    @property
    def unless(self) -> str:
        return ", unless the old folder is gone before" if self.is_out_of_its_place else ""

    @property
    def later(self) -> str:
        return _LATER if self.after is None else ""


@record
class DepartureEffect:
    """`headline` is what it means, `words` what the engine does."""

    outcome: DepartureOutcome
    evidence: Evidence
    headline: str
    words: str
    takes_drivers: bool = False
    may_go: bool = False
    """Of an outcome that is not known: what it installed may be uninstalled."""


def effect_of(leaving: Leaving) -> DepartureEffect:
    """Of something that is not handed to the engine any more."""
    kind = leaving.item.kind
    if kind == HELM_RELEASE:
        return _release(leaving)
    if kind == HELM_CHART:
        return _k3s_chart(leaving)
    if kind == KUSTOMIZATION:
        return _kustomization(leaving)
    if kind == APPLICATION:
        return _application(leaving)
    if kind == ELEMENT:
        return _element(leaving)
    if kind == APPLICATION_SET:
        return _application_set(leaving)
    return DepartureEffect(
        outcome=DepartureOutcome.LEFT,
        evidence=Evidence.READ,
        headline="takes a source away",
        words=f"{leaving.later}Flux deletes it, and whatever still reads it is no longer updated",
    )


def moved_effect(leaving: Leaving) -> DepartureEffect:
    """Of something that stays, and installs in another place."""
    title, old = leaving.title, _release_words(leaving.item)
    if leaving.instead is not None and leaving.instead.is_suspended:
        return DepartureEffect(
            outcome=DepartureOutcome.CONTESTED,
            evidence=Evidence.READ,
            headline=f"would uninstall {title}",
            may_go=True,
            words=f"nothing happens as long as it is suspended; once it is not, {old} is uninstalled",
        )
    hook = f"; the one in the new place waits for its post-delete hook: {_PRUNE_JOB}"
    if leaving.item.kind == HELM_RELEASE:
        return DepartureEffect(
            outcome=DepartureOutcome.UNINSTALLED,
            evidence=Evidence.SEEN if leaving.is_operator else Evidence.READ,
            headline=f"uninstalls {title}",
            words=f"helm-controller uninstalls {old} at once, with all that the chart made; `prune: disabled` does not "
            f"keep it from that{hook if leaving.has_prune_job else ''}",
            takes_drivers=leaving.is_operator,
        )
    if leaving.cause == "DESTINATION":
        return DepartureEffect(
            outcome=DepartureOutcome.LEFT,
            evidence=Evidence.UNKNOWN,
            headline=f"leaves {title} behind" if leaving.item.is_chart else "leaves behind what an Application applied",
            words="what it applied at the old destination stays there, as it seems, and nothing updates it any more",
        )
    return DepartureEffect(
        outcome=DepartureOutcome.UNINSTALLED,
        evidence=Evidence.SEEN if leaving.is_operator and leaving.cause == "STACK_NAMESPACE" else Evidence.UNKNOWN,
        headline=f"uninstalls {title}",
        words=f"Argo CD installs it under the new namespace or name, and prunes what had the old one: {old}",
        takes_drivers=leaving.is_operator,
    )


def _release_words(item: DeliveryObject) -> str:
    if item.release is None:
        return "its release"
    _, namespace, name = item.release
    return f"the release `{shorten(name)}` in namespace `{shorten(namespace)}`"


def _release(leaving: Leaving) -> DepartureEffect:
    release, instead = _release_words(leaving.item), leaving.instead
    if leaving.item.is_suspended and leaving.is_known:
        return _suspended_release(leaving)
    if leaving.item.is_guarded and leaving.is_known:
        return _guarded(leaving)
    unless = (
        ""
        if leaving.is_known
        else "unless the object in the cluster has `prune: disabled`, which the files of the base do not show, "
    )
    then, evidence = "", Evidence.SEEN
    if instead is not None:
        then = (
            "; the HelmRelease that is to take its place fails (`has no deployed releases`), and nothing comes back by "
            "itself"
        )
        evidence = Evidence.SEEN if leaving.cause in _OTHER_NAMES else Evidence.READ
    elif "ENGINE" in leaving.turns:
        then = "; Argo CD installs the chart again where it reads the delivery, so that all of it is replaced"
    return DepartureEffect(
        outcome=DepartureOutcome.UNINSTALLED,
        evidence=evidence,
        headline=f"uninstalls {leaving.title}",
        words=f"{unless}{leaving.later}Flux prunes it, and helm-controller uninstalls {release} within seconds, with "
        f"all that the chart made{leaving.hook}{then}",
        takes_drivers=leaving.is_operator,
    )


def _k3s_chart(leaving: Leaving) -> DepartureEffect:
    """A Job uninstalls the release before the object goes. Source: k3s-io/helm-controller:pkg/controllers/chart."""
    stays = leaving.item.is_guarded and leaving.is_known
    words = (
        "it stays in the cluster, since it has `prune: disabled`"
        if stays
        else (f"whoever applied it prunes it, and k3s uninstalls {_release_words(leaving.item)}{leaving.hook}")
    )
    return DepartureEffect(
        outcome=DepartureOutcome.LEFT if stays else DepartureOutcome.UNINSTALLED,
        evidence=Evidence.READ,
        headline=leaving.parting if stays else f"uninstalls {leaving.title}",
        words=f"{leaving.later}{words}",
        takes_drivers=leaving.is_operator and not stays,
    )


def _suspended_release(leaving: Leaving) -> DepartureEffect:
    """Seen with another HelmRelease of the same release in its place."""
    release = _release_words(leaving.item)
    stays = "it stays in the cluster" if leaving.item.is_guarded else "Flux prunes it"
    then, evidence = "nothing updates it any more", Evidence.READ
    if leaving.instead is not None:
        then, evidence = "the HelmRelease that takes its place finds the release, and upgrades it", Evidence.SEEN
    elif leaving.is_handed_over:
        then = "Argo CD applies the objects again, each in its place"
    return DepartureEffect(
        outcome=DepartureOutcome.LEFT,
        evidence=evidence,
        headline=leaving.parting,
        words=f"{leaving.later}{stays}, and it is suspended, so that {release} keeps running; {then}",
    )


def _guarded(leaving: Leaving) -> DepartureEffect:
    """A HelmRelease, or an Application with a chart."""
    release, instead = _release_words(leaving.item), leaving.instead
    is_release = leaving.item.kind == HELM_RELEASE
    guard = "prune: disabled" if is_release else "Prune=false"
    stays = f"{leaving.later}it stays in the cluster, since it has `{guard}`"
    two_owners = f"gives {leaving.title} two owners"
    if instead is not None:
        evidence = Evidence.SEEN if leaving.cause in _OTHER_NAMES else Evidence.READ
        does = (
            f"another HelmRelease takes {release} and upgrades it, and the old one has lost its values and does "
            "nothing more. Deleted without being suspended first, it uninstalls the release of both: docs/moves.md has "
            "the steps"
            if is_release
            else "another Application is refused for what carries its tracking (FailOnSharedResource), so that nobody "
            "updates what runs. Deleted by hand as it is, it starts the hooks of the chart: docs/moves.md has the steps"
        )
        return _contested(evidence, two_owners, f"{stays}; {does}")
    beside = f"{release} keeps running beside the one in the new namespace"
    idle = "it has lost its values or its folder and does nothing more"
    if "KIND" in leaving.turns:
        does = f"{idle}, and {release} keeps running until it is retired, as docs/rename.md says"
        return _contested(Evidence.SEEN, f"leaves {leaving.title} beside the new stack", f"{stays}: {does}")
    if "STACK_NAMESPACE" in leaving.turns:
        evidence, does = _beside(leaving, is_release=is_release, idle=idle)
        does = f"{beside}, {does}, until the old one is retired, as docs/rename.md says"
        return _contested(evidence, f"leaves {leaving.title} beside the new one", f"{stays}: {does}")
    if "ENGINE" in leaving.turns:
        does = (
            f"while {'Argo CD' if is_release else 'Flux'} applies the objects of {release} too, until the old one is "
            "suspended and then deleted, as docs/moves.md says"
        )
        return _contested(Evidence.SEEN, two_owners, f"{stays}, {does}")
    return DepartureEffect(
        outcome=DepartureOutcome.LEFT,
        evidence=Evidence.READ,
        headline=f"leaves {leaving.title} behind",
        words=f"{stays}: {release} keeps running, nothing updates it any more, and its values may be gone. "
        "docs/rename.md says how it is retired",
    )


def _beside(leaving: Leaving, *, is_release: bool, idle: str) -> tuple[Evidence, str]:
    """What becomes of what both have for the whole cluster, such as a ClusterPolicy: nothing of it is made anew."""
    if is_release:
        return Evidence.SEEN, f"{idle}, and what both have for the whole cluster is the new one's"
    if "ENGINE" in leaving.turns:
        return Evidence.SEEN, "and both write what they have for the whole cluster"
    return Evidence.READ, "and the new one is refused for what both have for the whole cluster (FailOnSharedResource)"


def _contested(evidence: Evidence, headline: str, words: str) -> DepartureEffect:
    return DepartureEffect(outcome=DepartureOutcome.CONTESTED, evidence=evidence, headline=headline, words=words)


def _kustomization(leaving: Leaving) -> DepartureEffect:
    spec = mapping(leaving.item.body.get("spec"))
    keeps = spec.get("deletionPolicy") == "Orphan" or leaving.item.is_suspended
    keeps = keeps or (spec.get("prune") is not True and spec.get("deletionPolicy") in (None, "MirrorPrune"))
    if leaving.is_known and (leaving.item.is_guarded or keeps):
        return DepartureEffect(
            outcome=DepartureOutcome.LEFT,
            evidence=Evidence.SEEN if leaving.item.is_suspended else Evidence.READ,
            headline="leaves behind what a Kustomization applied",
            words=f"{leaving.later}what it applied stays as it is, and nothing updates it any more",
        )
    drivers = (
        leaving.before.plan.driver_objects
        if leaving.item.name == f"{leaving.before.plan.delivery_name}-{POOLS}"
        else ()
    )
    is_same = leaving.cause in _SAME_STACK and "KIND" not in leaving.turns
    what = "what it applied"
    if drivers:
        what = "the NVIDIADriver objects, and whatever else it applied"
    anew = ", until somebody else applies that again" if is_same else ""
    return DepartureEffect(
        outcome=DepartureOutcome.DELETED,
        evidence=Evidence.SEEN
        if leaving.cause in (*_OTHER_NAMES, "ENGINE", "KIND") or leaving.after is None
        else Evidence.READ,
        headline="deletes what a Kustomization applied",
        words=f"{leaving.later}Flux deletes {what}{anew}; what is guarded (namespaces) stays",
        takes_drivers=bool(drivers) and (is_same or leaving.after is None),
    )


def _application(leaving: Leaving) -> DepartureEffect:
    prunes = f"{leaving.later}the Application that holds the delivery prunes it"
    if leaving.item.is_suspended and leaving.is_known:
        return _skipped_application(leaving, prunes)
    if leaving.item.is_guarded and leaving.item.is_chart and leaving.is_known:
        return _guarded(leaving)
    if cascades(leaving.item):
        return DepartureEffect(
            outcome=DepartureOutcome.UNINSTALLED if leaving.item.is_chart else DepartureOutcome.DELETED,
            evidence=Evidence.SEEN if leaving.after is None or "KIND" in leaving.turns else Evidence.READ,
            headline=f"uninstalls {leaving.title}" if leaving.item.is_chart else "deletes what an Application applied",
            words=f"{prunes}, and Argo CD deletes all that it applied: it has the finalizer `{CASCADE}`{leaving.hook}"
            f"{leaving.unless if leaving.hook else ''}",
            takes_drivers=leaving.is_operator,
        )
    if leaving.has_prune_job:
        return _application_with_job(leaving, prunes)
    if leaving.item.is_chart:
        return DepartureEffect(
            outcome=DepartureOutcome.CONTESTED,
            evidence=Evidence.UNKNOWN,
            headline=f"may uninstall {leaving.title}",
            may_go=True,
            words=f"{prunes}; what the chart made stays, unless the chart has a hook for its deletion",
        )
    if leaving.is_plugin_refused:
        return DepartureEffect(
            outcome=DepartureOutcome.CONTESTED,
            evidence=Evidence.SEEN,
            headline=f"gives {leaving.title} two owners",
            words=f"{prunes}; what it applied stays, and the Application that is to take its place is refused as long "
            "as that carries the old one's tracking (FailOnSharedResource): docs/moves.md has the steps",
        )
    return DepartureEffect(
        outcome=DepartureOutcome.LEFT,
        evidence=Evidence.SEEN if leaving.after is not None else Evidence.READ,
        headline="leaves behind what an Application applied",
        words=f"{prunes}; what it applied stays and nothing updates it any more, and another Application is refused "
        "for it (FailOnSharedResource) as long as it carries the old one's tracking",
    )


def cascades(item: DeliveryObject) -> bool:
    """Whether Argo CD deletes all that an Application applied once it is deleted itself."""
    found = words(value_at(item.body, ("metadata", "finalizers")))
    return not item.is_suspended and any(text.startswith(CASCADE) for text in found)


def _skipped_application(leaving: Leaving, prunes: str) -> DepartureEffect:
    then = "another owner applies the objects again, each in its place" if leaving.is_handed_over else ""
    return DepartureEffect(
        outcome=DepartureOutcome.LEFT,
        evidence=Evidence.SEEN,
        headline=leaving.parting if leaving.item.is_chart else "leaves behind what an Application applied",
        words=f"{prunes}; its controller looks at it no more (`{SKIP_RECONCILE}`), so that no hook runs and nothing "
        f"that it applied is deleted; as long as it has finalizers, it waits for somebody to take them off"
        f"{'; ' if then else ''}{then}",
    )


def _application_with_job(leaving: Leaving, prunes: str) -> DepartureEffect:
    """Argo CD adds the finalizer for such hooks by itself, and takes it off where it can't render the chart.

    Seen on 3.5.1: a renamed cluster's job is started; on 3.2.0: it is not, where the old folder is gone before the
    Application; another engine's job is started, and the deletion hangs, since the hook's objects are of the cluster.
    """
    evidence, then = Evidence.SEEN if leaving.after is not None else Evidence.READ, ""
    starts = f"which starts the chart's post-delete hook{leaving.unless}"
    if leaving.instead is not None:
        then = (
            "; the new Applications are refused, since the old ones track the same namespace and objects "
            "(FailOnSharedResource), and the one that holds the delivery waits for the deletion: neither goes on"
        )
        evidence = Evidence.SEEN if leaving.cause in _OTHER_NAMES else Evidence.UNKNOWN
    elif "ENGINE" in leaving.turns:
        then = "; the deletion may hang at that, and Flux installs the chart beside it, over the objects that are there"
    return DepartureEffect(
        outcome=DepartureOutcome.UNINSTALLED,
        evidence=evidence,
        headline=f"uninstalls {leaving.title}",
        words=f"{prunes}, {starts}: {_PRUNE_JOB}; without them the operator keeps no operand on a node{then}",
        takes_drivers=leaving.is_operator,
    )


def _application_set(leaving: Leaving) -> DepartureEffect:
    """Its Applications are its own to the API server, and it gives each the finalizer that deletes what was applied.

    Source: argoproj/argo-cd@v3.5.1:applicationset/utils/utils.go, RenderTemplateParams
    """
    body, is_guarded = leaving.item.body, leaving.item.is_guarded and leaving.is_known
    keeps = is_guarded or value_at(body, ("spec", "syncPolicy", "preserveResourcesOnDeletion")) is True
    goes = (
        "it stays in the cluster" if is_guarded else "it is pruned, and the API server deletes its Applications with it"
    )
    then = "what they applied stays, and nothing updates it any more" if keeps else "each deletes what it applied"
    return DepartureEffect(
        outcome=DepartureOutcome.LEFT if keeps else DepartureOutcome.DELETED,
        evidence=Evidence.READ,
        headline="leaves behind what Applications applied" if keeps else "deletes what Applications applied",
        words=f"{leaving.later}{goes}; {then}",
    )


def _element(leaving: Leaving) -> DepartureEffect:
    stays = "the ApplicationSet only creates and updates: the Application that it made stays"
    then = ", and its folder is gone, of which Argo CD reports an error and prunes nothing"
    if leaving.after is not None and leaving.after.plan.cluster.spec.delivery.retiring is Retiring.KEEP:
        then = ", until somebody deletes it: without a finalizer it leaves all in place"
    elif "ENGINE" in leaving.turns:
        then = ", and finds objects of Flux in its folder in the place of its Applications"
    elif leaving.cause == "PROJECT":
        then = ", and the ApplicationSet of the other project takes it"
    elif leaving.cause == "NAMESPACE":
        then = ", beside one of the same name in the other namespace"
    return DepartureEffect(
        outcome=DepartureOutcome.LEFT,
        evidence=Evidence.SEEN
        if leaving.cause in (*_OTHER_NAMES, "PROJECT") or leaving.after is None
        else Evidence.UNKNOWN,
        headline="leaves the Application of the whole cluster behind",
        words=f"{stays}{then}",
    )
