"""PSM02x: packs of facts beside the built-in catalog."""

from poolsmith.core.diagnostics.rule_info import RuleInfo

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
    "file that its manifest does not list, a link, too much, or text that is not what the catalog has of a release.",
    why="A pack adds releases. It can't change what is known of others, so that adding one changes nothing for "
    "clusters on other releases.",
    fix="take the release out of the pack; or make the pack anew with `poolsmith catalog import`",
)
PACKS = (PACK_NOT_PINNED, PACK_REFUSED)
