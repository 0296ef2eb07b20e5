"""Where documents of our kinds stand: the kind decides, before the folder that a file was put into."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.message_text import nearest
from poolsmith.core.pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.core.sources.input_tree import InputTree

PLACES = {
    "Cluster": "profiles/<cluster>/cluster.yaml",
    "NodePool": "profiles/<cluster>/<pool>.yaml",
    "NodePoolBase": "profiles/_bases/<base>.yaml",
    "DriverImageList": "profiles/_driver-images.yaml",
    "RingOrder": "profiles/_rings.yaml",
    "TeamList": "profiles/_teams.yaml",
    "CatalogLock": "profiles/_catalog/lock.yaml",
    "PrivilegeGrant": "policies/privileges/<workload>.yaml",
    "PrivilegeEnforcement": "policies/enforcement.yaml",
    "SupplyPolicy": "policies/supply.yaml",
    "WaiverList": "policies/waivers.yaml",
    "RuleSettings": "policies/rules.yaml",
    "Baseline": "policies/baseline.yaml",
    "PolicyTest": "policies/admission/<policy>.test.yaml",
    "ValidatingAdmissionPolicy": "policies/admission/<policy>.yaml",
    "ValidatingAdmissionPolicyBinding": "policies/admission/<policy>.yaml",
}
_KIND = pattern(r"^kind:[ \t]*[\"']?([A-Za-z]+)", re.MULTILINE)


def place_of(kind: str, path: str) -> str | None:
    """The path of a document of this kind, in the folder where the file is now if it may stand there."""
    place = PLACES.get(kind)
    if place is None:
        return None
    folder, _, name = path.rpartition("/")
    own = place.rpartition("/")[2] if "<" not in place.rpartition("/")[2] else name
    cluster = folder.removeprefix("profiles/") if folder.startswith("profiles/") else ""
    known = cluster and not cluster.startswith("_") and "/" not in cluster
    return f"{place.rpartition('/')[0]}/{own}".replace("<cluster>", cluster if known else "<cluster>")


def misplaced(tree: InputTree, path: str, known: Iterable[str], advice: str) -> Diagnostic:
    """A finding on a file, or a folder, where nobody looks: what it is, by its kind, and where it belongs.

    `known` are the names that there may be beside it.
    """
    folder, _, name = path.rpartition("/")
    kind = _kind_of(tree, path)
    place = place_of(kind, path) if kind is not None else None
    if (near := nearest(name, known, certain=True)) is not None:
        help_text = f"rename it to {folder}/{near}"
    else:
        help_text = f"move it to {place}" if place is not None else advice
    what = f"poolsmith does not look here for a {kind}" if place is not None else "poolsmith does not look here"
    return diagnose(reading.MISPLACED_FILE, what, whole_file(path), help=help_text)


def _kind_of(tree: InputTree, path: str) -> str | None:
    if not path.endswith((".yaml", ".yml")):
        return None
    text = tree.read_text(path)
    match = _KIND.search(text) if isinstance(text, str) else None
    return match[1] if match else None
