"""Files of other names that are YAML as they stand, and objects that a repository holds for others to look at."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.repository.model import model_of
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

POLICY = "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: a}\nspec: {mig: {strategy: none}}\n"


def written(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    known = RepositoryFiles(folder, (folder,))
    return known, known.listed()


@pytest.mark.parametrize("end", ["j2", "jinja2", "tpl", "tftpl"])
@pytest.mark.parametrize(
    ("text", "is_yaml"), [(POLICY, True), (POLICY + "# {{ x }}\n", False), (POLICY + "a: ${b}\n", False)]
)
def test_a_template_without_anything_to_fill_in_is_yaml(tmp_path, end, text, is_yaml):
    files, listed = written(tmp_path, {f"templates/policy.yaml.{end}": text})

    assert bool(listed.yaml) is is_yaml
    assert bool(files.documents(f"templates/policy.yaml.{end}")) is is_yaml


def objects_of(folder, files):
    known, listed = written(folder, files)
    model = model_of(known, listed.yaml, listed.others)
    return {item.path for item in model.documents if item.is_object and item.path not in model.parts}


def test_samples_of_who_writes_an_operator_are_no_deliveries(tmp_path):
    samples = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [policy.yaml]\n"
    files = {"config/samples/policy.yaml": POLICY, "config/samples/kustomization.yaml": samples, "policy.yaml": POLICY}

    assert objects_of(tmp_path, {**files, "PROJECT": "layout: [go]\n"}) == {"policy.yaml"}
    (tmp_path / "PROJECT").unlink()
    assert objects_of(tmp_path, files) == {*files}


def test_the_objects_of_a_bundle_are_for_olm_to_apply(tmp_path):
    bundle = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: a.v1}\n"
    files = {"bundle/manifests/csv.yaml": bundle, "bundle/manifests/policy.yaml": POLICY, "policy.yaml": POLICY}

    assert objects_of(tmp_path, files) == {"policy.yaml"}
