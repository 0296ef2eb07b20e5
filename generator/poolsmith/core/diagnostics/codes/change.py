"""PSM66x: what a change adds to what its base allows. No setting and no waiver holds for these."""

from poolsmith.core.diagnostics.rule_info import RuleInfo

POLICY_WIDENING = RuleInfo(
    code="PSM660",
    name="policy-widening",
    applies_to="policy",
    what="With --policies-from: after the change, `policies/` allows something that it does not allow in the base: a "
    "grant that is new or wider or holds longer, a waiver, a weaker setting, less enforcement, an admission policy "
    "that is gone or that nobody can tell to be as strict as before.",
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

CHANGE = (POLICY_WIDENING, JUDGE_CHANGE, BESIDE_OUTPUT)
