"""Needs that nothing which reaches the cluster supplies: from outside, or in a file that no kustomization lists."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import nearest
from poolsmith.core.sources.pod_template import words
from poolsmith.guard.rules.links.name_needs import state_of
from poolsmith.guard.rules.names.kept import kept
from poolsmith.guard.rules.names.messages import outside, unlisted
from poolsmith.guard.rules.names.need import State, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.names.need import Need
    from poolsmith.guard.rules.setup.setup_view import SetupObject


def from_outside(view: LinkView, needs: Iterable[Need], kinds: tuple[str, ...]) -> Iterator[Finding[Location]]:
    """Of these kinds; of all where somebody keeps policies/external.yaml, or a file has the object."""
    for need in needs:
        if need.may_be_absent or state_of(view, need) is not State.OUTSIDE:
            continue
        found = _unlisted(view, need)
        if found is not None:
            yield found
        elif need.kind in kinds or view.external is not None:
            yield outside(Verdict(need, State.OUTSIDE), Severity.NOTE)


_BY_OTHERS = ("Secret", "PersistentVolumeClaim")
"""Kinds that people apply by themselves: what is secret, and data that no engine may prune."""


def _unlisted(view: LinkView, need: Need) -> Finding[Location] | None:
    """Where one file alone beside a kustomization has it."""
    named = _unlisted_by_name(view).get((need.kind, need.name), ())
    if need.kind in _BY_OTHERS or len(named) != 1:
        return None
    folder, name = posixpath.split(named[0].file)
    for item in view.kustomizations:
        listed = words(item.data.get("resources"), empty=True)
        if item.kind == "Kustomization" and posixpath.dirname(item.file) == folder and listed:
            last = item.place(f"/resources/{len(listed) - 1}", "the files that are applied")
            is_sound = len(listed) == len(item.data["resources"]) and not _is_misspelt(name, folder, listed, view)
            return unlisted(need, named[0], name, last) if is_sound and _may_be(named[0], item, need) else None
    return None


@kept
def _unlisted_by_name(view: LinkView) -> dict[tuple[str, str], list[SetupObject]]:
    found: dict[tuple[str, str], list[SetupObject]] = {}
    for item in view.unlisted:
        found.setdefault((item.kind, item.own_name), []).append(item)
    return found


def _may_be(found: SetupObject, kustomization: SetupObject, need: Need) -> bool:
    put = kustomization.data.get("namespace") or found.metadata.get("namespace")
    renames = any(kustomization.data.get(key) for key in ("namePrefix", "nameSuffix"))
    return not renames and (need.namespace is None or put in (None, "", need.namespace))


def _is_misspelt(name: str, folder: str, listed: Sequence[str], view: LinkView) -> bool:
    """Whether it is what one of the names that bring nothing means."""
    there = {item.file for item in view.objects}
    empty = [word for word in listed if posixpath.normpath(posixpath.join(folder, word)) not in there]
    return nearest(name, map(posixpath.basename, empty), certain=True) is not None
