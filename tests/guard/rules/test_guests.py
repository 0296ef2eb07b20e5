"""Nodes whose GPUs belong to virtual machines get no driver, toolkit or device plugin, by whichever way it is said."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Location
from poolsmith.core.diagnostics.diagnostic import Span
from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.rules.setup.driver_setup import driver_setup
from poolsmith.guard.rules.setup.node_drivers import toolkit_nodes
from poolsmith.guard.rules.setup.one_device_plugin import check as one_device_plugin
from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupObject, SetupValues, SetupView

CATALOG = Catalog()
TAG = "v26.3.3"
LABEL = "nvidia.com/gpu.workload.config"
PLUGIN = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "nvidia-device-plugin"},
    "spec": {"template": {"spec": {"containers": [{"image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"}]}}},
}


def place(pointer, note=None):
    return Location(span=Span(path="a.yaml"), pointer=pointer, note=note)


def setup(sandboxes, workload=None, **labels):
    node = SetupNode(name="n", labels={"nvidia.com/gpu.present": "true", **labels}, place=place, workload=workload)
    return SetupView(
        catalog=CATALOG,
        tag=TAG,
        operator=CATALOG.releases.near(TAG),
        nodes=(node,),
        values=SetupValues(
            values={"sandboxWorkloads": sandboxes},
            defaults=CATALOG.chart("gpu-operator", TAG).defaults,
            place=place,
        ),
        objects=(SetupObject(PLUGIN, place),),
    )


@pytest.mark.parametrize(
    ("view", "in_containers"),
    [
        (setup({}), True),
        (setup({}, **{LABEL: "vm-passthrough"}), True),
        (setup({"enabled": True}), True),
        (setup({"enabled": True}, **{LABEL: "vm-passthrough"}), False),
        (setup({"enabled": True, "defaultWorkload": "vm-vgpu"}), False),
        (setup({"enabled": True, "defaultWorkload": "vm-vgpu"}, **{LABEL: "container"}), True),
        (setup({"enabled": True, "defaultWorkload": "vm-vgpu"}, **{LABEL: "nothing-known"}), False),
        (setup({}, workload="kata"), False),
        (setup({}, **{"nvidia.com/gpu.deploy.operands": "false"}), False),
    ],
)
def test_all_rules_agree_on_whose_the_gpus_are(view, in_containers):
    (node,) = view.nodes

    assert driver_setup(view).takes_driver(node) is in_containers
    assert bool(toolkit_nodes(view)) is in_containers
    assert bool(list(one_device_plugin(view))) is in_containers
