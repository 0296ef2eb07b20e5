"""Modules of Talos are loaded by the machines, or by patches of whichever form."""

from __future__ import annotations

import pytest

from poolsmith.interface.app import check_paths

FILES = {
    "namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: gpu}\n",
    "worker.yaml": "machine: {type: worker, install: {image: factory.talos.dev/installer/abc:v1.9.0}}\ncluster: {}\n",
    "schematic.yaml": "customization:\n  systemExtensions:\n"
    "    officialExtensions: [siderolabs/nvidia-open-gpu-kernel-modules-production]\n",
}
NAMES = "[{name: nvidia}, {name: nvidia_uvm}, {name: nvidia_drm}, {name: nvidia_modeset}]"
PATCHES = {
    "of JSON": f"- op: add\n  path: /machine/kernel\n  value: {{modules: {NAMES}}}\n",
    "as a text": f"nodes:\n  - patches:\n      - |\n        machine: {{kernel: {{modules: {NAMES}}}}}\n",
    "of talhelper": f"nodes:\n  - kernelModules: {NAMES}\n",
    "of machines": "machine: {kernel: {modules: [{name: nvidia}]}}\n",
}


def told(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return [item.code for item in check_paths(folder, [folder], everything=True).diagnostics]


def test_modules_that_nobody_loads_are_told(tmp_path):
    assert told(tmp_path, FILES) == ["PSM782"]


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
def test_a_patch_that_loads_them_counts(tmp_path, patch):
    assert told(tmp_path, {**FILES, "patch.yaml": patch}) == []
