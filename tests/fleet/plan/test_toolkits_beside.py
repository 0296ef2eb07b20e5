"""Pools whose image has driver and toolkit beside pools that get them from the operator."""

from __future__ import annotations

import pytest

RELEASES = ["v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"]
ON_THE_HOST = {"driver": "{source: preinstalled}", "toolkit": "{source: preinstalled}"}
AL2023 = {"os": '{id: amzn, version: "2023"}', "driver": "{source: preinstalled}"}
BOTTLEROCKET = {"os": '{id: bottlerocket, version: "1.20.0"}', "driver": None}


def eks(release, mode="nvidia-driver", values=None):
    words = f", values: {values}" if values else ""
    return {
        "kubernetes": '{version: "1.33", distribution: eks}',
        "stack": f"{{release: {release}, driverMode: {mode}{words}}}",
    }


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("own", [ON_THE_HOST, AL2023, BOTTLEROCKET], ids=["any", "al2023", "bottlerocket"])
def test_both_work_without_cdi(resolve, release, own):
    outcome = resolve(eks(release), {"ours": {}, "own": own})

    assert outcome.plan is not None, [item.message for item in outcome.diagnostics]
    assert "pool-not-supplied" not in outcome.names
    labels = outcome.labels("own")
    assert labels["nvidia.com/gpu.deploy.driver"] == "pre-installed"
    assert labels["nvidia.com/gpu.deploy.container-toolkit"] == "false"
    assert "nvidia.com/gpu.deploy.container-toolkit" not in outcome.labels("ours")
    since_cdi = RELEASES.index(release) >= RELEASES.index("v25.10.1")
    assert outcome.values.get("cdi.enabled") == (False if since_cdi else None)


def test_one_cluster_policy_does_it_too(resolve):
    outcome = resolve(eks("v26.3.3", "cluster-policy"), {"ours": {}, "own": ON_THE_HOST})

    assert outcome.plan is not None
    assert outcome.values["cdi.enabled"] is False


@pytest.mark.parametrize("values", ["{cdi: {enabled: true}}", "{cdi: {nriPluginEnabled: true}}"])
def test_who_asks_for_cdi_is_told_what_to_remove(resolve, values):
    outcome = resolve(
        eks("v26.3.3", values=values),
        {"ours": {"runtime": '{name: containerd, version: "2.1", configVersion: 3}'}, "own": ON_THE_HOST},
    )
    (found,) = [item for item in outcome.diagnostics if item.name == "toolkit-contradiction"]

    assert outcome.plan is None
    assert "remove `cdi." in found.help


def test_pools_with_one_kind_of_toolkit_keep_cdi(resolve):
    ours, own = {"a": {}, "b": {}}, {"a": ON_THE_HOST, "b": ON_THE_HOST}

    for pools in (ours, own):
        assert "cdi.enabled" not in resolve(eks("v26.3.3", "cluster-policy"), pools).values


@pytest.mark.parametrize(
    ("driver", "toolkit"),
    [
        ('{source: precompiled, version: "580", repository: registry.example.com/nvidia}', "operator"),
        ("{source: container, repository: registry.example.com/nvidia}", "operator"),
        ("{source: preinstalled}", "preinstalled"),
    ],
)
def test_amazon_linux_has_a_toolkit_where_it_has_a_driver(resolve, driver, toolkit):
    pool = {
        "os": '{id: amzn, version: "2023"}',
        "driver": driver,
        "kernel": "{release: 6.1.141-155.222.amzn2023.x86_64}",
    }
    outcome = resolve(eks("v26.3.3", "cluster-policy"), {"a": pool})

    assert outcome.pool("a").toolkit == toolkit
    assert outcome.values.get("toolkit.enabled") == (False if toolkit == "preinstalled" else None)


def test_an_image_of_ones_own_may_have_a_driver_alone(resolve):
    outcome = resolve(eks("v26.3.3", "cluster-policy"), {"a": {**AL2023, "toolkit": "{source: operator}"}})

    assert outcome.plan is not None
    assert outcome.pool("a").toolkit == "operator"
