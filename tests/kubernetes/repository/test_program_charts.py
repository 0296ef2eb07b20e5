"""Charts of Pulumi's YAML, and those that programs name."""

import pytest

from poolsmith.kubernetes.repository.model import model_of
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

PROJECT = """\
name: a
runtime: yaml
resources:
  gpu:
    type: kubernetes:helm.sh/v3:Release
    properties:
      chart: gpu-operator
"""
COMPUTED = ["values that Pulumi computes"]


def installed(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    known = RepositoryFiles(folder, (folder,))
    listed = known.listed()
    return model_of(known, listed.yaml, listed.others).installations


VALUES = {
    "as they are": ("values: {driver: {enabled: false}}", {"driver": {"enabled": False}}, []),
    "of a function": (
        "values: {driver: {version: {'fn::invoke': {function: a}}}, a: 1}",
        {"driver": {}, "a": 1},
        COMPUTED,
    ),
    "of a function in a list": ("values: {driver: {args: [a, {'fn::select': [0, [b]]}]}}", {"driver": {}}, COMPUTED),
    "of a variable": ("values: ${all}", {}, COMPUTED),
    "of a file": ("valueYamlFiles: [{'fn::fileAsset': ./v.yaml}]", {"b": 2}, []),
    "of a file by its name": ("valueYamlFiles: [v.yaml]", {"b": 2}, []),
    "of a file that is not there": ("valueYamlFiles: [{'fn::fileAsset': w.yaml}]", {}, COMPUTED),
    "of a file that an address gives": ("valueYamlFiles: [{'fn::remoteAsset': 'https://a/v.yaml'}]", {}, COMPUTED),
    "of files that a variable names": ("valueYamlFiles: ${files}", {}, COMPUTED),
    "on top of a file": ("valueYamlFiles: [v.yaml]\n      values: {b: 3}", {"b": 3}, []),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_a_run_computes_is_unknown_and_the_rest_is_read(tmp_path, name):
    written, values, unknown = VALUES[name]
    (item,) = installed(tmp_path, {"Pulumi.yaml": f"{PROJECT}      {written}\n", "v.yaml": "b: 2\n"})

    assert item.values == values
    assert [found.what for found in item.unknown] == unknown


def test_a_program_below_two_projects_is_named_once_and_libraries_never(tmp_path):
    program = 'new k8s.helm.v3.Release("gpu", {chart: "gpu-operator"});\n'
    projects = dict.fromkeys(("Pulumi.yaml", "a/Pulumi.yaml"), "name: a\nruntime: nodejs\n")
    programs = dict.fromkeys(("a/index.ts", "a/node_modules/b/index.js"), program)

    assert [item.document.path for item in installed(tmp_path, projects | programs)] == ["a/index.ts"]


@pytest.mark.parametrize(("before", "beside"), [(0, 400), (1 << 18, 0)])
def test_a_program_is_named_however_long_it_is_and_however_many_stand_beside_it(tmp_path, before, beside):
    program = "// " + "a" * before + '\nnew Release("gpu", {chart: "gpu-operator"});\n'
    others = {f"a{index}.ts": "" for index in range(beside)}
    found = installed(tmp_path, {"Pulumi.yaml": "name: a\nruntime: nodejs\n", "index.ts": program} | others)

    assert [item.document.path for item in found] == ["index.ts"]
