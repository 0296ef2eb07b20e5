"""PSM0xx: reading files; PSM02x: packs of facts; PSM03x: profiles of several teams in one fleet."""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

UNREADABLE_FILE = RuleInfo(
    code="PSM001",
    name="unreadable-file",
    what="A profile or policy file can't be read: permissions, an I/O error, or not a regular file.",
    why="A file that can't be read can't be checked. A run that skipped it would be green without having checked it.",
    fix="make the file a regular file that the current user may read",
)
NOT_UTF8 = RuleInfo(
    code="PSM002",
    name="not-utf8",
    what="A file is not UTF-8 text.",
    why="Kubernetes reads only UTF-8. Bytes in another encoding become other names and values.",
    fix="save the file as UTF-8",
)
YAML_SYNTAX = RuleInfo(
    code="PSM003",
    name="yaml-syntax",
    what="A file is not YAML: for example a tab as indentation, an open bracket, or one colon too many.",
    why="Nothing in the file can be read.",
    bad="spec:\n\tgpu: {product: A40}\n",
    good="spec:\n  gpu: {product: A40}\n",
)
DUPLICATE_KEY = RuleInfo(
    code="PSM004",
    name="duplicate-key",
    what="A mapping has the same key twice.",
    why="YAML readers silently keep the last value, so the first one is lost.",
    fix="keep one of the two",
    bad="driver:\n  source: container\n  source: precompiled\n",
    good="driver:\n  source: precompiled\n",
    at_key=True,
)
MERGE_CONFLICT_MARKER = RuleInfo(
    code="PSM005",
    name="merge-conflict-marker",
    what="A line is a conflict marker that git left in the file.",
    why="Both sides of the conflict are in the file, and neither is what you want.",
    fix="resolve the conflict and remove the marker lines",
)
BYTE_ORDER_MARK = RuleInfo(
    code="PSM006",
    name="byte-order-mark",
    what="A file starts with a byte-order mark.",
    why="Some YAML readers make the mark a part of the first key, so the same file has two meanings.",
    fix="save the file as UTF-8 without a byte-order mark",
)
EMPTY_DOCUMENT = RuleInfo(
    code="PSM007",
    name="empty-document",
    what="A profile is empty, or has only comments.",
    why="Somebody meant to declare a cluster or pool, and it would silently not exist.",
    fix="write the profile, or delete the file",
)
SEVERAL_DOCUMENTS = RuleInfo(
    code="PSM008",
    name="several-documents",
    what="A profile or a Helm values file has more than one YAML document.",
    why="With one document in each file, every pool has its own reviews, owners and conflicts. Of a values file, "
    "Helm silently reads only the first document.",
    fix="move each document into a file of its own",
)
NOT_A_MAPPING = RuleInfo(
    code="PSM009",
    name="not-a-mapping",
    what="The top level of a profile or a Helm values file is a list or a scalar.",
    why="A profile is one object with apiVersion, kind, metadata and spec. Helm values are a mapping.",
    fix="start the file with `apiVersion: poolsmith/v1`",
)
INPUT_LIMIT = RuleInfo(
    code="PSM010",
    name="input-limit",
    what="A file is larger or nested deeper than any profile needs, or its aliases expand to too much.",
    why="Pull requests may come from strangers. A small file must not cost minutes or gigabytes.",
)
LINK_OUT_OF_TREE = RuleInfo(
    code="PSM011",
    name="link-out-of-tree",
    what="A symbolic link in the input leads out of the project.",
    why="Otherwise a pull request could read files of the machine that checks it.",
    fix="put the file itself into the project",
)
UNKNOWN_KIND = RuleInfo(
    code="PSM012",
    name="unknown-kind",
    what="A profile has an apiVersion or kind that is not allowed in this place.",
    why="A misspelt kind must not make a file disappear from the output.",
)
NOT_JSON = RuleInfo(
    code="PSM013",
    name="not-json",
    what="A key is null or a collection, or a number is infinite. YAML allows this, JSON does not.",
    why="Kubernetes turns YAML into JSON and refuses such documents.",
)
MISPLACED_FILE = RuleInfo(
    code="PSM014",
    name="misplaced-file",
    what="A file or folder below `profiles/` is in a place where poolsmith does not look.",
    why="poolsmith would silently ignore it.",
    fix="move it to profiles/<cluster>/ or profiles/_bases/; known beside them: profiles/_driver-images.yaml",
)
TEXT_AFTER_DOCUMENT_MARKER = RuleInfo(
    code="PSM015",
    name="text-after-document-marker",
    what="Text follows `---` on the same line.",
    why="Kubernetes' stream reader ignores the rest of that line; YAML readers keep it.",
    fix="move the text to the next line",
    bad="--- {kind: NodePool}\n",
    good="---\nkind: NodePool\n",
)
AMBIGUOUS_YAML = RuleInfo(
    code="PSM016",
    name="ambiguous-yaml",
    applies_to="policy",
    what="A file that is shipped as it stands has YAML that its readers take in different ways: a carriage "
    "return alone, other line breaks, tags, merge keys, directives, `...`, plain scalars such as `yes`, "
    "`0777`, `1_000`, `1:30` and dates, keys that are no texts, values left out between braces, or "
    "folded texts with indented lines.",
    why="Of such a file kustomize, Argo CD, Flux and the API server can make other objects than those that were "
    "checked, or drop one.",
    fix="write it in the one form that all readers take alike; the message says how",
    bad="validationActions: [Deny]\nmetadata: {annotations: {checked: yes}}\n",
    good='validationActions: [Deny]\nmetadata: {annotations: {checked: "yes"}}\n',
)


PACK_NOT_PINNED = RuleInfo(
    code="PSM020",
    name="pack-not-pinned",
    applies_to="profile",
    what="A pack of facts below profiles/_catalog/ is not what profiles/_catalog/lock.yaml pins: it is not listed "
    "there, it is gone, its manifest has another hash or version, or a file has another hash than the manifest says.",
    why="Facts decide what is generated and predicted, so that a changed fact can hide a privilege. A pack is taken as "
    "a whole and by its hash, or not at all; its releases are unknown meanwhile.",
    fix="find out who changed it and why; `poolsmith catalog pin` pins what is there, and shows in the review",
)
PACK_REFUSED = RuleInfo(
    code="PSM021",
    name="pack-refused",
    applies_to="profile",
    what="A pack of facts holds what no pack may hold: facts of a release that is built in or in another pack, a "
    "file that its manifest does not list, a link, too much, text that is not what the catalog has of a release, or a "
    "row of a table that is built in and that the pack does not say it corrects.",
    why="A pack adds releases, and rows of tables. It can't change what is known of other releases, so that adding one "
    "changes nothing for clusters on them; and it changes no row in silence.",
    fix="take the release out of the pack; or make the pack again with `poolsmith catalog import`",
)
PACK_CORRECTS = RuleInfo(
    code="PSM022",
    name="pack-corrects",
    severity=Severity.NOTE,
    applies_to="profile",
    what="A pack of facts contradicts a row of a built-in table.",
    why="The pages of the catalog have the built-in fact, and clusters are generated and judged by the pack's.",
    fix="see that the pack is right; take the row out when the built-in fact is",
)


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
