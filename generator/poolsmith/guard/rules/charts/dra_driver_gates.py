"""Feature gates in values of the DRA driver's own chart with which the driver does not start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes.gpu_use import DRA_GATES
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS
from poolsmith.gpu.values.values_places import is_filled_later

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

RULE = DRA_GATES
_GATES = "featureGates"
_BOOLEANS = frozenset(("1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"))
"""What Go reads as one."""
_SHARED = "memory"
"""How devices are shared stands elsewhere in the values of this chart."""


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    for item in installations:
        gates = item.values.get(_GATES) if item.chart in DRA_DRIVER_CHARTS else None
        if not isinstance(gates, dict) or item.version is None:
            continue
        for name, said in gates.items():
            if said is not None and str(said) not in _BOOLEANS and not is_filled_later(str(said)):
                yield Finding(
                    message=f"the DRA driver stops: the feature gate `{shorten(str(name))}` is `{shorten(str(said))}`, "
                    "which is no boolean",
                    place=item.locate((_GATES, str(name))),
                    help="write `true` or `false`",
                    subject=item.document.name,
                )
        from poolsmith.gpu.catalog.dra_gates import gate_mistakes, gates_of, gates_on  # on demand

        shares = _SHARED if "ConsumableShares" in gates_on(gates, gates_of(item.version)) else None
        for mistake in gate_mistakes({str(name): on for name, on in gates.items()}, shares, item.version):
            yield Finding(
                message=mistake.message,
                place=item.locate((_GATES, mistake.gate) if mistake.gate else (_GATES,)),
                help=mistake.help,
                subject=item.document.name,
            )
