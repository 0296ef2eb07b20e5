"""Nulls of a chart around the operator's: what the engine does of the version that the files install."""

from __future__ import annotations

import pytest

from poolsmith.interface.app import check_paths

CHART = """\
apiVersion: v2
name: gpu
version: 1.0.0
dependencies: [{name: gpu-operator, version: v26.7.0, repository: "https://helm.ngc.nvidia.com/nvidia"}]
"""
VALUES = "gpu-operator: {operator: {tolerations: null}}\n"
FLUX = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: helm-controller, namespace: flux-system, labels: {{app.kubernetes.io/part-of: flux, app.kubernetes.io/version: {version}}}}}
spec: {{selector: {{matchLabels: {{app: helm-controller}}}}, template: {{metadata: {{labels: {{app: helm-controller}}}}, spec: {{containers: []}}}}}}
"""


def told(folder, engine):
    (folder / "Chart.yaml").write_text(CHART)
    (folder / "values.yaml").write_text(VALUES)
    (folder / "engine.yaml").write_text(engine)
    found = check_paths(folder, [folder], everything=True).diagnostics
    return [item.message for item in found if item.code == "PSM769"]


@pytest.mark.parametrize(
    ("version", "does"),
    [
        ("v2.7.5", "deletes the default, which Helm 4 no longer does"),
        ("v2.8.0", "leaves the default as it is"),
        ("v2.9.2", "leaves the default as it is"),
    ],
)
def test_it_is_told_what_the_helm_of_the_installed_engine_does(tmp_path, version, does):
    (message,) = told(tmp_path, FLUX.format(version=version))

    assert does in message


@pytest.mark.parametrize("engine", ["", FLUX.format(version="v9.1.0")])
def test_both_are_told_where_the_version_is_not_known(tmp_path, engine):
    (message,) = told(tmp_path, engine)

    assert "Argo CD 3.4" in message
    assert "Argo CD 3.5" in message
