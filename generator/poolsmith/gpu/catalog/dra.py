"""GPUs by claims: what a GPUCluster needs, and the feature gates of its DRA driver."""

from __future__ import annotations

from functools import cache

from poolsmith.core.facts import store
from poolsmith.core.record import record


@record
class FeatureGate:
    """`variable` has to be set beside it."""

    alpha: bool
    conflicts: tuple[str, ...]
    needs: str | None
    variable: str | None


@record
class DraFacts:
    """`domains` are GPUs with NVLink over several nodes; `distributions_without` have no documented procedure."""

    kubernetes: str
    distributions_without: tuple[str, ...]
    domains: tuple[str, ...]
    runtimes: tuple[str, ...]
    gates: dict[str, FeatureGate]
    device_class: str
    claim_version: str
    domain_version: str
    source: str


@cache
def read_dra() -> DraFacts:
    data = store.read_yaml("dra.yaml")
    return DraFacts(
        kubernetes=data["kubernetes"],
        distributions_without=tuple(data["distributionsWithout"]),
        domains=tuple(data["domains"]),
        runtimes=tuple(data["runtimes"]),
        gates={
            name: FeatureGate(
                alpha=entry["maturity"] == "alpha",
                conflicts=tuple(entry.get("conflicts", ())),
                needs=entry.get("needs"),
                variable=entry.get("variable"),
            )
            for name, entry in data["gates"].items()
        },
        device_class=data["deviceClass"],
        claim_version=data["claimVersion"],
        domain_version=data["domainVersion"],
        source=data["source"],
    )
