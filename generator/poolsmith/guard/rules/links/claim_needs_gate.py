"""Claims whose configuration the DRA driver beside them does not take, for a feature gate of it is off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes.gpu_use import DRA_GATES
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import reached, value_at
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = DRA_GATES
_TOPS = {"ResourceClaim": ("spec",), "ResourceClaimTemplate": ("spec", "spec")}
_STRATEGY = ("parameters", "sharing", "strategy")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    gates = store.table("dra.yaml")["sharing"]
    for item in view.of_kind(*_TOPS):
        for at, opaque in reached(item.data, (*_TOPS[item.kind], "devices", "config", "*", "opaque")):
            strategy = word(value_at(opaque, _STRATEGY)) if mapping(opaque).get("driver") == "gpu.nvidia.com" else ""
            place = f"{at}/{'/'.join(_STRATEGY)}"
            if strategy and strategy not in gates:
                text = f"{item.name}: the DRA driver knows no sharing strategy `{shorten(strategy)}`"
                yield Finding(message=text, place=item.place(place), help=did_you_mean(strategy, gates))
            elif strategy and (off := _off(view, gates[strategy])) is not None:
                yield Finding(
                    message=f"{item.name} shares by `{strategy}`, which the DRA driver here does not know: its feature "
                    f"gate `{gates[strategy]}` is off",
                    place=item.place(place),
                    help=f"write `featureGates: {{{gates[strategy]}: true}}` into the values of {off.name}",
                    related=(off.place("featureGates"),),
                )


def _off(view: LinkView, gate: str) -> Any:
    """The one driver of the view, where the gate is off for certain."""
    from poolsmith.gpu.catalog.dra_gates import gates_of, gates_on  # on demand

    charts = list(view.named(*DRA_DRIVER_CHARTS))
    if len(charts) != 1 or charts[0].partial or charts[0].version is None:
        return None
    known = gates_of(charts[0].version)
    is_off = gate in known and gate not in gates_on(mapping(charts[0].known("featureGates")), known)
    return charts[0] if is_off else None
