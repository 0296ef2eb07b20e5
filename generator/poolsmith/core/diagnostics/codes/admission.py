"""PSM9xx: what the users' own policies say."""

from poolsmith.core.diagnostics.rule_info import RuleInfo
from poolsmith.core.diagnostics.severity import Severity

_WHY = "The API server would refuse it too, but only when the object is applied, after the merge."
_FIX = "change what the profile asks for, or the policy"

DENIED_BY_POLICY = RuleInfo(
    code="PSM901",
    name="denied-by-policy",
    what="A ValidatingAdmissionPolicy of the project, bound with Deny, refuses an object that is generated, or that "
    "the operator will create.",
    why=_WHY,
    fix=_FIX,
    bad="# cluster.yaml, and a policy refuses pods in the network of their node\n"
    "stack: {release: v26.3.3, values: {dcgmExporter: {hostNetwork: true}}}\n",
    good="# cluster.yaml\nstack: {release: v26.3.3}\n",
)
WARNED_BY_POLICY = RuleInfo(
    code="PSM902",
    name="warned-by-policy",
    severity=Severity.WARNING,
    what="A ValidatingAdmissionPolicy of the project, bound with Warn, warns about an object that is generated, or "
    "that the operator will create.",
    why="The API server would accept the object and warn whoever applies it. For pods that is a controller, and "
    "nobody reads the warning.",
    fix=_FIX,
)
AUDITED_BY_POLICY = RuleInfo(
    code="PSM903",
    name="audited-by-policy",
    severity=Severity.NOTE,
    what="A ValidatingAdmissionPolicy of the project, bound with Audit, would record an object in the audit log.",
    why="The API server would accept the object, and only readers of the audit log would know.",
    fix=_FIX,
)
UNDECIDED_BY_POLICY = RuleInfo(
    code="PSM904",
    name="undecided-by-policy",
    severity=Severity.NOTE,
    what="A policy could not be evaluated without a cluster: it asks the authorizer, reads what nobody can know "
    "here, or exceeds a limit of the engine.",
    why="It neither passed nor failed; with --strict that is an error.",
    fix="see the reason; `poolsmith policy eval` shows it for one object",
    bad="expression: authorizer.group('').resource('pods').check('delete').allowed()\n",
    good="expression: object.metadata.namespace == 'gpu-operator'\n",
)

ADMISSION: tuple[RuleInfo, ...] = (
    DENIED_BY_POLICY,
    WARNED_BY_POLICY,
    AUDITED_BY_POLICY,
    UNDECIDED_BY_POLICY,
)
