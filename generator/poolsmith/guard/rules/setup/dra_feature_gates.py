"""Feature gates of the DRA driver in values or a GPUCluster with which the driver does not start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes.gpu_use import DRA_GATES
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.gpu.catalog.gpu_clusters import read_dra
from poolsmith.guard.rules.setup.setup_view import below_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import Place, SetupView

RULE = DRA_GATES
NEEDS = ()
_DEPLOYED = "gpuCluster.deployCR"
_ENV = ("gpus", "kubeletPlugin", "env")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.flag(_DEPLOYED) is True:
        yield from _judged(view.value("draDriver"), below_values(view, "draDriver"))
    for item in view.of_kind("GPUCluster", "nvidia.com"):
        yield from _judged(item.spec.get("draDriver"), item.below("/spec/draDriver"))


def _judged(driver: Any, place: Place) -> Iterator[Finding[Location]]:
    gates = value_at(driver, ("featureGates",))
    env = value_at(driver, _ENV)
    shares = _shares(env)
    if not gates and shares is None:
        return
    from poolsmith.gpu.catalog.dra_gates import gate_mistakes  # on demand

    version = value_at(driver, ("version",))
    settings = gates if isinstance(gates, dict) else {}
    for mistake in gate_mistakes(settings, shares, version if isinstance(version, str) else None):
        pointer = join("/featureGates", mistake.gate) if mistake.gate else join("", *_ENV)
        yield Finding(message=mistake.message, place=place(pointer), help=mistake.help)


def _shares(env: Any) -> str | None:
    """What CONSUMABLE_SHARES is, the last of several; None where nobody sets it, or takes it from elsewhere."""
    wanted = read_dra().gates["ConsumableShares"].variable
    entries = [item for item in env if isinstance(item, dict)] if isinstance(env, list) else []
    found = next((item for item in reversed(entries) if item.get("name") == wanted), {})
    value = found.get("value")
    return value if isinstance(value, str) else None
