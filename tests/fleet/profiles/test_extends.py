"""Bases stack up left to right; maps merge, lists replace, null deletes, and every value keeps its origin."""

from __future__ import annotations

import time

import pytest

from poolsmith.core.shape.layers import Layers, merge
from poolsmith.core.shape.reader import alternatives_of
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.profiles.bases import MAX_EXTENDS_DEPTH, load_bases
from poolsmith.fleet.profiles.node_pool import PoolSpec


def base(name, spec="{}", extends=()):
    listed = f"  extends: [{', '.join(extends)}]\n" if extends else ""
    body = f"spec:\n{listed}{spec}\n" if listed or spec != "{}" else "spec: {}\n"
    return f"apiVersion: poolsmith/v1\nkind: NodePoolBase\nmetadata:\n  name: {name}\n" + body


def pool(*extends, spec=""):
    text = f"spec:\n  extends: [{', '.join(extends)}]\n{spec}"
    return SourceFile("pool.yaml", text, read_documents(text)[0])


@pytest.fixture
def load(write_files):
    def load_them(**texts):
        root = write_files({f"profiles/_bases/{name}.yaml": text for name, text in texts.items()})
        return load_bases(InputTree(root), [f"profiles/_bases/{name}.yaml" for name in sorted(texts)])

    return load_them


def layers_of(bases, *extends, spec=""):
    stack, problems = bases.stack(pool(*extends, spec=spec))
    assert problems == []
    return Layers(stack, alternatives_of(PoolSpec))


def names(layers):
    return [file.data.get("metadata", {}).get("name", "pool") for file in layers.files]


def findings(problems):
    return [(item.name, str(item.primary.span)) for item in problems]


@pytest.mark.parametrize(
    ("below", "above", "merged"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": {"x": 1, "y": 1}}, {"a": {"y": 2, "z": 2}}, {"a": {"x": 1, "y": 2, "z": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": [1, 2]}, {"a": []}, {"a": []}),
        ({"a": [{"x": 1}]}, {"a": [{"y": 1}]}, {"a": [{"y": 1}]}),
        ({"a": 1, "b": 1}, {"a": None}, {"b": 1}),
        ({"a": {"x": 1}}, {"a": {"x": None}}, {"a": {}}),
        ({"a": {"x": 1}}, {"a": None}, {}),
        ({}, {"a": None}, {}),
        ({}, {"a": {"x": None, "y": 1}}, {"a": {"y": 1}}),
        ({"a": 1}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": {"x": 1}}, {"a": 1}, {"a": 1}),
        ({"a": {"x": 1}}, {"a": {}}, {"a": {"x": 1}}),
        ({"a": False}, {"a": 0}, {"a": 0}),
    ],
)
def test_maps_merge_lists_replace_and_null_deletes(below, above, merged):
    assert merge(below, above) == merged


def test_merging_changes_neither_side():
    below, above = {"a": {"x": 1}}, {"a": {"y": {"z": 1}}}
    merge(below, above)["a"]["y"] = 2

    assert (below, above) == ({"a": {"x": 1}}, {"a": {"y": {"z": 1}}})


def test_bases_stack_left_to_right_and_the_pool_comes_last(load):
    bases = load(
        root=base("root", "  nic: none\n  arch: arm64\n  secureBoot: true"),
        left=base("left", "  nic: mellanox", ["root"]),
        right=base("right", "  secureBoot: false"),
    )
    layers = layers_of(bases, "left", "right", spec="  workload: kata\n")

    assert names(layers) == ["root", "left", "right", "pool"]
    assert layers.merged_spec() == {
        "nic": "mellanox",
        "arch": "arm64",
        "secureBoot": False,
        "workload": "kata",
    }


def test_a_base_that_is_reached_twice_counts_where_it_is_reached_last(load):
    bases = load(
        root=base("root", "  nic: none"),
        left=base("left", "  nic: mellanox", ["root"]),
        right=base("right", "  arch: arm64", ["root"]),
    )

    assert names(layers_of(bases, "left", "right")) == ["left", "root", "right", "pool"]


LAYERED = {
    "root": base("root", "  gpu:\n    product: A\n    count: 8\n  nodes:\n    names: [a, b, c]\n  nic: mellanox"),
    "mid": base("mid", "  gpu:\n    count: 4\n  kernel:\n    release: x", ["root"]),
}
OWN = "  gpu:\n    product: B\n  nodes:\n    names: [z]\n  nic: ~\n"


@pytest.mark.parametrize(
    ("pointer", "place"),
    [
        ("/spec/gpu/product", "pool.yaml:4:5"),
        ("/spec/gpu/count", "profiles/_bases/mid.yaml:8:5"),
        ("/spec/gpu", "pool.yaml:3:3"),
        ("/spec/kernel/release", "profiles/_bases/mid.yaml:10:5"),
        ("/spec/kernel/args", "profiles/_bases/mid.yaml:9:3"),
        ("/spec/nodes/names/0", "pool.yaml:6:13"),
        ("/spec/nodes/names/2", "pool.yaml:6:5"),
        ("/spec/nic", "pool.yaml:7:3"),
        ("/spec/gpu/mig/layout", "pool.yaml:3:3"),
        ("/spec/os", "pool.yaml:1:1"),
        ("/spec", "pool.yaml:1:1"),
        ("/metadata/name", "pool.yaml"),
    ],
)
def test_a_value_is_located_in_the_file_whose_word_counts(load, pointer, place):
    layers = layers_of(load(**LAYERED), "mid", spec=OWN)

    assert str(layers.locate(pointer).span) == place
    assert layers.owner(pointer).path == place.split(":")[0]


def test_a_value_is_told_as_its_owner_wrote_it(load):
    layers = layers_of(load(a=base("a", "  os:\n    version: 22.10")), "a")

    assert layers.written("/spec/os/version") == "22.10"
    assert layers.own.path == "pool.yaml"


@pytest.mark.parametrize(
    ("extends", "place", "advice"),
    [
        (["a-100"], "pool.yaml:2:13", "did you mean `a100`?"),
        (["a100", "nope"], "pool.yaml:2:19", "known: `a100`"),
        (["5", "nope"], "pool.yaml:2:16", "known: `a100`"),
    ],
)
def test_an_unknown_base_is_reported_where_it_is_named(load, extends, place, advice):
    _, problems = load(a100=base("a100")).stack(pool(*extends))

    assert findings(problems) == [("unknown-base", place)]
    assert problems[0].help == advice


def test_without_any_base_the_advice_says_so(load):
    _, problems = load().stack(pool("a"))

    assert problems[0].help == "there are no bases yet"


def test_a_base_that_extends_an_unknown_one_is_reported_in_its_own_file(load):
    bases = load(a=base("a", extends=["nope"], spec=""))

    assert findings(bases.problems) == [("unknown-base", "profiles/_bases/a.yaml:6:13")]


@pytest.mark.parametrize(
    ("edges", "circles"),
    [
        ({"a": ["a"]}, ["a → a"]),
        ({"a": ["b"], "b": ["a"]}, ["a → b → a"]),
        ({"a": ["b"], "b": ["c"], "c": ["b"]}, ["b → c → b"]),
        ({"a": ["b"], "b": ["c"], "c": ["d"], "d": ["a"]}, ["a → b → c → d → a"]),
        ({"a": ["b", "c"], "b": ["a"], "c": ["a"]}, ["a → b → a", "a → c → a"]),
    ],
)
def test_a_circle_is_reported_once_with_its_way(load, edges, circles):
    bases = load(**{name: base(name, extends=extends, spec="") for name, extends in edges.items()})

    assert [item.name for item in bases.problems] == ["extends-cycle"] * len(circles)
    assert [item.message.split(": ")[1] for item in bases.problems] == circles


def test_a_circle_of_any_length_has_a_short_message(load):
    bases = load(**{f"b{n}": base(f"b{n}", extends=[f"b{(n + 1) % 200}"], spec="") for n in range(200)})

    assert "extends-cycle" in {item.name for item in bases.problems}
    assert all(len(item.message) < 200 for item in bases.problems)


def test_repeated_diamonds_take_no_exponential_time(load):
    texts = {"b0": base("b0", "  nic: mellanox")}
    for n in range(1, 14):
        texts[f"b{n}-left"] = base(f"b{n}-left", extends=[f"b{n - 1}"], spec="")
        texts[f"b{n}-right"] = base(f"b{n}-right", extends=[f"b{n - 1}"], spec="")
        texts[f"b{n}"] = base(f"b{n}", extends=[f"b{n}-left", f"b{n}-right"], spec="")
    started = time.perf_counter()
    bases = load(**texts)
    layers = layers_of(bases, "b13")

    assert time.perf_counter() - started < 60
    assert bases.problems == []
    assert len(layers.files) == len(texts) + 1
    assert layers.merged_spec() == {"nic": "mellanox"}


def test_too_many_diamonds_end_in_a_diagnostic(load):
    texts = {"b0": base("b0")}
    for n in range(1, 41):
        texts[f"b{n}-left"] = base(f"b{n}-left", extends=[f"b{n - 1}"], spec="")
        texts[f"b{n}-right"] = base(f"b{n}-right", extends=[f"b{n - 1}"], spec="")
        texts[f"b{n}"] = base(f"b{n}", extends=[f"b{n}-left", f"b{n}-right"], spec="")
    started = time.perf_counter()

    assert {item.name for item in load(**texts).problems} == {"input-limit"}
    assert time.perf_counter() - started < 60


def chain(length, name):
    return {
        name(n): base(name(n), extends=[name(n - 1)] if n else (), spec="" if n else "  nic: mellanox")
        for n in range(length)
    }


@pytest.mark.parametrize("name", ["b{:04}".format, lambda n: f"b{9999 - n}"], ids=["rising", "falling"])
def test_a_chain_is_followed_up_to_the_limit_whatever_the_names(load, name):
    assert load(**chain(MAX_EXTENDS_DEPTH, name)).problems == []
    assert layers_of(load(**chain(MAX_EXTENDS_DEPTH, name)), name(MAX_EXTENDS_DEPTH - 1)).merged_spec() == {
        "nic": "mellanox"
    }


@pytest.mark.parametrize("length", [MAX_EXTENDS_DEPTH + 1, 1_000])
@pytest.mark.parametrize("name", ["b{:04}".format, lambda n: f"b{9999 - n}"], ids=["rising", "falling"])
def test_a_longer_chain_ends_in_one_diagnostic_whatever_the_names(load, name, length):
    bases = load(**chain(length, name))

    assert findings(bases.problems) == [("input-limit", f"profiles/_bases/{name(MAX_EXTENDS_DEPTH)}.yaml:6:3")]


def test_two_bases_of_one_name_are_reported_with_both_places(load):
    bases = load(a=base("same"), b=base("same"))

    assert findings(bases.problems) == [("duplicate-name", "profiles/_bases/b.yaml:4:3")]
    assert [str(place.span) for place in bases.problems[0].related] == ["profiles/_bases/a.yaml:4:3"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (base("a", "  gpu: {count: 0}"), [("out-of-range", ":6:9")]),
        (base("a", "  gpu: {}"), []),
        (base("a", "  nodes:\n    taints:\n      - {key: x}"), [("missing-field", ":8:9")]),
        (base("a").replace("  name: a\n", "  name: ~\n"), [("missing-field", ":4:3")]),
        (base("a").replace("NodePoolBase", "NodePool"), [("unknown-kind", ":2:1")]),
        (base("a").replace("spec: {}\n", ""), [("missing-field", "")]),
        (base("a").replace("  name: a\n", "  name: A\n"), [("invalid-name", ":4:3")]),
        ("a: @\n", [("yaml-syntax", ":1:4")]),
        ("", [("empty-document", "")]),
    ],
)
def test_a_base_is_checked_as_a_part(load, text, expected):
    found = findings(load(a=text).problems)

    assert found == [(name, f"profiles/_bases/a.yaml{place}") for name, place in expected]


def test_the_bases_in_use_are_known(load):
    bases = load(root=base("root"), mid=base("mid", extends=["root"], spec=""), unused=base("unused"))

    assert bases.used_by(layers_of(bases, "mid").files) == {"mid", "root"}


ROLLED = [
    (
        "the pool replaces the base's one",
        "  os: {id: ubuntu, version: a}",
        "  os: {versions: [b, c]}",
        ("b", ("b", "c")),
    ),
    ("the pool takes one of the base's", "  os: {id: ubuntu, versions: [a, b]}", "  os: {version: c}", ("c", ())),
    ("the pool says nothing", "  os: {id: ubuntu, versions: [a, b]}", "  nic: none", ("a", ("a", "b"))),
]


@pytest.mark.parametrize("case", ROLLED, ids=lambda case: case[0])
def test_one_value_and_a_list_of_them_replace_each_other(load, case):
    _, below, above, (version, versions) = case
    layers = layers_of(load(lower=base("lower", below), upper=base("upper", above, extends=["lower"])), "upper")
    merged = layers.merged_spec()["os"]

    assert merged.get("version", (merged.get("versions") or [None])[0]) == version
    assert tuple(merged.get("versions", ())) == versions
    assert layers.said_at("/spec/os/version").startswith("/spec/os/versions/0" if versions else "/spec/os/version")


@pytest.mark.parametrize("text", ["  os: {id: ubuntu, version: a, versions: [b]}", "  os: {id: ubuntu, versions: []}"])
def test_both_in_one_place_and_a_list_of_nothing_are_refused(load, text):
    assert [item.name for item in load(a=base("a", text)).problems if item.name != "unused-base"] == ["invalid-value"]
