"""Values at which the operator stops, as its own code does: operands without an image, probes that a container lacks."""

from __future__ import annotations

import pytest

from poolsmith.interface.app import check_paths

RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: gpu-operator, namespace: gpu-operator}}
spec:
  interval: 1h
  chart: {{spec: {{chart: gpu-operator, version: {version}, sourceRef: {{kind: HelmRepository, name: nvidia}}}}}}
  values: {values}
"""


def told(folder, version, values):
    (folder / "file.yaml").write_text(RELEASE.format(version=version, values=values))
    found = check_paths(folder, [folder / "file.yaml"], everything=True).diagnostics
    return [item.message for item in found if item.code == "PSM258"]


@pytest.mark.parametrize("version", ["v25.3.4", "v26.3.3"])
@pytest.mark.parametrize(
    ("part", "variable"), [("devicePlugin", "DEVICE_PLUGIN_IMAGE"), ("migManager", "MIG_MANAGER_IMAGE")]
)
def test_an_operand_without_an_image_stops_the_operator(tmp_path, version, part, variable):
    (message,) = told(tmp_path, version, f"{{{part}: {{repository: '', image: '', version: ''}}}}")

    assert f"empty image path provided through both ClusterPolicy CR and ENV {variable}" in message


@pytest.mark.parametrize("values", ["{devicePlugin: {enabled: false, repository: '', image: '', version: ''}}", "{}"])
def test_one_that_is_off_or_has_one_does_not(tmp_path, values):
    assert told(tmp_path, "v26.3.3", values) == []


@pytest.mark.parametrize("probe", ["readinessProbe: {periodSeconds: 20}", "livenessProbe: {timeoutSeconds: 5}"])
@pytest.mark.parametrize("version", ["v24.6.2", "v26.7.0"])
def test_a_probe_that_the_driver_lacks_stops_it(tmp_path, version, probe):
    (message,) = told(tmp_path, version, f"{{driver: {{{probe}}}}}")

    assert "panic: nil pointer" in message
    assert told(tmp_path, version, "{driver: {startupProbe: {periodSeconds: 20}}}") == []
