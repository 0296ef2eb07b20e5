"""ConfigMaps that a driver container gets: as each release has them, what is refused, and what follows in the cluster."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.images import copy_plan

ROOT = Path(__file__).resolve().parents[3]
OBJECTS = "driverMode: nvidia-driver"
ALL = (
    "repoConfig: {name: repos, files: [local.repo]}, certConfig: {name: ca, files: [ca.pem]}, "
    "kernelModuleConfig: {name: mods, files: [nvidia.conf]}"
)
COMPILED = f"{{source: container, version: 580.126.20, {ALL}}}"


@pytest.mark.parametrize("release", ["v24.9.2", "v25.3.4", "v26.3.3", "v26.7.0"])
def test_values_have_them_as_the_chart_calls_them(resolve, release):
    values = resolve({"stack": f"{{release: {release}}}"}, {"a": {"driver": COMPILED}}).values

    assert values["driver.repoConfig.configMapName"] == "repos"
    assert values["driver.certConfig.name"] == "ca"
    assert values["driver.kernelModuleConfig.name"] == "mods"


@pytest.mark.parametrize("release", ["v25.3.4", "v26.3.3", "v26.7.0"])
def test_driver_objects_have_them_as_their_definition_calls_them(resolve, release):
    outcome = resolve(
        {"stack": f"{{release: {release}, {OBJECTS}}}"},
        {"a": {"driver": COMPILED}, "b": {"driver": "{source: container}"}},
    )
    with_files, without = (item.spec for item in outcome.plan.driver_objects)

    assert {key: with_files[key] for key in ("repoConfig", "certConfig", "kernelModuleConfig")} == {
        "repoConfig": {"name": "repos"},
        "certConfig": {"name": "ca"},
        "kernelModuleConfig": {"name": "mods"},
    }
    assert not {"repoConfig", "certConfig", "kernelModuleConfig"} & set(without)


@pytest.mark.parametrize(
    ("pool", "expected"),
    [
        ({"driver": f"{{source: preinstalled, {ALL}}}"}, "field-without-effect"),
        (
            {"driver": f'{{source: precompiled, version: "580", {ALL}}}', "kernel": "{release: 5.15.0-105-generic}"},
            "field-without-effect",
        ),
        ({"os": '{id: rocky, version: "9.6"}', "driver": COMPILED}, "driver-contradiction"),
    ],
    ids=["on the host", "precompiled", "a system without a folder"],
)
def test_what_the_operator_would_not_mount_is_refused(resolve, pool, expected):
    outcome = resolve({"stack": "{release: v25.3.4}"}, {"a": pool})

    assert expected in {name for name, _ in outcome.findings}


def test_one_name_is_one_config_map(resolve):
    other = COMPILED.replace("local.repo", "other.repo")
    outcome = resolve(
        {"stack": f"{{release: v26.3.3, {OBJECTS}}}"}, {"a": {"driver": COMPILED}, "b": {"driver": other}}
    )

    assert [item.message for item in outcome.diagnostics if item.name == "driver-contradiction"] == [
        "the ConfigMap `repos` has other files in `driver.repoConfig` of pool `a`, and a namespace has one of that name"
    ]


def test_pools_that_differ_do_not_share_a_cluster_policy(resolve):
    outcome = resolve({}, {"a": {"driver": COMPILED}, "b": {"driver": "{source: container, version: 580.126.20}"}})

    assert "driver-disagreement" in {name for name, _ in outcome.findings}


def test_the_files_are_predicted_and_the_host_s_mounts_stay(tmp_path):
    for name in ("profiles", "policies"):
        shutil.copytree(ROOT / name, tmp_path / name)
    pool = tmp_path / "profiles/prod-eu/h100-rhel.yaml"
    lines = "".join(f"    {line}\n" for line in re.split(r"(?<=\}), ", ALL))
    pool.write_text(pool.read_text().replace("\n  driver:\n", f"\n  driver:\n{lines}"))
    generate(tmp_path)
    predicted = tmp_path / "output/clusters/prod-eu/expected/workloads.yaml"
    names = [
        mount["mountPath"]
        for document in read_documents(predicted.read_text())
        if document["kind"] == "DaemonSet" and "rhel9.6" in document["metadata"]["name"]
        for container in document["spec"]["template"]["spec"]["containers"]
        if container["name"] == "nvidia-driver-ctr"
        for mount in container["volumeMounts"]
    ]

    assert {
        "/etc/yum.repos.d/local.repo",
        "/etc/pki/ca-trust/extracted/pem/ca.pem",
        "/drivers/nvidia.conf",
        "/run/secrets/rhsm",
    } <= set(names)
    assert "repos (" in (tmp_path / "output/clusters/prod-eu/README.md").read_text()
    assert {need.config for need in copy_plan(tmp_path, ("prod-eu",), None).packages if "rhel" in need.system} == {
        "repos"
    }
