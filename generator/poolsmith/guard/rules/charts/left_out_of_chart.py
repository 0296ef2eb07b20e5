"""An installation of the operator's chart that leaves out its definitions, or the job that brings them up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import OPERATOR
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.kubernetes.repository.delivered import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

RULE = RuleInfo(
    code="PSM589",
    name="left-out-of-chart",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="`helm` installs the operator's chart with `--skip-crds`, or upgrades it with `--no-hooks` where "
    "`operator.upgradeCRD` is on; so do `skip_crds` and `disable_webhooks` of Terraform, `skip_crds` and "
    "`disable_hook` of Ansible. Not where the same file brings definitions by itself.",
    why="The definitions stand in the chart's folder `crds`, which `--skip-crds` leaves out: its ClusterPolicy is "
    "refused. Helm never changes definitions that are there; a hook before the upgrade does, and `--no-hooks` leaves "
    "it out: the API server drops the fields that the old definitions lack.",
    fix="leave the flag out, or apply the definitions of the release before",
    bad="helm upgrade gpu-operator nvidia/gpu-operator --version v25.3.4 --no-hooks\n",
    good="helm upgrade gpu-operator nvidia/gpu-operator --version v25.3.4\n",
    symptom='`unknown field "spec..."`; `no matches for kind "ClusterPolicy" in version "nvidia.com/v1"`',
    references=(
        "NVIDIA/gpu-operator@v25.3.4:deployments/gpu-operator/templates/upgrade_crd.yaml",
        "helm/helm@v3.18.4:pkg/action/install.go, upgrade.go",
        "NVIDIA/gpu-operator issue 826",
    ),
)
_SWITCH = ("operator", "upgradeCRD")
_OTHER_CRDS = pattern(r"(?i)(?<!skip[-_])(?<!upgrade)crds?\b")


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    for item in installations:
        for part, flag, pointer in item.leaves_out if item.chart in OPERATOR else ():
            if _OTHER_CRDS.search(item.document.text) is None and (part == DEFINITIONS or _is_on(item)):
                yield Finding(
                    message=f"`{flag}` leaves out {_WHAT[part]}",
                    place=item.document.source.locate(pointer),
                    subject=item.document.name,
                )


_WHAT = {
    DEFINITIONS: "the definitions, and the chart brings a ClusterPolicy, which is refused without them",
    "hooks": "the job that brings the definitions of this release before the upgrade, and Helm itself leaves those "
    "that are there",
}


def _is_on(item: ChartInstallation) -> bool:
    said, release = value_at(item.values, _SWITCH), value_paths().release(item.version or "")
    own = release.line_defaults if release is not None else None
    return (value_at(own or {}, _SWITCH) if said is None else said) is True
