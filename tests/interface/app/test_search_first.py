"""A repository without a word of the GPU stack is searched, and not parsed; what is found does not depend on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from poolsmith.core.diagnostics import NoInputError
from poolsmith.core.sources import yaml_nodes, yaml_reader
from poolsmith.gpu.catalog.stack_objects import CHARTS, GROUPS, is_of_stack
from poolsmith.gpu.catalog.stack_words import may_be_of_stack, mentions
from poolsmith.interface.app import check
from poolsmith.interface.app.check import check_paths
from poolsmith.kubernetes.repository.manifest_files import parse_documents
from support.circles import share

TESTS = Path(__file__).resolve().parents[2]
TREES = [
    *sorted((TESTS / "miniatures" / "repositories").iterdir()),
    *sorted((TESTS / "guard" / "rules" / "examples").glob("*/fail")),
]
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [%s]\n"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {b: migrate}\n"
DEFINITION = (
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.example.com}\n"
    "spec: {group: example.com, names: {kind: A, plural: as}, scope: Cluster, versions: [{name: v1, served: true, "
    "storage: true, schema: {openAPIV3Schema: {type: object, description: for nvidia.com/gpu}}}]}\n"
)
PLUGIN = (
    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n"
    '    metadata: {labels: {a: b}}\n    spec: {containers: [{name: a, image: "%s"}]}\n'
)


@pytest.fixture
def parsed(monkeypatch):
    """The texts that are parsed."""
    texts = []

    def seen(read):
        def run(text, *more):
            texts.extend([text] if text not in texts else ())
            return read(text, *more)

        return run

    for module, name in ((yaml_reader, "documents_in"), (yaml_nodes, "compose")):  # by lines, and by the library
        monkeypatch.setattr(module, name, seen(getattr(module, name)))
    return texts


def verdict(root, **options):
    try:
        outcome = check_paths(root, [root], **options)
    except NoInputError as error:
        return str(error).partition(" is in ")[0]
    return sorted((item.name, str(item.primary.span), item.message) for item in outcome.diagnostics)


def test_nothing_is_parsed_where_no_word_stands(write_files, parsed):
    root = write_files({"kustomization.yaml": KUSTOMIZATION % "a.yaml", "a.yaml": MAP, "README.md": "NVIDIA"})
    with pytest.raises(NoInputError, match=r"nothing of the GPU stack is in 2 files; --all"):
        check_paths(root, [root])

    assert parsed == []


def test_all_parses_each_file(write_files, parsed):
    root = write_files({"kustomization.yaml": KUSTOMIZATION % "a.yaml", "a.yaml": MAP})
    outcome = check_paths(root, [root], everything=True)

    assert outcome.checked["objects"] == 2
    assert MAP in parsed


def test_a_kind_that_is_defined_with_a_word_is_parsed_alone(write_files, parsed):
    root = write_files({"crd.yaml": DEFINITION, "a.yaml": MAP})
    with pytest.raises(NoInputError, match="nothing of the GPU stack is in 2 files"):
        check_paths(root, [root])

    assert parsed == [DEFINITION]


def test_a_definition_that_can_not_be_read_is_told(write_files):
    root = write_files({"crd.yaml": DEFINITION + "  a: [\n", "a.yaml": MAP})

    assert [name for name, *_ in verdict(root)] == ["yaml-syntax"]


@pytest.mark.parametrize(
    "image", [r"nvcr.io/nv\x69dia/k8s-device-plugin:v1", "nvcr.io/nvi\\\n      dia/a:v1", "NVCR.io/NVIDIA/a:v1"]
)
def test_a_word_is_found_however_it_is_written(image):
    assert may_be_of_stack((PLUGIN % image).encode())


def test_all_are_read_where_a_word_stands_in_what_takes_them_in(write_files, parsed):
    top = KUSTOMIZATION % "a.yaml" + "patches: [{path: patch.json, target: {kind: ConfigMap}}]\n"
    patch = '[{"op": "replace", "path": "/metadata/name", "value": "nvidia-a"}]'
    root = write_files({"kustomization.yaml": top, "a.yaml": MAP, "patch.json": patch})
    check_paths(root, [root])

    assert MAP in parsed


def test_what_a_folder_takes_from_beside_it_is_read(write_files):
    plugin = PLUGIN % "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"
    root = write_files({"a/kustomization.yaml": KUSTOMIZATION % "../b/b.yaml", "b/b.yaml": plugin})

    assert check_paths(root, [root / "a"]).checked["objects"] == 1


@pytest.mark.parametrize("root", share(TREES, 20, lambda item: f"{item.parent.name}-{item.name}"))
def test_the_search_changes_no_finding(root, monkeypatch):
    found = verdict(root)
    monkeypatch.setattr(check, "searched", lambda *_: None)

    assert verdict(root) == found


def test_what_is_of_the_stack_has_a_word_of_it():
    told = 0
    for tree in TREES:
        for path in tree.rglob("*.yaml"):
            documents, _ = parse_documents(path.name, path.read_bytes())
            if any(is_of_stack(item) for item in documents if item.is_object):
                told += 1
                assert may_be_of_stack(path.read_bytes()), path
    assert told > 100


@pytest.mark.parametrize("word", [*sorted(CHARTS), *GROUPS, "kata", "mig", "coco", "nfd", "time-slicing"])
def test_each_name_of_the_stack_is_a_word(word):
    assert may_be_of_stack(f"apiVersion: v1\nmetadata: {{name: {word}}}\n".encode())


@pytest.mark.parametrize("text", ["mig-parted", "xmig.parted", "kata-qemu1", "confidentialcontainers", "nfd_a"])
def test_what_is_mentioned_may_be_of_the_stack(text):
    assert mentions(text.encode())
    assert may_be_of_stack(b"apiVersion: v1\na: " + text.encode())


@pytest.mark.parametrize("text", ["migrate: 1", "immigrant", "katacoda", "coconut", "a: b"])
def test_other_words_are_none(text):
    assert not may_be_of_stack(b"apiVersion: v1\na: " + text.encode())


def test_values_of_the_operator_need_no_word():
    assert may_be_of_stack(b"driver:\n  enabled: false\ntoolkit:\n  enabled: false\n")
    assert not may_be_of_stack(b"driver:\n  enabled: false\nother: 1\n")
