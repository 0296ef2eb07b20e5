"""Argo CD is told whether a child Application and a driver are healthy, by a file that nothing applies."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from poolsmith.core.sources.source_file import digest
from poolsmith.project.output.argocd_fleet import FILE, SCRIPTS
from project.output.health_cases import CASES, NO_NODES
from support.recordings import recording

FOLDER = Path(__file__).resolve().parents[3] / "output/fleet/argocd"
PREFIX = "resource.customizations.health."


@pytest.mark.parametrize("kind", CASES)
def test_the_script_says_in_argo_cds_own_interpreter_what_it_should(kind):
    recorded = recording("argocd_health")[kind]

    assert recorded["script"] == digest(SCRIPTS[kind].encode()), "record anew: tests/oracle/argocd"
    assert {name: answer["status"] for name, answer in recorded["answers"].items()} == {
        name: status for name, (_, status) in CASES[kind].items()
    }
    assert recorded["answers"].get("without nodes", {"message": NO_NODES})["message"] == NO_NODES


def test_the_scripts_stand_in_a_patch_that_nothing_applies():
    text = (FOLDER / FILE).read_text("utf-8")
    body = yaml.safe_load(text)

    assert body == {"data": {f"{PREFIX}{kind}": script for kind, script in SCRIPTS.items()}}
    assert FILE not in yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))["resources"]
    assert f"kubectl patch configmap argocd-cm -n argocd --patch-file {FILE}" in text


def test_a_real_config_map_keeps_what_it_has(control_plane):
    """Applied as kubectl does it: a strategic merge patch."""
    server = control_plane.scenario()
    client = server.client()
    try:
        client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "argocd"}})
        held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm", "namespace": "argocd"}}
        client.apply({**held, "data": {"url": "https://argocd.example.com"}}, manager="helm")
        path = "/api/v1/namespaces/argocd/configmaps/argocd-cm"
        patch = yaml.safe_load((FOLDER / FILE).read_text("utf-8"))
        answer = client.request("PATCH", path, patch, content_type="application/strategic-merge-patch+json")
    finally:
        server.end()

    assert answer.taken
    assert answer.body["data"] == {"url": "https://argocd.example.com", **patch["data"]}
