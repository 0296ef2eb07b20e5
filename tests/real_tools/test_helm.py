"""The real helm sees the values that poolsmith computes: files over files, `--set`, and all of it over defaults."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
import yaml

from poolsmith.kubernetes.helm.set_flag import apply_set
from poolsmith.kubernetes.helm.values_merge import merge_files, merge_over_defaults

DEFAULTS = {
    "driver": {
        "enabled": True,
        "version": "580.95.05",
        "rdma": {"enabled": False},
        "env": [{"name": "A", "value": "1"}],
    },
    "toolkit": {"enabled": True, "env": []},
    "labels": {"a": "1", "b": "2"},
    "empty": {},
    "nothing": None,
}
CASES = {
    "nothing written": ([], []),
    "maps merge, lists are replaced": (
        [{"driver": {"rdma": {"enabled": True}, "env": [{"name": "B"}]}, "labels": {"c": "3"}}],
        [],
    ),
    "a null takes a default away": ([{"driver": {"version": None, "rdma": None}, "toolkit": None}], []),
    "the later file wins": ([{"labels": {"a": "x", "b": "x"}}, {"labels": {"b": "y"}}], []),
    "a null of a later file": ([{"labels": {"a": "x"}}, {"labels": {"a": None}}], []),
    "a null below a key that has no default": ([{"fresh": {"a": None, "b": 1}}], []),
    "a map over a null": ([{"nothing": {"a": 1}}], []),
    "a scalar over a list": ([{"toolkit": {"env": "none"}}], []),
    "set types": (
        [],
        ["driver.enabled=false,toolkit.enabled=null,labels.a=570,labels.b=570.1,labels.c=true,labels.d="],
    ),
    "set lists": ([], ["toolkit.env[0].name=A,toolkit.env[0].value=x,empty.list={a,b}"]),
    "set into a default's list": ([], ["driver.env[1].name=B"]),
    "set escapes": ([], [r"labels.nvidia\.com/gpu=a\,b"]),
    "set over a file": ([{"labels": {"a": "file"}}], ["labels.a=set"]),
    "set leading zeros": ([], ["labels.a=0123,labels.b=0,labels.c=-1,labels.d=0x10"]),
}


@pytest.fixture(scope="module")
def chart(tmp_path_factory):
    """A chart that prints its values."""
    folder = tmp_path_factory.mktemp("chart")
    (folder / "templates").mkdir()
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: printed\nversion: 0.1.0\n")
    (folder / "values.yaml").write_text(json.dumps(DEFAULTS))
    (folder / "templates/values.yaml").write_text("values: {{ toJson .Values }}\n")
    return folder


def of_helm(chart, files, sets, folder):
    arguments = []
    for number, values in enumerate(files):
        path = folder / f"{number}.yaml"
        path.write_text(json.dumps(values))
        arguments += ["-f", str(path)]
    for text in sets:
        arguments += ["--set", text]
    run = subprocess.run(
        ["helm", "template", "release", str(chart), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"HOME": str(folder), "PATH": os.environ["PATH"]},
    )
    assert run.returncode == 0, run.stderr
    return yaml.safe_load(run.stdout)["values"]


@pytest.mark.tool("helm")
@pytest.mark.parametrize(("files", "sets"), CASES.values(), ids=CASES.keys())
def test_values_are_merged_as_helm_merges_them(chart, files, sets, tmp_path):
    values = merge_files(files)
    for text in sets:
        apply_set(values, text)

    assert merge_over_defaults(DEFAULTS, values) == of_helm(chart, files, sets, tmp_path)
