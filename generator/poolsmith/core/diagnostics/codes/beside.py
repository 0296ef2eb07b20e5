"""PSM806: files beside the GPU stack that are not there."""

from poolsmith.core.diagnostics.rule_info import RuleInfo

NOTHING_BESIDE = RuleInfo(
    code="PSM806",
    name="nothing-beside",
    what="The cluster's `beside` names a file or folder that is not there, or has no YAML file.",
    why="Somebody wanted it compared with the profiles, and nothing would be.",
    fix="correct the path; it begins at the folder that has `profiles/`",
    bad="beside: [infra/karpenter]   # there is no such folder\n",
    good="beside: [clusters/prod/karpenter]\n",
)

BESIDE = (NOTHING_BESIDE,)
