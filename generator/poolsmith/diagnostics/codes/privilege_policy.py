"""PSM64x: grants as an admission policy."""

from poolsmith.diagnostics.rule_info import RuleInfo
from poolsmith.diagnostics.severity import Severity

GRANTS_NOT_ENFORCED = RuleInfo(
    code="PSM640",
    name="grants-not-enforced",
    severity=Severity.NOTE,
    applies_to="policy",
    what="No admission policy is made of a cluster's grants, because its Kubernetes is older than 1.30.",
    why="What is predicted is checked against the grants, but nothing in the cluster refuses other pods.",
    fix="upgrade the cluster, or hold its namespaces by other means",
    references=("Kubernetes 1.30 release notes: ValidatingAdmissionPolicy is v1 and on",),
)
SCRIPT_NOT_KNOWN = RuleInfo(
    code="PSM642",
    name="script-not-known",
    severity=Severity.WARNING,
    applies_to="policy",
    what="A predicted container runs an inline script of which the catalog has no more than the length, so the "
    "privilege policy refuses it, or warns about it.",
    why="A policy that takes any script of that length takes an attacker's too.",
    fix="copy the script from the operand's DaemonSet, read it, and put it under `scripts` in "
    "policies/enforcement.yaml",
)
PRIVILEGE_POLICY_TOO_LARGE = RuleInfo(
    code="PSM643",
    name="privilege-policy-too-large",
    applies_to="policy",
    what="The data of a cluster's privilege policy is larger than what is sure to be stored and applied, so the "
    "cluster gets no privilege policy.",
    why="Client-side apply keeps a copy in an annotation of at most 256 KiB, and the API server takes expressions of "
    "at most 100,000 letters.",
    fix="split the cluster, or give its pools fewer drivers of their own",
)
NAMESPACE_NOT_HELD = RuleInfo(
    code="PSM644",
    name="namespace-not-held",
    severity=Severity.NOTE,
    applies_to="policy",
    what="The privilege policy leaves out a namespace with privileged workloads: others share it, like kube-system, or "
    "nobody can predict what a unit brings there.",
    why="It would refuse everything that it does not know. As it is, it holds nobody who may create pods there.",
    fix="install the unit in a namespace of its own; hold what is not predicted by other means",
    bad="stack: {kind: device-plugin, release: v0.17.1}   # kube-system, by default\n",
    good="stack: {kind: device-plugin, release: v0.17.1, namespace: nvidia-device-plugin}\n",
)
RUNNING_RELEASE_UNKNOWN = RuleInfo(
    code="PSM646",
    name="running-release-unknown",
    severity=Severity.WARNING,
    what="The profiles can't be resolved for the release that `stack.upgradingFrom` names, so the privilege policy "
    "takes pods of the new release only.",
    why="Until the operator is upgraded, pods of the old release that start again are warned about, or refused.",
    fix="set the actions to Warn and Audit for the time of the upgrade",
    bad="stack: {release: v26.3.3, upgradingFrom: v24.0.0}\n",
    good="stack: {release: v26.3.3, upgradingFrom: v25.10.1}\n",
)
INCOMPLETE_PRIVILEGE_POLICY = RuleInfo(
    code="PSM645",
    name="incomplete-privilege-policy",
    severity=Severity.NOTE,
    applies_to="policy",
    what="Something of a cluster could not be predicted, so its privilege policy does not know it.",
    why="Pods that it makes are refused, or warned about, although somebody may have meant them.",
    fix="see under `unknown` in privileges.yaml what is missing; keep the actions at Warn and Audit until it is known",
)
