"""PSM65x, PSM7xx and PSM806: sources outside of the supply policy, its acceptances, and files beside the stack.

PSM65x: what a supply policy accepts. PSM7xx: what stands outside of it, and what a change would switch off. PSM806:
files beside the GPU stack that are not there.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

UNKNOWN_SOURCE = RuleInfo(
    code="PSM701",
    name="unknown-source",
    applies_to="profile",
    what="A chart, or manifests of a Git repository, would come from where policies/supply.yaml does not allow it: "
    "another repository, chart, version, revision or folder.",
    why="What is applied to the cluster is whatever stands there, and nobody who may decide that has.",
    fix="take it from a source that policies/supply.yaml lists, or have its owners list this one",
    bad="delivery: {engine: argocd, repoURL: https://git.example.com/fork.git}   # and supply.yaml has another host\n",
    good="delivery: {engine: argocd, repoURL: https://git.example.com/gpu.git}\n",
)
UNKNOWN_IMAGE = RuleInfo(
    code="PSM702",
    name="unknown-image-source",
    applies_to="profile",
    what="An image would be pulled from outside of the registries that policies/supply.yaml lists. Hosts and parts of "
    "paths are compared whole, and a reference that is not written plainly is outside.",
    why="The containers of this stack are privileged: whoever may write to that registry owns the nodes.",
    fix="take the image from a registry that policies/supply.yaml lists, or have its owners list this one",
    bad="driver: {repository: nvcr.io.example.com/nvidia}\n",
    good="driver: {repository: nvcr.io/nvidia}\n",
)
UNKNOWN_MIRROR = RuleInfo(
    code="PSM703",
    name="unknown-mirror",
    applies_to="profile",
    what="A registry is mirrored to where policies/supply.yaml does not have it mirrored.",
    why="Every image of the registry would come from there instead.",
    fix="use the mirror that policies/supply.yaml names, or have its owners name this one",
    bad="registry: {mirrors: {nvcr.io: cache.example.com/nvcr}}\n",
    good="registry: {mirrors: {nvcr.io: registry.example.com/nvcr}}\n",
)
UNKNOWN_DELIVERY = RuleInfo(
    code="PSM704",
    name="unknown-delivery",
    applies_to="profile",
    what="A cluster would be delivered in a way that policies/supply.yaml does not allow: to another destination, by "
    "another Argo CD, in another project or namespace of it, or from another Flux source.",
    why="The manifests of one cluster would be applied to another, or with the rights of another project.",
    fix="deliver it as policies/supply.yaml says, or have its owners add an entry to `deliveries`",
    bad="delivery: {engine: argocd, destination: {name: prod-us}}   # of the cluster prod-eu\n",
    good="delivery: {engine: argocd, destination: {name: prod-eu}}\n",
)

UNANSWERED = RuleInfo(
    code="PSM705",
    name="unanswered-unknown",
    applies_to="profile",
    what="With --policies-from: something could not be evaluated, and the base's policies/supply.yaml does not accept "
    "that very thing.",
    why="What nobody has looked at can hold any privilege. Somebody has to answer for it before it is merged.",
    fix="do without it, or have the owners of policies/supply.yaml accept it in `acceptUnknown`",
)
NO_SUPPLY_POLICY = RuleInfo(
    code="PSM706",
    name="no-supply-policy",
    applies_to="policy",
    what="With --policies-from: the base has no policies/supply.yaml, or one that can't be read.",
    why="Nobody has said where charts, manifests and images may come from, so they could come from anywhere.",
    fix="run `poolsmith supply --write`, have the owners of policies/ review the file, and merge it first",
)

SWITCHED_OFF = RuleInfo(
    code="PSM710",
    name="switched-off",
    applies_to="profile",
    what="With --policies-from: a line of a profile takes away what protects the cluster in the base: a Kubernetes "
    "version or a namespace for which policies are not shipped, a namespace or a pool label by which a policy selects "
    "objects, pods of a release in `upgradingFrom` that the cluster does not run, signatures that `delivery.verify` "
    "demands of the source, sandboxes of a pool, CC mode and other protections; a cluster that leaves its ring for "
    "none or an earlier one; another order of rings.",
    why="The policies are the same as before, and nobody sees that they no longer hold.",
    fix="leave the line as it is in the base, or first change the policies so that they hold for the new one; the loss "
    "of a protection can be accepted in policies/supply.yaml",
    bad="stack: {release: v26.3.3, upgradingFrom: v24.6.1}   # and the base has release v26.3.3\n",
    good="stack: {release: v26.7.0, upgradingFrom: v26.3.3}   # and the base has release v26.3.3\n",
)


UNEXPLAINED_ACCEPTANCE = RuleInfo(
    code="PSM650",
    name="unexplained-acceptance",
    applies_to="policy",
    what="An acceptance in policies/supply.yaml has no reason, no owner or no last day, or only a placeholder.",
    why="Nobody can review it without them. It accepts nothing until they are there.",
    fix="write why it is accepted, which team is responsible, and until which day",
    bad="acceptUnknown: [{cluster: lab, unknown: operands of the chart, reason: TODO, owner: '', expires: ''}]\n",
    good="acceptUnknown:\n  - {cluster: lab, unknown: operands of the chart, reason: read at that revision,\n"
    "     owner: gpu-platform, expires: 2027-01-31}\n",
)
EXPIRED_ACCEPTANCE = RuleInfo(
    code="PSM651",
    name="expired-acceptance",
    applies_to="policy",
    what="An acceptance in policies/supply.yaml has passed its last day.",
    why="Somebody promised to review it by then. Until it is reviewed, it accepts nothing.",
    fix="do without what is accepted, or review it and give it a new date",
    bad='expires: "2020-06-30"\n',
    good='expires: "2027-06-30"\n',
)
UNUSED_ACCEPTANCE = RuleInfo(
    code="PSM652",
    name="unused-acceptance",
    severity=Severity.WARNING,
    applies_to="policy",
    what="Nothing that is not evaluated matches an acceptance in policies/supply.yaml.",
    why="It would silently accept the next thing of that name.",
    fix="delete it, or copy the words of `poolsmith check`",
)


UNEXPLAINED_EXTERNAL_NAME = RuleInfo(
    code="PSM653",
    name="unexplained-external-name",
    applies_to="policy",
    what="An entry of policies/external.yaml has no supplier, no reason or no owner, or only a placeholder.",
    why="Nobody can review what comes from elsewhere without them. The entry says nothing.",
    fix="write who makes it, why it is not here, and which team is responsible",
    bad="names: [{kind: ConfigMap, name: gpu-licence, supplier: TODO, owner: gpu-platform, expires: 2027-01-31}]\n",
    good="names:\n  - {kind: ConfigMap, name: gpu-licence, supplier: Terraform, reason: made with the account,\n"
    "     owner: gpu-platform, expires: 2027-01-31}\n",
)
EXPIRED_EXTERNAL_NAME = RuleInfo(
    code="PSM654",
    name="expired-external-name",
    applies_to="policy",
    what="An entry of policies/external.yaml has passed its last day.",
    why="Somebody promised to look by then whether it is still made. Until then the name has no supplier.",
    fix="ask who makes it, and give the entry a new date",
    bad='expires: "2020-06-30"\n',
    good='expires: "2027-06-30"\n',
)
UNUSED_EXTERNAL_NAME = RuleInfo(
    code="PSM655",
    name="unused-external-name",
    severity=Severity.WARNING,
    applies_to="policy",
    what="Nothing needs a name of policies/external.yaml from outside: it is supplied here, or nobody asks for it.",
    why="The entry would silently speak for the next one that asks.",
    fix="delete the entry",
)
RETIRED_RULE = RuleInfo(
    code="PSM656",
    name="retired-rule",
    severity=Severity.NOTE,
    applies_to="policy",
    what="A setting or a waiver names a rule that is a part of another one now. It goes on working.",
    why="Whoever reads the file looks for a rule that no report names any more.",
    fix="write the code or the name that the finding says",
    bad="rules:\n  PSM764: {severity: error}\n",
    good="rules:\n  PSM282: {severity: error}\n",
)


NOTHING_BESIDE = RuleInfo(
    code="PSM806",
    name="nothing-beside",
    what="The cluster's `beside` names a file or folder that is not there, or has no YAML file.",
    why="Somebody wanted it compared with the profiles, and nothing would be.",
    fix="correct the path; it begins at the folder that has `profiles/`",
    bad="beside: [infra/karpenter]   # there is no such folder\n",
    good="beside: [clusters/prod/karpenter]\n",
)
