"""docs/proof.md says what is held against which real software; its versions and counts are those of this commit."""

from __future__ import annotations

import pytest

from docs.proofs import PROOFS, ROOT, by_release, pinned, table
from support.control_plane import KUBERNETES

PAGE = ROOT / "docs/proof.md"


def test_the_table_of_proofs_is_that_of_the_tests(assert_table):
    assert_table(PAGE, "proofs", table())


def test_the_recorded_scenarios_are_counted(assert_table):
    assert_table(PAGE, "by-release", by_release())


@pytest.mark.parametrize("path", [path for proof in PROOFS for path in proof.tests])
def test_each_row_names_tests_that_exist(path):
    assert "\ndef test_" in (ROOT / path).read_text("utf-8")


def test_the_control_plane_is_the_one_that_is_pinned():
    assert pinned(".ci/go/kubernetes", "k8s.io/kubernetes") == KUBERNETES
