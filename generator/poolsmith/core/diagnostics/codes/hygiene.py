"""PSM5xx: the committed output."""

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

OUT_OF_DATE = RuleInfo(
    code="PSM501",
    name="output-out-of-date",
    applies_to="output",
    what="The committed output is not what the profiles generate.",
    why="The cluster would get something other than what was reviewed.",
    fix="run `poolsmith generate` and commit the result",
    follows=True,
)
HAND_EDITED = RuleInfo(
    code="PSM502",
    name="hand-edited",
    applies_to="output",
    what="A generated file differs from the hash that its lock recorded: somebody edited it.",
    why="The next `poolsmith generate` overwrites the edit, and until then no profile explains it.",
    fix="move the change into a profile and run `poolsmith generate`",
)
ORPHANED_OUTPUT = RuleInfo(
    code="PSM503",
    name="orphaned-output",
    applies_to="output",
    what="A cluster's folder in the output has a lock, but the cluster has no profile.",
    why="It is still synced, but nothing describes it any more.",
    fix="run `poolsmith generate`: it removes the files that the lock owns",
)
FOREIGN_FILE = RuleInfo(
    code="PSM504",
    name="foreign-file",
    severity=Severity.WARNING,
    applies_to="output",
    what="A generated folder contains a file that no lock owns.",
    why="poolsmith does not touch it. People think that it is generated, and look in vain for its profile.",
    fix="move it out of the generated folder",
)
BAD_LOCK = RuleInfo(
    code="PSM505",
    name="bad-lock",
    applies_to="output",
    what="A lock file is not one that poolsmith wrote.",
    why="Without a lock, poolsmith can't know which files are generated, so it changes nothing.",
    fix="restore it from version control; after a merge conflict take either side, then run `poolsmith generate`",
)
PATH_OCCUPIED = RuleInfo(
    code="PSM506",
    name="path-occupied",
    applies_to="output",
    what=("A file that no lock owns is where a generated file must go, or a link leads the output elsewhere."),
    why="poolsmith never overwrites a file that it did not write.",
    fix="move the file away; if it was generated, restore its poolsmith.lock.json",
)

VALUE_OF_SOME_RELEASES = RuleInfo(
    code="PSM584",
    name="value-of-some-releases",
    severity=Severity.NOTE,
    applies_to="values",
    what="Nobody says for which release of the chart these Helm values are, and not all known releases read a key.",
    why="Helm silently drops a key that its chart does not read. Without the release it is unknown whether it does.",
    fix="write the chart's version where it is installed, or give `--release TAG`",
    references=("values.yaml and templates of the chart at each tag",),
)
NOT_JUDGED = RuleInfo(
    code="PSM585",
    name="not-judged",
    applies_to="manifest",
    what="A configuration of the GPU stack that nobody judged: its release is older or newer than all that are known, "
    "all of its values are made by a template, the chart's values are not known, or its Terraform can't be read.",
    why="A run without findings would look as if the configuration had been judged.",
    fix="do what the message says, or accept it with a waiver or a baseline entry",
    bad="# in fleet.yaml\nhelm: {chart: gpu-operator, version: v1.11.1, values: {driver: {enabled: false}}}\n",
    good="# in fleet.yaml\nhelm: {chart: gpu-operator, version: v25.3.4, values: {driver: {enabled: false}}}\n",
)
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
