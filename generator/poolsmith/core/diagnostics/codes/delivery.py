"""PSM121: clusters of a fleet that one Argo CD would deliver to one place."""

from poolsmith.core.diagnostics.rule_info import RuleInfo

SHARED_DESTINATION = RuleInfo(
    code="PSM121",
    name="shared-destination",
    applies_to="profile",
    what="Two clusters are delivered by the same Argo CD to the same destination: by name, by server, or both to the "
    "cluster that Argo CD runs in, which is meant where `delivery.destination` is left out, and by `name: in-cluster`. "
    "A name and a server are not compared: which server has which name, only Argo CD knows.",
    why="The stacks of both come to one cluster, and the other one gets none. Two operators and two sets of driver "
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
DELIVERY: tuple[RuleInfo, ...] = (SHARED_DESTINATION,)
