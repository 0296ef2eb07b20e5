"""`explain` tells in which order a pool goes from one system to the next."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.ledger.prediction import Predictions
from poolsmith.interface.app.explain import roll_order

KERNELS = {"kernel": "{releases: [5.15.0-105-generic, 5.15.0-113-generic]}"}
VERSIONS = {"os": '{id: ubuntu, versions: ["22.04", "24.04"]}'}
OBJECTS = {"stack": "{release: v26.3.3, driverMode: nvidia-driver}"}
IMAGE = "nvcr.io/nvidia/driver"


def order(resolve, **pool):
    outcome = resolve(OBJECTS, {"a": pool})
    return roll_order(outcome.pool("a"), Predictions(Catalog()).of(outcome.plan, outcome.loaded))


def test_a_precompiled_driver_needs_the_image_of_the_new_kernel_first(resolve):
    assert order(resolve, driver='{source: precompiled, version: "580"}', **KERNELS) == [
        f"1. see that the registry has {IMAGE}:580-5.15.0-113-generic-ubuntu22.04",
        "2. merge: driver pods for 2 systems, each only on its own nodes; nothing restarts",
        (
            "3. roll the nodes of the pool from 5.15.0-105-generic to 5.15.0-113-generic: each takes the driver of the "
            "system that it boots"
        ),
        "4. once no node runs 5.15.0-105-generic, remove it from kernel.releases, and its image goes with it",
    ]


def test_a_compiled_one_needs_packages_and_a_new_image_for_a_new_system_only(resolve):
    assert "packages" in order(resolve, **KERNELS)[0]
    assert order(resolve, **VERSIONS)[0] == f"1. see that the registry has {IMAGE}:580.126.20-ubuntu24.04"


def test_a_driver_in_the_node_image_is_built_into_the_new_one(resolve):
    outcome = resolve({}, {"a": {"driver": "{source: preinstalled}", **KERNELS}})
    first, merged, *_ = roll_order(outcome.pool("a"), Predictions(Catalog()).of(outcome.plan, outcome.loaded))

    assert first == "1. build the new node image with the driver in it"
    assert merged == "2. merge: nothing restarts"


@pytest.mark.parametrize("pool", [{}, {"kernel": "{releases: [5.15.0-105-generic]}"}])
def test_nothing_is_rolled_where_all_nodes_are_alike(resolve, pool):
    assert order(resolve, **pool) == []
