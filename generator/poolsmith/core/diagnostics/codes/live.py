"""PSM850 to PSM899: a live cluster, held against what is committed for it."""

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

NOT_ON_CLUSTER = RuleInfo(
    code="PSM850",
    name="not-on-the-cluster",
    applies_to="live",
    what="An object that is committed or predicted is not on the cluster.",
    why="What was reviewed is not what runs: nobody has synced it, or somebody has removed it.",
    fix="look at the Application, Kustomization or HelmRelease of its unit, and at the operator's log",
)
DIFFERS_ON_CLUSTER = RuleInfo(
    code="PSM851",
    name="differs-on-the-cluster",
    applies_to="live",
    what="A committed or predicted field has another value on the cluster, or nobody delivers the object any more.",
    why="Somebody edited or stopped the object by hand, or the sync is behind; what was reviewed is not what runs.",
    fix="sync the unit, or bring the change into the profile",
)
UNPREDICTED_WORKLOAD = RuleInfo(
    code="PSM852",
    name="unpredicted-workload",
    applies_to="live",
    what="A workload or pod stands in a namespace of the GPU stack, and nothing that is committed brings it so.",
    why="Pods in these namespaces may be privileged; nobody has reviewed or granted what this one may do.",
    fix="remove it, move it to another namespace, or bring it by a unit of the cluster",
)
UNPREDICTED_PRIVILEGE = RuleInfo(
    code="PSM853",
    name="unpredicted-privilege",
    applies_to="live",
    what="A known workload holds a privilege, or its account a right, that was never predicted.",
    why="No grant allows it, and no review has seen it.",
    fix="undo the edit; if the privilege is needed, bring it by the profile and have it granted",
)
NODE_IN_NO_POOL = RuleInfo(
    code="PSM854",
    name="node-in-no-pool",
    applies_to="live",
    what="A node with a GPU is in no pool of the profiles.",
    why="The operator treats it as any other, with settings that nobody chose for it.",
    fix="label the node with its pool where it is made, or write a profile for it",
)
NODE_OTHER_THAN_PROFILE = RuleInfo(
    code="PSM855",
    name="node-other-than-profile",
    applies_to="live",
    what="A fact of a node contradicts the profile of its pool.",
    why="Drivers, runtimes and layouts were chosen for other nodes than these.",
    fix="change the profile, or the nodes",
)
NODE_NOT_LABELLED = RuleInfo(
    code="PSM856",
    name="node-not-labelled",
    applies_to="live",
    what="A node lacks a label or taint that its pool needs, or has another one in its place or in the way.",
    why="Operands select nodes by labels: without the right ones they start elsewhere, or nowhere.",
    fix="set it where the nodes are made (expected/node-labels of the cluster's output), or take it away there",
)
POLICY_NOT_IN_FORCE = RuleInfo(
    code="PSM857",
    name="policy-not-in-force",
    applies_to="live",
    what="An admission policy of the cluster's output is missing, not bound, or another than the committed one.",
    why="The API server takes pods that the policy would refuse.",
    fix="sync the platform unit, and find out who removed or changed it",
)
NOT_READY = RuleInfo(
    code="PSM858",
    name="not-ready",
    severity=Severity.WARNING,
    applies_to="live",
    what="Pods of a workload are not ready, a resource says that something failed, or GPUs of a node can't be used.",
    why="GPUs of these nodes can't be used, or only by what started before; what is committed does not arrive.",
    fix="look at the pod, the resource or the node that the message names",
)
LEFT_OVER = RuleInfo(
    code="PSM859",
    name="left-over",
    severity=Severity.WARNING,
    applies_to="live",
    what="Something stands on the cluster that only another stack, release or mode than the profile's needs.",
    why="It stays behind after a change or an uninstall, and acts on nodes that nobody expects it on.",
    fix="remove it once nothing uses it",
)
OTHER_VERSION = RuleInfo(
    code="PSM860",
    name="another-version",
    severity=Severity.WARNING,
    applies_to="live",
    what="Kubernetes, the operator or a node's part of the stack has another version than is committed, or than fits.",
    why="Schemas, policies and privileges were chosen for the committed versions, and parts too far apart do not work.",
    fix="sync the unit, upgrade what is behind, or write the cluster's version into its profile",
)
WAY_TO_ROOT = RuleInfo(
    code="PSM870",
    name="way-to-root",
    applies_to="live",
    what="Somebody may become root on the nodes of the pools in a way that nobody predicted.",
    why="Pods of the stack are root on their nodes: who may change, enter or replace one of them is root there, too.",
    fix="take the right, label, container or webhook away; what is needed belongs into the profile or into policies",
)
WOULD_NOT_START = RuleInfo(
    code="PSM871",
    name="would-not-start",
    severity=Severity.WARNING,
    applies_to="live",
    what="Something on the cluster would keep pods of the stack from starting again, from reaching what they need, or "
    "from being upgraded.",
    why="What runs goes on; with the next reboot, upgrade or new node it does not come back.",
    fix="leave the stack's namespace out of it, or give it what it needs",
)
NOT_THE_ONLY_ONE = RuleInfo(
    code="PSM872",
    name="not-the-only-one",
    applies_to="live",
    what="Something of which a cluster has one stands there a second time, or somebody else writes what is ours.",
    why="Both register the same resource, or write the same labels and objects, and the last one wins.",
    fix="keep one: remove the other, or leave it out of the profile",
)
NOT_READ = RuleInfo(
    code="PSM873",
    name="not-read",
    applies_to="live",
    what="A list that says what runs on the cluster could not be read.",
    why="The verdict is not whole: what was not read may differ from what was committed.",
    fix="give the right that `poolsmith live rbac` prints, or look at the API server; then ask again",
)
