"""Which distribution a repository's stack goes to, where its files about machines and clusters tell it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mappings, word
from poolsmith.core.sources.pointer import reached, value_at
from poolsmith.gpu.catalog.stack_objects import CHARTS
from poolsmith.kubernetes.repository.manifest_files import folders_above, is_script

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.model import EngineDelivery, RepositoryModel

TALOS, RKE2_CIS = "talos", "rke2 with the profile cis"
"""Distributions that enforce a Pod Security level in each namespace that says none."""


def is_alone(model: RepositoryModel) -> bool:
    """Whether the stack goes to one cluster, as far as the files say: what they tell of machines is about that one."""
    stacks = sum(map(_has_stack, model.deliveries))
    if stacks:
        return stacks == 1
    loose = Counter(item.chart for item in model.installations if item.chart in CHARTS)
    return all(number == 1 for number in loose.values())


def _has_stack(part: EngineDelivery) -> bool:
    return any(item.chart in CHARTS for item in part.installations)


def distributions_of(documents: Iterable[CheckedDocument]) -> frozenset[str]:
    """All that files configure machines or clusters of."""
    kinds: set[tuple[str, str]] = set()
    found: set[str] = set()
    for document in documents:
        if document.is_object:
            kinds.add((document.kind, document.api_version.partition("/")[0]))
        else:
            found.add(_of_configuration(document.data))
    return frozenset((found | {_of_object(*kind) for kind in kinds}) - {""})


def told_distribution(model: RepositoryModel) -> str | None:
    """The one that the stack goes to, by its name in the catalog; None where that is not known."""
    found = distributions_of(model.documents) | _installed_beside(model) if is_alone(model) else frozenset()
    return min(found).partition(" ")[0] if len(found) == 1 else None


def _installed_beside(model: RepositoryModel) -> frozenset[str]:
    """Those that scripts install beside what installs the stack, or above it."""
    folders = {above for item in model.all_installations if item.chart in CHARTS for above in _at(item.document.path)}
    near = (path for path in model.others if is_script(path) and path.rpartition("/")[0] in folders)
    texts = [text for path in near if (text := model.files.text(path))]
    rows = [row for row in store.table("node_makers.yaml")["clouds"] if "installer" in row]
    return frozenset(row["distribution"] for row in rows for text in texts if _installs(text, row["installer"]))


def _at(path: str) -> tuple[str, ...]:
    return ("", *folders_above(path))


def _installs(text: str, installer: str) -> bool:
    """Whether a line has it that is no comment."""
    return installer in text and any(installer in line.partition("#")[0] for line in text.split("\n"))


def enforced_by(documents: Iterable[CheckedDocument]) -> str:
    """The distribution that enforces a Pod Security level where a namespace says none; empty where none is known, or
    its machines are told otherwise."""
    found = list(documents)
    name = min(distributions_of(found) & {TALOS, RKE2_CIS}, default="")
    return "" if name == TALOS and any(map(_turns_off, found)) else name


def _turns_off(document: CheckedDocument) -> bool:
    """Whether a machine configuration, a patch of one or a list of patches takes or writes Talos' own admission."""
    if document.is_object or _ADMISSION not in str(document.data):
        return False
    said = value_at(document.data, ("cluster", "apiServer", _ADMISSION), None)
    levels = [value_at(item, ("configuration", "defaults", "enforce"), None) for item in mappings(said)]
    return not any(level in _LEVELS for level in levels)


_ADMISSION, _LEVELS = "admissionControl", ("baseline", "restricted")


def _of_configuration(data: Any) -> str:
    if not isinstance(data, dict):
        return ""
    if isinstance(data.get("machine"), dict) or "talosVersion" in data:
        return TALOS
    if str(data.get("profile", "")).startswith("cis"):
        return RKE2_CIS
    written = [word(path) for steps in _WRITTEN for _, path in reached(data, steps)]
    rows = store.table("node_makers.yaml")["clouds"]
    return next((row["distribution"] for row in rows for path in written if _is_below(path, row)), "")


_WRITTEN = (("write_files", "*", "path"), ("storage", "files", "*", "path"))
"""Of files that cloud-init and Ignition write on a machine."""


def _is_below(path: str, row: Mapping[str, Any]) -> bool:
    return "folder" in row and path.startswith(row["folder"])


def _of_object(kind: str, group: str) -> str:
    for row in store.table("node_makers.yaml")["clouds"]:
        if group in row["groups"] or kind in row["kinds"]:
            return str(row["distribution"])
    return ""
