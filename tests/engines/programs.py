"""The real Flux and Argo CD as programs: built by `make engines`, or named by a variable of the environment.

POOLSMITH_SOURCE_CONTROLLER, POOLSMITH_KUSTOMIZE_CONTROLLER, POOLSMITH_HELM_CONTROLLER, POOLSMITH_ARGOCD,
POOLSMITH_REDIS_SERVER and POOLSMITH_K3S_HELM_CONTROLLER name other versions; POOLSMITH_ENGINE_DEFINITIONS names a folder with their definitions.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.api_client import ApiClient
from support.control_plane import binary

FLUX = ("source-controller", "kustomize-controller", "helm-controller")
ARGOCD = ("argocd", "redis-server")
K3S = "k3s-helm-controller"
VERSIONS = {
    "flux": "Flux 2.9 (source-controller 1.9.1, kustomize-controller 1.9.4, helm-controller 1.6.1 with Helm 4.2.2)",
    "argocd": "Argo CD 3.2.0 (with Helm 3)",
    "k3s": "the helm-controller 0.17.7 of k3s and RKE2",
}
"""What `.ci/go` pins, and what was recorded."""
_BUILT = Path(__file__).parents[2] / ".tools/engines"


def program(name: str) -> str:
    """Its path; the test is skipped where it is missing."""
    found = binary(name)
    if found is None:
        pytest.skip(f"the engine `{name}` is not on PATH")
    return found


def definitions(group: str) -> list[dict[str, Any]]:
    """The custom resource definitions whose group ends so, as the modules carry them."""
    folder = Path(os.environ.get("POOLSMITH_ENGINE_DEFINITIONS") or _BUILT)
    files = sorted(folder.glob("*.yaml"))
    if not files:
        pytest.skip("the engine's definitions are not in .tools/engines")
    found = (item for path in files for item in yaml.load_all(path.read_text("utf-8"), yaml.CSafeLoader) if item)
    return [
        item for item in found if item["kind"] == "CustomResourceDefinition" and item["spec"]["group"].endswith(group)
    ]


def define(client: ApiClient, group: str) -> None:
    """Apply the definitions of a group, and wait until their kinds are served: a controller that starts before ends."""
    for item in definitions(group):
        assert (answer := client.apply(item)).taken, answer.message
        spec = item["spec"]
        for version in spec["versions"]:
            if version["served"]:
                assert client.resource(f"{spec['group']}/{version['name']}", spec["names"]["kind"])
