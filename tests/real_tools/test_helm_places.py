"""A text that stays in its place is what the real helm and the reader of Kubernetes make of it there.

Our own templates, one for each form in which the charts write values; each text is refused, or is the same.
"""

from __future__ import annotations

import os
import subprocess

import pytest

from poolsmith.fleet.operands.chart.entry_expressions import NOTHING, ValueScope
from poolsmith.fleet.operands.chart.fill import fill
from poolsmith.kubernetes.helm.go_template import TemplateError
from support.chart_texts import TEXTS
from support.helm_batch import answers, as_json

PLACES = {
    "${v}": "value: {{ .Values.v }}\nnext: 1\n",
    "a/${v}": "value: a/{{ .Values.v }}\nnext: 1\n",
    "${v}:b": "value: {{ .Values.v }}:b\nnext: 1\n",
    "--a=${v}": "value: --a={{ .Values.v }}\nnext: 1\n",
    '"${v}"': 'value: "{{ .Values.v }}"\nnext: 1\n',
    '"a/${v}:b"': 'value: "a/{{ .Values.v }}:b"\nnext: 1\n',
    "${v quote}": "value: {{ .Values.v | quote }}\nnext: 1\n",
    "${v yaml}": "value:\n  {{- toYaml .Values.v | nindent 2 }}\nnext: 1\n",
    "${v block}": "value: |\n{{- .Values.v | nindent 2 }}\nnext: 1\n",
}
KEYS = "value:\n  {{ .Values.v }}: x\nnext: 1\n"
ITEM = "value:\n  - {{ .Values.v }}\nnext: 1\n"
DEEP = "value:\n    inner:\n        key: {{ .Values.v }}\n        next: 1\nnext: 1\n"
TEMPLATES = (*PLACES.values(), KEYS, ITEM, DEEP)
_DRIVER = """
{{- $here := . -}}
{{- range $form, $template := .Values.templates }}
{{- range $number, $text := $here.Values.texts }}
{{- $scope := dict "Values" (dict "v" $text) "Template" $here.Template }}
---
found: {{ toJson (dict "form" $form "text" $number "found" (fromYaml (tpl $template $scope))) | b64enc }}
{{- end }}
{{- end }}
"""


def of_helm(texts, folder):
    """What each template makes of each text, by template and text."""
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: places\nversion: 0.1.0\n")
    (folder / "templates/places.yaml").write_text(_DRIVER)
    (folder / "given.json").write_text(as_json({"templates": TEMPLATES, "texts": texts}))
    run = subprocess.run(
        ["helm", "template", "x", str(folder), "-f", str(folder / "given.json")],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={"HOME": str(folder), "PATH": os.environ["PATH"]},
    )
    return {(TEMPLATES[int(item["form"])], texts[int(item["text"])]): item["found"] for item in answers(run.stdout)}


def filled(node, text):
    try:
        made = fill(node, ValueScope(values={"v": text}))
    except TemplateError:
        return "refused"
    return {"made": None if made is NOTHING else made}


def agrees(ours, theirs, *path):
    """Refused, or the same beside the same neighbour; what is empty to templates is not written by ours."""
    if ours == "refused":
        return True
    node = theirs
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return set(theirs) <= {"value", "next"} and theirs.get("next") == 1 and (ours["made"] or None) == (node or None)


def compare(texts, folder):
    theirs = of_helm(texts, folder)
    wrong = []
    for text in texts:
        cases = [(node, PLACES[node], ("value",)) for node in PLACES]
        cases.append(("${v}", DEEP, ("value", "inner", "key")))
        for node, template, path in cases:
            if not agrees(filled(node, text), theirs[template, text], *path):
                wrong.append((node, text, filled(node, text), theirs[template, text]))
        key, item = filled({"${v}": "x"}, text), filled(["${v}"], text)
        if text and key != "refused" and theirs[KEYS, text] != {"value": key["made"], "next": 1}:
            wrong.append(("key", text, key, theirs[KEYS, text]))
        if item not in ("refused", {"made": []}) and theirs[ITEM, text] != {"value": item["made"], "next": 1}:
            wrong.append(("item", text, item, theirs[ITEM, text]))
    return wrong


@pytest.mark.tool("helm")
def test_each_text_is_refused_or_what_helm_makes_of_it(tmp_path):
    assert compare(list(TEXTS), tmp_path) == []


@pytest.mark.real("Helm renders thousands of texts")
@pytest.mark.tool("helm")
def test_so_is_any_text_of_the_letters_that_yaml_obeys(tmp_path):
    letters = " \n\t\r:#-?,[]{}&*!|>'\"%@`\\ab0._~<=\x85\u2028\ufeffé"
    drawn = {
        "".join(
            letters[(seed * 7919 + place * place * 31 + (seed >> place)) % len(letters)]
            for place in range(seed % 7 + 1)
        )
        for seed in range(1500)
    }

    assert compare(sorted(drawn), tmp_path) == []


def test_what_is_harmless_is_not_refused():
    harmless = (
        "nvcr.io/nvidia/driver:580.95.05",
        "sha256:0a",
        "25%",
        "a@b",
        "system-node-critical",
        "a b",
        "v1\n",
        "a,b",
    )

    assert [
        text for text in harmless if filled("${v}", text) == "refused" or filled('"${v}"', text.strip()) == "refused"
    ] == []
