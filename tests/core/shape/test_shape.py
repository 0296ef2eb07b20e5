"""Every mistake in a profile's shape is told with its place, and what to write instead."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics.message_text import kind_of, shorten
from poolsmith.core.shape.documents import read_envelope, read_spec, required_spec
from poolsmith.core.shape.field import Metadata
from poolsmith.core.shape.reader import field_places, fields_of
from poolsmith.core.sources.pointer import dotted_pointer
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.profiles.bases import PROFILE_SPECS, profile_sink
from poolsmith.fleet.profiles.cluster import ClusterSpec
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.fleet.profiles.node_pool import PoolSpec, Taint, TaintEffect
from support.marked import unmarked

POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata:
  name: a100
spec:
  os: {id: ubuntu, version: "22.04"}
  runtime: {name: containerd}
  gpu: {product: A100, count: 8}
  nodes:
    taints:
      - {key: nvidia.com/gpu, effect: NoSchedule}
  driver: {source: container}
"""
CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata:
  name: prod
spec:
  kubernetes: {version: "1.33", distribution: kubeadm}
  stack: {release: v26.3.3}
  delivery: {engine: argocd, repoURL: https://git.example.com/gpu.git}
"""


SPECS = {"Cluster": ClusterSpec, "NodePool": PoolSpec, "NodePoolBase": PoolSpec}


def check(text, kind="NodePool"):
    file = SourceFile("p.yaml", text, read_documents(text)[0])
    sink = profile_sink(file)
    metadata = read_envelope(file, kind, sink)
    raw = required_spec(file, sink)
    return metadata, None if raw is None else read_spec(SPECS[kind], raw, sink), sink.found


def findings(text, kind="NodePool"):
    return [(item.name, str(item.primary.span)) for item in check(text, kind)[2]]


def only(text, kind="NodePool"):
    (item,) = check(text, kind)[2]
    return item


def pool_with(old, new):
    assert old in POOL
    return POOL.replace(old, new)


def test_a_sound_pool_is_typed():
    metadata, spec, found = check(POOL)

    assert found == []
    assert metadata == Metadata(name="a100")
    assert (spec.os.version, spec.gpu.count, spec.driver.source) == ("22.04", 8, DriverSource.CONTAINER)
    assert spec.nodes.taints == (Taint(key="nvidia.com/gpu", effect=TaintEffect.NO_SCHEDULE),)
    assert (spec.secure_boot, spec.sharing.mps, spec.extends) == (False, None, ())


def test_a_sound_cluster_is_typed():
    _, spec, found = check(CLUSTER, "Cluster")

    assert found == []
    assert (spec.stack.release, spec.delivery.repo_url, spec.pool_label) == (
        "v26.3.3",
        "https://git.example.com/gpu.git",
        "poolsmith.dev/pool",
    )


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("  driver: {", "  «diver: {", "unknown-field"),
        ("{source: container}", "{«sorce: container}", "unknown-field"),
        ("metadata:", "«kindly: 1\nmetadata:", "unknown-field"),
        ("metadata:", "«a/b: 1\nmetadata:", "unknown-field"),
        ("metadata:", "«a~b: 1\nmetadata:", "unknown-field"),
        ("  os:", "  «a/b: 1\n  os:", "unknown-field"),
        ("name: a100", "name: a100\n  «labels: {}", "unknown-field"),
        ("count: 8", "«count: eight", "wrong-type"),
        ("count: 8", "«count: 1.5", "wrong-type"),
        ("count: 8", "«count: yes", "wrong-type"),
        ("count: 8", "«count: [8]", "wrong-type"),
        ("runtime: {name: containerd}", "«runtime: containerd", "wrong-type"),
        ("runtime: {name: containerd}", "«runtime: [containerd]", "wrong-type"),
        ("{name: containerd}", "{«name: {a: b}}", "wrong-type"),
        ("{name: containerd}", "{«name: [a]}", "wrong-type"),
        ("  driver:", "  «secureBoot: 'no'\n  driver:", "wrong-type"),
        ("  driver:", "  «secureBoot: 0\n  driver:", "wrong-type"),
        ("  driver:", "  «extends: base\n  driver:", "wrong-type"),
        ("  driver:", "  extends: [«~]\n  driver:", "wrong-type"),
        ("  driver:", "  «acknowledge: {}\n  driver:", "wrong-type"),
        ("  driver:", "  acknowledge: [«iommu]\n  driver:", "wrong-type"),
        ("      - {key: nvidia.com/gpu, effect: NoSchedule}", "      - «x", "wrong-type"),
        ("metadata:\n  name: a100", "«metadata: a100", "wrong-type"),
        (
            'spec:\n  os: {id: ubuntu, version: "22.04"}\n  runtime: {name: containerd}\n  gpu: {product: A100, count: 8}\n',
            '«spec:\n  os: {id: ubuntu, version: "22.04"}\n  runtime: {name: containerd}\n',
            "missing-field",
        ),
        ("gpu: {product: A100, count: 8", "«gpu: {product: A100", "missing-field"),
        ("count: 8", "«count: ~", "missing-field"),
        ("{key: nvidia.com/gpu, effect: NoSchedule", "«{key: nvidia.com/gpu", "missing-field"),
        ("  name: a100", "  «name:", "missing-field"),
        ("kind: NodePool", "«kind:", "missing-field"),
        ("kind: NodePool", "«kind: Nodepool", "unknown-kind"),
        ("kind: NodePool", "«kind: Cluster", "unknown-kind"),
        ("kind: NodePool", "«kind: [NodePool]", "unknown-kind"),
        ("apiVersion: poolsmith/v1", "«apiVersion: poolsmith/v2", "unknown-kind"),
        ("apiVersion: poolsmith/v1", "«apiVersion: 1", "unknown-kind"),
        ("source: container", "«source: containers", "invalid-value"),
        ("source: container", "«source: ''", "invalid-value"),
        ("effect: NoSchedule", "«effect: noSchedule", "invalid-value"),
        ("source: container", "«source: on", "ambiguous-scalar"),
        ("name: a100", "«name: A100", "invalid-name"),
        ("name: a100", "«name: ../prod", "invalid-name"),
        ("name: a100", "«name: a100-", "invalid-name"),
        ("name: a100", '«name: "a100\\n"', "invalid-name"),
        ("name: a100", f"«name: {'a' * 64}", "invalid-name"),
        ("key: nvidia.com/gpu", "«key: /gpu", "invalid-name"),
        ("name: containerd}", "name: containerd, «socket: /run/../x}", "invalid-name"),
        ("name: containerd}", "name: containerd, «socket: run/x}", "invalid-name"),
        ("count: 8", "«count: 0", "out-of-range"),
        ("count: 8", "«count: 65", "out-of-range"),
        ("count: 8", "«count: -1", "out-of-range"),
        ('version: "22.04"', "«version: 22.04", "ambiguous-scalar"),
        ("name: a100", "«name: 100", "ambiguous-scalar"),
        ("name: a100", "«name: on", "ambiguous-scalar"),
        ("name: a100", "«name: 1e3", "ambiguous-scalar"),
        ("  driver:", "  extends: [a, b, «a]\n  driver:", "duplicate-item"),
        ("    taints:", "    names: [a, «a]\n    taints:", "duplicate-item"),
    ],
)
def test_a_mistake_has_a_name_and_a_place(old, new, name):
    text, place = unmarked(pool_with(old, new))

    assert findings(text) == [(name, f"p.yaml:{place}")]


@pytest.mark.parametrize("line", ["apiVersion: poolsmith/v1\n", "kind: NodePool\n", "metadata:\n  name: a100\n"])
def test_what_a_document_lacks_is_missing_in_the_file(line):
    assert findings(pool_with(line, "")) == [("missing-field", "p.yaml")]


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ('version: "1.33"', "«version: 1.33", "ambiguous-scalar"),
        ("  delivery:", "  registry: {mirrors: {«Nvcr.io: x}}\n  delivery:", "invalid-name"),
        ("  delivery:", "  registry: {mirrors: {«nvcr.io: X}}\n  delivery:", "invalid-name"),
        ("  delivery:", "  registry: {mirrors: {«nvcr.io: 1}}\n  delivery:", "ambiguous-scalar"),
        ("  delivery:", "  registry: {mirrors: {«nvcr.io: ~}}\n  delivery:", "wrong-type"),
        ("  delivery:", "  registry: {«mirrors: [nvcr.io]}\n  delivery:", "wrong-type"),
        ("  delivery:", "  registry: {mirrors: {«a/b: x}}\n  delivery:", "invalid-name"),
        ("repoURL: https", "«repoUrl: https", "unknown-field"),
        ("release: v26.3.3", "release: v26.3.3, «values: [1]", "wrong-type"),
    ],
)
def test_a_mistake_in_a_cluster_has_a_name_and_a_place(old, new, name):
    text, place = unmarked(CLUSTER.replace(old, new))

    assert (name, f"p.yaml:{place}") in findings(text, "Cluster")


def test_all_mistakes_of_a_file_are_told_at_once():
    text = """\
        apiVersion: poolsmith/v1
        kind: NodePol
        metadata: {name: A}
        spec:
          os: {id: ubuntu, version: 22.04}
          runtime: containerd
          gpu: {product: A100, count: 0, sise: 1}
          driver: {source: containr}
          nodes: {taints: [{key: a}, {effect: NoSchedule}]}
        """

    assert findings(text.replace("        ", "", 1).replace("\n        ", "\n")) == [
        ("unknown-kind", "p.yaml:2:1"),
        ("invalid-name", "p.yaml:3:12"),
        ("missing-field", "p.yaml:9:20"),
        ("missing-field", "p.yaml:9:30"),
        ("ambiguous-scalar", "p.yaml:5:20"),
        ("wrong-type", "p.yaml:6:3"),
        ("unknown-field", "p.yaml:7:34"),
        ("out-of-range", "p.yaml:7:24"),
        ("invalid-value", "p.yaml:8:12"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message", "advice"),
    [
        ("  driver: {", "  diver: {", "`spec` has no field `diver`", "did you mean `driver`?"),
        ("  driver: {", "  Driver: {", "`spec` has no field `Driver`", "did you mean `driver`?"),
        (
            "  os:",
            "  secure_boot: yes\n  os:",
            "`spec` has no field `secure_boot`",
            "did you mean `secureBoot`?",
        ),
        ("  os:", "  product: x\n  os:", "`spec` has no field `product`", "it belongs under `spec.gpu`"),
        (
            "count: 8",
            "count: 8, layout: x",
            "`spec.gpu` has no field `layout`",
            "it belongs elsewhere: `spec.gpu.mig`, `spec.gpu.vgpu`",
        ),
        ("metadata:", "gpu: {}\nmetadata:", "the document has no field `gpu`", "it belongs under `spec`"),
        ("metadata:", "Spec: {}\nmetadata:", "the document has no field `Spec`", "did you mean `spec`?"),
        (
            "source: container",
            "source: precompild",
            "`spec.driver.source` is `precompild`",
            "did you mean `precompiled`?",
        ),
        (
            "source: container",
            "source: host",
            "not one of `container`, `precompiled`",
            "did you mean `preinstalled`?",
        ),
        (
            '"22.04"',
            "22.10",
            "`spec.os.version` is read as a number, but a string is needed",
            'quote it: "22.10"',
        ),
        ("name: a100", "name: on", "is read as a boolean, but a string is needed", 'quote it: "on"'),
        ("count: 8", "count: 65", "`spec.gpu.count` is 65, out of 1 to 64", "use a number from 1 to 64"),
        (", count: 8", "", "`spec.gpu` lacks `count`", "add `count`: GPUs per node, for example `8`"),
        ("name: a100", "name: A", "`metadata.name` is `A`, not a DNS label", "write `a`"),
        ("kind: NodePool", "kind: Pool", "`kind` is `Pool`, not `NodePool`", "write `kind: NodePool`"),
        (", effect: NoSchedule", "", "`spec.nodes.taints[0]` lacks `effect`", "add `effect`: Taint effect"),
        (
            "  driver:",
            "  extends: a\n  driver:",
            "`spec.extends` is a string, not a list",
            "write `extends: [a]`",
        ),
    ],
)
def test_a_mistake_says_what_is_there_and_what_to_write(old, new, message, advice):
    item = only(pool_with(old, new))

    assert message in item.message
    assert advice in item.help


def test_a_field_of_another_kind_is_not_sent_to_where_it_stands():
    item = only(pool_with("  os:", "  poolLabel: x/y\n  os:"))

    assert item.help.startswith("`spec` takes `extends`")


def test_a_field_with_several_homes_names_them():
    item = only(pool_with("  os:", "  replicas: 2\n  os:"))

    homes = ("spec.sharing.timeSlicing", "spec.sharing.timeSlicing.resources", "spec.sharing.mps")
    assert item.help == f"it belongs elsewhere: {', '.join(f'`{path}`' for path in homes)}"


def test_long_and_unprintable_texts_are_cut_and_escaped_in_messages():
    item = only(pool_with("name: a100", f'name: "{"x" * 500}"'))
    assert len(item.message) < 200

    item = only(pool_with("name: a100", 'name: "a\\e[31m\\nb"'))
    assert item.message.isprintable()


@pytest.mark.parametrize(
    ("pointer", "text"),
    [
        ("/spec/gpu/count", "spec.gpu.count"),
        ("/spec/nodes/taints/0/key", "spec.nodes.taints[0].key"),
        ("/a~1b/c~0d", "a/b.c~d"),
        ("", ""),
    ],
)
def test_pointers_are_shown_dotted(pointer, text):
    assert dotted_pointer(pointer) == text


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        ("", "a string"),
        ([], "a list"),
        ({}, "a mapping"),
    ],
)
def test_a_value_has_a_kind_in_words(value, kind):
    assert kind_of(value) == kind


def test_a_text_is_shortened_to_one_bounded_line():
    assert shorten("a\nb\x1b") == "a\\x0ab\\x1b"
    assert shorten("x" * 61) == "x" * 60 + "…"


@pytest.mark.parametrize("cls", [PoolSpec, ClusterSpec])
def test_every_field_of_the_model_has_a_reader_and_a_sentence(cls):
    fields = fields_of(cls)

    assert fields
    assert all(field.shape.doc.endswith(".") for field in fields.values())
    assert set(fields) <= set(field_places(PROFILE_SPECS))
