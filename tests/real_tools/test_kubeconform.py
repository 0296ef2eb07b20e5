"""What kubeconform says of our objects, with recorded schemas and with ours; nothing is fetched."""

from __future__ import annotations

import json
import subprocess

import pytest

from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.interface.app import check_paths, check_project
from poolsmith.kubernetes.schema.kind_schema import KindSchema
from poolsmith.kubernetes.schema.schemas import families, read_pack, schemas_for
from support.recordings import recording

SCHEMAS = "{{.NormalizedKubernetesVersion}}-standalone{{.StrictSuffix}}/{{.ResourceKind}}{{.KindSuffix}}.json"


@pytest.mark.tool("kubeconform")
def test_what_has_a_recorded_schema_is_valid(repository, tmp_path):
    for name, schema in recording("kubernetes_schemas").items():
        path = tmp_path / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(schema), "utf-8")
    files = [
        str(path)
        for path in sorted((repository / "output").rglob("*.yaml"))
        if path.parent.name not in ("node-labels", "values")
    ]
    run = subprocess.run(
        [
            *("kubeconform", "-strict", "-ignore-missing-schemas", "-summary", "-kubernetes-version", "master"),
            *("-schema-location", str(tmp_path / SCHEMAS), *files),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert "Invalid: 0, Errors: 0" in run.stdout


@pytest.mark.deep("proposals for the whole fleet")
@pytest.mark.tool("kubeconform")
def test_the_second_opinion_on_the_sample_fleet_is_the_same(repository):
    outcome = check_project(repository, kubeconform="", progress=lambda _done, _total: None)

    assert [item.message for item in outcome.diagnostics if item.code.startswith("PSM31")] == []
    assert not any("kubeconform" in item.what for item in outcome.skipped)
    assert outcome.facts[-1] == (
        f"kubeconform came to the same verdict on {outcome.checked['validated objects']:,} objects"
    )


SOUND = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {b: c}\n"


@pytest.fixture
def opinion(write_files):
    def run(files):
        root = write_files(files)
        return check_paths(root, [root], kubeconform="", everything=True)

    return run


def disagreements(outcome):
    return [item.primary.pointer for item in outcome.diagnostics if item.code == "PSM316"]


@pytest.mark.tool("kubeconform")
@pytest.mark.parametrize(
    "text",
    [
        SOUND,
        SOUND.replace("b: c", "b: 1"),
        SOUND.replace("data", "dat"),
        SOUND.replace("b: c", "b: null"),
        SOUND.replace("data: {b: c}", "data: null"),
        f"{SOUND}---\n---\n{SOUND.replace('data', 'dta')}",
        "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, dta: {}}, {apiVersion: x/v1, kind: Y}]\n",
        "apiVersion: v1\nkind: LimitRange\nspec: {limits: [{type: Container, default: {memory: 1 Gi, cpu: 0.5}}]}\n",
        "apiVersion: nfd.k8s-sigs.io/v1alpha1\nkind: NodeFeatureRule\nmetadata: {name: a, labels: {a: 1}}\nspec: {rules: []}\n",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresource: [a]\n",
        "apiVersion: v1\nkind: ConfigMap\ndata: {y: '1', on: '2'}\n",
        "apiVersion: v1\nkind: Event\nmetadata: {}\ninvolvedObject: {}\neventTime: yesterday\n",
    ],
    ids=range(12),
)
def test_both_say_the_same(opinion, text):
    outcome = opinion({"a.yaml": text})

    assert disagreements(outcome) == []
    assert not any("kubeconform" in item.what for item in outcome.skipped)


@pytest.mark.tool("kubeconform")
def test_groups_that_share_a_first_label_have_schemas_of_their_own(opinion):
    """`resource.nvidia.com` and `resource.k8s.io` would share file names."""
    text = "apiVersion: {}\nkind: {}\nmetadata: {{name: a}}\nspec: {{x: 1}}\n"
    outcome = opinion(
        {
            "a.yaml": text.format("source.toolkit.fluxcd.io/v1", "Bucket"),
            "b.yaml": text.format("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
            "c.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
        }
    )

    assert disagreements(outcome) == []
    assert outcome.facts[-1] == "kubeconform came to the same verdict on 3 objects"


@pytest.mark.real("every schema, by kubeconform")
@pytest.mark.tool("kubeconform")
def test_every_schema_that_we_export_compiles_there(tmp_path):
    """A schema that does not compile counts as missing, silently."""
    versions = schema_versions(kubernetes="1.33", operator="v26.7.0", coco="v0.7.0")
    kinds = [
        kind.split(" ")
        for family in families()
        for kind in read_pack(family).view(read_pack(family).versions[-1]).kinds
    ]
    documents = []
    for api_version, kind in kinds:
        if isinstance(schemas_for(versions).find(api_version, kind), KindSchema) and kind != "List":
            documents.append(f"apiVersion: {api_version}\nkind: {kind}\nunknown: 1\n")
    path = tmp_path / "all.yaml"
    path.write_text("---\n".join(documents))
    outcome = check_paths(tmp_path, [path], kubernetes="1.33", release="v26.7.0", kubeconform="", everything=True)

    assert outcome.facts[-1].endswith("objects")
    assert disagreements(outcome) == []
    assert [item for item in outcome.skipped if "kubeconform" in item.what] == []
    assert len(documents) > 150
