"""The nodes that stand for pools, as an API server would take them."""

from __future__ import annotations

import re

import pytest

from poolsmith.fleet.operands.pool_nodes import product_label
from poolsmith.gpu.catalog import Catalog

LABEL_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
PRODUCTS = sorted(entry.product for entry in Catalog().gpus.entries)


@pytest.mark.parametrize("product", PRODUCTS)
def test_each_product_of_the_catalog_is_a_label_that_a_node_may_have(product):
    assert LABEL_VALUE.fullmatch(product_label(product))


def test_what_no_label_may_hold_is_left_out_as_feature_discovery_does():
    assert product_label("GH200 96GB (120/480GB)") == "GH200-96GB-120480GB"


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_product_is_found_by_its_label(product):
    assert Catalog().gpus.find(product_label(product)).product == product
