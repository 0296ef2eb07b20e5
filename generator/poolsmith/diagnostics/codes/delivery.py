"""PSM59x: what delivery engines make of a repository."""

from poolsmith.diagnostics.rule_info import RuleInfo

BUILD_REFUSED = RuleInfo(
    code="PSM590",
    name="build-refused",
    applies_to="manifest",
    what="kustomize stops at a line of a kustomization: a resource that is there twice, a patch for an object that is "
    "not there, a file that does not exist, a field that it does not know.",
    why="Nothing of the whole build is applied: the engine keeps what runs, and reports an error.",
    bad="kind: Kustomization\nresources: [driver.yaml]\npatches: [{path: patch-of-another-name.yaml}]\n",
    good="kind: Kustomization\nresources: [driver.yaml]\npatches: [{path: patch-of-driver.yaml}]\n",
    references=("kustomize 5.7, as the tests build with it",),
)
DELIVERY = (BUILD_REFUSED,)
