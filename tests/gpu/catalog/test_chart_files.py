"""The chart of an operator's repository is taken as a whole, or not at all."""

from __future__ import annotations

import pytest

from poolsmith.gpu.importing.chart_entries import chart_files
from poolsmith.gpu.importing.operator_repository import OperatorRepository

CHART = "deployments/gpu-operator"
WHOLE = {"Chart.yaml": "name: gpu-operator\n", "values.yaml": "a: 1\n", "templates/a.yaml": "kind: ConfigMap\n"}


@pytest.mark.parametrize(
    ("kept", "taken"),
    [
        (("Chart.yaml", "values.yaml", "templates/a.yaml"), True),
        (("Chart.yaml", "values.yaml"), False),
        (("Chart.yaml", "templates/a.yaml"), False),
        (("values.yaml", "templates/a.yaml"), False),
        (("templates/a.yaml",), False),
        ((), False),
    ],
)
def test_a_chart_is_its_values_and_its_templates(write_files, kept, taken):
    root = write_files({f"{CHART}/{name}": WHOLE[name] for name in kept} | {f"{CHART}/NOTES.txt": "x"})

    found = chart_files(OperatorRepository(root, "v26.7.1"))

    assert set(found) == (set(kept) if taken else set())
