"""PSM65x: what a supply policy accepts."""

from poolsmith.core.diagnostics.rule_info import RuleInfo
from poolsmith.core.diagnostics.severity import Severity

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

SUPPLY: tuple[RuleInfo, ...] = (UNEXPLAINED_ACCEPTANCE, EXPIRED_ACCEPTANCE, UNUSED_ACCEPTANCE)
