"""PSM66x and PSM67x: what a change adds to what its base allows, and what its Helm values give to running workloads.

No setting and no waiver holds for PSM66x.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo

POLICY_WIDENING = RuleInfo(
    code="PSM660",
    name="policy-widening",
    applies_to="policy",
    what="With --policies-from: after the change, `policies/` allows something that it does not allow in the base: a "
    "grant that is new or wider or holds longer, a waiver, a weaker setting, less enforcement, an admission policy "
    "that is gone, that is not known to be as strict as before, or that newly reads secrets.",
    why="The change itself is judged by the policies of the base, but the next one would be judged by these. What "
    "nobody looked at today would pass tomorrow without a finding.",
    fix="leave it as it is in the base; or have the owners of policies/ approve the change, and check it with "
    "`--accept policy-widening`",
)
JUDGE_CHANGE = RuleInfo(
    code="PSM661",
    name="judge-change",
    applies_to="policy",
    what="With --policies-from: the change touches a file that runs this check, decides what it runs, decides who must "
    "approve, or decides what reviewers and delivery engines see: workflows and actions, hooks, pins, CODEOWNERS, "
    ".gitattributes, submodules. A file of these that has nothing to do with the check is a note.",
    why="Whoever changes the judge along with what is judged decides the case. A check that says nothing may have "
    "looked at nothing.",
    fix="take it out of the change; or have its owners approve it, and check it with `--accept judge-change`",
)
BESIDE_OUTPUT = RuleInfo(
    code="PSM662",
    name="beside-output",
    applies_to="policy",
    what="With --policies-from: the change brings something into a delivered folder that poolsmith did not generate: a "
    "file that no lock owns, a link, a submodule, a mode, a name that some file systems take for another one; or it "
    "lets delivery point at a folder that poolsmith does not write.",
    why="Argo CD and Flux take what they find there: a second kustomization, a chart, an `.argocd-source.yaml` replace "
    "or change what was generated, and no ledger shows it.",
    fix="take it out of the change; what clusters are to get belongs into profiles, or into another folder",
)

CHECKED_OUT_OTHERWISE = RuleInfo(
    code="PSM663",
    name="checked-out-otherwise",
    applies_to="policy",
    what="A commit is judged, and a file of its profiles, policies or output is checked out with other bytes: it was "
    "edited and not committed, or git itself converts it (filters, `working-tree-encoding`, `ident`).",
    why="The commit is what is merged and delivered. Who looks at the work tree sees something else.",
    fix="commit the file, or restore it; to judge files that are not committed yet, use `--judge work-tree`",
)


UNACCEPTED_SETTING = RuleInfo(
    code="PSM670",
    name="unaccepted-setting",
    applies_to="profile",
    what="With --policies-from: the Helm values of a change give a predicted object a setting that it does not have in "
    "the base, that does not follow from the profiles, and that nobody has accepted: another command, a variable, a "
    "volume, an annotation, a device, an object of your own. Or a pod loses what kept it in its place; or a pool "
    "names a ConfigMap, a Secret or an argument of its kernels that no pool of the base has.",
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
CHANGE_AT_A_DISTANCE = RuleInfo(
    code="PSM672",
    name="change-at-a-distance",
    applies_to="profile",
    what="With --policies-from, and in `diff`: the change of one pool takes from another pool of the cluster what its "
    "workloads are scheduled by: a resource gets another name or is gone, a label of its nodes changes, a RuntimeClass "
    "vanishes. What is acknowledged with the same change is a note.",
    why="Much of the stack is there once for a cluster. A pool with slices of several sizes needs the MIG strategy "
    "`mixed`, and under it the slices of all other pools have other names: their pods stay pending, and nobody who "
    "works with them has seen a change of theirs.",
    fix="keep it from reaching the other pool, or acknowledge it in that pool's profile: the message has the line",
    bad="gpu: {mig: {layout: all-balanced}}\n",
    good="acknowledge: [{fact: offers/nvidia.com/mig-1g.10gb, by: team-vision, date: 2026-11-20}]\n",
)
LEAVES_THE_DELIVERY = RuleInfo(
    code="PSM673",
    name="leaves-the-delivery",
    applies_to="profile",
    what="With --policies-from, and in `diff`: a HelmRelease or an Application that installs a chart is in the "
    "delivery of the base and not in that of the change, or would install the chart elsewhere: a cluster with another "
    "name, another engine, another namespace, another kind of stack, a unit that nothing asks for any more. What is "
    "only left behind, and what goes with a whole cluster, is a warning; what is acknowledged with the same change is "
    "a note. So is told what a change takes away of installations that no profile asks for, by Flux, Argo CD, k3s, "
    "Fleet, OLM, Terraform, Helmfile or Ansible: an error where the release gets another name or namespace, or the "
    "same chart comes again under another name; a note where the declaration says itself that its release stays.",
    why="The engine does not know that it is a rename: to Flux the HelmRelease is gone, and it uninstalls the operator "
    "within seconds, with all drivers; what is new then fails or waits. Nothing of that comes back by itself.",
    fix="take it back, or let `poolsmith move` write the steps (docs/moves.md); else acknowledge it in the cluster's "
    "profile: the message has the line",
    bad="metadata: {name: prod-eu-2}   # prod-eu in the base\n",
    good="acknowledge: [{fact: gone/HelmRelease/prod-eu-gpu-operator, by: platform-team, date: 2026-11-20}]\n",
)
REFUSED_BY_THE_SERVER = RuleInfo(
    code="PSM674",
    name="refused-by-the-server",
    applies_to="profile",
    what="With --policies-from, and in `diff`: a change gives an object that is applied, or that a chart makes, a new "
    "value of a field that the API server lets nobody change. What is acknowledged with the same change is a note.",
    why="Nothing of that reaches the cluster: each sync or upgrade fails, with all that comes with it, until somebody "
    "deletes the object. Nobody does that by a merge.",
    fix="take it back, or give the object another name; else acknowledge it in the cluster's profile (the message has "
    "the line), and delete the object once the change is merged",
    bad="# the selector of a Deployment that is there already\nselector: {matchLabels: {app: another}}\n",
    good="acknowledge: [{fact: refused/Deployment/gpu-operator, by: platform-team, date: 2026-11-20}]\n",
)
