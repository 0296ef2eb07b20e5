"""What goes through as YAML that all readers take alike, real kustomize and Helm read as poolsmith does."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from random import Random

import pytest

from poolsmith.core.sources.one_reading import ambiguities
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from real_tools import spellings
from support import circles

TEXTS = 60_000 if circles.DEEP else 800
TOGETHER = 200
REPOSITORY = Path(__file__).resolve().parents[2]
SHIPPED = sorted(
    path
    for root in ("policies", "tests/guard/rules/examples", "tests/golden")
    for path in (REPOSITORY / root).rglob("admission/*.yaml")
    if not path.name.endswith(".test.yaml")
)


def readable(text):
    """The objects of a text that may be shipped; None of another."""
    try:
        documents = [document for document in read_documents(text) if document is not None]
    except YamlProblem:
        return None
    return None if ambiguities(text) else documents


@pytest.fixture(scope="module")
def passed():
    """Texts that may be shipped, each with its objects."""
    rng, names = Random(20_26), []
    texts = [spellings.text(rng, names) for _ in range(TEXTS)]
    found = [(text, objects) for text in texts if (objects := readable(text))]
    assert TEXTS / 6 < len(found) < TEXTS / 2, "most spellings are odd, and enough are not"
    return found


def prose(value, key=""):
    """With one line break for many where they do nothing: in CEL, and in prose."""
    if isinstance(value, dict):
        return {name: prose(item, name if key != "annotations" else "description") for name, item in value.items()}
    if isinstance(value, list):
        return [prose(item) for item in value]
    is_prose = key in ("expression", "messageExpression", "valueExpression", "description")
    return re.sub("\n+", "\n", value) if is_prose and isinstance(value, str) else value


def built(folder, texts):
    """By name: the objects that kustomize makes of files."""
    for number, text in enumerate(texts):
        (folder / f"{number}.yaml").write_bytes(text.encode())
    names = "".join(f"- {number}.yaml\n" for number in range(len(texts)))
    (folder / "kustomization.yaml").write_text("resources:\n" + names)
    run = subprocess.run(["kustomize", "build", folder], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr[-500:]
    return {item["metadata"]["name"]: item for item in read_documents(run.stdout)}


@pytest.mark.tool("kustomize")
def test_what_may_be_shipped_is_what_kustomize_makes_of_it(passed, tmp_path):
    for start in range(0, len(passed), TOGETHER):
        some = passed[start : start + TOGETHER]
        folder = tmp_path / str(start)
        folder.mkdir()
        made = built(folder, [text for text, _ in some])
        for text, objects in some:
            for item in objects:
                assert prose(made[item["metadata"]["name"]]) == prose(item), text


@pytest.mark.tool("helm")
def test_what_may_be_shipped_is_what_kubernetes_reads(passed, tmp_path):
    """Helm's `fromYaml` is sigs.k8s.io/yaml, as kubectl, the API server, Argo CD and Flux have it."""
    alone = [(text, objects[0]) for text, objects in passed if len(objects) == 1 and text.count("---\n") == 0]
    assert len(alone) > len(passed) / 8
    (tmp_path / "templates").mkdir()
    (tmp_path / "files").mkdir()
    (tmp_path / "Chart.yaml").write_text("{apiVersion: v2, name: a, version: 1.0.0}\n")
    some = alone[:4000]
    for number, (text, _) in enumerate(some):
        (tmp_path / f"files/{number:05}").write_bytes(text.encode())
    script = '{{ range $path, $bytes := .Files.Glob "files/*" }}\n{{ toString $bytes | fromYaml | toJson }}\n{{ end }}'
    (tmp_path / "templates/all.txt").write_text("{{- define `all` }}" + script + "{{ end }}")
    (tmp_path / "templates/a.yaml").write_text('data: {{ include "all" . | quote }}\n')
    run = subprocess.run(["helm", "template", tmp_path], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr[-500:]
    lines = read_documents(run.stdout)[0]["data"].split("\n")
    read = [json.loads(line) for line in lines if line.strip()]
    assert len(read) == len(some)
    for (text, item), seen in zip(some, read, strict=True):
        assert seen == item, text


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_an_ordinary_policy_file_may_be_shipped(path):
    text = path.read_bytes().decode()

    assert ambiguities(text) == []
    assert ambiguities(text.replace("\n", "\r\n")) == []
