"""Whatever values a project asks for, its prediction ends: with objects, with the words of a refusal, or as unknown."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolsmith.fleet.operands.expansion import Node
from poolsmith.fleet.operands.install import InstallationInput, install
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.operands import operand_releases
from poolsmith.guard.ledger.installed_ledger import installed_ledger

CATALOG = Catalog()
LABELS = {
    "feature.node.kubernetes.io/pci-10de.present": "true",
    "feature.node.kubernetes.io/kernel-version.full": "5.15.0-105-generic",
    "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "22.04",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID.major": "22",
}
NODES = tuple(
    Node(name=workload, labels=LABELS | {"nvidia.com/gpu.workload.config": workload}, runtime="containerd://2.1")
    for workload in ("container", "vm-passthrough", "vm-vgpu")
)
TEXTS = st.sampled_from(["", "x", "/a/b", "sha256:" + "a" * 64, "5", "true", "nvcr.io/x/y", "a b", "-1"])
OF_TYPE = {
    "string": TEXTS,
    "boolean": st.booleans(),
    "integer": st.integers(-(2**40), 2**40),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "array": st.lists(
        st.one_of(TEXTS, st.dictionaries(st.sampled_from(["name", "value", "key", "operator"]), TEXTS)), max_size=2
    ),
    "object": st.dictionaries(TEXTS, st.one_of(TEXTS, st.booleans(), st.none()), max_size=2),
}
ANY = st.one_of(st.none(), *OF_TYPE.values())


@st.composite
def values_of(draw, release):
    """Values at paths that the chart reads: mostly of their type, sometimes of any."""
    paths = CATALOG.chart("gpu-operator", release).paths
    values = {}
    for path in draw(st.lists(st.sampled_from(sorted(paths)), max_size=6)):
        *above, key = path.split(".")
        block = values
        for step in above:
            block = block.setdefault(step, {})
            if not isinstance(block, dict):
                break
        else:
            fitting = OF_TYPE.get(paths[path], ANY)
            block[key] = draw(st.one_of(fitting, fitting, fitting, ANY))
    return values


@pytest.mark.rows(2, "one release of each line; random values of each")
@pytest.mark.parametrize("release", operand_releases())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=40)
@given(data=st.data())
def test_a_prediction_ends_with_an_answer(release, data):
    given_ = InstallationInput(
        release=release,
        namespace="gpu-operator",
        nodes=NODES,
        values=data.draw(values_of(release)),
        chart=CATALOG.chart("gpu-operator", release),
    )
    installation = install(given_)
    ledger = installed_ledger(installation)

    assert installation.made or installation.errors or installation.unknown
    assert bool(ledger.lines) == bool(installation.made)
    assert all(isinstance(text, str) for text in (*installation.errors, *installation.unknown, *installation.notes))
