"""Documents that are meant as objects, and are none: each an error at its own line."""

from __future__ import annotations

import pytest

SOUND = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sound}\n"


@pytest.fixture
def found(run_cli, write_files):
    """Exit code, and line and name of each finding of a file."""

    def run(text, name="objects.yaml", **others):
        root = write_files({name: text, **{f"{key}.yaml": value for key, value in others.items()}})
        result = run_cli(["check", ".", "--all", "--format", "json"], cwd=root)
        return result.code, [(item["primary"]["line"], item["name"]) for item in result.diagnostics]

    return run


HALVES = [
    ("kind: ConfigMap\nmetadata: {name: a}\n", 1),
    ("metadata: {name: a}\napiVersion: v1\n", 2),
    ("apiVersion: v1\nkind:\nmetadata: {name: a}\n", 2),
    ("apiVersion: v1\nkind: null\nmetadata: {generateName: a}\n", 2),
    ("apiVersion: v1\nkind: ''\nmetadata: {name: a}\n", 2),
    ("kind: ConfigMap\napiVersion: 1\nmetadata: {name: a}\n", 2),
    ("kind: ConfigMap\nmetadata: {name: a}\napiVersion: [v1]\n", 3),
    ("kind: null\napiVersion: null\nmetadata: {name: a}\n", 2),
]
ONLY_BESIDE = [
    ("metadata: {name: a}\nspec: {}\n", 1),
    ("data: {a: b}\n", 1),
    ("- apiVersion: v1\n", 1),
    ("just text\n", 1),
]


@pytest.mark.parametrize(("half", "line"), HALVES)
def test_half_an_object_is_an_error_at_its_line(found, half, line):
    assert found(half) == (1, [(line, "schema-violation")])
    assert found(f"{SOUND}---\n{half}") == (1, [(line + 4, "schema-violation")])


@pytest.mark.parametrize(("half", "line"), ONLY_BESIDE)
def test_beside_objects_everything_has_to_be_one(found, half, line):
    assert found(f"{SOUND}---\n{half}---\n{SOUND.replace('sound', 'other')}") == (1, [(line + 4, "schema-violation")])


@pytest.mark.parametrize("half", [half for half, _ in ONLY_BESIDE])
def test_files_that_hold_no_objects_are_left_alone(found, half):
    assert found(half, other=SOUND) == (0, [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Chart.yaml", "apiVersion: v2\nname: mine\nversion: 1.0.0\n"),
        ("values.yaml", "kind: Deployment\nmetadata: {annotations: {}}\nname: a\n"),
        ("kustomization.yaml", "kind: Kustomization\nmetadata: {name: a}\nresources: [other.yaml]\n"),
        ("kustomization.yaml", "resources: [other.yaml]\n"),
        ("objects.yaml", f"---\n# nothing\n---\n{SOUND.replace('sound', 'mine')}---\n---\n"),
    ],
)
def test_what_only_looks_like_half_an_object(found, name, text):
    assert found(text, name, other=SOUND) == (0, [])


def test_a_patch_is_no_object(found):
    kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [other.yaml]\n"
    patch = "patches: [{path: patch.yaml, target: {kind: ConfigMap, name: sound}}]\n"

    code, findings = found(
        kustomization + patch, "kustomization.yaml", other=SOUND, patch="kind: ConfigMap\nmetadata: {name: sound}\n"
    )

    assert (code, findings) == (0, [])


def test_items_of_a_list(found):
    text = "apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    metadata: {name: a}\n  - text\n"

    assert found(text) == (1, [(4, "schema-violation"), (6, "schema-violation")])
