"""A word that the field of the custom resource does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo(
    code="PSM323",
    name="value-enum",
    applies_to="values",
    what="Helm values set a word that the custom resource's field does not accept. Known from v24.6.0 on.",
    why="The API server refuses the ClusterPolicy or NVIDIADriver, and nothing of the release changes.",
    bad="mig:\n  strategy: Mixed\n",
    good="mig:\n  strategy: mixed\n",
    references=("the CRDs of the chart at its tag",),
)


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    for item in document.known:
        if not item.node.enum or not isinstance(item.value, str) or item.value in item.node.enum:
            continue
        words = [word for word in item.node.enum if word]
        yield Finding(
            place=item.path,
            message=f"`{dotted(item.path)}` can't be `{shorten(item.value)}`; it is one of "
            + ", ".join(f"`{word}`" for word in words),
            help=did_you_mean(item.value, words),
        )
