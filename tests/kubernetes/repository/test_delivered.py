"""The place of a value is the line that decides it, whichever file and text it stands in."""

import pytest

from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.kubernetes.repository.delivered import Layer, delivered
from poolsmith.kubernetes.repository.manifest_files import parse_documents

BASE = b"""kind: HelmRelease
metadata: {name: x}
spec:
  values:
    driver: {version: a}
    tolerations: [{key: a, effect: b}, {key: c, effect: d}]
  folded: >
    a: 1
  text: |
    # a comment
    driver:
      version: a
      inner: |
        deep: 1
"""
PATCH = b"""spec:
  values:
    driver:
      version: b
    tolerations: [{key: c, effect: e}]
"""


def document(path, content):
    return parse_documents(path, content)[0][0]


@pytest.fixture
def base():
    return document("base.yaml", BASE)


@pytest.mark.parametrize(
    ("pointer", "place"),
    [
        ("/spec/values/driver/version", "patch.yaml:4:7"),
        ("/spec/values/driver", "patch.yaml:3:5"),
        ("/spec/values/tolerations/1/effect", "patch.yaml:5:28"),
        ("/spec/values/tolerations/0/effect", "base.yaml:6:28"),
        ("/metadata/name", "base.yaml:2:12"),
        ("/spec/values/driver/absent", "base.yaml:5:5"),
    ],
)
def test_a_patch_is_the_place_of_what_it_says(base, pointer, place):
    patch = document("patch.yaml", PATCH)
    data = read_documents(BASE.decode())[0]
    data["spec"]["values"]["driver"]["version"] = "b"
    data["spec"]["values"]["tolerations"][1]["effect"] = "e"
    made = delivered(base, data, (Layer(source=patch.source, data=patch.data),))
    assert str(made.source.locate(pointer).span) == place


def test_an_operation_of_a_json_patch_is_the_place_of_what_it_puts_in(base):
    patch = document("patch.yaml", b"- {op: add, path: /spec/values/driver/env, value: [{name: A}]}\n")
    data = read_documents(BASE.decode())[0]
    data["spec"]["values"]["driver"]["env"] = [{"name": "A"}]
    layer = Layer(source=patch.source, data=patch.data[0]["value"], pointer="/0/value", at="/spec/values/driver/env")
    made = delivered(base, data, (layer,))
    assert str(made.source.locate("/spec/values/driver/env/0/name").span) == "patch.yaml:1:53"
    assert made.source.locate("/spec/values/driver/version").span.path == "base.yaml"


def test_a_place_in_a_literal_block_is_its_own_line(base):
    text = base.data["spec"]["text"]
    inner = InnerText(base.source, "/spec/text", text, read_documents(text)[0])
    place = inner.locate("/driver/version")
    assert (str(place.span), place.source_line) == ("base.yaml:12:7", "      version: a")
    deeper = InnerText(inner, "/driver/inner", "deep: 1\n", {"deep": 1})
    assert str(deeper.locate("/deep").span) == "base.yaml:14:9"


def test_a_place_in_a_folded_text_is_its_key(base):
    inner = InnerText(base.source, "/spec/folded", "a: 1\n", {"a": 1})
    assert str(inner.locate("/a").span) == "base.yaml:7:3"
