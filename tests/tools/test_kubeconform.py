"""What kubeconform says of our built-in objects with the schemas that are recorded; nothing is fetched."""

from __future__ import annotations

import subprocess

import pytest

SCHEMAS = "upstream/kubeconform-fixtures/schemas/{{.NormalizedKubernetesVersion}}-standalone{{.StrictSuffix}}/{{.ResourceKind}}{{.KindSuffix}}.json"


@pytest.mark.tool("kubeconform")
def test_what_has_a_recorded_schema_is_valid(repository, shared):
    files = [
        str(path)
        for path in sorted((repository / "output").rglob("*.yaml"))
        if path.parent.name not in ("node-labels", "values")
    ]
    run = subprocess.run(
        [
            *("kubeconform", "-strict", "-ignore-missing-schemas", "-summary", "-kubernetes-version", "master"),
            *("-schema-location", str(shared / SCHEMAS), *files),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert "Invalid: 0, Errors: 0" in run.stdout
