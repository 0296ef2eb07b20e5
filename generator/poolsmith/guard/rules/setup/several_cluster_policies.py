"""More than one ClusterPolicy, or one of the chart and one of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.names.need import Need, Offer, State, judged
from poolsmith.guard.rules.setup.driver_setup import GROUP
from poolsmith.guard.rules.setup.setup_view import FEW
from poolsmith.kubernetes.repository.kustomize_roots import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView

RULE = RuleInfo.of("PSM269")
NEEDS: tuple[str, ...] = ()
_DEPLOYS = "clusterPolicy.deployCR"
_CLAIMS = "gpuCluster.deployCR"
_NAME, _KIND = "cluster-policy", "ClusterPolicy"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    found = {item.own_name: item for item in reversed(view.of_kind("ClusterPolicy", GROUP))}
    written = list(reversed(found.values()))
    of_chart = view.values is not None and not view.values.of_policy and view.value(_DEPLOYS) is not False
    yield from _of_both_kinds(view, written)
    suppliers = [*written, *([view.values] if of_chart else ())]
    need = Need(kind=_KIND, name=_NAME, locate=view.value_location, pointer=_DEPLOYS, is_sole=True)
    if (
        not written
        or judged(need, (Offer(kind=_KIND, name=_NAME, via=item) for item in suppliers)).state is not State.TWICE
    ):
        return
    if of_chart:
        item = found.get(_NAME, written[0])
        same = "; both have one name, and overwrite each other" if item.own_name == _NAME else ""
        assert view.values is not None
        yield Finding(
            message=f"{item.name} is in a file, and the chart creates a ClusterPolicy from its values{same}",
            place=item.place("/metadata/name"),
            help="move what it says into the values of the chart, and remove it",
            related=(view.values.place("", "the chart's values"),),
        )
    else:
        apart = view.is_gathered and len({folder_of(item.file) for item in written}) == len(written)
        names = listed([item.own_name for item in written], FEW)
        yield Finding(
            message=f"there are {len(written)} ClusterPolicy objects ({names}), and the operator takes one of them",
            place=written[1].place("/metadata/name"),
            severity=Severity.NOTE if apart else None,  # one of them may be taken
            related=(written[0].place("/metadata/name", "the first"),),
        )


def _of_both_kinds(view: SetupView, written: list[SetupObject]) -> Iterator[Finding[Location]]:
    """A release that knows no GPUCluster has no `clusterPolicy.deployCR`: there the kind is nobody's."""
    clusters, claims = view.of_kind("GPUCluster", GROUP), view.value(_CLAIMS) is True
    policies = bool(written) or (view.value(_DEPLOYS) is True and not claims)
    if not policies or not (clusters or claims):
        return
    item = clusters[0] if clusters else written[0]
    other = written[0].place("/metadata/name") if clusters and written else view.value_location(_DEPLOYS)
    yield Finding(
        message=f"{item.name} stands beside a {'ClusterPolicy' if clusters else 'GPUCluster'}, and a cluster has one "
        "of the two: the GPUCluster stays not ready, and no node is labelled",
        place=item.place("/metadata/name"),
        help=f"keep one of them: remove it, or write `{_DEPLOYS if clusters else _CLAIMS}: false`",
        related=(other,),
    )
