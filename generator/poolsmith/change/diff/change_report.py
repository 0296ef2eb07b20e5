"""What a change does, in the order in which a reviewer reads it. Every format of `diff` is made of this.

Nothing here is cut, grouped or worded for one format. Places are lines that people edit, never generated files.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from poolsmith.change.delivery.outcomes import Action, Departure
    from poolsmith.core.diagnostics import Diagnostic, Location, Severity
    from poolsmith.guard.ledger.ledger_delta import Change
    from poolsmith.kubernetes.server.field_changes import FieldChange


@record
class Revision:
    """`name` as somebody said it, or what it was found by; `commit` is empty for the work tree."""

    name: str
    commit: str = ""


class OwnLeave(StrEnum):
    """What a change can give leave by, all of it below `policies/` or in files that judge."""

    GRANT = "grant"
    ENFORCEMENT = "enforcement"
    WAIVER = "waiver"
    RULE_SETTING = "rule setting"
    ADMISSION = "admission policy"
    SOURCE = "source"
    EXTERNAL = "external name"
    JUDGE = "judge"


@record
class SelfGrant:
    """A permission that the change grants itself, in one sentence. `widens`: more passes than before."""

    kind: OwnLeave
    subject: str
    what: str
    widens: bool
    place: Location


@record
class PrivilegeChange:
    """A privilege of one container that pools gain or lose; `words` say it in one sentence.

    `granted`: whether the policies that judge have a grant for it; None where nothing was gained.
    """

    change: Change
    words: str
    place: Location | None = None
    granted: bool | None = None


class DisruptionKind(StrEnum):
    """What disturbs most comes first."""

    UNINSTALLED = "uninstalled"
    """Something leaves the delivery, and what it installed or applied goes with it, or may."""
    DRIVER = "driver"
    """Driver pods are replaced: the GPUs of the nodes are taken from their workloads."""
    LOST = "lost"
    """A workload asks for a resource name, RuntimeClass or MIG slice that its nodes no longer offer."""
    RECREATED = "recreated"
    """An object is deleted and recreated, because a field that changes is immutable."""
    MIG = "mig"
    """The partitions of GPUs change: their pods must go, and some GPUs need a reboot."""
    RESTART = "restart"
    """Pods of a DaemonSet, Deployment or StatefulSet are replaced, since their template changes."""
    LEFT = "left"
    """Something leaves the delivery, and what it installed or applied stays as it is."""
    STARTED = "started"
    STOPPED = "stopped"


@record
class Waves:
    """How a rolling replacement goes over the nodes of a pool. Numbers that profiles don't tell are None.

    `at_once` is text, as the upgrade policy says it: `1`, `25%`, or `all`.
    """

    nodes: int | None
    at_once: str
    waves: int | None
    drains: bool
    automatic: bool = True
    """Whether the operator does it by itself; else the old pods stay until somebody deletes them."""
    limit: str = ""
    """What sets the pace, such as `maxParallelUpgrades 1`; empty where nothing does."""
    policy: str = ""
    """Where that is said: an upgrade policy or update strategy, in words."""
    minutes: int | None = None
    """How long all waves take, where profiles say how long a node takes (`nodes.rollMinutes`)."""


@record
class Disruption:
    """What happens to `what` (`Kind/name`, a resource name, a RuntimeClass) on `pools`, in one sentence."""

    kind: DisruptionKind
    what: str
    namespace: str = ""
    pools: tuple[str, ...] = ()
    words: str = ""
    why: tuple[FieldChange, ...] = ()
    """The fields of the pod template or object that differ."""
    waves: Waves | None = None
    place: Location | None = None
    """The line of a profile that causes it, where one is known."""
    fact: str = ""
    """What an acknowledgement of it names, where it takes one."""
    acknowledged_by: str = ""


class OtherKind(StrEnum):
    """What one pool's profile changes for another pool; what keeps pods from being scheduled comes first."""

    RESOURCE = "resource"
    """Names of resources that its nodes offer."""
    CLASS = "class"
    """A RuntimeClass or DeviceClass that its pods may name."""
    LABEL = "label"
    """Labels of its nodes."""
    DRIVER = "driver"
    """Driver pods on its nodes."""
    UPGRADES = "upgrades"
    """Whether and how its driver pods are upgraded."""
    WORKLOAD = "workload"
    """Other pods of the stack on its nodes."""


@record
class OtherPoolChange:
    """What the change of other pools does to `pool`, in one sentence; `names` are those of what differs.

    `stops`: its workloads may no longer be scheduled. That takes the acknowledgement `fact`, which names what holds
    from then on; `acknowledged_by` is who has given it with this change.
    """

    kind: OtherKind
    pool: str
    names: tuple[str, ...]
    words: str
    stops: bool = False
    fact: str = ""
    acknowledged_by: str = ""
    place: Location | None = None
    """The line of another pool's profile that causes it, where one is known."""


@record
class ImageChange:
    """An image that nodes pull from now on, or no longer."""

    image: str
    standing: Standing
    pools: tuple[str, ...] = ()


@record
class ObjectChange:
    """An object that is applied, or that the operator makes (`made`): `apiVersion`, kind, namespace and name.

    `file` is the generated file that it stands in, below the cluster's folder; empty for what the operator makes.
    """

    api_version: str
    kind: str
    name: str
    standing: Standing
    namespace: str = ""
    file: str = ""
    made: bool = False
    fields: tuple[FieldChange, ...] = ()


@record
class DriftChange:
    """What a delivery engine would always show as out of sync, new with the change or gone with it."""

    standing: Standing
    what: str
    words: str
    cured: bool
    place: Location | None = None


@record
class PoolChange:
    """A pool of a cluster. `fields` are those of its profile that differ, bases merged in.

    `like`: of a new pool, the one of its cluster whose profile is most like its own; `fields` differ from that.
    """

    name: str
    standing: Standing
    renamed_from: str = ""
    like: str = ""
    fields: tuple[FieldChange, ...] = ()
    place: Location | None = None


@record
class AdmittedPool:
    """A new pool on whose nodes containers may be root, by grants that name it by a pattern alone."""

    pool: str
    workloads: int
    containers: int
    grants: tuple[str, ...]
    """Names."""
    place: Location | None = None


class ReleaseChangeKind(StrEnum):
    """What another release is told for; what asks for a decision comes first."""

    PATH = "path"
    """The vendor supports no such step, or describes none."""
    BY_HAND = "by-hand"
    """The engine waits for something that somebody has to do by hand."""
    ACCEPTED = "accepted"
    """The admission policy accepts pods of two releases."""
    SANDBOX = "sandbox"
    ISSUE = "issue"
    STAYS = "stays"
    """What the change does not take away by itself."""
    TOOL = "tool"
    """Files that are others because another version of poolsmith, or another catalog, makes them."""
    DEFINITIONS = "definitions"
    DEFAULT = "default"


@record
class ReleaseChange:
    """Something about another release, or about what a change leaves behind, in one sentence."""

    kind: ReleaseChangeKind
    words: str
    pools: tuple[str, ...] = ()
    place: Location | None = None


@record
class ClusterDiff:
    """What the change does to one cluster. Releases are empty where the cluster is not, or has errors.

    `unknown`: sentences on what can't be told, such as profiles with errors on one side.
    """

    name: str
    standing: Standing
    renamed_from: str = ""
    old_release: str = ""
    new_release: str = ""
    ring: str = ""
    """After the change; empty outside of the rings."""
    fields: tuple[FieldChange, ...] = ()
    """Of the cluster's own profile."""
    pools: tuple[PoolChange, ...] = ()
    privileges: tuple[PrivilegeChange, ...] = ()
    admitted: tuple[AdmittedPool, ...] = ()
    others: tuple[OtherPoolChange, ...] = ()
    departures: tuple[Departure, ...] = ()
    delivery: tuple[Action, ...] = ()
    """All that the engine does, in its order; `departures` are among it."""
    disruptions: tuple[Disruption, ...] = ()
    """Those of `departures` too."""
    images: tuple[ImageChange, ...] = ()
    values: tuple[FieldChange, ...] = ()
    """Helm values of all charts; the pointer begins with the chart's release name."""
    objects: tuple[ObjectChange, ...] = ()
    drift: tuple[DriftChange, ...] = ()
    release: tuple[ReleaseChange, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def added_pools(self) -> frozenset[str]:
        return frozenset(pool.name for pool in self.pools if pool.standing is Standing.ADDED)


@record
class ChangeReport:
    """A whole change. Clusters that it does not touch are counted, not listed."""

    base: Revision
    head: Revision
    self_grants: tuple[SelfGrant, ...] = ()
    clusters: tuple[ClusterDiff, ...] = ()
    unchanged_clusters: int = 0
    pools: int = 0
    """Pools of the clusters that are touched, after the change."""
    new_findings: tuple[Diagnostic, ...] = ()
    fixed_findings: tuple[Diagnostic, ...] = ()
    unknown: tuple[str, ...] = ()
    why_all: str = ""
    """Why every cluster was looked at; empty where only those were that have a file of their own in the change."""

    def fails(self, threshold: Severity) -> bool:
        """Whether it brings a finding that is as severe as that, and that nobody has waived."""
        return any(item.severity.rank <= threshold.rank for item in self.new_findings if not item.is_waived)

    @property
    def is_empty(self) -> bool:
        """Whether the change does nothing to any cluster: comments, order of keys, files of others."""
        return not (self.self_grants or self.clusters or self.new_findings or self.fixed_findings or self.unknown)
