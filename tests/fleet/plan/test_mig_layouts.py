"""Layouts by name and of one's own: what they make of the GPUs of a node, which strategy that needs, what pods ask for."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.fleet.plan.sharing.mig_geometry import groups_for, of_each_gpu
from poolsmith.gpu.catalog import Catalog

CATALOG = Catalog()
WITH_MIG = [entry for entry in CATALOG.gpus.entries if entry.mig_profiles]


def gpu(layout, devices=None, product="NVIDIA-A100-SXM4-80GB", count=2):
    devices = f", devices: {devices}" if devices else ""
    return {"gpu": f"{{product: {product}, count: {count}, mig: {{layout: {layout}{devices}}}}}"}


def strategy(outcome):
    values = {setting.path: setting.value for setting in outcome.plan.values}
    return values.get(("mig", "strategy"), "single")


@pytest.mark.rows(4, "releases and GPUs that differ")
@pytest.mark.parametrize("entry", WITH_MIG, ids=lambda entry: entry.product)
def test_what_a_release_ships_for_a_gpu_is_what_its_mig_manager_would_make(entry):
    """From v26.3.0 on the manager makes layouts of its own; the shipped file has them, too, where it knows the GPU."""
    for device in entry.devices:
        for layout in CATALOG.mig_geometry:
            shipped = groups_for(CATALOG, layout, "v25.10.1", entry, [device.id])
            made = groups_for(CATALOG, layout, "v26.3.3", entry, [device.id])
            profiles = {name for group in shipped for name in group.get("mig-devices") or ()}
            if shipped and profiles <= set(entry.mig_profiles):
                assert shipped == made, layout


@pytest.mark.parametrize(
    ("devices", "expected", "resources"),
    [
        ("[{devices: all, migDevices: {1g.10gb: 7}}]", "single", ["nvidia.com/gpu"]),
        ("[{devices: [0, 1], migDevices: {1g.10gb: 7}}]", "single", ["nvidia.com/gpu"]),
        (
            "[{devices: [0], migDevices: {1g.10gb: 7}}, {devices: [1], migDevices: {1g.10gb: 2}}]",
            "single",
            ["nvidia.com/gpu"],
        ),
        ("[{devices: all, migEnabled: false}]", "single", ["nvidia.com/gpu"]),
        (
            "[{devices: all, migDevices: {1g.10gb: 1, 3g.40gb: 1}}]",
            "mixed",
            ["nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"],
        ),
        (
            "[{devices: [0], migDevices: {1g.10gb: 7}}, {devices: [1], migEnabled: false}]",
            "mixed",
            ["nvidia.com/mig-1g.10gb", "nvidia.com/gpu"],
        ),
        ("[{devices: [0], migDevices: {1g.10gb: 7}}]", "mixed", ["nvidia.com/mig-1g.10gb", "nvidia.com/gpu"]),
        (
            "[{devices: [0], migDevices: {1g.10gb+me: 1}}, {devices: [1], migDevices: {7g.80gb: 1}}]",
            "mixed",
            ["nvidia.com/mig-1g.10gb.me", "nvidia.com/mig-7g.80gb"],
        ),
    ],
)
def test_one_size_on_all_gpus_is_single_and_all_else_mixed(resolve, devices, expected, resources):
    outcome = resolve({}, {"a": gpu("own", devices)})

    assert strategy(outcome) == expected
    assert list(outcome.plan.pools[0].resources) == resources


def test_what_a_pool_needs_decides_for_the_others(resolve):
    stack = {"stack": "{release: v26.7.0, values: {mig: {strategy: mixed}}}"}
    outcome = resolve(stack, {"a": gpu("all-1g.10gb"), "b": gpu("all-balanced"), "c": gpu("all-disabled")})
    resources = {pool.name: list(pool.resources) for pool in outcome.plan.pools}

    assert strategy(outcome) == "mixed"
    assert resources["a"] == ["nvidia.com/mig-1g.10gb"]
    assert resources["b"] == ["nvidia.com/mig-1g.10gb", "nvidia.com/mig-2g.20gb", "nvidia.com/mig-3g.40gb"]
    assert resources["c"] == ["nvidia.com/gpu"]


@pytest.mark.parametrize(
    ("release", "product", "layout", "why"),
    [
        ("v25.3.4", "NVIDIA-H100-80GB-HBM3", "all-balanced", None),
        ("v25.3.4", "H100 SXM5 94GB", "all-balanced", "for other GPUs"),
        ("v26.3.3", "H100 SXM5 94GB", "all-balanced", None),
        ("v25.3.0", "H100 SXM5 94GB", "all-1g.24gb", "for other GPUs"),
        ("v25.3.0", "GB200", "all-balanced", "for other GPUs"),
        ("v25.3.4", "GB200", "all-balanced", None),
        ("v24.9.2", "NVIDIA-H200", "all-1g.35gb", None),
        ("v26.3.3", "RTX PRO 6000 Blackwell Workstation Edition", "all-1g.24gb.me", None),
        ("v25.10.1", "RTX PRO 6000 Blackwell Max-Q Workstation Edition", "all-2g.48gb.gfx", None),
        ("v25.10.1", "RTX PRO 6000 Blackwell Max-Q Workstation Edition", "all-balanced", "for other GPUs"),
        ("v25.10.1", "B300", "all-1g.34gb.me", None),
    ],
)
def test_a_layout_of_the_operator_is_for_the_gpus_of_its_filter(resolve, release, product, layout, why):
    pool = gpu(layout, product=product) | {"driver": "{source: preinstalled}"}
    found = [item.message for item in resolve({"stack": f"{{release: {release}}}"}, {"a": pool}).diagnostics]
    told = [message for message in found if layout in message]

    assert len(told) == (why is not None), found
    assert why is None or why in told[0]


def test_named_layouts_beside_ones_own_reach_every_gpu_that_asks_for_them(resolve):
    """One's own file replaces the manager's: it has what the manager would make for a GPU of no filter."""
    pools = {
        "a": gpu("own", "[{devices: all, migDevices: {1g.10gb: 7}}]"),
        "b": gpu("all-balanced", product="H100 SXM5 94GB"),
        "c": gpu("all-balanced"),
    }
    outcome = resolve({"stack": "{release: v26.3.3, values: {mig: {strategy: mixed}}}"}, pools)
    (config,) = [item.body for item in outcome.plan.config_maps if item.file == "mig-layouts.yaml"]
    layouts = yaml.safe_load(config["data"]["config.yaml"])["mig-configs"]
    filters = {item: group["mig-devices"] for group in layouts["all-balanced"] for item in group["device-filter"]}

    assert filters["0x233910DE"] == {"1g.12gb": 2, "2g.24gb": 1, "3g.47gb": 1}
    assert filters["0x20B210DE"] == {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1}


WANTS = st.sampled_from([None, {}, {"1g.10gb": 7}, {"1g.10gb": 1}, {"3g.40gb": 2}, {"1g.10gb": 2, "3g.40gb": 1}])
GROUPS = st.lists(
    st.tuples(st.one_of(st.just("all"), st.lists(st.integers(0, 3), min_size=1, max_size=4)), WANTS), max_size=4
)


@given(GROUPS)
def test_the_last_group_that_names_a_gpu_decides(groups):
    body = [
        {"devices": devices, "mig-enabled": wants is not None, "mig-devices": wants or {}} for devices, wants in groups
    ]
    state = [None] * 4
    for devices, wants in groups:
        for index in range(4):
            if devices == "all" or index in devices:
                state[index] = (wants is not None, wants or {})

    assert [found and (found["mig-enabled"], found["mig-devices"]) for found in of_each_gpu(body, 4)] == state
