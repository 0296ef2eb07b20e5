"""MIG instances that fit on a GPU, against the counts of the layouts that the operator ships, and drivers for MIG."""

from __future__ import annotations

import re

import pytest

from poolsmith.fleet.plan.sharing.mig_placements import misfit

A100 = ("1g.5gb", "1g.5gb+me", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")
A30 = ("1g.6gb", "1g.6gb+me", "2g.12gb", "2g.12gb+me", "4g.24gb")


def shipped(catalog):
    """GPU, and how many of each profile a layout of the operator makes on it."""
    for entry in catalog.gpus.entries:
        ids = {device.id for device in entry.devices}
        for name, groups in catalog.mig_geometry.items():
            for group in groups:
                wanted = group.get("device-filter")
                filters = [wanted] if isinstance(wanted, str) else wanted or ()
                filtered = {item.lower().removeprefix("0x").removesuffix("10de") for item in filters}
                counts = group.get("mig-devices") or {}
                if counts and set(counts) <= set(entry.mig_profiles) and (not filtered or ids & filtered):
                    yield pytest.param(entry.mig_profiles, counts, id=f"{entry.product} {name}")


def pytest_generate_tests(metafunc):
    from poolsmith.gpu.catalog import Catalog

    if "shipped_counts" in metafunc.fixturenames:
        metafunc.parametrize(("known", "shipped_counts"), list(shipped(Catalog())))


def test_what_the_operator_ships_fits_and_one_more_does_not(known, shipped_counts):
    assert misfit(shipped_counts, known) is None
    if len(shipped_counts) == 1:
        ((profile, count),) = shipped_counts.items()
        assert misfit({profile: count + 1}, known) is not None


@pytest.mark.parametrize(
    ("known", "counts", "fits"),
    [
        (A100, {"3g.20gb": 2}, True),
        (A100, {"4g.20gb": 1, "3g.20gb": 1}, True),
        (A100, {"4g.20gb": 1, "2g.10gb": 1, "1g.5gb": 1}, True),
        (A100, {"3g.20gb": 1, "2g.10gb": 1, "1g.5gb": 2}, True),
        (A100, {"2g.10gb": 3, "1g.5gb": 1}, True),
        (A100, {"1g.5gb": 6, "1g.5gb+me": 1}, True),
        (A100, {"3g.20gb": 2, "1g.5gb": 1}, False),
        (A100, {"4g.20gb": 2}, False),
        (A100, {"4g.20gb": 1, "2g.10gb": 2}, False),
        (A100, {"7g.40gb": 1, "1g.5gb": 1}, False),
        (A100, {"1g.5gb": 8}, False),
        (A100, {"1g.5gb": 64}, False),
        (A100, {"1g.10gb": 4, "1g.5gb": 1}, False),
        (A100, {"1g.5gb+me": 2}, False),
        (A30, {"2g.12gb": 1, "1g.6gb": 2}, True),
        (A30, {"2g.12gb+me": 1, "1g.6gb+me": 1}, False),
        (A30, {"2g.12gb": 2, "1g.6gb": 1}, False),
        ((), {"9g.1gb": 9}, True),
        (A30, {"9g.1gb": 9}, True),
    ],
)
def test_combinations_of_the_vendors_tables(known, counts, fits):
    assert (misfit(counts, known) is None) is fits


def mig(devices, product="NVIDIA-A100-SXM4-40GB"):
    return {"gpu": f"{{product: {product}, count: 8, mig: {{layout: own, devices: {devices}}}}}"}


@pytest.mark.parametrize(
    ("devices", "told"),
    [
        ("[{devices: all, migDevices: {3g.20gb: 2, 1g.5gb: 1}}]", "do not fit"),
        ("[{devices: [0], migEnabled: false, migDevices: {1g.5gb: 1}}, {devices: [1]}]", "migEnabled"),
        ("[{devices: all, migDevices: {4g.20gb: 1, 3g.20gb: 1}}]", None),
        ("[{devices: [0], migEnabled: false}, {devices: [1, 2], migDevices: {1g.5gb: 7}}]", None),
    ],
)
def test_a_layout_of_ones_own_fits_on_its_gpus(resolve, devices, told):
    outcome = resolve({}, {"a": mig(devices)})
    found = [item.message for item in outcome.diagnostics if item.name == "mig-layout"]

    assert len(found) == (told is not None)
    assert told is None or told in found[0]
    assert (outcome.plan is None) is (told is not None)


RTX = "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"


@pytest.mark.parametrize(
    ("version", "layout", "severity"),
    [
        ("575.57.08", "all-1g.24gb", "warning"),
        ("575.57.08", None, None),
        ("580.126.20", "all-1g.24gb", None),
        ("570.133.20", "all-1g.24gb", "error"),
    ],
)
def test_where_sources_disagree_on_mig_both_are_named(resolve, version, layout, severity):
    mig_field = f", mig: {{layout: {layout}}}" if layout else ""
    pool = {
        "gpu": f"{{product: {RTX}, count: 2{mig_field}}}",
        "driver": f"{{source: container, version: {version}, kernelModuleType: open}}",
    }
    found = [item for item in resolve({}, {"a": pool}).diagnostics if item.name == "driver-too-old"]

    assert {str(item.severity) for item in found} == ({severity} if severity else set())
    if severity == "warning":
        assert re.search(r"575\.51\.03.*575\.57\.08", found[0].message)


@pytest.mark.parametrize("stack", ["{kind: device-plugin, release: v0.17.1}", "{release: v26.3.3}"])
@pytest.mark.parametrize(
    ("version", "refused"), [('"384.66"', True), ('"384.81"', False), ('"384"', False), ('"375"', True)]
)
def test_the_device_plugin_has_a_least_driver(resolve, stack, version, refused):
    pool = {"driver": f"{{source: preinstalled, version: {version}}}", "gpu": "{product: P40, count: 1}"}

    assert ("driver-too-old" in resolve({"stack": stack}, {"a": pool}).names) is refused
