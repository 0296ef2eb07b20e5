"""Variables of Flux that nothing stands for: an empty text is put in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.engines import difference, holds
from poolsmith.gpu.catalog.stack_objects import is_of_stack, own_namespaces
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import WHOLE, Need, State
from poolsmith.kubernetes.repository.flux import DISABLED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.kubernetes.repository.flux import Emptied

RULE = RuleInfo.of("PSM777")
_FILES = ("/data/", "/stringData/")
_EMPTIES, _REFUSES = "puts nothing in the place of", "refuses all that it applies together with"
_VARIABLE, _VENDOR = "Variable", "nvidia"
"""In a script or a workload: it is about GPUs, whatever it is called."""


@kept_all
def _emptied(view: LinkView) -> Iterator[tuple[Need, Emptied]]:
    """Once for each variable of an object: what Flux has no value for, and what has no default."""
    namespaces = own_namespaces((chart.name, chart.namespace) for chart in view.charts)
    once = {(id(found.item), found.name): found for found in reversed(view.emptied)}
    for found in reversed(once.values()):
        if is_of_stack(found.item, namespaces) or _VENDOR in str(found.item.data).lower():
            locate = found.item.source.locate
            need = Need(kind=_VARIABLE, name=found.name, locate=locate, pointer=found.pointer)
            yield need, found


DOMAINS = (Domain(_VARIABLE, lambda view: (need for need, _ in _emptied(view)), supply=lambda _: WHOLE),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for need, found in _emptied(view):
        if names_of(view).verdict(need).state is State.UNDEFINED:
            yield _finding(need, found, is_strict=bool(holds(difference("strict-substitution"), view.engines)))


def _finding(need: Need, found: Emptied, *, is_strict: bool) -> Finding[Location]:
    name = shorten(found.name)
    is_script = found.pointer.startswith(_FILES)
    help_ = (
        f"write `$${{{name}}}`, or the annotation `{DISABLED}: disabled` into the object"
        if is_script
        else f"define `{name}` there, or write a default: `${{{name}:=...}}`"
    )
    return Finding(
        message=f"Flux {_REFUSES if is_strict else _EMPTIES} `${{{name}}}`: its Kustomization has no such variable",
        place=need.place,
        help=help_,
        related=(found.unit,),
    )
