"""PSM03x: profiles of several teams in one fleet."""

from poolsmith.core.diagnostics.rule_info import RuleInfo

NOT_THE_TEAMS = RuleInfo(
    code="PSM030",
    name="not-the-teams",
    applies_to="profile",
    what="With `gather`: a team's repository brings a cluster or a base that profiles/_teams.yaml does not give to "
    "it, or that the platform or another team has already.",
    why="A cluster or base with the name of somebody else's would take its place in the fleet, with the privileges "
    "that were granted for that one.",
    fix="rename it in the team's repository; or have the owners of profiles/_teams.yaml give it to the team",
)
TEAMS = (NOT_THE_TEAMS,)
