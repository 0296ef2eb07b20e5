"""Use case: profiles for a cluster that runs, and what they would generate held against it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.change.discover.proposal import propose
from poolsmith.change.discover.stack import EVERYWHERE, find_stack
from poolsmith.change.takeover.draft import DraftProject, Planner, files_of
from poolsmith.change.verify.live_view import ClusterView, LiveView
from poolsmith.change.verify.verification import judge_live
from poolsmith.core.diagnostics import Severity, UsageError
from poolsmith.core.diagnostics.codes.shape import ASSUMED_VALUE
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.gpu.catalog import Catalog
from poolsmith.interface.app.live.verify import snapshot_of
from poolsmith.interface.app.new_files import replace_file, write_new_files
from poolsmith.interface.report.discovery import DiscoveredField, DiscoveredProfile, Discovery, UnseenField
from poolsmith.kubernetes.live.api_resources import CONFIG_MAPS
from poolsmith.kubernetes.live.snapshot import HELM_RECORDS, to_text
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.facts import with_facts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from poolsmith.change.discover.proposal import PoolProposal, ProposalRow
    from poolsmith.interface.app.live.verify import Source
    from poolsmith.kubernetes.live.snapshot import Snapshot
    from poolsmith.project.run.cluster_run import PlannedCluster

UNSEEN = (
    ("kernel.args", "a kernel's arguments are in no object"),
    ("nodes.autoscaled", "nodes do not say who adds and removes them"),
    ("runtime.configVersion", "the runtime's own files are on the hosts"),
    ("sandbox.defaultMemory", "it is what pods ask for, and none may run"),
    ("secureBoot", "no label shows it"),
    ("owner", "only people know it"),
)
"""Fields that no cluster shows, and why. They are at their defaults in each proposal."""


@with_facts
def discover(
    root: Path, cluster: str | None, source: Source, label: str | None = None, *, helm_records: bool = False
) -> Discovery:
    """`helm_records`: Helm's own records in the stack's namespace are read, too, which are Secrets.

    Raises UsageError, ClusterError, NoInputError where nothing is to be proposed, WriteError of `--save`.
    """
    reading = replace(source, save=None)
    snapshot = snapshot_of(reading, EVERYWHERE, ())
    stack = find_stack(snapshot)
    if stack is not None and source.file is None:
        namespaces = (stack.namespace,) if stack.namespace else ()
        of_helm = replace(reading.reading, helm_namespaces=namespaces if helm_records else ())
        snapshot = snapshot.with_lists(snapshot_of(replace(reading, reading=of_helm), (CONFIG_MAPS,), namespaces))
    catalog = Catalog()
    planner = Planner(root, catalog)
    try:
        proposal = propose(snapshot, cluster, label, planner, catalog)
    except UsageError:
        _save(source, snapshot)
        raise
    return _held_against(root, proposal, snapshot, source)


def write_profiles(root: Path, found: Discovery) -> tuple[str, ...]:
    """The paths that were written. Raises UsageError where one of them exists, WriteError."""
    texts = {profile.path: profile.text for profile in found.profiles}
    there = [path for path in texts if (root / path).exists()]
    if there:
        raise UsageError(f"{listed(there)} exists already: nothing was written; name another CLUSTER, or move it away")
    write_new_files(root, texts)
    return tuple(texts)


def _held_against(root: Path, proposal: PoolProposal, snapshot: Snapshot, source: Source) -> Discovery:
    draft = proposal.draft
    texts = draft.texts()
    project = DraftProject(root=root, texts_of_profiles=texts)
    planned = plan_cluster(project, files_of(draft))
    errors, warnings = (tuple(_lines_of(planned, severity)) for severity in (Severity.ERROR, Severity.WARNING))
    whole = snapshot
    differences: tuple[str, ...] = ()
    unread: list[str] = [
        f"list of {item.resource.named}: {item.reason}"
        for item in snapshot.unread
        if item.resource in (*EVERYWHERE, HELM_RECORDS)
    ]
    unread += proposal.left_out
    compared = 0
    if planned.plan is not None and planned.prediction is not None and planned.loaded.file is not None and not errors:
        view = ClusterView(planned.plan, planned.prediction, planned.loaded, (), project.catalog.gpus)
        if source.file is None:
            reading = replace(source, save=None)
            seen = snapshot_of(reading, view.required, view.namespaces, view.of_namespaces)
            whole = snapshot.with_lists(seen)
        live = LiveView(view, whole)
        outcome = judge_live(live, around=False)
        compared = sum(live.knows(item) for item in view.expected)
        differences = tuple(f"{item.code} {item.message}" for item in outcome.diagnostics)
        unread += [f"{item.what}: {item.reason}" for item in outcome.skipped]
    _save(source, whole)
    return Discovery(
        cluster=proposal.name,
        pool_label=proposal.label,
        nodes=sum(row.nodes for row in proposal.rows if row.path == ("nodes", "count")),
        profiles=tuple(DiscoveredProfile(path=path, text=text) for path, text in texts.items()),
        fields=tuple(map(_field, proposal.rows)),
        unseen=tuple(UnseenField(field=field, because=why) for field, why in UNSEEN),
        differences=differences,
        refused=errors,
        warned=(*_left_out(proposal), *warnings),
        not_evaluated=tuple(dict.fromkeys(unread)),
        unlabelled=proposal.loose,
        unlike=proposal.unlike,
        compared=compared,
    )


def _left_out(proposal: PoolProposal) -> Iterator[str]:
    """Values of the cluster that no profile may have."""
    for path, why in proposal.settled.left_out.items() if proposal.settled is not None else ():
        yield f"`{'.'.join(path)}` of the cluster is in no profile: {why}"


def _lines_of(planned: PlannedCluster, severity: Severity) -> Iterator[str]:
    """But for what is assumed, which is asked."""
    for item in planned.diagnostics:
        if item.severity is severity and item.code != ASSUMED_VALUE.code:
            yield f"{item.primary.span}: {item.message} ({item.code})"


def _field(row: ProposalRow) -> DiscoveredField:
    return DiscoveredField(
        profile=row.profile,
        field=".".join(row.path),
        value=row.value,
        where=row.where,
        nodes=row.nodes,
        asked=row.is_question,
    )


def _save(source: Source, snapshot: Snapshot) -> None:
    if source.save is not None:
        replace_file(source.save, to_text(snapshot))
