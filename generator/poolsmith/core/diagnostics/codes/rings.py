"""PSM117 to PSM119: rings, in which what is new reaches one group of clusters after the other."""

from poolsmith.core.diagnostics.rule_info import RuleInfo
from poolsmith.core.diagnostics.severity import Severity

UNKNOWN_RING = RuleInfo(
    code="PSM117",
    name="unknown-ring",
    applies_to="profile",
    what="A cluster names a ring, or profiles/_rings.yaml gives a revision to one, that `spec.order` there does not "
    "have.",
    why="The cluster would be outside of the order without anybody's knowledge, and could get everything first.",
    fix="name a ring of `spec.order` in profiles/_rings.yaml, or add it there",
)
TWO_REVISIONS = RuleInfo(
    code="PSM118",
    name="ring-revision-not-used",
    applies_to="profile",
    what="profiles/_rings.yaml gives the ring of a cluster a revision, and the cluster's `delivery` has a revision or "
    "a source of its own.",
    why="One of both would be ignored, and a cluster could leave its ring in a line that nobody looks at.",
    fix="delete `delivery.revision` or `delivery.sourceRef` of the cluster, or the cluster's `ring`",
)
RING_AHEAD = RuleInfo(
    code="PSM119",
    name="ring-runs-ahead",
    severity=Severity.WARNING,
    applies_to="profile",
    what="A cluster of a later ring has a newer release, a newer driver for the same GPU from the same source, or a "
    "newer version of a base than an earlier ring that has it, too.",
    why="What is new is to be seen in the earlier ring first. Now the later one tries it.",
    fix="change the earlier ring first, or take the line of the later one back",
)
RINGS = (UNKNOWN_RING, TWO_REVISIONS, RING_AHEAD)
