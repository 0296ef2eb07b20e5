"""What was recorded of sandboxes and of sharing, asked for by profiles: the same operands on each node, the same labels.

Compared are the DaemonSets that take a node, by name, and the labels that the operator writes or that decide on them. Not
compared, for profiles decide it otherwise or the recordings left it to defaults: images, arguments, the texts of the
device plugin's configuration, and node labels of Node Feature Discovery. Left out are scenarios of what a profile has no
words for: two classes of the Kata manager at one node, labels that stay behind, NRI, and the value of CDI by itself.
"""

from __future__ import annotations

import pytest

from fleet.operands import verdicts
from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.ledger.prediction import Predictions
from property.unlike_pools.fleets import at_least
from property.unlike_pools.sandboxed import FACTS

CATALOG = Catalog()
SCENARIOS = {
    "s12-kata-manager": {"kata-1": "kata"},
    "s12b-mode-kata": {"kata-1": "kata"},
    "s12d-mode-kata-defaultworkload": {"kata-1": "kata"},
    "s14-mixed-container-passthrough": {"c-1": "container", "vm-1": "vm-passthrough"},
    "s14b-mixed-all-three": {"c-1": "container", "vm-1": "vm-passthrough", "vg-1": "vm-vgpu"},
    "s14c-mixed-container-kata": {"c-1": "container", "kata-1": "kata"},
    "s16-time-slicing": {"gpu-1": "shared"},
    "s16b-time-slicing-per-node-no-default": {"gpu-1": "shared", "gpu-2": "container"},
}
"""The recorded nodes, and what the pool that stands for each asks for."""
OWN_VALUES = {"s12d-mode-kata-defaultworkload": {"sandboxWorkloads": {"defaultWorkload": "vm-passthrough"}}}
"""What no field says, in `stack.values`."""
_OFF, _ON = {"enabled": False}, {"enabled": True}
REFUSED = {
    ("24.6", "s12-kata-manager"): ({"kata-1": "kata"}, {}, "sandbox-era"),
    ("26.7", "s12-kata-manager"): ({"kata-1": "kata"}, {"kataManager": _ON}, "ignored-value"),
    ("26.3", "s12c-mode-kata-cc-off"): ({"kata-1": "kata", "c-1": "container"}, {"ccManager": _OFF}, "value-taken"),
    ("26.7", "s12c-mode-kata-cc-off"): ({"kata-1": "kata", "c-1": "container"}, {"ccManager": _OFF}, "value-taken"),
    ("26.3", "s12e-kata-manager-no-image"): ({"kata-1": "kata"}, {"kataManager": _ON}, "operator-error"),
    ("26.7", "s12e-kata-manager-no-image"): ({"kata-1": "kata"}, {"kataManager": _ON}, "ignored-value"),
    ("26.3", "s12f-kata-crio"): ({"kata-1": "kata-crio"}, {}, "sandbox-contradiction"),
    ("26.7", "s12f-kata-crio"): ({"kata-1": "kata-crio"}, {}, "sandbox-contradiction"),
    ("24.6", "s12g-kata-manager-crio"): ({"kata-1": "kata-crio"}, {}, "sandbox-era"),
    **{
        (line, "s12g-kata-manager-crio"): ({"kata-1": "kata-crio"}, {}, "sandbox-contradiction")
        for line in ("24.9", "25.3", "25.10", "26.3", "26.7")
    },
}
"""Scenarios that no profile may come to, by line: their pools, values of the user's own, and what is said of it."""


def _line(case):
    release, _, scenario = case.partition("/")
    return release[1:].rpartition(".")[0], scenario


def _is_expressible(case):
    line, scenario = _line(case)
    return scenario in SCENARIOS and (scenario != "s12-kata-manager" or line in ("24.9", "25.3", "25.10"))


def _pool(kind, release):
    version = "2.2.2" if at_least(release, "25.10") else "1.7.24"
    runtime = f'{{name: containerd, version: "{version}"}}'
    pool = {
        "os": '{id: ubuntu, version: "22.04"}',
        "kernel": "{release: 5.15.0-91-generic}",
        "runtime": '{name: cri-o, version: "1.31.3"}' if kind == "kata-crio" else runtime,
        "gpu": "{product: NVIDIA-A10, count: 1}",
    }
    if kind in ("container", "shared"):
        sharing = {"sharing": "{timeSlicing: {replicas: 4}}"} if kind == "shared" else {}
        return {**pool, "driver": "{source: container, version: 570.211.01}", **sharing}
    manager = "{vgpuManager: {repository: registry.local/vgpu, version: 570.124.03}}" if kind == "vm-vgpu" else None
    facts = ", ".join(f"{{fact: {fact}}}" for fact in FACTS)
    return {**pool, "workload": kind.removesuffix("-crio"), "driver": manager, "acknowledge": f"[{facts}]"}


def _resolved(resolve, release, pools, values=None):
    kubernetes = "1.34" if at_least(release, "25.10") else "1.29"
    cluster = {
        "kubernetes": f'{{version: "{kubernetes}", distribution: kubeadm}}',
        "stack": f"{{release: {release}, values: {values or {}}}}",
        "poolLabel": "example.com/pool",
    }
    return resolve(cluster, {name: _pool(kind, release) for name, kind in pools.items()})


def _is_written(key):
    return key.startswith("nvidia.com/gpu.deploy.") or key in (
        "nvidia.com/gpu.present",
        "nvidia.com/gpu.workload.config",
    )


@pytest.mark.rows(14, "each kind of pool")
@pytest.mark.parametrize("case", [case for case in verdicts.RUNS if _is_expressible(case)])
def test_profiles_come_to_what_was_recorded(resolve, case):
    release, scenario = case.split("/")
    outcome = _resolved(resolve, release, SCENARIOS[scenario], OWN_VALUES.get(scenario))
    assert outcome.plan is not None, outcome.findings
    prediction = Predictions(CATALOG).of(outcome.plan, outcome.loaded)
    sets = [made for made in prediction.installation.made if made.body["kind"] == "DaemonSet"]
    ours, theirs, result = {}, {}, verdicts.RUNS[case]["result"]
    for pool in SCENARIOS[scenario]:
        (node,) = (node for node in prediction.installation.nodes if node.pool == pool)
        names = {made.body["metadata"]["name"] for made in sets if pool in prediction.ledger.landing.get(made.key, ())}
        names = {name for name in names if name.startswith(("nvidia-", "gpu-feature-discovery"))}
        ours[pool] = sorted(names), {key: value for key, value in node.labels.items() if _is_written(key)}
        recorded = [item for item in result["workloads"] if item["kind"] == "DaemonSet"]
        labels = result["nodeLabelsAfter"][pool]["labels"]
        if scenario in OWN_VALUES:
            labels = {
                **labels,
                "nvidia.com/gpu.workload.config": "vm-passthrough",
            }  # a profile leaves no node to a default
        theirs[pool] = (
            sorted(item["name"] for item in recorded if pool in item["matchingNodes"]),
            {key: value for key, value in labels.items() if _is_written(key)},
        )

    assert ours == theirs


@pytest.mark.parametrize("case", [case for case in verdicts.RUNS if _line(case) in REFUSED])
def test_what_no_profile_may_come_to_is_refused(resolve, case):
    release = case.partition("/")[0]
    pools, values, name = REFUSED[_line(case)]
    outcome = _resolved(resolve, release, pools, values)

    assert name in [item.name for item in outcome.diagnostics if item.severity == "error"], outcome.findings
