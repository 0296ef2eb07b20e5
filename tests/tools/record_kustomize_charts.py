"""Record what kustomize makes of a chart that it inflates, by its version and Helm's.

    PYTHONPATH=generator:tests python tests/tools/record_kustomize_charts.py KUSTOMIZE... -- HELM...

Each program is asked for its version. The chart has one object of each sort that matters: one that names its namespace
and one that does not, a definition, a hook, a test. Recorded is what becomes of each for each way to write the entry:
its namespace (`-`: none), or that it is left out (null). `tests/recorded/README.md` says what is in the recording.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from support.recordings import DATA, ENDING, packed

NAMED, BARE, HOOK, TEST, DEFINITION = "named", "bare", "hook", "test", "things.example.com"
OBJECTS = (NAMED, BARE, HOOK, TEST, DEFINITION)
_OBJECT = """apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  {more}
"""
CHART = {
    "Chart.yaml": "apiVersion: v2\nname: example\nversion: 1.0.0\n",
    "values.yaml": "{}\n",
    "templates/named.yaml": _OBJECT.format(name=NAMED, more="namespace: {{ .Release.Namespace }}"),
    "templates/bare.yaml": _OBJECT.format(name=BARE, more="labels: {of: example}"),
    "templates/hook.yaml": _OBJECT.format(name=HOOK, more="annotations: {helm.sh/hook: pre-upgrade}"),
    "templates/test.yaml": _OBJECT.format(name=TEST, more="annotations: {helm.sh/hook: test}"),
    "crds/things.yaml": f"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    f"metadata: {{name: {DEFINITION}}}\nspec: {{}}\n",
}
WAYS: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "nothing": ({}, {}),
    "namespace of the entry": ({"namespace": "inner"}, {}),
    "namespace of the kustomization": ({}, {"namespace": "outer"}),
    "both alike": ({"namespace": "outer"}, {"namespace": "outer"}),
    "both unlike": ({"namespace": "inner"}, {"namespace": "outer"}),
    "includeCRDs": ({"includeCRDs": True}, {}),
    "skipHooks": ({"skipHooks": True}, {}),
    "skipTests": ({"skipTests": True}, {}),
}
"""Fields of the entry, and of the kustomization around it."""


def _built(kustomize: str, helm: str, entry: Mapping[str, Any], around: Mapping[str, Any]) -> dict[str, str | None]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in CHART.items():
            (folder / "charts/example" / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "charts/example" / path).write_text(text, "utf-8")
        chart = {"name": "example", "releaseName": "example", **entry}
        text = yaml.safe_dump({"helmGlobals": {"chartHome": "charts"}, "helmCharts": [chart], **around})
        (folder / "kustomization.yaml").write_text(text, "utf-8")
        command = [kustomize, "build", "--enable-helm", "--helm-command", helm, str(folder)]
        made = subprocess.run(command, capture_output=True, check=True).stdout
    metadata = {item["metadata"]["name"]: item["metadata"] for item in yaml.safe_load_all(made)}
    return {name: metadata[name].get("namespace", "-") if name in metadata else None for name in OBJECTS}


def _version(program: str, *question: str) -> str:
    found = subprocess.run([program, *question], capture_output=True, check=True, text=True).stdout
    return found.strip().removeprefix("v").partition("+")[0]


def record(kustomizes: list[str], helms: list[str]) -> Iterator[tuple[str, dict[str, str | None]]]:
    for kustomize in kustomizes:
        for helm in helms:
            versions = _version(kustomize, "version"), _version(helm, "version", "--template", "{{.Version}}")
            for way, (entry, around) in WAYS.items():
                yield "/".join((*versions, way)), _built(kustomize, helm, entry, around)


def main(arguments: list[str]) -> None:
    cut = arguments.index("--")
    recorded = dict(record(arguments[:cut], arguments[cut + 1 :]))
    path = DATA / f"kustomize_charts{ENDING}"
    path.write_bytes(packed(recorded))
    print(f"{path.name}: {len(recorded)} keys, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
