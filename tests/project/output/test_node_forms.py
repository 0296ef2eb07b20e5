"""Each form that is handed over says all that the table of who makes nodes has, for each kind of driver."""

from __future__ import annotations

import json

import pytest

from poolsmith.gpu.nodes.node_makers import form_of, forms
from poolsmith.project.output.node_needs import needs_of

POOL = {
    "gpu": "{product: NVIDIA-L4, count: 2}",
    "nodes": "{taints: [{key: nvidia.com/gpu, effect: NoSchedule}], provisionedBy: {tool: %s}}",
}
DRIVERS = {"own": "{source: container, version: 580.126.20}", "there": "{source: preinstalled}"}
FILES = {
    "managed": "provisioners/a/managed-machine-pool.yaml",
    "terraform": "provisioners/terraform.tfvars.json",
    "karpenter": "provisioners/a/node-pool.yaml",
    "object": "provisioners/a/pool-object.yaml",
}
WORDS = {
    "gpus": ("2 GPUs", "L4"),
    "driver": ("driver",),
    "with": ("that has the driver",),
    "without": ("without a driver",),
    "plugin": ("--install-nvidia-plugin=false",),
    "installer": ("nvidia-driver-installer",),
}
"""What a line has to say where a form has no field."""
FIELDS = {
    ("gke", "gpus"): ("type=nvidia-l4,count=2",),
    ("gke", "driver"): ("gpu-driver-version=disabled",),
    ("aks", "driver"): ("--gpu-driver none",),
    ("terraform-gke", "gpus"): ('"type": "nvidia-l4"', '"count": 2'),
    ("terraform-gke", "driver"): ('"gpu_driver_version": "INSTALLATION_DISABLED"',),
    ("terraform-aks", "driver"): ('"gpu_driver": "None"',),
    ("object-gke", "gpus"): ("type: nvidia-l4", "count: 2"),
    ("object-gke", "driver"): ("gpuDriverVersion: INSTALLATION_DISABLED",),
    ("object-aks", "driver"): ('driver: "None"',),
}


def distribution_of(form):
    tool = form_of(form)[0].tool
    return "eks" if tool == "karpenter" else tool


def written(render, form, driver):
    """The form, and the settings that it was made from."""
    tool = "cluster-api" if form.startswith("managed-") else form_of(form)[0].tool
    cluster = {"kubernetes": f'{{version: "1.33", distribution: {distribution_of(form)}}}'}
    files = render(cluster, {"a": {**POOL, "nodes": POOL["nodes"] % tool, "driver": DRIVERS[driver]}})
    name = form.partition("-")[0]
    if name in FILES:
        return files.content[FILES[name]]
    return files.document("expected/node-labels/a.yaml")["snippets"][form]


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("form", forms())
def test_each_form_says_all_that_the_table_has(render, resolve, form, driver):
    text = written(render, form, driver)
    text = text if isinstance(text, str) else text.decode()
    maker, said = form_of(form)
    has_own = driver == "own"

    class Marks:
        own_driver, has_operator = has_own, True

    for need in needs_of(maker, Marks):
        if need in said:
            wanted = FIELDS[form, need]
        elif need in maker.needs:
            wanted = WORDS[need]
        else:
            continue
        assert [word for word in wanted if word not in text] == [], (form, need)
    assert "nvidia.com/gpu" in text
    assert "poolsmith.dev/pool" in text
    if maker.tool == "gke":
        assert "gke-no-default-nvidia-gpu-device-plugin" in text


@pytest.mark.parametrize("form", forms())
def test_an_image_is_asked_for_with_a_driver_or_without_one(render, form):
    own, there = (str(written(render, form, driver)) for driver in DRIVERS)

    assert "that has the driver" not in own
    assert "without a driver" not in there


@pytest.mark.parametrize(
    ("cloud", "driver", "words"),
    [
        ("gke", "own", "`gpu-driver-version=disabled`"),
        ("gke", "there", "`gpu-driver-version=disabled`"),
        ("aks", "own", "`--gpu-driver none`"),
        ("aks", "there", ""),
        ("eks", "own", ""),
    ],
)
def test_the_readme_names_what_keeps_a_clouds_driver_off(render, cloud, driver, words):
    files = render({"kubernetes": f'{{version: "1.33", distribution: {cloud}}}'}, {"a": {"driver": DRIVERS[driver]}})
    lines = [line for line in files.content["README.md"].decode().splitlines() if "unless they are made with" in line]

    assert (words in lines[0]) if words else not lines


def test_every_field_of_the_table_is_held_by_a_word():
    assert {(form, need) for form in forms() for need in form_of(form)[1]} == set(FIELDS)


def test_an_accelerator_that_nobody_knows_keeps_the_clouds_driver_off(render):
    pool = {**POOL, "gpu": "{product: NVIDIA-L40S, count: 2}", "nodes": POOL["nodes"] % "gke", "driver": DRIVERS["own"]}
    files = render({"kubernetes": '{version: "1.33", distribution: gke}'}, {"a": pool})
    found = json.loads(files.content["provisioners/terraform.tfvars.json"])["gpu_node_pools"]["a"]

    assert found["guest_accelerator"] == {
        "type": "ACCELERATOR_TYPE",
        "count": 2,
        "gpu_driver_installation_config": {"gpu_driver_version": "INSTALLATION_DISABLED"},
    }
