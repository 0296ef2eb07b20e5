"""PSM1xx: the shape of profiles; PSM117 to PSM119: the rings of a rollout; PSM121: clusters with one destination.

Rings are groups of clusters that get new releases one after the other. PSM121 is about clusters that one Argo CD would
deliver to one place.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

UNKNOWN_FIELD = RuleInfo(
    code="PSM101",
    name="unknown-field",
    what="A profile has a field that its kind does not know.",
    why="A misspelt field would do nothing, and nobody would notice.",
    bad="spec:\n  diver: {source: container}\n",
    good="spec:\n  driver: {source: container}\n",
    at_key=True,
)
WRONG_TYPE = RuleInfo(
    code="PSM102",
    name="wrong-type",
    what="A field has a value of the wrong type.",
    why="If poolsmith guessed what was meant, the cluster would get a setting that nobody chose.",
    bad="gpu: {count: eight}\n",
    good="gpu: {count: 8}\n",
)
MISSING_FIELD = RuleInfo(
    code="PSM103",
    name="missing-field",
    what="A required field is missing, in the profile and in all bases that it extends.",
    why="No default would be right for every cluster.",
    at_key=True,
)
INVALID_VALUE = RuleInfo(
    code="PSM104",
    name="invalid-value",
    what="The value of a field is not one of the allowed values.",
    why="Otherwise it would be refused or ignored later, where it is harder to find.",
)
INVALID_NAME = RuleInfo(
    code="PSM105",
    name="invalid-name",
    what="A name, label, path or version does not have the form that Kubernetes or a file system requires.",
    why=(
        "Names become folders, objects and label values. Another form could be refused, or write outside the output "
        "folder."
    ),
    bad="metadata: {name: ../prod}\n",
    good="metadata: {name: prod}\n",
)
OUT_OF_RANGE = RuleInfo(
    code="PSM106",
    name="out-of-range",
    what="A number is smaller or larger than the field allows.",
    why="The operand would refuse the number when it starts, on every node of the pool.",
)
AMBIGUOUS_SCALAR = RuleInfo(
    code="PSM107",
    name="ambiguous-scalar",
    what="An unquoted value is read as a number or a boolean, but the field takes a string.",
    why="`22.10` becomes 22.1, `1e3` becomes 1000, `on` becomes true.",
    bad="os: {id: ubuntu, version: 22.04}\n",
    good='os: {id: ubuntu, version: "22.04"}\n',
)
DUPLICATE_ITEM = RuleInfo(
    code="PSM108",
    name="duplicate-item",
    what="A list names the same thing twice.",
    why="One of the two has no effect, or they conflict.",
)
SECRET_IN_ADDRESS = RuleInfo(
    code="PSM109",
    name="secret-in-address",
    what="An address in a profile has a password or a user name in it, or a query or a fragment, which may be a token.",
    why="Profiles and what is generated from them are read by people, build servers and GitOps engines that must not "
    "know it, and git never forgets it.",
    fix="write the address alone, replace the secret, and keep it in a Secret",
    bad="delivery: {engine: argocd, repoURL: ssh://git:token@git.example.com/gpu.git}\n",
    good="delivery: {engine: argocd, repoURL: ssh://git@git.example.com/gpu.git}\n",
)
UNKNOWN_BASE = RuleInfo(
    code="PSM110",
    name="unknown-base",
    what="`extends` names a NodePoolBase that does not exist.",
    why="The pool lacks what the base would add.",
)
EXTENDS_CYCLE = RuleInfo(
    code="PSM111",
    name="extends-cycle",
    what="NodePoolBases extend each other in a circle.",
    why="There is no order in which to merge them.",
    fix="remove one of the `extends` entries in the circle",
)
DUPLICATE_NAME = RuleInfo(
    code="PSM112",
    name="duplicate-name",
    what="Two pools of a cluster, or two bases, have the same name. Or two pools have the same `objectName`, or two "
    "clusters of one Argo CD the same `delivery.name`; a name that a cluster had before counts too.",
    why="Their generated files and objects would overwrite each other.",
    fix="give one of them another metadata.name, `objectName` or `delivery.name`",
)
CLUSTER_WITHOUT_POOLS = RuleInfo(
    code="PSM113",
    name="cluster-without-pools",
    what="A cluster's folder has a Cluster but no NodePool.",
    why="The output would do nothing, and a green run would hide that.",
    fix="add a NodePool beside cluster.yaml, or delete the folder",
)
CLUSTER_NAME_MISMATCH = RuleInfo(
    code="PSM114",
    name="cluster-name-mismatch",
    what="A cluster's metadata.name differs from the name of its folder.",
    why="The output goes to a folder with the folder's name. Two names for one cluster would give two outputs.",
)
CLUSTER_FILE_MISSING = RuleInfo(
    code="PSM115",
    name="cluster-file-missing",
    what="A cluster's folder has no cluster.yaml.",
    why="Its pools belong to no cluster, so they would silently not be generated.",
    fix="add cluster.yaml of kind Cluster",
)
UNUSED_BASE = RuleInfo(
    code="PSM116",
    name="unused-base",
    severity=Severity.WARNING,
    what="No pool and no other base extends a NodePoolBase.",
    why="It has no effect. Often the name in an `extends` is out of date.",
    fix="extend it, or delete it",
)


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

ASSUMED_VALUE = RuleInfo(
    code="PSM912",
    name="assumed-value",
    severity=Severity.WARNING,
    applies_to="profile",
    what="A line of a profile still has the comment with which `poolsmith init` and `poolsmith discover` mark a "
    "value that they found in no file and on no node.",
    why="It is a guess so that there is something to generate. The cluster may be another one.",
    fix="write what is true of your nodes, take the comment away, and run `poolsmith generate`",
    bad='kubernetes:\n  version: "1.34"  # TODO assumed: nothing says it\n',
    good='kubernetes:\n  version: "1.33"\n',
)


SHARED_DESTINATION = RuleInfo(
    code="PSM121",
    name="shared-destination",
    applies_to="profile",
    what="Two clusters are delivered by the same Argo CD to the same destination: by name, by server, or both to the "
    "cluster that Argo CD runs in, which is the default, and what `name: in-cluster` names. "
    "A name and a server are not compared: which server has which name, only Argo CD knows.",
    why="One cluster gets the stacks of both, and the other one gets none. Two operators and two sets of driver "
    "objects there take turns in overwriting each other.",
    fix="give each cluster its own `delivery.destination`; or, where each has an Argo CD of its own, its own "
    "`delivery.instance`",
    bad="# of the cluster east, and of the cluster west\ndelivery: {engine: argocd, repoURL: "
    "https://git.example.com/gpu.git}\n",
    good="# of the cluster west\ndelivery: {engine: argocd, repoURL: https://git.example.com/gpu.git, destination: "
    "{name: west}}\n",
    symptom="`SharedResourceWarning` in Applications of both clusters, objects that come and go with each sync, and a "
    "cluster without any operator",
    references=("argoproj/argo-cd@v3.5.1:util/db/cluster.go",),
)
