"""The committed packs of schemas are what the importers make of the published definitions."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.schemas import ENDING, FOLDER, families, kubernetes_minors, read_pack, schemas_for
from support.recordings import recording
from tools.pack_crd_schemas import FAMILIES, crd_schemas, family_text

BYTES = 100_000


@pytest.fixture
def published(upstream):
    """The folder in which the definitions of a family lie as its patterns say."""

    def folder(family):
        for pattern in family.files.values():
            upstream(pattern.rpartition("/")[0])
        return upstream("")

    return folder


@pytest.mark.rows(2, "one pack of each form")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_pack_is_made_from_the_published_definitions(published, family):
    assert read_pack(family.name).text == family_text(family, published(family))


def test_there_is_no_pack_that_no_importer_makes():
    assert set(families()) == {"kubernetes", *(family.name for family in FAMILIES)}


def test_all_packs_together_are_small():
    assert sum(path.stat().st_size for path in FOLDER.glob(f"*{ENDING}")) < BYTES


@pytest.mark.parametrize("family", families())
def test_a_pack_holds_no_prose_and_names_its_source(family):
    pack = read_pack(family)

    assert pack.header["licence"] == "Apache-2.0"
    assert pack.header["source"]
    assert '"description":"' not in pack.text
    assert family in (FOLDER / "NOTICE").read_text("utf-8")


def test_kubernetes_is_held_from_1_25_to_1_37():
    assert kubernetes_minors() == tuple(f"1.{minor}" for minor in range(25, 38))


@pytest.mark.parametrize("minor", kubernetes_minors())
def test_everything_of_a_minor_compiles(minor):
    schemas = schemas_for(schema_versions(kubernetes=minor))
    view = read_pack("kubernetes").view(minor)
    for kind in view.kinds:
        found = schemas.find(*kind.split(" "))
        assert found.violations({"apiVersion": "x", "kind": "y", "unknown": 1})
    for name in view._texts:
        assert isinstance(view.definition(name), dict)


MINORS = {"master": "1.37", "v1.25.0": "1.25"}


def recorded():
    """Minor, name and schema of each recorded one that takes unknown fields."""
    for name, schema in recording("kubernetes_schemas").items():
        version, ending, _ = name.partition("-standalone/")
        if ending:
            yield MINORS[version], name, schema


def fields(schema, path=""):
    """Every field of a JSON Schema with its types, null left out; references are inline there."""
    for name, child in schema.get("properties", {}).items():
        below = f"{path}.{name}"
        yield below, types(child)
        yield from fields(child, below)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield f"{path}[]", types(schema[key])
            yield from fields(schema[key], f"{path}[]")


def types(schema):
    if "oneOf" in schema:
        return {item for choice in schema["oneOf"] for item in types(choice)}
    found = schema.get("type", [])
    return {found} - {"null"} if isinstance(found, str) else set(found) - {"null"}


def our_fields(kind, schema, path=""):
    resolve = kind.compiler.resolve
    schema = resolve(schema)
    for name, child in schema.get("properties", {}).items():
        below = f"{path}.{name}"
        yield below, our_types(resolve(child))
        yield from our_fields(kind, child, below)
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield f"{path}[]", our_types(resolve(schema[key]))
            yield from our_fields(kind, schema[key], f"{path}[]")


def our_types(schema):
    if schema.get("intOrString"):
        return {"string", "integer"}
    if schema.get("quantity"):
        return {"string", "number"}
    return {schema["type"]} if "type" in schema else set()


def test_recorded_schemas_have_the_same_fields_of_the_same_types():
    seen = 0
    for minor, name, document in recorded():
        api_version = document["properties"]["apiVersion"]["enum"][0]
        kind = schemas_for(schema_versions(kubernetes=minor)).find(
            api_version, document["properties"]["kind"]["enum"][0]
        )
        theirs = dict(fields(inlined(document, document)))
        ours = dict(our_fields(kind, {"$ref": kind.name}))
        assert ours.keys() == theirs.keys(), name
        assert {key for key in ours if ours[key] and ours[key] != theirs[key]} == set(), name
        seen += 1
    assert seen > 5


def inlined(node, root):
    if isinstance(node, list):
        return [inlined(item, root) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("$ref"), str):
        target = root
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return inlined(target, root)
    return {key: inlined(child, root) for key, child in node.items() if key not in ("$defs", "definitions")}


def test_the_importer_refuses_what_it_does_not_understand():
    text = """
kind: CustomResourceDefinition
spec:
  group: example.com
  names: {kind: A}
  versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, not: {}}}}]
"""
    with pytest.raises(ValueError, match="not is not understood"):
        crd_schemas(text)
