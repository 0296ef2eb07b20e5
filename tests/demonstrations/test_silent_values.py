"""Values that Helm drops without a word: the mistake as people made it, what poolsmith says, and the file corrected."""

from __future__ import annotations

import pytest

# the mistake, the release, what is said, the advice, the fix
MISTAKES = {
    "a capital letter (NVIDIA/gpu-operator issue 196)": (
        "mig:\n  Strategy: mixed\n",
        "v26.3.3",
        "1 of unknown-value at 2:3",
        "did you mean `mig.strategy`?",
        "mig:\n  strategy: mixed\n",
    ),
    "a typo that stood in the vendor's documentation (NVIDIA/cloud-native-docs 213)": (
        "sandboxWorloads:\n  enabled: true\n",
        "v26.3.3",
        "1 of unknown-value at 1:1",
        "did you mean `sandboxWorkloads`?",
        "sandboxWorkloads:\n  enabled: true\n",
    ),
    "tolerations under every component (NVIDIA/gpu-operator issue 270)": (
        "devicePlugin:\n  tolerations:\n    - {key: nvidia.com/gpu, operator: Exists}\n",
        "v25.3.4",
        "1 of ignored-value at 2:3",
        "daemonsets.tolerations",
        "daemonsets:\n  tolerations:\n    - {key: nvidia.com/gpu, operator: Exists}\n",
    ),
    "a selector that does not exist (NVIDIA/gpu-operator issue 2626)": (
        "daemonsets:\n  nodeSelector: {gpu: 'true'}\n",
        "v26.3.3",
        "1 of ignored-value at 2:3",
        "NVIDIADriver",
        "daemonsets:\n  labels: {gpu: 'true'}\n",
    ),
    "open kernel modules, asked for with a key that was dead for releases (NVIDIA/aicr issue 2447)": (
        "driver:\n  useOpenKernelModules: true\n",
        "v25.10.1",
        "1 of dead-value at 2:3",
        "driver.kernelModuleType",
        "driver:\n  kernelModuleType: open\n",
    ),
    "a variable that is a boolean (NVIDIA/gpu-operator issue 207)": (
        "toolkit:\n  env:\n    - {name: CONTAINERD_SET_AS_DEFAULT, value: false}\n",
        "v25.10.1",
        "1 of number-for-string at 3:41",
        "quote it",
        "toolkit:\n  env:\n    - {name: CONTAINERD_SET_AS_DEFAULT, value: 'false'}\n",
    ),
    "a key twice inside a text": (
        "devicePlugin:\n  config:\n    create: true\n    name: own\n    data:\n      any: |\n        version: v1\n        version: v2\n",
        "v26.3.3",
        "1 of embedded-yaml at 6:7",
        "correct the text",
        "devicePlugin:\n  config:\n    create: true\n    name: own\n    data:\n      any: |\n        version: v1\n",
    ),
    "NRI without CDI, which the chart refuses in the cluster only": (
        "cdi:\n  enabled: false\n  nriPluginEnabled: true\n",
        "v26.3.3",
        "1 of refused-values at 3:3",
        "change one of the values",
        "cdi:\n  enabled: true\n  nriPluginEnabled: true\n",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_the_diagnostic_the_fix(write_files, run_cli, name):
    mistake, release, said, advice, fix = MISTAKES[name]
    root = write_files({"values.yaml": mistake, "fixed.yaml": fix})

    wrong = run_cli(["check", "--root", root, "--release", release, "--format", "json", root / "values.yaml"])
    right = run_cli(["check", "--root", root, "--release", release, "--format", "json", root / "fixed.yaml"])

    (finding,) = wrong.diagnostics
    place = finding["primary"]
    assert (wrong.code, right.code) == (1, 0)
    assert f"1 of {finding['name']} at {place['line']}:{place['column']}" == said
    assert advice in finding["help"]
    assert right.diagnostics == []
    assert right.report["summary"]["checkedByKind"]["values documents"] == 1
