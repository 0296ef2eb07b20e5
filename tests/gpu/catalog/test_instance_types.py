"""Machines that clouds rent out, by their GPUs: how many of each model the pages of the clouds list."""

from __future__ import annotations

from collections import Counter

from poolsmith.gpu.catalog.gpus import instance_types

EXPECTED = {
    ("EC2", "T4"): 7,
    ("EC2", "A10G"): 8,
    ("EC2", "L4"): 8,
    ("EC2", "L40S"): 8,
    ("EC2", "V100"): 4,
    ("EC2", "A100"): 2,
    ("EC2", "H100"): 2,
    ("EC2", "H200"): 2,
    ("EC2", "B200"): 1,
    ("EC2", "Radeon Pro V520"): 5,
    ("Compute Engine", "L4"): 8,
    ("Compute Engine", "A100"): 9,
    ("Compute Engine", "H100"): 5,
    ("Compute Engine", "H200"): 1,
    ("Azure", "T4"): 4,
    ("Azure", "A100"): 5,
    ("Azure", "H100"): 3,
}
"""By cloud and model; a row that is lost or added changes a number here, on purpose."""


def _cloud(name):
    return "Azure" if name.startswith("Standard_") else "EC2" if "." in name else "Compute Engine"


def test_as_many_machines_of_each_model_are_known_as_the_clouds_list():
    found = Counter((_cloud(name), model) for name, (model, _) in instance_types().items())

    assert found == EXPECTED


def test_a_machine_has_its_model_and_its_number_of_gpus():
    known = instance_types()

    assert known["g4dn.12xlarge"] == ("T4", 4)
    assert known["Standard_NC64as_T4_v3"] == ("T4", 4)
    assert known["a3-ultragpu-8g"] == ("H200", 8)
