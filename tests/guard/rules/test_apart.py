"""Two of a thing in folders that nobody applies together may be a choice; together they are a mistake."""

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.interface.app.check import check_paths

POLICY = """\
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: NAME}
spec:
  {operator: {}, daemonsets: {}, driver: {enabled: true}, toolkit: {enabled: true}, devicePlugin: {enabled: true},
   dcgm: {enabled: true}, dcgmExporter: {enabled: true}, gfd: {enabled: true}, nodeStatusExporter: {enabled: true}}
"""
BOTH = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a/p.yaml, b/p.yaml]\n"
WRAPPER = (
    "apiVersion: v2\nname: NAME\nversion: 0.1.0\ndependencies: [{name: NAME, version: VERSION, repository: URL}]\n"
)
NVIDIA, PLUGIN = "https://helm.ngc.nvidia.com/nvidia", "https://nvidia.github.io/k8s-device-plugin"
OPERATOR = WRAPPER.replace("NAME", "gpu-operator").replace("VERSION", "v26.3.3").replace("URL", NVIDIA)
DEVICE_PLUGIN = WRAPPER.replace("NAME", "nvidia-device-plugin").replace("VERSION", "0.17.4").replace("URL", PLUGIN)
FLEET = "defaultNamespace: gpu\nhelm: {repo: URL, chart: NAME, version: VERSION}\n"


def told(tmp_path, files, code):
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return [item.severity for item in check_paths(tmp_path, [tmp_path]).open if item.code == code]


@pytest.mark.parametrize(
    ("places", "more", "severity"),
    [
        (("a/p.yaml", "b/p.yaml"), {}, Severity.NOTE),
        (("a/p.yaml", "a/q.yaml"), {}, Severity.ERROR),
        (("a/p.yaml", "b/p.yaml"), {"kustomization.yaml": BOTH}, Severity.ERROR),
    ],
)
def test_policies_of_folders_apart_are_a_note(tmp_path, places, more, severity):
    files = {place: POLICY.replace("NAME", f"p{index}") for index, place in enumerate(places)}

    assert told(tmp_path, {**files, **more}, "PSM269") == [severity]


def test_charts_on_a_shelf_are_not_said_to_run_together_and_bundles_are(tmp_path):
    fleet = FLEET.replace("URL", NVIDIA).replace("NAME", "gpu-operator").replace("VERSION", "v26.3.3")
    plugin = FLEET.replace("URL", PLUGIN).replace("NAME", "nvidia-device-plugin").replace("VERSION", "0.17.4")
    shelf = {
        "charts/gpu-operator/Chart.yaml": OPERATOR,
        "charts/gpu-operator/values.yaml": "gpu-operator: {cdi: {enabled: true}}\n",
        "charts/nvidia-device-plugin/Chart.yaml": DEVICE_PLUGIN,
    }

    assert told(tmp_path / "a", shelf, "PSM276") == []
    assert told(
        tmp_path / "b", {"gpu-operator/fleet.yaml": fleet, "nvidia-device-plugin/fleet.yaml": plugin}, "PSM276"
    ) == [Severity.ERROR]
