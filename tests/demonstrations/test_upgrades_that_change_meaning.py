"""Values that were right until the release was pinned higher: the same file by both releases, and the values corrected."""

from __future__ import annotations

import pytest

NRI = "cdi:\n  nriPluginEnabled: true\n"
BOOLEAN = "driver:\n  version: 550.163.01\n  useOpenKernelModules: true\n  upgradePolicy: {autoUpgrade: false}\n"

# the values, the release that they were written for, the one that they meet, what is said, words of the advice, the fix
UPGRADES = {
    "25.10 turns CDI on, and the old strategy stays (NVIDIA/gpu-operator issue 1876)": (
        "devicePlugin:\n  env:\n    - {name: DEVICE_LIST_STRATEGY, value: envvar}\n",
        "v25.3.4",
        "v25.10.1",
        "error cdi-contradicted at 3:36",
        "cdi.enabled: false",
        "cdi:\n  enabled: false\ndevicePlugin:\n  env:\n    - {name: DEVICE_LIST_STRATEGY, value: envvar}\n",
    ),
    "the runtime mode of before CDI (issue 1876)": (
        "toolkit:\n  env:\n    - {name: NVIDIA_CONTAINER_RUNTIME_MODE, value: legacy}\n",
        "v25.3.4",
        "v25.10.1",
        "error cdi-contradicted at 3:45",
        "remove it",
        "toolkit:\n  env:\n    - {name: NVIDIA_CONTAINER_RUNTIME_MODE, value: cdi}\n",
    ),
    "from 25.10 on the operator keeps the runtime from being the default (rancher/rke2 issue 8752)": (
        "toolkit:\n  env:\n    - {name: CONTAINERD_SET_AS_DEFAULT, value: 'true'}\n",
        "v25.3.4",
        "v26.3.3",
        "warning runtime-set-as-default at 3:41",
        "runtimeClassName: nvidia",
        "toolkit:\n  env:\n    - {name: CONTAINERD_SET_AS_DEFAULT, value: 'false'}\n",
    ),
    "under NRI there is no class `nvidia`, and from 26.7 on no path either (LMCache/LMCache 5057)": (
        NRI + "toolkit:\n  env:\n    - {name: CONTAINERD_SOCKET, value: /run/k3s/containerd/containerd.sock}\n",
        "v26.3.3",
        "v26.7.0",
        "warning nri-contradicted at 5:7",
        "remove it",
        NRI,
    ),
    "25.3 takes the type of modules by another key, and `auto` is not for every branch (release notes of 25.3)": (
        "driver:\n  version: 550.163.01\n  upgradePolicy: {autoUpgrade: false}\n",
        "v24.9.2",
        "v25.3.4",
        "warning kernel-modules-undecided at 2:3",
        "kernelModuleType: proprietary",
        "driver:\n  version: 550.163.01\n  kernelModuleType: proprietary\n  upgradePolicy: {autoUpgrade: false}\n",
    ),
    "drivers newer than 24.9 do not look at the boolean (life cycle of 24.9)": (
        BOOLEAN,
        None,
        "v24.9.2",
        "warning kernel-modules-undecided at 3:3",
        "KERNEL_MODULE_TYPE: open",
        BOOLEAN + "  env: [{name: KERNEL_MODULE_TYPE, value: open}]\n",
    ),
    "a chart that moves on replaces the driver, unless somebody held it (NVIDIA/aicr 2439)": (
        "driver:\n  enabled: true\n  upgradePolicy: {autoUpgrade: true}\n",
        None,
        "v26.7.0",
        "warning driver-not-pinned at 3:19",
        "595.91.07",
        "driver:\n  enabled: true\n  version: 580.126.20\n  upgradePolicy: {autoUpgrade: true}\n",
    ),
    "a pin that outlived its reason": (
        "devicePlugin:\n  version: v0.17.4\n",
        "v25.3.4",
        "v26.3.3",
        "note operand-image-pinned at 2:3",
        "remove it",
        "devicePlugin:\n  enabled: true\n",
    ),
}


def _is_of_an_old_release(item):
    """Its toolkit's vulnerabilities, and, as a note, what that does without being asked."""
    return item["name"] in ("vulnerable-toolkit", "driver-branch") or (item["name"], item["severity"]) == (
        "runtime-set-as-default",
        "note",
    )


@pytest.mark.parametrize("name", UPGRADES)
def test_what_was_right_the_diagnostic_the_fix(write_files, run_cli, name):
    values, before, after, said, advice, fix = UPGRADES[name]
    root = write_files({"values.yaml": values, "fixed.yaml": fix})

    def judged(release, file):
        run = run_cli(["check", "--root", root, "--release", release, "--format", "json", root / file])
        own = [item for item in run.diagnostics if not _is_of_an_old_release(item)]
        return run.code, own

    code, found = judged(after, "values.yaml")
    told = [
        f"{item['severity']} {item['name']} at {item['primary']['line']}:{item['primary']['column']}" for item in found
    ]

    assert before is None or judged(before, "values.yaml") == (0, [])
    assert "; ".join(told) == said
    assert advice in " ".join(item["help"] for item in found)
    assert code == ("error" in said)
    assert judged(after, "fixed.yaml") == (0, [])
