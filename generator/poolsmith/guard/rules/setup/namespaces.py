"""Namespaces that files describe, with what Pod Security admission enforces in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.view import SetupObject, SetupView

ENFORCE = "pod-security.kubernetes.io/enforce"
PRIVILEGED = "privileged"
SYSTEM = frozenset(("default", "kube-system", "kube-public", "kube-node-lease"))


def described(view: SetupView) -> Iterator[tuple[SetupObject, str]]:
    """Each Namespace, with the level that it enforces; empty where its labels say nothing."""
    for item in view.of_kind("Namespace", ""):
        yield item, word(mapping(item.metadata.get("labels")).get(ENFORCE))


def label_place(item: SetupObject, note: str | None = None) -> Location:
    """The label, or the nearest line that there is."""
    return item.place(join("/metadata/labels", ENFORCE), note)
