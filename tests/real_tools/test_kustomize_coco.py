"""The Confidential Containers operator's kustomization, as the real kustomize builds it.

POOLSMITH_COCO_OPERATOR names a folder with a checkout of each version, `<tag>/config`; without it, nothing is proved
here. `tests/fleet/operands/test_cc_runtime.py` holds a hash of the same objects.
"""

from __future__ import annotations

import subprocess

import pytest

from fleet.operands.test_cc_runtime import NAMESPACE, VERSIONS, brought, digest
from poolsmith.core.sources.yaml_reader import read_documents
from support.chart_objects import comparable, delta

pytestmark = pytest.mark.tool("kustomize")
_LEFT_OUT = ("CustomResourceDefinition", "Namespace")


@pytest.mark.parametrize("version", VERSIONS)
def test_its_objects_are_those_that_kustomize_builds(version, checkouts):
    folder = checkouts("POOLSMITH_COCO_OPERATOR") / version / "config/release"
    run = subprocess.run(["kustomize", "build", str(folder)], capture_output=True, text=True, check=True)
    built = [item for item in read_documents(run.stdout) if item["kind"] not in _LEFT_OUT]

    assert delta(comparable(built, NAMESPACE), comparable(brought(version), NAMESPACE)) == []
    assert digest(built) == VERSIONS[version]
