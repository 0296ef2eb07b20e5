"""MIG layouts that somebody wrote, on the GPUs of the nodes that ask for them."""

from __future__ import annotations

import json

import pytest

from poolsmith.interface.app import check_paths


def group(enabled=True, **devices):
    return {
        "devices": "all",
        "mig-enabled": enabled,
        "mig-devices": {key.replace("_", "."): n for key, n in devices.items()},
    }


LAYOUTS = {
    "two": [group(**{"3g_20gb": 2})],
    "three": [group(**{"3g_20gb": 2, "1g_5gb": 1})],
    "off": [group(enabled=False, **{"1g_5gb": 1})],
    "none": [{"devices": "all", "mig-enabled": False}],
}


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize(
    ("layout", "told"), [("two", False), ("none", False), ("three", True), ("off", True), ("four", True)]
)
def test_a_layout_fits_on_the_gpus_of_its_nodes(tmp_path, layout, told, create):
    text = json.dumps({"version": "v1", "mig-configs": LAYOUTS})
    config = {"name": "own", **({"create": True, "data": {"config.yaml": text}} if create else {})}
    data = {"config.yaml": text}
    labels = {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB",
        "nvidia.com/mig.config": layout,
    }
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text(json.dumps([{"name": "a", "labels": labels, "runtime": "containerd://2.1.1"}]))
    folder = tmp_path / "gpu"
    folder.mkdir()
    (folder / "values.yaml").write_text(json.dumps({"migManager": {"config": config}}))
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "own"}, "data": data}
    (folder / "layouts.yaml").write_text(json.dumps(body))
    found = check_paths(tmp_path, [folder], release="v26.3.3", nodes=nodes, everything=True).diagnostics

    assert ("node-label-values" in {item.name for item in found}) is told
