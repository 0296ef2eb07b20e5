"""Sharing in profiles: what the device plugin is told, and what it would stop at."""

from __future__ import annotations

import pytest
import yaml

MIXED = "{product: NVIDIA-A100-SXM4-80GB, count: 2, mig: {layout: all-balanced}}"
SLICES = "{product: NVIDIA-A100-SXM4-80GB, count: 2, mig: {layout: all-1g.10gb}}"
WHOLE = "{product: NVIDIA-A100-SXM4-80GB, count: 2, mig: {layout: all-disabled}}"
SMALL, MIDDLE = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-2g.20gb"
TWO = f"{{timeSlicing: {{resources: [{{resource: {SMALL}, replicas: 4}}, {{resource: {MIDDLE}, replicas: 2}}]}}}}"


def strict_outcome(outcome):
    return [item.message for item in outcome.diagnostics if item.name in ("sharing-contradiction", "mig-layout")]


def config_of(outcome, pool="a"):
    (config,) = [item.body for item in outcome.plan.config_maps if item.file == "device-plugin-config.yaml"]
    return yaml.safe_load(config["data"][pool])


def test_slices_of_two_sizes_are_shared_each_with_its_replicas(resolve):
    outcome = resolve({}, {"a": {"gpu": MIXED, "sharing": TWO}})

    assert config_of(outcome) == {
        "version": "v1",
        "sharing": {"timeSlicing": {"resources": [{"name": SMALL, "replicas": 4}, {"name": MIDDLE, "replicas": 2}]}},
    }
    assert outcome.plan.pools[0].smoke.resource == SMALL


def test_the_short_form_says_the_same_as_a_list_of_one(resolve):
    long = "{timeSlicing: {resources: [{resource: nvidia.com/gpu, replicas: 3}]}}"
    short = "{timeSlicing: {replicas: 3}}"

    assert config_of(resolve({}, {"a": {"sharing": long}})) == config_of(resolve({}, {"a": {"sharing": short}}))


@pytest.mark.parametrize(
    ("gpu", "sharing", "told"),
    [
        (MIXED, "{timeSlicing: {renameByDefault: true}}", "lacks `replicas`"),
        (MIXED, TWO.replace("{resources", "{replicas: 2, resources"), "both"),
        (MIXED, TWO.replace(MIDDLE, SMALL), "shared twice"),
        (MIXED, TWO.replace(MIDDLE, "nvidia.com/mig-7g.80gb"), "not nvidia.com/mig-7g.80gb"),
        (MIXED, "{timeSlicing: {replicas: 2}}", "not nvidia.com/gpu"),
        (SLICES, "{timeSlicing: {replicas: 2}}", None),
        (SLICES, "{mps: {replicas: 2}}", "full GPUs only"),
        (MIXED, "{mps: {replicas: 2}}", "full GPUs only"),
        (WHOLE, "{mps: {replicas: 2}}", None),
    ],
)
def test_a_pool_shares_what_its_nodes_advertise(resolve, gpu, sharing, told):
    found = strict_outcome(resolve({}, {"a": {"gpu": gpu, "sharing": sharing}}))

    assert (found == []) is (told is None), found
    assert told is None or told in found[0]


@pytest.mark.parametrize("values", ["", ", values: {mig: {strategy: mixed}}"])
@pytest.mark.parametrize("other", [MIXED, SLICES])
def test_mps_and_the_strategy_mixed_exclude_each_other_in_a_cluster(resolve, values, other):
    pools = {"a": {"sharing": "{mps: {replicas: 2}}"}, "b": {"gpu": other}}
    found = [item.message for item in resolve({"stack": f"{{release: v26.3.3{values}}}"}, pools).diagnostics]

    assert any("refuses MPS under" in message for message in found) is (other == MIXED or values != "")


@pytest.mark.parametrize(("gpu", "refused"), [(SLICES, True), (MIXED, True), (WHOLE, False)])
def test_the_strategy_none_shows_no_slices(resolve, gpu, refused):
    outcome = resolve({"stack": "{release: v26.3.3, values: {mig: {strategy: none}}}"}, {"a": {"gpu": gpu}})

    assert ("mig-layout" in outcome.names) is refused


def test_a_strategy_of_the_values_gives_slices_names_of_their_own(resolve):
    outcome = resolve({"stack": "{release: v26.3.3, values: {mig: {strategy: mixed}}}"}, {"a": {"gpu": SLICES}})

    assert strict_outcome(outcome) == []
    assert outcome.plan.pools[0].resources == (SMALL,)
    assert outcome.plan.pools[0].smoke.resource == SMALL


def test_one_file_for_a_layout_that_one_pool_makes_and_another_names(resolve):
    stack = "{kind: device-plugin, release: v0.17.1}"
    own = "{product: NVIDIA-A100-SXM4-80GB, count: 1, mig: {layout: own, devices: [{migDevices: {1g.10gb: 7}}]}}"
    driver = {"driver": "{source: preinstalled}", "acknowledge": "[{fact: mig-partitions}]"}
    pools = {"a": {"gpu": own, **driver}, "b": {"gpu": SLICES, **driver}}

    assert "mig-layout" not in resolve({"stack": stack}, pools).names
