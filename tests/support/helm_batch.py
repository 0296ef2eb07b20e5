"""Many renderings of a chart's own templates in one run of the real helm.

A chart around them hands each template to `tpl` with the values of a case, takes the text apart as Helm does, and
reads it with `fromYaml`, which is the reader of Kubernetes. A template that stops ends the whole run; such cases are
found by halving.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPLIT = r"(?:^|\\s*\\n)---\\s*"
_AT_ONCE = 120
_DRIVER = (
    """
{{- $here := . -}}
{{- range $number, $case := .Values.cases }}
{{- $values := deepCopy $here.Values.base }}
{{- $node := $values }}
{{- range $key := $case.above }}
{{- if not (kindIs "map" (get $node $key)) }}{{- $_ := set $node $key dict }}{{- end }}
{{- $node = get $node $key }}
{{- end }}
{{- if $case.last }}
{{- $value := $case.value }}
{{- if and (kindIs "map" $value) (kindIs "map" (get $node $case.last)) }}
{{- $value = mergeOverwrite (get $node $case.last) $value }}
{{- end }}
{{- $_ := set $node $case.last $value }}
{{- end }}
{{- $release := dict "Name" $here.Values.release "Namespace" $here.Values.namespace "Service" "Helm" }}
{{- $scope := dict "Values" $values "Release" $release "Chart" $here.Values.chart }}
{{- $_ := set $scope "Capabilities" $here.Capabilities }}
{{- $_ := set $scope "Template" $here.Template }}
{{- $_ := set $scope "Files" $here.Files }}
{{- $found := list }}
{{- range $name := $here.Values.names }}
{{- range $text := regexSplit "SPLIT" (tpl ($here.Files.Get $name) $scope | trim) -1 }}
{{- if trim $text }}{{- $found = append $found (fromYaml $text) }}{{- end }}
{{- end }}
{{- end }}
---
found: {{ toJson (dict "number" $number "found" $found) | b64enc }}
{{- end }}
"""
).replace("SPLIT", _SPLIT)


def as_json(node: object) -> str:
    """JSON that is YAML as well: no pairs of surrogates, no characters that YAML refuses as they are."""
    text = json.dumps(node, ensure_ascii=False)
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def answers(output: str) -> Iterator[dict]:
    """What a template printed as `found:` and JSON in base64, which no YAML can take apart."""
    for line in output.split("\n"):
        if line.startswith("found: "):
            yield json.loads(base64.b64decode(line.removeprefix("found: ")))


class HelmBatch:
    """`chart` is a chart's folder; `facts` are what its templates see as `.Chart`."""

    def __init__(self, chart: Path, folder: Path, facts: dict[str, str], namespace: str) -> None:
        self._folder = folder
        self._facts = facts
        self._namespace = namespace
        (folder / "templates").mkdir(parents=True)
        (folder / "source").mkdir()
        (folder / "Chart.yaml").write_text("apiVersion: v2\nname: cases\nversion: 0.1.0\n")
        (folder / "templates/cases.yaml").write_text(_DRIVER)
        self._names = []
        for path in sorted((chart / "templates").iterdir()):
            if path.suffix == ".tpl":
                shutil.copy(path, folder / "templates")
            elif path.suffix == ".yaml":
                shutil.copy(path, folder / "source")
                self._names.append(f"source/{path.name}")

    def render(self, base: dict, cases: list[tuple[tuple[str, ...], object]]) -> list[list | None]:
        """For each case, a path and its value, the documents, or None where the chart stops.

        A document that is no YAML is a mapping with the key `Error`.
        """
        if len(cases) > _AT_ONCE:
            return self.render(base, cases[:_AT_ONCE]) + self.render(base, cases[_AT_ONCE:])
        answer = self._run(base, cases)
        if answer is not None:
            return answer
        if len(cases) == 1:
            return [None]
        half = len(cases) // 2
        return self.render(base, cases[:half]) + self.render(base, cases[half:])

    def _run(self, base: dict, cases: list[tuple[tuple[str, ...], object]]) -> list[list] | None:
        values = {
            "base": base,
            "chart": self._facts,
            "names": self._names,
            "namespace": self._namespace,
            "release": "gpu-operator",
            "cases": [
                {"above": list(path[:-1]), "last": path[-1] if path else "", "value": value} for path, value in cases
            ],
        }
        (self._folder / "given.json").write_text(as_json(values))
        run = subprocess.run(
            ["helm", "template", "x", str(self._folder), "-f", str(self._folder / "given.json")],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            env={"HOME": str(self._folder), "PATH": os.environ["PATH"]},
        )
        self.last_error = run.stderr
        if run.returncode:
            return None
        found = {}
        for answer in answers(run.stdout):
            found[int(answer["number"])] = answer["found"]
        return [found[number] for number in range(len(cases))]
