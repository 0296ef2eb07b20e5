"""Sandboxes and sharing, at random: each pool ends with one stack that fits, or with a diagnostic that names it.

What fits is told by `unlike_pools/stacks.py`, which reads generated files and uses nothing of the generator.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, note, settings

from property.test_unlike_pools import Shown, on_disk, run, write
from property.unlike_pools import sandboxed
from property.unlike_pools.fleets import document
from property.unlike_pools.stacks import Stacks, misfits
from support.circles import DEEP

EXAMPLES = 5_000 if DEEP else 120
RARE_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def judged(files, ran):
    """`generated` with one stack for each pool, or `refused` with a finding that names a pool."""
    pools = {data["metadata"]["name"]: data["spec"] for data in files.values() if data["kind"] == "NodePool"}
    if ran.failed:
        errors = [item for item in ran.diagnostics if item.severity == "error"]
        named = [
            item
            for item in errors
            if any(item.primary.span.path.endswith(f"/{name}.yaml") or name in item.message for name in pools)
        ]
        assert named, [f"{item.name}: {item.message}" for item in ran.diagnostics]
        assert {item.name for item in errors}.isdisjoint(("operator-error", "pool-not-supplied")), errors
        return "refused"
    found = list(misfits(Stacks(ran.files, files["profiles/one/cluster.yaml"]["spec"], pools)))
    assert not found, "\n".join(found)
    return "generated"


def test_each_pool_gets_one_stack_that_fits_or_a_diagnostic_that_names_it():
    ends, seen = Counter(), Counter()

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=RARE_SLOW)
    @given(files=sandboxed.projects())
    def end(files):
        note(Shown(files))
        with on_disk(files) as root:
            ((_, ran),) = run(root)
            found = judged(files, ran)
        ends[found] += 1
        release = files["profiles/one/cluster.yaml"]["spec"]["stack"]["release"]
        seen.update((found, data["spec"].get("workload"), release) for data in files.values())

    end()

    assert ends["generated"] > ends.total() / 5
    assert ends["refused"] > ends.total() / 10
    few = 5 if EXAMPLES > 1_000 else 0
    for workload in sandboxed.WORKLOADS[1:]:
        assert sum(count for key, count in seen.items() if key[:2] == ("generated", workload)) > few, workload


_HOST = {
    "os": {"id": "ubuntu", "version": "22.04"},
    "kernel": {"release": "5.15.0-105-generic"},
    "runtime": {"name": "containerd", "version": "2.2.2"},
    "gpu": {"product": "NVIDIA-A40", "count": 1},
    "acknowledge": [{"fact": fact} for fact in sandboxed.FACTS],
}
_CLUSTER = {
    "kubernetes": {"version": "1.34", "distribution": "kubeadm"},
    "stack": {"release": "v26.3.3"},
    "delivery": {"engine": "argocd", "repoURL": "https://git.example.com/gpu.git"},
}
_MANAGER = {"vgpuManager": {"repository": "registry.example.com/vgpu", "version": "580.82.07"}}
_VALUES, _LABELS = "platform/values/gpu-operator.yaml", "expected/node-labels/a.yaml"
SPOILED = {
    "the other mode": ("kata", _VALUES, "mode: kata", "mode: kubevirt", "mode kubevirt"),
    "no sandboxes": ("kata", _VALUES, "enabled: true", "enabled: false", "sandboxWorkloads.enabled is not True"),
    "a typo in the label": ("kata", _LABELS, "config: vm-passthrough", "config: container", "has the workload label"),
    "another CC mode": ("kata", _VALUES, 'defaultMode: "off"', 'defaultMode: "on"', "selects mode off"),
    "a CC manager": ("vm-passthrough", _VALUES, "enabled: false", "enabled: true", "may wait for a CC manager"),
    "no manager": ("vm-vgpu", _VALUES, "vgpuManager:", "otherManager:", "and needs ['sandbox-device-plugin'"),
}


@pytest.mark.parametrize("spoiled", SPOILED)
def test_what_does_not_fit_is_seen(tmp_path, spoiled):
    workload, path, right, wrong, sentence = SPOILED[spoiled]
    pool = {**_HOST, "workload": workload, **({"driver": _MANAGER} if workload == "vm-vgpu" else {})}
    files = {
        "profiles/one/cluster.yaml": document("Cluster", "one", _CLUSTER),
        "profiles/one/a.yaml": document("NodePool", "a", pool),
    }
    ((_, ran),) = run(write(tmp_path, files))
    texts = {**ran.files, path: ran.files[path].replace(right.encode(), wrong.encode())}
    sound, found = (list(misfits(Stacks(item, _CLUSTER, {"a": pool}))) for item in (ran.files, texts))

    assert sound == []
    assert any(sentence in item for item in found), found
