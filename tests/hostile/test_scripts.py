"""Scripts that nobody would write are read at once, and stop nothing."""

from __future__ import annotations

import re
import time

import pytest

from poolsmith.core.sources.shell_text import ShellText
from poolsmith.interface.app import check_paths

CHART = (
    "apiVersion: helm.crossplane.io/v1beta1\nkind: Release\nmetadata: {{name: r{0}}}\nspec: {{forProvider: {{chart: "
    "{{name: other, repository: 'https://charts.example.com', version: 1.0.0}}, namespace: gpu}}}}\n"
)
POD = "apiVersion: v1\nkind: Pod\nmetadata: {{name: p{0}, namespace: gpu}}\nspec: {{containers: []}}\n"


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"a{number}=$a{number + 1}\n" for number in range(5_000)) + "helm install $a0\n",
        "helm " + "${a:-" * 40_000,
        "helm " + "$(" * 50_000,
        "helm " + "a`" * 50_001,
        "cat <<E\n" * 5_000 + "helm install\n",
    ],
    ids=["variables of variables", "open defaults", "open commands", "open quotes", "texts in texts"],
)
def test_a_script_is_read_at_once(text):
    begun = time.process_time()

    assert len(list(ShellText(text).commands(re.compile(r"\bhelm\b")))) == 1
    assert time.process_time() - begun < 5


def test_each_chart_of_a_long_file_is_read_at_once(tmp_path):
    (tmp_path / "gpu.yaml").write_text("---\n".join(map(CHART.format, range(1_500))))
    begun = time.process_time()

    check_paths(tmp_path, [tmp_path], everything=True)

    assert time.process_time() - begun < 8


def test_each_object_of_a_long_document_is_read_at_once(tmp_path):
    text = "kubectl apply -f - <<E\n" + "---\n".join(map(POD.format, range(6_000))) + "E\n"
    (tmp_path / "gpu.sh").write_text(text)
    (tmp_path / "gpu.yaml").write_text(POD.format("of-a-file"))
    begun = time.process_time()

    check_paths(tmp_path, [tmp_path], everything=True)

    assert time.process_time() - begun < 12
