"""The scripts that the operator's containers run, in the place of the markers of the catalog's entries."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import yaml

from poolsmith.core.facts import store
from poolsmith.gpu.catalog.gpu_clusters import gpu_cluster_releases, read_gpu_cluster
from poolsmith.gpu.catalog.operands import operand_releases, read_nvidia_drivers, read_operands, with_scripts

SCRIPTS = store.read_yaml("scripts.yaml")["scripts"]
OPERATOR = [item for item in SCRIPTS if ":" not in item["source"]]
"""The others are of charts, and held against what Helm renders of them."""
ONLY_ON_OPENSHIFT = {"openshift-driver-toolkit-ctr"}
_MARKER = re.compile(r"<script [0-9]+ chars>")


def test_no_container_of_an_operand_has_a_marker():
    entries = [read_operands(release).states for release in operand_releases()]
    entries += [read_nvidia_drivers(release).daemon_sets for release in store.names("nvidia_driver")]
    entries += [read_gpu_cluster(release).states for release in gpu_cluster_releases()]
    left = {name for entry in entries for name in _with_markers(_plain(entry))}

    assert left == ONLY_ON_OPENSHIFT


def test_container_and_length_tell_which_script_it_is():
    assert Counter((item["container"], len(item["text"])) for item in SCRIPTS).most_common(1)[0][1] == 1


def test_a_script_of_another_length_or_container_stays_a_marker():
    others = [
        {"name": "vfio-pci-validation", "args": ["<script 1 chars>"]},
        {"name": "x", "args": ["<script 358 chars>"]},
    ]

    assert [item["args"] for item in with_scripts([dict(item) for item in others])] == [item["args"] for item in others]


@pytest.mark.parametrize("script", OPERATOR, ids=lambda item: f"{item['container']}-{len(item['text'])}")
def test_it_is_the_text_of_the_operators_file(script, checkouts):
    path, _, tag = script["source"].partition(" at ")
    text = (checkouts("POOLSMITH_OPERATOR") / tag / path).read_text("utf-8")
    if path.startswith("manifests/"):  # a template of Go
        lines = [line.strip() for line in script["text"].splitlines()]
        assert (
            "\n".join(lines) in "\n".join(line.strip() for line in text.splitlines()) or f'"{script["text"]}"' in text
        )
        return
    pods = [item["spec"]["template"]["spec"] for item in yaml.safe_load_all(text) if item["kind"] == "DaemonSet"]
    run = {
        (own["name"], word)
        for pod in pods
        for own in (*pod.get("initContainers", ()), *pod["containers"])
        for word in own.get("args", ())
    }
    assert (script["container"], script["text"]) in run


def _plain(entry):
    if isinstance(entry, tuple | list):
        return [_plain(item) for item in entry]
    return {"objects": _plain(entry.objects)} if hasattr(entry, "objects") else entry


def _with_markers(node):
    if isinstance(node, dict):
        if any(isinstance(word, str) and _MARKER.fullmatch(word) for word in node.get("args") or ()):
            yield node["name"]
        for child in node.values():
            yield from _with_markers(child)
    elif isinstance(node, list):
        for child in node:
            yield from _with_markers(child)
