"""Whatever stands in values or in a chart's templates, judging and reading end without an exception, and bounded."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.diagnostics.rule_engine import MOST_OF_ONE_RULE
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.importing.template_references import references_in
from poolsmith.gpu.values.judge import judge_values

TAGS = ("v22.9.0", "v24.9.2", "v26.7.0")
NAMES = sorted({key for tag in TAGS for path in value_paths().read_paths(tag) for key in path.split(".")})
KEYS = st.sampled_from([*NAMES, "node-feature-discovery", "tolerations", "psp"]) | st.text(max_size=12)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=30
)
TEMPLATES = st.lists(
    st.sampled_from(
        ["{{", "}}", " ", "\n", "if ", "end", "with ", "else ", ".Values.a", ".b", "a:", "kind: A", '"', "/*", "-", "$"]
    ),
    max_size=60,
).map("".join)


@pytest.mark.parametrize("tag", TAGS)
@given(values=st.dictionaries(KEYS, VALUES, max_size=6))
def test_any_values_are_judged(tag, values):
    judged = judge_values(values, value_paths().release(tag))

    assert max(Counter(found.rule.code for found in judged.findings).values(), default=0) <= MOST_OF_ONE_RULE + 1
    assert all(item.finding.message and "\n" not in item.finding.message for item in judged.findings)


@given(text=TEMPLATES)
def test_any_template_is_read(text):
    found = references_in(text)

    assert found.writes.keys() <= found.read
