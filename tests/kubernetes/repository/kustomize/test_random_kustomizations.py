"""Kustomizations that nobody thought of, against the real kustomize."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kubernetes.repository.kustomize.side_by_side import assert_same

pytestmark = pytest.mark.tool("kustomize")

NOTHING = st.just({})
names = st.sampled_from(["a", "b", "c"])
texts = st.sampled_from(["x", "yes", "1", "a-b", ""])
directives = st.sampled_from([{}, {}, {}, {"$patch": "delete"}, {"$patch": "replace"}, {"$patch": "merge"}])


def fields(**choices):
    return st.fixed_dictionaries({}, optional=choices)


variables = fields(value=texts).flatmap(lambda rest: names.map(lambda name: {"name": name, **rest}))
ports = st.tuples(st.sampled_from([80, 443, 9400]), fields(protocol=st.sampled_from(["TCP", "UDP"]), name=names)).map(
    lambda pair: {"containerPort": pair[0], **pair[1]}
)


def containers(extra=NOTHING):
    """With what a patch adds to items."""
    item = fields(
        image=st.sampled_from(["img:1", "reg:5000/img", "other@sha256:ab"]),
        args=st.lists(texts, max_size=2),
        env=st.lists(st.tuples(variables, extra).map(lambda pair: {**pair[0], **pair[1]}), max_size=3),
        ports=st.lists(ports, max_size=3),
        resources=st.sampled_from([{}, {"limits": {"gpu": 1}}, {"requests": {"cpu": "1"}}]),
    )
    named = st.tuples(names, item, extra).map(lambda found: {"name": found[0], **found[1], **found[2]})
    return st.lists(named, max_size=3)


def pod_specs(extra=NOTHING):
    return fields(
        containers=containers(extra),
        initContainers=containers(),
        nodeSelector=st.dictionaries(names, texts, max_size=2),
        tolerations=st.lists(fields(key=names, operator=st.just("Exists")), max_size=2),
        volumes=st.lists(names.map(lambda name: {"name": name, "configMap": {"name": name}}), max_size=2),
        serviceAccountName=names,
    )


def workload(name, spec):
    metadata = {"labels": {"app": name}}
    body = {"selector": {"matchLabels": {"app": name}}, "template": {"metadata": metadata, "spec": spec}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": body}


def patch(spec):
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {"template": {"spec": spec}},
    }


def custom(name, spec):
    return {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": name}, "spec": spec}


trees = st.recursive(
    st.one_of(texts, st.booleans(), st.integers(0, 3)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(names, inner, max_size=3)),
    max_leaves=6,
)
patched_trees = st.dictionaries(names, st.one_of(trees, st.none()), max_size=3)
kustomizations = fields(
    namespace=st.sampled_from(["gpu", "other"]),
    namePrefix=st.just("p-"),
    nameSuffix=st.just("-s"),
    commonLabels=st.just({"l": "m"}),
    commonAnnotations=st.just({"note": "x"}),
    labels=st.just([{"pairs": {"k": "v"}, "includeTemplates": True}]),
    images=st.lists(
        st.sampled_from(
            [
                {"name": "img", "newTag": "2"},
                {"name": "reg:5000/img", "newName": "new"},
                {"name": "other", "digest": "sha256:cd"},
            ]
        ),
        max_size=2,
    ),
    replicas=st.just([{"name": "a", "count": 2}]),
    configMapGenerator=st.just(
        [
            {"name": "a", "literals": ["k=v"]},
            {"name": "b", "literals": ["k=v"], "options": {"disableNameSuffixHash": True}},
        ]
    ),
)
operations = st.lists(
    st.sampled_from(
        [
            {"op": "add", "path": "/metadata/labels/new", "value": "x"},
            {"op": "replace", "path": "/spec/replicas", "value": 4},
            {"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "late", "image": "img"}},
            {"op": "remove", "path": "/spec/template/spec/containers/0"},
            {"op": "add", "path": "/metadata/labels", "value": {"only": "x"}},
        ]
    ),
    min_size=1,
    max_size=2,
)


@pytest.mark.real("kustomize builds many random trees; its features stay")
@settings(max_examples=25, deadline=None)
@given(
    pod=pod_specs(),
    change=pod_specs(directives),
    spec=trees,
    new_spec=patched_trees,
    below=kustomizations,
    above=kustomizations,
    steps=operations,
)
def test_kustomize_builds_the_same(pod, change, spec, new_spec, below, above, steps):
    objects = [
        workload("a", pod),
        custom("policy", {"a": spec}),
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gpu"}},
    ]
    patches = [
        {"patch": yaml.safe_dump(patch(change))},
        {"patch": yaml.safe_dump(custom("policy", new_spec)), "target": {"kind": "Cluster.*"}},
    ]
    last = [{"target": {"kind": "Deployment"}, "patch": yaml.safe_dump(steps)}]
    above = {key: value for key, value in above.items() if key != "configMapGenerator"}
    files = {
        "base/objects.yaml": yaml.safe_dump_all(objects),
        "base/kustomization.yaml": yaml.safe_dump({"resources": ["objects.yaml"], "patches": patches, **below}),
        "top/kustomization.yaml": yaml.safe_dump({"resources": ["../base"], "patches": last, **above}),
    }
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text)
        assert_same(root, "top")
