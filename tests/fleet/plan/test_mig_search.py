"""Every MIG layout of up to seven slices on every GPU of the catalog: accepted or refused as a search over places says.

The tables here are the vendor's own, in the units in which the driver counts, and share nothing with the catalog's:
places from `nvidia-smi mig -lgipp` (NVIDIA MIG user guide 610, getting started; NVIDIA/go-nvml@v0.13.3-1:pkg/nvml/mock/gpus/
a100.go and a30.go; for RTX PRO 6000 as printed by its driver, in twelfths), numbers of instances and engines for media
from the MIG user guide 610 and 620, supported MIG profiles, and NVIDIA/mig-parted@bd7160f4:pkg/mig/builder/builder_test.go.
"""

from __future__ import annotations

import itertools
import json
import random
from functools import cache

import pytest

from poolsmith.fleet.plan.sharing.mig_placements import misfit
from poolsmith.gpu.catalog import Catalog
from poolsmith.interface.app import check_paths

# profile of A100 40GB: starts, size in eighths, most instances, engines (NVDEC, JPEG, OFA)
A100 = {
    "1g": ((0, 1, 2, 3, 4, 5, 6), 1, 7, (0, 0, 0)),
    "1g+me": ((0, 1, 2, 3, 4, 5, 6), 1, 1, (1, 1, 1)),
    "1g wide": ((0, 2, 4, 6), 2, 4, (1, 0, 0)),
    "2g": ((0, 2, 4), 2, 3, (1, 0, 0)),
    "3g": ((0, 4), 4, 2, (2, 0, 0)),
    "4g": ((0,), 4, 1, (2, 0, 0)),
    "7g": ((0,), 8, 1, (5, 1, 1)),
}
H100 = {
    "1g": ((0, 1, 2, 3, 4, 5, 6), 1, 7, (1, 1, 0)),
    "1g+me": ((0, 1, 2, 3, 4, 5, 6), 1, 1, (1, 1, 1)),
    "1g wide": ((0, 2, 4, 6), 2, 4, (1, 1, 0)),
    "2g": ((0, 2, 4), 2, 3, (2, 2, 0)),
    "3g": ((0, 4), 4, 2, (3, 3, 0)),
    "4g": ((0,), 4, 1, (4, 4, 0)),
    "7g": ((0,), 8, 1, (7, 7, 1)),
}
A30 = {
    "1g.6gb": ((0, 1, 2, 3), 1, 4, (0, 0, 0)),
    "1g.6gb+me": ((0, 1, 2, 3), 1, 1, (1, 1, 1)),
    "2g.12gb": ((0, 2), 2, 2, (2, 0, 0)),
    "2g.12gb+me": ((0, 2), 2, 1, (2, 1, 1)),
    "4g.24gb": ((0,), 4, 1, (4, 1, 1)),
}
RTX = {  # engines: NVDEC, NVENC, JPEG, OFA
    "1g.24gb": ((0, 3, 6, 9), 3, 4, (1, 1, 1, 0)),
    "1g.24gb+me": ((0, 3, 6, 9), 3, 1, (1, 1, 1, 1)),
    "1g.24gb+gfx": ((0, 3, 6, 9), 3, 4, (1, 1, 1, 0)),
    "1g.24gb+me.all": ((0, 3, 6, 9), 3, 1, (4, 4, 4, 1)),
    "1g.24gb-me": ((0, 3, 6, 9), 3, 4, (0, 0, 0, 0)),
    "2g.48gb": ((0, 6), 6, 2, (2, 2, 2, 0)),
    "2g.48gb+gfx": ((0, 6), 6, 2, (2, 2, 2, 0)),
    "2g.48gb+me.all": ((0, 6), 6, 1, (4, 4, 4, 1)),
    "2g.48gb-me": ((0, 6), 6, 2, (0, 0, 0, 0)),
    "4g.96gb": ((0,), 12, 1, (4, 4, 4, 1)),
    "4g.96gb+gfx": ((0,), 12, 1, (4, 4, 4, 1)),
}


def named(table, *memory):
    """A table with the profiles' names, by the memory of 1g, of 1g wide and 2g, of 3g and 4g, and of 7g.

    From B200 on the guide does not say how many engines there are; H100 has one more than layouts can take.
    """
    one, two, half, all_ = memory
    of = {"1g": one, "1g+me": one, "1g wide": two, "2g": two, "3g": half, "4g": half, "7g": all_}
    return {f"{kind[:2]}.{of[kind]}gb{'+me' if '+' in kind else ''}": row for kind, row in table.items()}


GPUS = {
    "A30": A30,
    "A100 40GB": named(A100, 5, 10, 20, 40),
    "A100 80GB": named(A100, 10, 20, 40, 80),
    "A800 40GB": named(A100, 5, 10, 20, 40),
    "A800 80GB": named(A100, 10, 20, 40, 80),
    "H100 PCIe 80GB": named(H100, 10, 20, 40, 80),
    "H100 SXM5 80GB": named(H100, 10, 20, 40, 80),
    "H100 NVL 94GB": named(H100, 12, 24, 47, 94),
    "H100 SXM5 94GB": named(H100, 12, 24, 47, 94),
    "H100 96GB": named(H100, 12, 24, 48, 96),
    "H800 PCIe": named(H100, 10, 20, 40, 80),
    "H800 SXM": named(H100, 10, 20, 40, 80),
    "H800 NVL": named(H100, 12, 24, 47, 94),
    "H20 96GB": named(H100, 12, 24, 48, 96),
    "H200 SXM 141GB": named(H100, 18, 35, 71, 141),
    "H200 NVL": named(H100, 18, 35, 71, 141),
    "GH200 96GB (120/480GB)": named(H100, 12, 24, 48, 96),
    "GH200 144GB HBM3e": named(H100, 18, 36, 72, 144),
    "B200": named(H100, 23, 45, 90, 180),
    "GB200": named(H100, 23, 47, 93, 186),
    "B300": named(H100, 34, 67, 135, 269),
    "GB300": named(H100, 35, 70, 139, 278),
    "RTX PRO 6000 Blackwell Server Edition": RTX,
    "RTX PRO 6000 Blackwell Workstation Edition": RTX,
    "RTX PRO 6000 Blackwell Max-Q Workstation Edition": RTX,
}
CATALOG = Catalog()
SLICES = 7


def slices_of(profile):
    return int(profile[0])


def layouts(profiles, most=SLICES):
    """Every multiset of profiles with so many slices at the most, as tuples."""
    found = [((), 0)]
    for profile in profiles:
        found = [
            (chosen + (profile,) * count, taken + count * slices_of(profile))
            for chosen, taken in found
            for count in range((most - taken) // slices_of(profile) + 1)
        ]
    return [chosen for chosen, _ in found if chosen]


@cache
def has_places(shapes, taken=frozenset()):
    if not shapes:
        return True
    (starts, size), *rest = shapes
    spots = (frozenset(range(start, start + size)) for start in starts)
    return any(has_places(tuple(rest), taken | spot) for spot in spots if not spot & taken)


def holds(table, chosen):
    """The search: a place for each instance, no profile more often than its number, engines for all of them."""
    if any(chosen.count(profile) > table[profile][2] for profile in set(chosen)):
        return False
    full = max(row[3] for row in table.values())
    if any(sum(table[profile][3][kind] for profile in chosen) > there for kind, there in enumerate(full)):
        return False
    return has_places(tuple(sorted((table[profile][:2] for profile in chosen), key=lambda row: -row[1])))


def counts(chosen):
    return {profile: chosen.count(profile) for profile in dict.fromkeys(chosen)}


def test_the_tables_have_every_gpu_with_profiles():
    known = {entry.product: set(entry.mig_profiles) for entry in CATALOG.gpus.entries if entry.mig_profiles}

    assert known == {product: set(table) for product, table in GPUS.items()}


@pytest.mark.parametrize("product", GPUS)
def test_every_layout_is_accepted_or_refused_as_the_search_says(product):
    table, known = GPUS[product], CATALOG.gpus.find(product).mig_profiles
    told = {chosen: misfit(counts(chosen), known) for chosen in layouts(table)}

    assert [chosen for chosen, why in told.items() if (why is None) is not holds(table, chosen)] == []
    assert 0 < sum(why is None for why in told.values()) < len(told)


@pytest.mark.parametrize("product", ["A30", "A100 40GB", "RTX PRO 6000 Blackwell Server Edition"])
def test_seven_instances_of_any_size(product):
    table, known = GPUS[product], CATALOG.gpus.find(product).mig_profiles
    every = list(itertools.combinations_with_replacement(table, SLICES))
    for chosen in random.Random(7).sample(every, min(len(every), 400)):
        assert (misfit(counts(chosen), known) is None) is holds(table, chosen), chosen


@pytest.fixture(autouse=True)
def all_findings_are_told(monkeypatch):
    monkeypatch.setattr("poolsmith.core.diagnostics.rule_engine.MOST_OF_ONE_RULE", 1_000)


def asked(tmp_path, groups):
    """Which layouts PSM540 finds fault with, by the name of the layout."""
    body = {"version": "v1", "mig-configs": groups}
    data = {"config.yaml": json.dumps(body)}
    path = tmp_path / "layouts.yaml"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "own"}, "data": data}))
    found = [item.message for item in check_paths(tmp_path, [tmp_path], everything=True).diagnostics]
    return {message.split("layout `")[1].split("`")[0] for message in found if "layout `" in message}


def group(chosen, **more):
    return [{"devices": "all", "mig-enabled": True, "mig-devices": counts(chosen), **more}]


@pytest.mark.parametrize("product", ["A30", "A100 80GB", "H200 NVL", "RTX PRO 6000 Blackwell Workstation Edition"])
def test_layouts_in_config_maps_are_judged_by_the_gpus_of_their_filter(tmp_path, product):
    table = GPUS[product]
    every = layouts(table)
    some = {f"l{index}": chosen for index, chosen in enumerate(random.Random(5).sample(every, min(len(every), 150)))}
    (device, *_) = CATALOG.gpus.find(product).devices
    name = f"0x{device.id.upper()}10DE"
    refused = asked(tmp_path, {key: group(chosen, **{"device-filter": [name]}) for key, chosen in some.items()})

    assert refused == {key for key, chosen in some.items() if not holds(table, chosen)}


def test_without_a_filter_a_layout_needs_one_gpu_that_holds_it(tmp_path):
    chosen = random.Random(3).sample([item for table in (GPUS["A100 40GB"], A30, RTX) for item in layouts(table)], 200)
    some = {f"l{index}": item for index, item in enumerate(chosen)}
    refused = asked(tmp_path, {key: group(item) for key, item in some.items()})

    assert refused == {
        key
        for key, item in some.items()
        if not any(set(item) <= set(table) and holds(table, item) for table in GPUS.values())
    }


def test_profiles_of_no_known_gpu_are_not_judged(tmp_path):
    assert asked(tmp_path, {"a": group(("1g.12gb-me",) * 3), "b": group(("2g.24gb-me", "1g.12gb+gfx"))}) == set()


def test_the_plan_refuses_what_the_search_refuses(resolve):
    table = GPUS["A100 80GB"]
    some = random.Random(1).sample(layouts(table), 12)
    pools = {}
    for index, chosen in enumerate(some):
        wanted = ", ".join(f"{profile}: {count}" for profile, count in counts(chosen).items())
        pools[f"p{index}"] = {
            "gpu": "{product: NVIDIA-A100-SXM4-80GB, count: 2, "
            f"mig: {{layout: own-{index}, devices: [{{devices: all, migDevices: {{{wanted}}}}}]}}}}"
        }
    outcome = resolve({}, pools)
    refused = {item.subject.split("/")[-1] for item in outcome.diagnostics if item.name == "mig-layout"}

    assert refused == {f"p{index}" for index, chosen in enumerate(some) if not holds(table, chosen)}
    assert refused
