"""What starts before what, read from the DaemonSets that the operator really made at six releases."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.start_order import start_order, steps_of
from support.recordings import recording

RUNS = recording("operator_runs")
RELEASES = sorted({name.partition("/")[0] for name in RUNS})
CONTAINERS = (
    ("nvidia-driver-daemonset", "nvidia-container-toolkit-daemonset"),
    ("nvidia-container-toolkit-daemonset", "nvidia-device-plugin-daemonset"),
    ("nvidia-container-toolkit-daemonset", "gpu-feature-discovery"),
    ("nvidia-container-toolkit-daemonset", "nvidia-dcgm-exporter"),
    ("nvidia-device-plugin-daemonset", "nvidia-operator-validator"),
)
"""The validator is ready last: its steps let the others go on one by one. As NVIDIA/cloud-native-docs:gpu-operator/overview.rst and the scripts of assets/ have it."""
MACHINES = (
    ("nvidia-vfio-manager", "nvidia-sandbox-validator"),
    ("nvidia-vfio-manager", "nvidia-sandbox-device-plugin-daemonset"),
)


def daemon_sets(run):
    """The recorded workloads, as far as the order is read from them."""
    return [
        {
            "kind": "DaemonSet",
            "metadata": {"name": item["name"]},
            "spec": {"template": {"spec": {key: whole(item.get(key, ())) for key in ("initContainers", "containers")}}},
        }
        for item in run["result"]["workloads"]
        if item["kind"] == "DaemonSet"
    ]


def whole(containers):
    return [
        {
            "name": item["name"],
            "command": item.get("command", []),
            "args": item.get("args", []),
            "env": [
                {"name": name, "value": value}
                for name, value in (item.get("envValues") or {}).items()
                if isinstance(value, str)
            ],
        }
        for item in containers
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_a_node_for_containers_starts_from_the_driver_up(release):
    starts = start_order(steps_of(daemon_sets(RUNS[f"{release}/s01-defaults"])))
    order = [start.name for start in starts]

    assert [(one, other) for one, other in CONTAINERS if order.index(one) > order.index(other)] == []
    assert starts[0].is_driver
    by_name = {start.name: start for start in starts}
    assert by_name["nvidia-device-plugin-daemonset"].files == ("toolkit-ready",)
    assert by_name["nvidia-container-toolkit-daemonset"].after == ("nvidia-driver-daemonset",)


@pytest.mark.parametrize("release", [name for name in RELEASES if f"{name}/s14-mixed-container-passthrough" in RUNS])
def test_a_node_for_virtual_machines_binds_first(release):
    order = [
        start.name for start in start_order(steps_of(daemon_sets(RUNS[f"{release}/s14-mixed-container-passthrough"])))
    ]

    assert [(one, other) for one, other in MACHINES if order.index(one) > order.index(other)] == []


@pytest.mark.parametrize("name", sorted(RUNS))
def test_nobody_waits_for_a_file_that_nobody_writes_but_for_drivers_of_the_host(name):
    items = daemon_sets(RUNS[name])
    starts = start_order(steps_of(items))
    written = {file for start in starts for file in start.writes}

    assert len(starts) == len(items)
    assert {file for start in starts for file in start.files} <= written


def test_a_toolkit_after_a_driver_of_the_host_waits_for_nobody():
    kept = [
        item
        for item in daemon_sets(RUNS["v26.7.0/s01-defaults"])
        if item["metadata"]["name"] != "nvidia-driver-daemonset"
    ]

    assert start_order(steps_of(kept))[0].after == ()
    assert "nvidia-container-toolkit-daemonset" in {
        start.name for start in start_order(steps_of(kept)) if not start.after
    }
