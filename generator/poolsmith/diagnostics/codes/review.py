"""PSM67x: what the Helm values of a change give to what runs."""

from poolsmith.diagnostics.rule_info import RuleInfo

UNACCEPTED_SETTING = RuleInfo(
    code="PSM670",
    name="unaccepted-setting",
    applies_to="profile",
    what="With --policies-from: the Helm values of a change give a predicted object a setting that it does not have in "
    "the base, that does not follow from the profiles, and that nobody has accepted: another command, a variable, a "
    "volume, an annotation that a runtime obeys, an object of one's own. Or a pod loses what kept it in its place.",
    why="Not all power is a privilege. A library that is loaded first, another image, or a volume of somebody else's "
    "runs as root in a driver container just as well.",
    fix="remove the value; or have the owners of policies/ add the setting to `acceptSettings` in policies/supply.yaml",
    bad="values: {toolkit: {env: [{name: LD_PRELOAD, value: /run/x.so}]}}\n",
    good="values: {toolkit: {resources: {limits: {memory: 256Mi}}}}\n",
)
UNSEEN_VALUE = RuleInfo(
    code="PSM671",
    name="unseen-value",
    applies_to="profile",
    what="With --policies-from: a Helm value of a change alters nothing that is predicted.",
    why="It may belong to a component that is off, and would take effect with a later change that only switches the "
    "component on; or its effect is not modelled. Either way no reviewer sees what it does.",
    fix="remove the value, or set it in the change that needs it",
)
REVIEW = (UNACCEPTED_SETTING, UNSEEN_VALUE)
