"""Use case: the JSON Schemas of our kinds, and of the reports in JSON."""

from __future__ import annotations

import json

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.shape.json_schema import Kind, schema_of
from poolsmith.fleet.profiles.cluster import ClusterSpec
from poolsmith.fleet.profiles.driver import DRIVER_IMAGES, DriverImageListSpec
from poolsmith.fleet.profiles.node_pool import PoolSpec
from poolsmith.fleet.profiles.rings_and_teams import RING_ORDER, TEAMS, RingOrderSpec, TeamListSpec
from poolsmith.gpu.catalog.pack_kinds import LOCK, PACK, CatalogLockSpec, CatalogPackSpec
from poolsmith.guard.ledger.grants.grant import GRANT, GrantSpec
from poolsmith.guard.policies.baseline_file import BASELINE, BaselineSpec
from poolsmith.guard.policies.enforcement import ENFORCEMENT, EnforcementSpec
from poolsmith.guard.policies.external_names import EXTERNAL, ExternalNamesSpec
from poolsmith.guard.policies.rule_settings import SETTINGS, RuleSettingsSpec
from poolsmith.guard.policies.supply.supply_kind import SUPPLY, SupplySpec
from poolsmith.guard.policies.waivers import WAIVERS, WaiverListSpec
from poolsmith.kubernetes.admission.policy_test import KIND as POLICY_TEST
from poolsmith.kubernetes.admission.policy_test import PolicyTestSpec


def _kind(name: str, spec: type, file: str, title: str, *, is_part: bool = False, extends: bool = False) -> Kind:
    return Kind(name=name, spec=spec, file=f"{file}.schema.json", title=title, is_part=is_part, extends=extends)


PROFILE_KINDS = (
    _kind("Cluster", ClusterSpec, "cluster", "What all GPU node pools of one cluster share"),
    _kind("NodePool", PoolSpec, "node-pool", "One pool of GPU nodes", extends=True),
    _kind("NodePoolBase", PoolSpec, "node-pool-base", "A part of pools, to be extended", is_part=True),
    _kind(
        DRIVER_IMAGES, DriverImageListSpec, "driver-image-list", "Driver images that somebody has seen in a registry"
    ),
)
POLICY_KINDS = (
    _kind(GRANT, GrantSpec, "privilege-grant", "What containers of some workloads may hold, and why"),
    _kind(
        ENFORCEMENT, EnforcementSpec, "privilege-enforcement", "What happens to pods that request more than was granted"
    ),
    _kind(SUPPLY, SupplySpec, "supply-policy", "Where charts, manifests and images may come from"),
    _kind(WAIVERS, WaiverListSpec, "waiver-list", "Findings that are accepted for a while"),
    _kind(SETTINGS, RuleSettingsSpec, "rule-settings", "How rules are taken in this repository"),
    _kind(POLICY_TEST, PolicyTestSpec, "policy-test", "What admission policies have to say of some objects"),
)
FACT_KINDS = (
    _kind(PACK, CatalogPackSpec, "catalog-pack", "Facts of releases beside those that come with poolsmith"),
    _kind(LOCK, CatalogLockSpec, "catalog-lock", "The packs of facts that a project takes"),
    _kind(RING_ORDER, RingOrderSpec, "ring-order", "The order in which what is new reaches the clusters"),
    _kind(BASELINE, BaselineSpec, "baseline", "Findings of a repository that are fixed over time"),
    _kind(EXTERNAL, ExternalNamesSpec, "external-names", "Names that come from outside of the repository"),
    _kind(TEAMS, TeamListSpec, "team-list", "Which team may bring which clusters and bases into the fleet"),
)
"""Of few projects, so that `init` does not write their schemas."""
KINDS = {kind.name: kind for kind in (*PROFILE_KINDS, *POLICY_KINDS, *FACT_KINDS)}


REPORTS = (
    "report",
    "diff",
    "upgrade",
    "inventory",
    "discovery",
    "audit",
    "drift",
    "expand",
    "explain",
    "image-copies",
    "images",
    "ledger",
    "ledger-releases",
    "policy-eval",
    "policy-test",
    "releases",
    "rules",
    "template",
)
"""What verbs print as JSON."""


def schema_text(kind: str) -> str:
    """The schema of a kind as it is committed. Raises UsageError."""
    if kind.lower() in REPORTS:
        return _report_text(kind.lower())
    by_name = {name.lower(): found for name, found in KINDS.items()}
    found = by_name.get(kind.lower().replace("-", ""))
    if found is None:
        raise UsageError(f"there is no kind `{kind}`; {did_you_mean(kind, (*KINDS, *REPORTS))}")
    return json.dumps(schema_of(found), indent=2, ensure_ascii=False) + "\n"


def _report_text(name: str) -> str:
    from poolsmith.interface.report.report_schemas import answer_schema  # on demand

    return json.dumps(answer_schema(name), indent=2, ensure_ascii=False) + "\n"


def report_schema_files() -> dict[str, str]:
    """File name to text, of the reports in JSON."""
    return {f"{name}.schema.json": _report_text(name) for name in REPORTS}


def schema_files() -> dict[str, str]:
    """File name to text, for the kinds in `profiles/`."""
    return {kind.file: schema_text(kind.name) for kind in PROFILE_KINDS}


def policy_schema_files() -> dict[str, str]:
    """File name to text, for the kinds in `policies/`."""
    return {kind.file: schema_text(kind.name) for kind in POLICY_KINDS}
