"""What an editor offers in a profile: all that the catalog knows of a field, as examples and not as a closed list."""

from __future__ import annotations

import json

import pytest

from poolsmith.core.facts import store
from poolsmith.gpu.catalog import Catalog

GPUS = {entry["product"] for entry in store.read_yaml("gpus.yaml")["gpus"]}
SYSTEMS = {entry["id"] for entry in store.read_yaml("operating_systems.yaml")["operating_systems"]}
LISTS = ("gpu.product", "os.id", "os.version", "gpu.architecture", "runtime.name")


def offered(repository, schema, path):
    """Words for a field, from its schema and what that refers to; and whether others are refused."""
    document = json.loads((repository / f"profiles/_schemas/{schema}.schema.json").read_text("utf-8"))
    nodes = list(parts(document, document))
    for name in ("spec", *path.split(".")):
        fields = [node["properties"][name] for node in nodes if name in node.get("properties", {})]
        nodes = [part for field in fields for part in parts(document, field)]
    assert nodes, path
    words = {word for node in nodes for word in node.get("examples", ()) if isinstance(word, str)}
    return words, any("enum" in node for node in nodes)


def parts(document, node):
    """A schema, and those that it refers to or is made of."""
    yield node
    if "$ref" in node:
        yield from parts(document, document["$defs"][node["$ref"].rpartition("/")[2]])
    for key in ("anyOf", "oneOf", "allOf"):
        for child in node.get(key, ()):
            yield from parts(document, child)
    for key in ("then", "else"):
        if key in node:
            yield from parts(document, node[key])


@pytest.mark.parametrize("schema", ["node-pool", "node-pool-base"])
def test_every_product_and_system_is_offered(repository, schema):
    products, _ = offered(repository, schema, "gpu.product")
    systems, _ = offered(repository, schema, "os.id")

    found = {Catalog().gpus.find(name).product for name in products}
    assert [name for name in sorted(GPUS - found) if "[" not in name] == []
    assert len(products) >= 56
    assert SYSTEMS - systems == set()
    assert len(systems) >= 12


def test_every_release_that_is_generated_for_is_offered(repository):
    known = Catalog().releases
    releases, is_closed = offered(repository, "cluster", "stack.release")

    assert {tag for tag in known.by_tag if known.is_supported(tag)} <= releases
    assert not is_closed


@pytest.mark.parametrize("path", LISTS)
def test_packs_and_profiles_may_say_more(repository, path):
    words, is_closed = offered(repository, "node-pool", path)

    assert words
    assert not is_closed


def test_what_is_offered_is_taken(repository):
    products, _ = offered(repository, "node-pool", "gpu.product")

    assert [name for name in sorted(products) if Catalog().gpus.find(name) is None] == []
